/** The bill of `npm run bench -- cost`, and the rate that it is for. */
import { describe, expect, it } from 'vitest';
import { bill, type Costs, type Usage, usageOf } from '../../bench/tools/bill.ts';
import { DEFAULT_RATE, parseRate } from '../../bench/tools/rate.ts';
import { UsageError } from '../../scripts/lib/process/command-line.ts';

/** All that the plan includes. */
const INCLUDED: Usage = {
  requests: 10e6,
  cpuMs: 30e6,
  rowsWritten: 50e6,
  rowsRead: 25e9,
  d1Bytes: 5e9,
  kvReads: 10e6,
  kvWrites: 1e6,
  objectRequests: 1e6,
  objectGbSeconds: 400_000,
  objectRows: 50e6,
  logLines: 20e6,
};

function sum(usage: Usage): number {
  return bill(usage).reduce((total, { dollars }) => total + dollars, 0);
}

describe('bill', () => {
  it('is that of the plan as long as it includes everything', () => {
    expect(sum(INCLUDED)).toBe(5);
    const unused = Object.fromEntries(Object.keys(INCLUDED).map((kind) => [kind, 0]));
    expect(sum(unused as Usage)).toBe(5);
  });

  it.each([
    ['requests', 1e6, 0.3],
    ['cpuMs', 1e6, 0.02],
    ['rowsWritten', 1e6, 1],
    ['rowsRead', 1e9, 1],
    ['d1Bytes', 1e9, 0.75],
    ['kvReads', 1e6, 0.5],
    ['kvWrites', 1e6, 5],
    ['objectRequests', 1e6, 0.15],
    ['objectGbSeconds', 1e6, 12.5],
    ['objectRows', 1e6, 1],
    ['logLines', 1e6, 0.6],
  ] as const)('%s beyond what is included cost', (kind, more, dollars) => {
    expect(sum({ ...INCLUDED, [kind]: INCLUDED[kind] + more })).toBeCloseTo(5 + dollars, 9);
  });
});

describe('usageOf', () => {
  const none: Costs = {
    milestone: {
      rowsWritten: 0,
      rowsRead: 0,
      kvReads: 0,
      kvWrites: 0,
      logLines: 0,
      packBytes: 0,
      idBytes: 0,
    },
    lookup: { kvReads: 0, rowsRead: 0, logLines: 0 },
    whiteFlag: { rowsRead: 0 },
  };
  const rate = { ...DEFAULT_RATE, seconds: 10, lookups: 100, whiteflags: 10 };

  it('multiplies by 259,200 milestones, 3,000 lookups and 300 white flags', () => {
    const milestone = { ...none.milestone, rowsWritten: 100, rowsRead: 1000, kvReads: 2 };
    const usage = usageOf(
      {
        milestone: { ...milestone, kvWrites: 3, logLines: 1 },
        lookup: { kvReads: 2, rowsRead: 5, logLines: 1 },
        whiteFlag: { rowsRead: 40 },
      },
      rate,
    );
    expect(usage).toMatchObject({
      // and a step of the scrub each ten seconds
      rowsWritten: 25_920_000 + 259_200,
      rowsRead: 259_200_000 + 15_000 + 12_000 + 259_200 * 8000,
      kvReads: 518_400 + 6_000,
      kvWrites: 777_600,
      logLines: 259_200 + 3_000 + 300,
      // and one for each minute
      requests: 3_000 + 300 + 43_200,
      objectRequests: 259_200 + 43_200 + 300,
      objectGbSeconds: 331_776,
      // of alarms
      objectRows: 259_200,
    });
  });

  it('reckons a day of milestones, and five of IDs', () => {
    const milestone = { ...none.milestone, packBytes: 1000, idBytes: 10 };
    expect(usageOf({ ...none, milestone }, rate).d1Bytes).toBe(8640 * 1050);
  });
});

it.each([
  '',
  'blocks',
  'blocks=ten',
  'blocks=501',
  'blocks=60,blocks=60',
  'seconds=2.5',
  'lookups=1e6',
  'toString=1',
  'blocks=10,transactions=10',
  'transactions=4,nfts=5',
])('the rate "%s" is refused', (text) => {
  expect(() => parseRate(text)).toThrow(UsageError);
});
