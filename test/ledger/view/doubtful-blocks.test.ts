/**
 * Which doubtful blocks are queried (src/ledger/view/doubtful-blocks.ts), on made-up cones whose
 * lower part was referenced: the answers lead to that part, and there are few of them.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findDoubtful } from '../../../src/ledger/view/doubtful-blocks.ts';

/** The number of a block that this ledger saw referenced; 0 is an entry point. */
const SEEN = 1_000_000;

/** By position, the numbers of a block's parents, which come before it. A number is a position and 1. */
type Parents = readonly (readonly number[])[];

function coneOf(parents: Parents) {
  return {
    size: parents.length,
    find: (number: number) => (number === SEEN ? -1 : number - 1),
    parentCountAt: (position: number) => parents[position]!.length,
    parentAt: (position: number, at: number) => parents[position]![at]!,
  };
}

/** Puts each query to `isReferenced`. Returns what was decided, and the number of queries. */
function decide(parents: Parents, isReferenced: (position: number) => boolean, most = 30) {
  const doubtful = findDoubtful(coneOf(parents), Uint32Array.from(parents.keys()));
  let queries = 0;
  for (;;) {
    const due = doubtful.toQuery(most);
    if (due.length === 0) return { referenced: doubtful.referenced(), queries };
    expect(new Set(due).size).toBe(due.length);
    queries += due.length;
    doubtful.note(new Map(due.map((position) => [position, isReferenced(position)])));
  }
}

/** The doubtful blocks among these, and of those all in the past of these tops. */
function truthOf(parents: Parents, tops: readonly number[]) {
  const doubtful = new Set<number>();
  for (const [position, numbers] of parents.entries())
    if (numbers.every((number) => number === 0 || doubtful.has(number - 1))) doubtful.add(position);
  const past = new Set<number>(tops.filter((top) => doubtful.has(top)));
  for (const position of past)
    for (const number of parents[position]!) if (number !== 0) past.add(number - 1);
  return { doubtful, past };
}

const cones: fc.Arbitrary<Parents> = fc
  .array(fc.array(fc.nat(99), { minLength: 1, maxLength: 4 }), { maxLength: 60 })
  .map((rows) =>
    rows.map((row, position) =>
      row.map((value) =>
        value < 3 ? SEEN : position === 0 || value < 15 ? 0 : (value % position) + 1,
      ),
    ),
  );

describe('the queried blocks', () => {
  it('lead to the blocks that were referenced, whatever the cone', () => {
    fc.assert(
      fc.property(
        cones,
        fc.array(fc.nat(59)),
        fc.integer({ min: 1, max: 30 }),
        (parents, tops, most) => {
          const { doubtful, past } = truthOf(parents, tops);
          const { referenced, queries } = decide(parents, (position) => past.has(position), most);
          expect(referenced).toEqual([...past].sort((a, b) => a - b));
          expect(queries).toBeLessThanOrEqual(doubtful.size);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('come to an end whatever an upstream says', () => {
    const answers = fc.array(fc.boolean(), { minLength: 60, maxLength: 60 });
    fc.assert(
      fc.property(cones, answers, (parents, says) => {
        const { queries } = decide(parents, (position) => says[position]!);
        expect(queries).toBeLessThanOrEqual(truthOf(parents, []).doubtful.size);
      }),
      { numRuns: 500 },
    );
  });

  /** Each block has parents in the level below it. */
  const tangle = (levels: number, width: number): Parents =>
    Array.from({ length: levels * width }, (_, position) => {
      const level = Math.floor(position / width);
      const below = (level - 1) * width;
      return level === 0 ? [0] : [1, 2].map((step) => below + ((position * 7 + step) % width) + 1);
    });

  it.each([
    ['a chain of which the lowest was referenced', 10_000, 1, 1],
    ['a chain of which all but the highest was referenced', 10_000, 1, 9999],
    ['a tangle of which nothing was referenced', 500, 20, 0],
    ['a tangle of which half was referenced', 500, 20, 5000],
    ['a tangle of which all was referenced', 500, 20, 10_000],
  ])('are few: %s', (_, levels, width, referenced) => {
    const parents = tangle(levels, width);
    const outcome = decide(parents, (position) => position < referenced);
    expect(outcome.referenced.length).toBe(referenced);
    expect(outcome.queries).toBeLessThanOrEqual(14 * width);
  });
});
