/**
 * What the outcomes of a pass mean (src/follower/summarize-pass.ts): single cases, then what must
 * hold of every pass with up to three upstreams, and of passes with up to six.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LedgerPosition } from '../../src/follower/ledger-position.ts';
import {
  type BeforePass,
  type Ending,
  needsAnotherUpstream,
  type PassSummary,
  summarizePass,
  type UpstreamOutcome,
  waitsFor,
} from '../../src/follower/summarize-pass.ts';
import { ParameterTable } from '../../src/stardust/parameter-table.ts';
import { testHead } from '../support/ledger/test-head.ts';

/** Not looked into. */
const position: LedgerPosition = {
  head: testHead('g', 0, 7),
  milestone: { id: '', timestamp: 0, blocks: 0, nftChanges: 0 },
  announced: new ParameterTable(),
  rules: { keys: { keys: [], threshold: 1 }, verify: async () => true, parameters: [] },
};

const level: Ending = { kind: 'level', position };
const behind: Ending = { kind: 'behind', position };
const budgetSpent: Ending = { kind: 'budget-spent' };
const doneAgain: Ending = { kind: 'budget-spent', reason: '8 of 9' };
const stopped: Ending = { kind: 'stopped', reason: 'stops' };
const stuck: Ending = { kind: 'stuck', reason: 'lacks a block' };
const failed: Ending = { kind: 'failed', reason: 'fails' };
const diverged: Ending = { kind: 'diverged', reason: 'diverges' };

const heard = (index: number) => ({ index, timestamp: 100, milestoneId: 'ab'.repeat(32) });

type Attempt = [ending: Ending, applied?: number, latest?: number | null, isSlow?: boolean];

/** Upstreams asked in the order of their places, which begin with 10. */
function outcomesOf(attempts: readonly Attempt[]): UpstreamOutcome[] {
  return attempts.map(([ending, applied = 0, latest = 8, isSlow = false], i) => ({
    ...ending,
    place: 10 + i,
    applied,
    isSlow,
    latest: latest === null ? undefined : heard(latest),
  }));
}

const fresh: BeforePass = { diverged: undefined, upstreams: 3 };
const divergedBefore: BeforePass = { diverged: 'diverged before', upstreams: 3 };

function summarize(attempts: readonly Attempt[], before = fresh): PassSummary {
  return summarizePass(outcomesOf(attempts), before);
}

it('a divergence is out of date where another job took the ledger on', () => {
  const before = { ...fresh, isPast: true };
  const late = summarize([[diverged], [diverged], [failed]], before);
  expect(late).toMatchObject({ diverged: undefined, state: { state: 'following' } });
  const own = summarize([[level, 1], [diverged]], before);
  expect(own).toMatchObject({ diverged: 'diverges', state: { state: 'diverged' } });
});

describe('whether another upstream is asked', () => {
  const asksOn = (ending: Ending, applied: number, isSlow = false) =>
    [false, true].map((lookAround) =>
      needsAnotherUpstream(outcomesOf([[ending, applied, 8, isSlow]])[0]!, lookAround),
    );

  it.each([
    ['level', 0, 'only when it is time to look around', level, [false, true]],
    ['level', 2, 'only when it is time to look around', level, [false, true]],
    ['behind the ledger', 0, 'yes', behind, [true, true]],
    ['behind what others applied meanwhile', 2, 'only then', behind, [false, true]],
    ['more than the budget allows', 0, 'no', budgetSpent, [false, false]],
    ['more than the budget allows', 2, 'no', budgetSpent, [false, false]],
    ['of an unknown protocol version', 0, 'no', stopped, [false, false]],
    ['of an unknown protocol version', 2, 'no', stopped, [false, false]],
    ['failing', 0, 'yes', failed, [true, true]],
    ['failing', 2, 'yes', failed, [true, true]],
    ['stuck', 0, 'yes', stuck, [true, true]],
    ['stuck', 2, 'yes', stuck, [true, true]],
    ['diverging', 0, 'yes', diverged, [true, true]],
    ['diverging', 2, 'yes', diverged, [true, true]],
  ] as const)(
    'after one that is %s, %i milestones applied: %s',
    (_, applied, __, ending, asked) => {
      expect(asksOn(ending, applied)).toEqual(asked);
    },
  );

  it('after one that has more, and is slow: only when it is time to look around', () => {
    expect(asksOn(budgetSpent, 2, true)).toEqual([false, true]);
  });
});

