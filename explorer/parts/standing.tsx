/**
 * How far something can be relied on, where it stands: proved, said, refuted or not checked. A tick
 * is drawn here and nowhere else, and only for a {@link Proved}.
 */
import type { ComponentChildren } from 'preact';
import { describeSigned } from '../../client/words/proved.ts';
import { provedValue } from '../../src/stardust/provenance/proved.ts';
import type {
  Finding,
  Proved,
  Said,
  SignedMilestone,
} from '../../src/stardust/provenance/provenance.ts';
import { asSentence } from '../format.ts';
import { Facts, type Rows } from './parts.tsx';

/** What was proved, in words that are made of it. The style sheet puts a tick before it. */
export function Tick<T>({
  proof,
  children,
}: {
  proof: Proved<T>;
  children: (value: T, proof: Proved<T>) => ComponentChildren;
}) {
  return (
    <p class="verdict good" data-standing="proved">
      <span>{children(provedValue(proof), proof)}</span>
    </p>
  );
}

export function RefutedMark({ children }: { children: ComponentChildren }) {
  return (
    <p class="verdict bad" data-standing="refuted">
      <span>{children}</span>
    </p>
  );
}

export function NotChecked({ children }: { children: ComponentChildren }) {
  return (
    <p class="verdict neutral" data-standing="not-checked">
      <span>Not checked: {children}</span>
    </p>
  );
}

/** A sentence of the page itself, which judges nothing. */
export function Remark({ children }: { children: ComponentChildren }) {
  return (
    <p class="verdict neutral">
      <span>{children}</span>
    </p>
  );
}

/** What became of a thing, and when: the first line below what it is. Without a proof, as said. */
export function OutcomeLine({
  proof,
  isBad = false,
  by = 'said by this node',
  children,
}: {
  /** Of all that is said here. */
  proof?: Proved<unknown> | undefined;
  isBad?: boolean;
  /** Whose word it is, where not all of it is proved. */
  by?: string;
  children: ComponentChildren;
}) {
  return (
    <div class={isBad ? 'outcome failed' : 'outcome'} role="status">
      {proof === undefined ? (
        <p data-standing="said">
          {children}
          <span class="hint"> · {by}</span>
        </p>
      ) : (
        <Tick proof={proof}>{() => children}</Tick>
      )}
    </div>
  );
}

/** How a check ended. */
export function CheckResult<T>({
  finding,
  words,
}: {
  finding: Finding<T>;
  words: (value: T, proof: Proved<T>) => ComponentChildren;
}) {
  switch (finding.standing) {
    case 'proved':
      return <Tick proof={finding.proof}>{words}</Tick>;
    case 'refuted':
      return <RefutedMark>{asSentence(finding.reason)}</RefutedMark>;
    case 'not-checked':
      return <NotChecked>{asSentence(finding.reason)}</NotChecked>;
  }
}

/** Who signed a milestone, and how old it is. */
export function SignedResult({ finding }: { finding: Finding<SignedMilestone> }) {
  return (
    <CheckResult finding={finding} words={(_, proof) => describeSigned(proof, Date.now() / 1000)} />
  );
}

/** Facts that were proved, under words that say by what. */
export function ProvedFacts<T>({
  proof,
  label,
  rows,
}: {
  proof: Proved<T>;
  label: string;
  rows: (value: T) => Rows;
}) {
  return (
    <section class="proved" data-standing="proved">
      <Tick proof={proof}>{() => label}</Tick>
      <Facts rows={rows(provedValue(proof))} />
    </section>
  );
}

/** What a node says, under words that say so, and what would prove it. */
export function SaidByNode<T>({
  of,
  label = 'This node says. Not checked.',
  proof,
  children,
}: {
  of: Said<T>;
  label?: string;
  /** A sentence, or where the proof is. */
  proof: ComponentChildren;
  children: (value: T) => ComponentChildren;
}) {
  return (
    <section class="said" data-standing="said">
      <p class="said-label">{label}</p>
      {children(of.said)}
      <div class="hint">
        <strong>What would prove it:</strong> {proof}
      </div>
    </section>
  );
}
