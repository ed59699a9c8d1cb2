/**
 * An input and an output of a transaction, as a card of the flow.
 */
import type { ComponentChildren } from 'preact';
import { formatAmount, readName } from '../../client/words/amounts.ts';
import { type Chain, KIND_WORDS } from '../../client/words/kind.ts';
import type { NetworkWords, Sentence } from '../../client/words/sentence.ts';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import { holderOf, type Output, OutputType } from '../../src/stardust/wire/output.ts';
import { UnlockConditionType } from '../../src/stardust/wire/unlock-condition.ts';
import { Foreign, IdLink } from '../parts/parts.tsx';
import type { TokenClaims } from '../words/token-claims.ts';
import { AddressLink, ClaimedAmount, SentenceText, TokenUnits } from '../words/words.tsx';
import type { FlowInput, FlowOutput } from './flow.ts';

interface CardProps {
  /** From 0. */
  place: number;
  network: NetworkWords;
  claims: TokenClaims;
}

export function InputCard({
  input,
  isProved,
  absence,
  ...props
}: CardProps & {
  input: FlowInput;
  /** Whether its output is the one that the transaction commits to. */
  isProved: boolean;
  /** Why its output is not there. */
  absence: string | undefined;
}) {
  const { by, output } = input;
  const whom = by && (
    <p>
      from <AddressLink address={by} network={props.network} />
    </p>
  );
  if (output === undefined)
    return (
      <div class="card absent">
        <CardHead what="Input" id={input.id} place={props.place} />
        {whom}
        {absence !== undefined && <p class="note">{absence}</p>}
      </div>
    );
  return (
    <Card what="Input" shown={input} isProved={isProved} {...props}>
      {whom}
    </Card>
  );
}

export function OutputCard({ output, ...props }: CardProps & { output: FlowOutput }) {
  return (
    <Card what="Output" shown={output} isProved {...props}>
      <p>
        to <AddressLink address={holderOf(output.output)} network={props.network} />
      </p>
      {describeConditions(output.output).map((sentence, i) => (
        <div class="note" key={i}>
          <SentenceText sentence={sentence} network={props.network} />
        </div>
      ))}
    </Card>
  );
}

function Card({
  what,
  shown: { id, output, chain },
  isProved,
  place,
  network,
  claims,
  children,
}: CardProps & {
  what: 'Input' | 'Output';
  shown: FlowOutput;
  isProved: boolean;
  children: ComponentChildren;
}) {
  const standing = isProved ? 'proved' : 'said';
  const amount = formatAmount(output.amount, network.baseToken);
  return (
    <div class="card">
      <CardHead what={what} id={id} place={place} />
      <div data-standing={standing}>
        {chain === undefined ? (
          <p class="amount">{amount}</p>
        ) : (
          <>
            <p class="amount">
              <ChainName chain={chain} output={output} />
            </p>
            <p>
              <IdLink name={chain.kind} id={chain.id} /> with {amount}
            </p>
          </>
        )}
        {children}
      </div>
      {output.nativeTokens.map((token) => (
        <div key={toHex(token.id)}>
          <p data-standing={standing}>
            <TokenUnits token={token} />
          </p>
          <ClaimedAmount token={token} claims={claims} />
        </div>
      ))}
    </div>
  );
}

function CardHead({ what, id, place }: { what: 'Input' | 'Output'; id: string; place: number }) {
  return (
    <p class="card-head">
      {what} {place + 1}
      <IdLink name="output" id={id} />
    </p>
  );
}

/** What it is, and in quotation marks what its own metadata calls it. */
function ChainName({ chain, output }: { chain: Chain; output: Output }) {
  const name = output.type === OutputType.Basic ? undefined : readName(output);
  if (name === undefined) return <>{KIND_WORDS[chain.kind]}</>;
  return (
    <>
      {KIND_WORDS[chain.kind]} “<Foreign text={name} />”
    </>
  );
}

/** What else its conditions say, each in a few words. */
function describeConditions({ unlockConditions }: Output): readonly Sentence[] {
  return unlockConditions.flatMap((condition): Sentence[] => {
    switch (condition.type) {
      case UnlockConditionType.StorageDepositReturn: {
        const { amount, returnAddress: address } = condition;
        return [['returns ', { amount }, ' to ', { address }]];
      }
      case UnlockConditionType.Timelock:
        return [['locked until ', { unixTime: condition.unixTime }]];
      case UnlockConditionType.Expiration: {
        const { unixTime, returnAddress: address } = condition;
        return [['passes to ', { address }, ' at ', { unixTime }, ', if unspent']];
      }
      case UnlockConditionType.Governor:
        return [['governed by ', { address: condition.address }]];
      default:
        return [];
    }
  });
}