describe('what a pass waited for', () => {
  type Next = UpstreamOutcome['next'];
  let before: string | undefined;

  function waited(...attempts: (readonly [ending: Ending, next?: Next, applied?: number])[]) {
    const outcomes = outcomesOf(attempts.map(([ending, , applied = 0]) => [ending, applied]));
    const having = outcomes.map((outcome, i) => ({ ...outcome, next: attempts[i]![1] }));
    return waitsFor(having, before);
  }

  it('is what an upstream with the signed milestone lacks, whatever the others say', () => {
    expect(waited([stuck, 'signed'])).toBe('lacks a block');
    expect(waited([failed, 'signed'], [level])).toBe('fails');
    expect(waited([stuck, 'signed'], [failed, 'claimed'], [behind])).toBe('lacks a block');
  });

  it('is what an upstream lacks that only says that it has it, if none is level', () => {
    expect(waited([failed, 'claimed'], [failed])).toBe('fails');
    expect(waited([failed, 'claimed'], [level])).toBeUndefined();
    expect(waited([behind], [failed, 'claimed'])).toBeUndefined();
  });

  it('is nothing where no upstream has it, one diverges, or one gets on', () => {
    expect(waited([failed], [failed])).toBeUndefined();
    expect(waited([level])).toBeUndefined();
    expect(waited([stuck, 'signed'], [diverged, 'signed'])).toBeUndefined();
    expect(waited([stuck, 'signed', 1])).toBeUndefined();
    expect(waited([stuck, 'signed'], [budgetSpent, 'signed'])).toBeUndefined();
    expect(waited([stopped])).toBeUndefined();
  });

  it('is nothing where an upstream diverged, and the work is being done again', () => {
    before = 'diverged before';
    expect(waited([doneAgain, 'signed'])).toBeUndefined();
    expect(waited([stuck, 'signed'])).toBe('lacks a block');
    before = undefined;
    expect(waited([doneAgain, 'signed'])).toBe('8 of 9');
  });
});

