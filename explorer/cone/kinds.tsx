/**
 * The kinds of blocks, told apart by shape and by words, and only then by colour.
 */
import { describeReason } from '../../src/stardust/semantics/verdict.ts';
import { shorten } from '../format.ts';
import type { ExplainedBlockJson } from '../node/shapes.ts';

export const SHOWN_KINDS = ['applied', 'conflict', 'milestone', 'data', 'empty'] as const;
export type ShownKind = (typeof SHOWN_KINDS)[number];

/** `waiting`: a transaction about which no milestone has decided. */
export type MarkKind = ShownKind | 'waiting';

export const KIND_NAMES: Record<ShownKind, string> = {
  applied: 'transaction, applied',
  conflict: 'transaction, in conflict',
  milestone: 'milestone',
  data: 'tagged data',
  empty: 'no payload',
};

export function kindOf({ payload, ledgerInclusionState }: ExplainedBlockJson): ShownKind {
  if (ledgerInclusionState === 'included') return 'applied';
  if (ledgerInclusionState === 'conflicting') return 'conflict';
  if (payload === 'milestone') return 'milestone';
  return payload === 'none' ? 'empty' : 'data';
}

/** Why a transaction is in conflict: the reason in words, and what decided. */
function describeConflict(block: ExplainedBlockJson): string {
  const { conflictReason = 0, explanation, decidingInput, decidingOutput } = block;
  const known = conflictReason >= 1 && conflictReason <= 12;
  const words = explanation ?? (known ? describeReason(conflictReason as 1) : 'no reason is given');
  const where = decidingInput
    ? `, decided by input ${decidingInput.input + 1}`
    : decidingOutput
      ? `, decided by output ${decidingOutput.output + 1}`
      : '';
  return `in conflict: ${words}${where}`;
}

/** The words for a block, as they are read out. */
export function describeBlock(block: ExplainedBlockJson): string {
  const kind = kindOf(block);
  return kind === 'conflict' ? describeConflict(block) : KIND_NAMES[kind];
}

/** The mark of a kind around the origin, within a circle of radius 11. */
export function Mark({ kind }: { kind: MarkKind }) {
  switch (kind) {
    case 'waiting':
      return <circle r="9" />;
    case 'applied':
      return (
        <>
          <circle r="9" />
          {/* no tick: that is for what was proved */}
          <path class="glyph" d="M-4.6 0H4.4M0.8 -3.6L4.4 0L0.8 3.6" />
        </>
      );
    case 'conflict':
      return (
        <>
          <rect x="-9" y="-9" width="18" height="18" rx="3" />
          <path class="glyph" d="M-3.8 -3.8L3.8 3.8M3.8 -3.8L-3.8 3.8" />
        </>
      );
    case 'milestone':
      return <path d="M0 -10.5L10.5 0L0 10.5L-10.5 0z" />;
    case 'data':
      return <circle r="6.5" />;
    case 'empty':
      return <circle r="3" />;
  }
}

/** The block of a drawing that the visitor points at. */
export function BlockCaption({
  block,
  otherwise,
}: {
  block: ExplainedBlockJson | undefined;
  otherwise: string;
}) {
  return (
    <p class="caption" aria-hidden="true">
      {block === undefined ? (
        otherwise
      ) : (
        <>
          <span class="number">{block.whiteFlagIndex}</span>{' '}
          <span class="mono">{shorten(block.blockId)}</span> {describeBlock(block)}
        </>
      )}
    </p>
  );
}

export function Legend({ kinds }: { kinds: ReadonlySet<ShownKind> }) {
  return (
    <ul class="legend" aria-label="Marks">
      {SHOWN_KINDS.filter((kind) => kinds.has(kind)).map((kind) => (
        <li key={kind}>
          <svg viewBox="-12 -12 24 24" class={`block ${kind}`} aria-hidden="true">
            <Mark kind={kind} />
          </svg>
          {KIND_NAMES[kind]}
        </li>
      ))}
    </ul>
  );
}
