/**
 * What the publisher knows of the index in KV, and how that moves on (design §4): pure, kept in one row of D1 (migrations/0002_nft_index.sql).
 *
 * Changes go through the window in the order of nft_change, each past the same points: `put` (its entry was put once), `again` (its entry was put again, late
 * enough that no writer holds an older one), `from` (it left the window, long enough after that no copy lacks it). What lies between is told by marks:
 * where the ledger stood when, and when the entries up to there had been put again.
 */
import * as v from 'valibot';
import { MilestoneIndex, Time } from './kv-value.ts';
import { AGAIN_AFTER, MARK_EVERY, SETTLED } from './timing-assumptions.ts';

/** A place in nft_change: that row and all before it are behind. */
const Position = v.strictObject({ milestone: v.pipe(v.number(), v.integer()), nft: v.string() });
export type Position = v.InferOutput<typeof Position>;

const Mark = v.strictObject({
  milestone: MilestoneIndex,
  /** The ledger had reached it by then. */
  seenAt: Time,
  /** By then the entries of all changes up to it had been put again; null before. */
  againAt: v.nullable(Time),
});

const Entries = v.variant('kind', [
  /** Entries of the NFTs up to this ID have been put. */
  v.strictObject({ kind: v.literal('incomplete'), upTo: v.string() }),
  v.strictObject({
    kind: v.literal('complete'),
    /** Since when no entry lacks a change up to `from` (`fromTime` in recent.ts). */
    since: Time,
    /** A key that was put last, and will be there for as long as the entries are. */
    seal: v.string(),
  }),
]);

const State = v.strictObject({
  generation: v.string(),
  from: MilestoneIndex,
  entries: Entries,
  put: Position,
  again: Position,
  /** In order. */
  marks: v.array(Mark),
  /** The last `recent`: the ledger index in it, and when it had been put. Null before the first. */
  recent: v.nullable(v.strictObject({ to: MilestoneIndex, putAt: Time })),
});
export type State = v.InferOutput<typeof State>;

/** The text of a state, as it stands in the row. */
export function writeState(state: State): string {
  return JSON.stringify(state satisfies State);
}

/** Fails on anything that this program did not write. */
export function readState(text: string): State {
  return v.parse(State, JSON.parse(text));
}

/** Behind every change of the milestone. */
export function endOf(milestone: number): Position {
  return { milestone: milestone + 1, nft: '' };
}

/**
 * The index of a ledger that was just imported: no entry of this generation has been put, and all changes since are in nft_change. Right also where the
 * row was removed: changes that are no longer in nft_change have settled long ago, so that the window lacks nothing.
 */
export function beginState(generation: string, start: number): State {
  return {
    generation,
    from: start,
    entries: { kind: 'incomplete', upTo: '' },
    put: endOf(start),
    again: endOf(start),
    marks: [],
    recent: null,
  };
}

/** All entries are to be put once more, as they are not there. */
export function beginAgain(state: State): State {
  return { ...state, entries: { kind: 'incomplete', upTo: '' } };
}

/**
 * The same state at a later time and ledger index: what has settled leaves the window, and a mark is set where one is due. Returns itself if nothing moved.
 *
 * While entries are incomplete nothing leaves: those that have been put stay within the range of `recent`, which is all that can prove them until the others
 * have settled.
 */
export function moveOn(state: State, ledgerIndex: number, now: number): State {
  const { entries, marks } = state;
  if (entries.kind === 'incomplete') return state;

  const settled = marks.findLast(({ againAt }) => againAt !== null && now - againAt >= SETTLED);
  const from = settled?.milestone ?? state.from;
  const since = Math.max(entries.since, settled?.againAt ?? 0);
  const kept = marks.filter(({ milestone }) => milestone > from);

  const last = marks.at(-1);
  const due =
    last === undefined
      ? ledgerIndex > state.from
      : ledgerIndex > last.milestone && now - last.seenAt >= MARK_EVERY;
  if (settled === undefined && !due) return state;
  return {
    ...state,
    from,
    entries: { ...entries, since },
    marks: due ? [...kept, { milestone: ledgerIndex, seenAt: now, againAt: null }] : kept,
  };
}

/** The milestone up to which entries are to be put again by now, if there is one. */
export function dueAgain({ marks }: State, now: number): number | undefined {
  return marks.findLast(({ seenAt, againAt }) => againAt === null && now - seenAt >= AGAIN_AFTER)
    ?.milestone;
}

/** The entries of all changes up to the milestone were put again by `now`. */
export function markAgain(state: State, milestone: number, now: number): State {
  const marks = state.marks.map((mark) =>
    mark.againAt === null && mark.milestone <= milestone ? { ...mark, againAt: now } : mark,
  );
  return { ...state, again: endOf(milestone), marks };
}