describe('a pass', () => {
  const following = (index: number) => ({ state: 'following', upstream: heard(index) });

  it('with one that is level: tips are stored, that one stays first', () => {
    expect(summarize([[level]])).toEqual({
      applied: 0,
      behind: false,
      beginWith: 10,
      level: expect.objectContaining({ place: 10, position }),
      diverged: undefined,
      getsOn: false,
      state: following(8),
    });
  });

  it('stays failing until something is done, or all upstreams say that nothing is to do, or diverge', () => {
    const failing = { ...fresh, failing: 'fails at 7' };
    const state = { state: 'failing', reason: 'fails at 7' };
    expect(summarize([[level]], failing)).toMatchObject({ getsOn: false, state });
    expect(summarize([[failed], [diverged], [level]], failing)).toMatchObject({ state });
    expect(summarize([[level], [behind], [failed]], failing)).toMatchObject({ state });
    const astray = { getsOn: false, state: { state: 'diverged', reason: 'diverges' } };
    expect(summarize([[diverged], [diverged]], failing)).toMatchObject(astray);
    for (const attempts of [
      [[level], [behind], [level]],
      [[level, 1]],
      [[failed], [budgetSpent]],
    ] satisfies Attempt[][])
      expect(summarize(attempts, failing)).toMatchObject({ getsOn: true, state: following(8) });
  });

  it('with milestones applied after a failure: the second is first from now on', () => {
    const due = { applied: 3, beginWith: 11, level: { place: 11 }, state: following(8) };
    const silent: Attempt = [failed, 0, null];
    expect(summarize([silent, [level, 3]])).toMatchObject(due);
  });

  it('with its budget spent: there is more to do, tips can wait', () => {
    const more = { behind: true, level: undefined };
    const first = { ...more, applied: 12, beginWith: 10 };
    expect(summarize([[budgetSpent, 12]])).toMatchObject(first);
    const second = { ...more, applied: 0, beginWith: 11 };
    expect(summarize([[level], [budgetSpent]])).toMatchObject(second);
  });

  it('begins with a slow one again only if no other took the ledger on', () => {
    const slow: Attempt = [budgetSpent, 1, 8, true];
    for (const other of [failed, level, behind])
      expect(summarize([slow, [other]])).toMatchObject({ behind: true, beginWith: 10 });
    expect(summarize([slow, [budgetSpent, 1]])).toMatchObject({ behind: true, beginWith: 11 });
    expect(summarize([slow, [level, 1]])).toMatchObject({ behind: true, beginWith: 11 });
  });

  it('counts the milestones of one that then fails, and does not begin with it', () => {
    expect(summarize([[failed, 2], [level]])).toMatchObject({ applied: 2, beginWith: 11 });
    expect(summarize([[failed, 2], [behind]])).toMatchObject({ applied: 2, beginWith: undefined });
  });

  it('is level with nobody once a milestone was applied after it', () => {
    const nobody = { level: undefined, beginWith: undefined };
    expect(summarize([[level], [failed, 1], [behind]])).toMatchObject(nobody);
    expect(summarize([[level], [failed], [behind]])).toMatchObject({ level: { place: 10 } });
  });

  it('stores the tips of the first that is level', () => {
    const second = { level: { place: 11 }, beginWith: 11 };
    expect(summarize([[behind], [level], [level]])).toMatchObject(second);
  });

  it('tells of a divergence in spite of one that is level, and of the last of several', () => {
    const second: Ending = { kind: 'diverged', reason: 'diverges too' };
    const state = (reason: string) => ({ state: { state: 'diverged', reason }, diverged: reason });
    expect(summarize([[diverged], [level]])).toMatchObject(state('diverges'));
    expect(summarize([[diverged], [second], [failed]])).toMatchObject(state('diverges too'));
  });

  it('has no divergence where another upstream agrees on the next milestone', () => {
    const agreed = { diverged: undefined, state: following(8) };
    expect(summarize([[diverged], [level, 1]], divergedBefore)).toMatchObject(agreed);
    expect(summarize([[budgetSpent, 1]], divergedBefore)).toMatchObject({ diverged: undefined });
  });

  it('has one where an upstream diverges after milestones that it agreed on', () => {
    expect(summarize([[diverged, 2], [level]])).toMatchObject({ diverged: 'diverges' });
  });

  it('keeps an earlier divergence until all upstreams were asked', () => {
    const state = { state: 'diverged', reason: 'diverged before' };
    expect(summarize([[level]], divergedBefore)).toMatchObject({ state, diverged: state.reason });
    expect(summarize([[budgetSpent]], divergedBefore)).toMatchObject({ state });
    const ofOne = { ...divergedBefore, upstreams: 1 };
    expect(summarize([[doneAgain]], ofOne)).toMatchObject({ state });
    expect(summarize([[budgetSpent]], ofOne)).toMatchObject({ state: following(8) });
    const allAsked = summarize([[level], [behind], [failed]], divergedBefore);
    expect(allAsked).toMatchObject({ state: following(8), diverged: undefined });
  });

  it('names the newest milestone that any upstream has heard of', () => {
    const attempts: Attempt[] = [
      [behind, 0, 5],
      [failed, 0, 9],
      [level, 0, 8],
    ];
    expect(summarize(attempts).state).toEqual(following(9));
    const outcomes = outcomesOf([[behind], [level]]);
    outcomes[1]!.latest = { ...heard(8), milestoneId: 'cd'.repeat(32) };
    expect(summarizePass(outcomes, fresh).state).toMatchObject({ upstream: outcomes[1]!.latest });
  });

  it('that nobody answered says nothing, if all was well', () => {
    const silent: Attempt = [failed, 0, null];
    expect(summarize([silent, silent])).toMatchObject({ state: undefined });
  });

  it('that cannot go on says so, and changes nothing else', () => {
    expect(summarize([[diverged], [stopped, 2]], divergedBefore)).toEqual({
      applied: 2,
      behind: false,
      beginWith: undefined,
      level: undefined,
      diverged: 'diverged before',
      getsOn: false,
      state: { state: 'stopped', reason: 'stops' },
    });
  });
});

