/**
 * State of the publisher, and how it advances: pure functions. It is stored in one row of D1,
 * nft_index (migrations/0001_ledger.sql).
 *
 * Changes pass two points in the order of `nft_change`: `putUpTo` (the entry was put, late enough
 * that no writer holds an older one) and `from` (the change left the window, long enough after that
 * for every copy to have it). Marks connect these points with time: where the ledger stood when,
 * and when the entries up to there had been put.
 */
import * as v from 'valibot';
import { uint32 } from '../platform/json-schemas.ts';
import { UnixMs } from './kv-values.ts';
import { MARK_INTERVAL_MS, PUT_AFTER_MS, SETTLING_TIME_MS } from './timing-assumptions.ts';

/** A place in `nft_change`: that row and all before it. */
const ChangePosition = v.strictObject({
  milestone: v.pipe(v.number(), v.integer()),
  nft: v.string(),
});
export type ChangePosition = v.InferOutput<typeof ChangePosition>;

const Entries = v.variant('kind', [
  /** Entries of the NFTs up to this ID have been put. */
  v.strictObject({
    kind: v.literal('incomplete'),
    upTo: v.string(),
    version: v.optional(v.string()),
  }),
  v.strictObject({
    kind: v.literal('complete'),
    /** Time since which no entry lacks a change up to `from` (recent-changes.ts). */
    since: UnixMs,
    /** A key that was put last, and will be there for as long as the entries are. */
    seal: v.string(),
  }),
]);

/** Where the ledger stands. */
export interface IndexHead {
  generation: string;
  ledgerIndex: number;
  changes?: number | undefined;
}

const State = v.strictObject({
  /** Names the ledger's import (`head.generation`). */
  generation: v.string(),
  /** The window begins after this milestone. */
  from: uint32,
  /** Changes of NFTs from the import to there; earlier versions did not write it. */
  changes: v.optional(v.number()),
  entries: Entries,
  /**
   * Ledger index at which putting the entries of all NFTs began. Older entries, of NFTs that were
   * burned while another namespace was bound, would never be overwritten, so they do not count.
   */
  filledFrom: uint32,
  /** The entries of the changes up to here have been put. */
  putUpTo: ChangePosition,
  marks: v.array(
    v.strictObject({
      milestone: uint32,
      changes: v.optional(v.number()),
      /** Time by which the ledger had reached the milestone. */
      seenAt: UnixMs,
      /** Time by which the entries of all changes up to the milestone had been put; null before. */
      putAt: v.nullable(UnixMs),
    }),
  ),
  /** The last `recent`: its ledger index, and when it had been put. Null before the first. */
  recent: v.nullable(v.strictObject({ to: uint32, putAt: UnixMs })),
});
export type State = v.InferOutput<typeof State>;

export const serializeState = (state: State): string => JSON.stringify(state);

/** Reads a state. Throws on any text that {@link serializeState} did not write. */
export const parseState = (text: string): State => v.parse(State, JSON.parse(text));

/** Position after every change of the milestone. */
export function endOf(milestone: number): ChangePosition {
  return { milestone: milestone + 1, nft: '' };
}

/**
 * Creates the state of an unknown index, as after an import: all entries are to be put. The window
 * begins now: older entries do not count (`filledFrom`), and new ones have all earlier changes.
 */
export function beginState({ generation, ledgerIndex, changes }: IndexHead): State {
  return {
    generation,
    from: ledgerIndex,
    changes,
    entries: { kind: 'incomplete', upTo: '' },
    filledFrom: ledgerIndex,
    putUpTo: endOf(ledgerIndex),
    marks: [],
    recent: null,
  };
}

/** The entries are gone: all are to be put again, beginning at this ledger index. */
export function discardEntries(state: State, ledgerIndex: number, version?: string): State {
  const entries = { kind: 'incomplete' as const, upTo: '', ...(version && { version }) };
  return { ...state, entries, filledFrom: ledgerIndex };
}

/**
 * Replaces future times, of a clock that was ahead, by now: else marks and the window would wait
 * for those times. Returns the state itself if nothing changed.
 */