/** What must hold of the summary of any pass, said without looking at how it is made. */
function check(outcomes: readonly UpstreamOutcome[], before: BeforePass): void {
  const summary = summarizePass(outcomes, before);
  const at = (place: number | undefined) => outcomes.find((each) => each.place === place);
  const last = outcomes.at(-1)!;
  const anyApplied = outcomes.some(({ applied }) => applied > 0);
  const isStopped = last.kind === 'stopped';

  expect(summary.applied).toBe(outcomes.reduce((sum, { applied }) => sum + applied, 0));
  const isSpent = outcomes.some(({ kind }) => kind === 'budget-spent');
  expect(summary.behind).toBe(isSpent && !isStopped);
  expect(summary.state?.state === 'stopped').toBe(isStopped);
  // what was learnt is told of: an answer of an upstream, a divergence
  if (!isStopped && outcomes.some(({ latest }) => latest)) expect(summary.state).toBeDefined();

  const first = at(summary.beginWith);
  if (summary.beginWith !== undefined) {
    expect(first?.kind).toBeOneOf(['level', 'behind', 'budget-spent']);
    if (first?.kind === 'behind') expect(first.applied).toBeGreaterThan(0);
  }

  const { level: tips } = summary;
  const levelAtTheEnd = outcomes.filter(
    ({ kind }, i) =>
      kind === 'level' && outcomes.slice(i + 1).every(({ applied }) => applied === 0),
  );
  expect(tips).toBe(isStopped || summary.behind ? undefined : levelAtTheEnd[0]);
  if (tips !== undefined) expect(summary.beginWith).toBe(tips.place);

  const divergedAtTheEnd = outcomes.some(
    ({ kind }, i) =>
      kind === 'diverged' && outcomes.slice(i + 1).every(({ applied }) => applied === 0),
  );
  const isRound =
    outcomes.length === before.upstreams &&
    outcomes.every((outcome) => outcome.kind !== 'budget-spent' || outcome.reason === undefined);
  const forgets = anyApplied || isRound;
  if (isStopped) expect(summary.diverged).toBe(before.diverged);
  else if (divergedAtTheEnd) expect(summary.diverged).toBe('diverges');
  else expect(summary.diverged).toBe(forgets ? undefined : before.diverged);
  if (!isStopped) {
    expect(summary.state?.state === 'diverged').toBe(summary.diverged !== undefined);
  }
}

const ENDINGS = [level, behind, budgetSpent, doneAgain, stuck, stopped, failed, diverged];

/** An upstream that fails before it has told its heads has applied nothing. */
const ATTEMPTS: Attempt[] = [
  ...ENDINGS.flatMap((ending): Attempt[] => [[ending], [ending, 2]]),
  [budgetSpent, 2, 8, true],
  [failed, 0, null],
];

/** Every way in which a pass over so many upstreams may go. */
function* passesOver(upstreams: number, lookAround: boolean): Generator<Attempt[]> {
  for (const attempt of ATTEMPTS) {
    const [outcome] = outcomesOf([attempt]);
    if (upstreams === 1 || !needsAnotherUpstream(outcome!, lookAround)) yield [attempt];
    else for (const more of passesOver(upstreams - 1, lookAround)) yield [attempt, ...more];
  }
}

describe('what holds of every pass', () => {
  it.each([1, 2, 3])('with %i upstreams', (upstreams) => {
    let passes = 0;
    for (const lookAround of [false, true]) {
      for (const attempts of passesOver(upstreams, lookAround)) {
        for (const before of [undefined, 'diverged before']) {
          check(outcomesOf(attempts), { diverged: before, upstreams });
          passes++;
        }
      }
    }
    // 18 attempts, of which 8 or 12 make it ask the next upstream
    expect(passes).toBe([72, 752, 7824][upstreams - 1]);
  });

  it('with up to six, whatever they have heard of', () => {
    const attempt = fc.tuple(
      fc.constantFrom(...ENDINGS),
      fc.nat(3),
      fc.option(fc.nat(20), { nil: null }),
      fc.boolean(),
    );
    const attempts = fc.array(attempt, { minLength: 1, maxLength: 6 });
    const pass = fc.tuple(attempts, fc.boolean(), fc.option(fc.string(), { nil: undefined }));
    fc.assert(
      fc.property(pass, ([wanted, lookAround, divergence]) => {
        const all = outcomesOf(wanted);
        const end = all.findIndex((outcome) => !needsAnotherUpstream(outcome, lookAround));
        const outcomes = end === -1 ? all : all.slice(0, end + 1);
        check(outcomes, { diverged: divergence, upstreams: all.length });
        const told = outcomes.map(({ latest }) => latest?.index ?? -1);
        const { state } = summarizePass(outcomes, { diverged: undefined, upstreams: all.length });
        if (state?.state === 'following') expect(state.upstream.index).toBe(Math.max(...told));
      }),
    );
  });
});