export function clampTimes(state: State, now: number): State {
  const { entries, marks } = state;
  const times = marks.flatMap(({ seenAt, putAt }) => [seenAt, putAt ?? 0]);
  const isComplete = entries.kind === 'complete';
  if (Math.max(isComplete ? entries.since : 0, ...times) <= now) return state;
  const clamp = (time: number) => Math.min(time, now);
  return {
    ...state,
    entries: isComplete ? { ...entries, since: clamp(entries.since) } : entries,
    marks: marks.map(({ seenAt, putAt, ...mark }) => ({
      ...mark,
      seenAt: clamp(seenAt),
      putAt: putAt && clamp(putAt),
    })),
  };
}

/** Some 50 are needed. Where nothing can be put, one a minute would fill the row of the state. */
const MAX_MARKS = 100;

/**
 * Advances the state to a later time and ledger index: settled changes leave the window, and due
 * marks are set. Returns the state itself if nothing changed. While entries are incomplete nothing
 * leaves the window, as only the range of `recent` proves entries then.
 */
export function advanceState(state: State, head: IndexHead, now: number): State {
  const { entries, marks } = state;
  if (entries.kind === 'incomplete') return state;

  const settled = marks.findLast(({ putAt }) => putAt !== null && now - putAt >= SETTLING_TIME_MS);
  const from = settled?.milestone ?? state.from;
  const since = Math.max(entries.since, settled?.putAt ?? 0);
  const kept = marks.filter(({ milestone }) => milestone > from);

  const { ledgerIndex: milestone, changes } = head;
  const last = marks.at(-1) ?? { milestone: state.from, seenAt: 0 };
  const isNew = milestone > last.milestone && now - last.seenAt >= MARK_INTERVAL_MS;
  const due = isNew && kept.length < MAX_MARKS;
  if (settled === undefined && !due) return state;
  return {
    ...state,
    from,
    changes: (settled ?? state).changes,
    entries: { ...entries, since },
    marks: due ? [...kept, { milestone, changes, seenAt: now, putAt: null }] : kept,
  };
}

/** Changes that a page of entries is chosen from, or those of one mark: some 30 ms for D1. */
const MAX_DUE = 50_000;

/** Returns the milestone up to which entries have been put, and the changes up to there. */
export function lastPut({ marks, from, changes }: State) {
  return marks.findLast(({ putAt }) => putAt !== null) ?? { milestone: from, changes };
}

/** Returns the milestone up to which entries are to be put now. */
export function duePut(state: State, now: number): number | undefined {
  const { marks, putUpTo } = state;
  const put = lastPut(state).changes ?? 0;
  // another version may have put entries beyond marks, which are marked with the next one
  const isDue = ({ milestone, seenAt, putAt }: State['marks'][number]) =>
    putAt === null && now - seenAt >= PUT_AFTER_MS && milestone >= putUpTo.milestone;
  const due = marks.filter(isDue);
  return (due.findLast((mark) => (mark.changes ?? 0) - put <= MAX_DUE) ?? due[0])?.milestone;
}

/** Milestones after the first, up to the second, and the changes in them. */
export type Stretch = [after: number, upTo: number, changes: number];

/** Returns what is put up to a milestone, from one mark to the next. */
export function stretchesTo(state: State, upTo: number): Stretch[] {
  const due = state.marks.filter(({ putAt, milestone }) => putAt === null && milestone <= upTo);
  return [lastPut(state), ...due].flatMap(({ milestone, changes }, i) => {
    const { milestone: end, changes: counted } = due[i] ?? {};
    // earlier versions did not count them
    if (end === undefined || counted === undefined || changes === undefined) return [];
    return [[milestone, end, counted - changes]];
  });
}

/** Notes that the entries of all changes up to the milestone had been put by `now`. */
export function markPut(state: State, milestone: number, now: number): State {
  const marks = state.marks.map((mark) =>
    mark.putAt === null && mark.milestone <= milestone ? { ...mark, putAt: now } : mark,
  );
  return { ...state, putUpTo: endOf(milestone), marks };
}
