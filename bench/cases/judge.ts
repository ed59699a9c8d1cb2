/**
 * Verdicts on the largest transactions, 128 inputs and 128 outputs (docs/protocol.md D.2), in this
 * process. Signatures are verified before and not timed.
 */
import { strict as assert } from 'node:assert';
import { judgeAt, judgeOverTime } from '../../src/stardust/semantics/judge.ts';
import { ConflictReason } from '../../src/stardust/semantics/verdict.ts';
import type { Output } from '../../src/stardust/wire/output.ts';
import { keyPair } from '../../test/support/payloads/keys.ts';
import {
  alias,
  basic,
  depositReturn,
  expiration,
  foundry,
  idOf,
  metadata,
  nft,
  sender,
  timelock,
  tokens,
} from '../../test/support/payloads/outputs.ts';
import {
  byAlias,
  judged,
  type PlannedInput,
  referTo,
  type TransactionPlan,
} from '../../test/support/payloads/transactions.ts';
import type { BenchCase } from '../case.ts';
import { median } from '../tools/measure.ts';

/** A piece of work in this process. */
interface TimedWork {
  name: string;
  /** The most that one run may take once warm, in milliseconds. */
  limit: number;
  /** Gets everything ready, asserts that what is to be timed is right, and returns it. */
  prepare(): () => unknown;
}

/** The most inputs and outputs of a transaction. */
const MOST = 128;
const NOW = 1000;

const alice = keyPair('alice');
const bob = keyPair('bob');
const aliasId = idOf('alias');

/** Alice's inputs: the first signed, the others referring to it. */
function owned(outputs: readonly Output[]): PlannedInput[] {
  return outputs.map((output, i) => ({ output, unlock: i === 0 ? alice : referTo(0) }));
}

const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));

const plain: TransactionPlan = {
  inputs: owned(times(MOST, () => basic(alice))),
  outputs: times(MOST, (i) => basic(i % 2 === 0 ? alice : bob)),
};

/**
 * An alias, 40 foundries that mint, 20 NFTs, storage deposits to return, senders, 64 native tokens.
 */
function mixed(): TransactionPlan {
  const serials = times(40, (i) => i + 1);
  const foreign = times(24, (i) => tokens(idOf('other alias'), 10n, i + 1));
  const nfts = times(20, (i) =>
    nft(alice, { nftId: idOf(`nft ${i}`), immutable: [metadata([i])] }),
  );
  const state = (stateIndex: number) =>
    alias(alice, bob, { aliasId, stateIndex, foundryCounter: 40 });
  const held = serials.map((serialNumber) => tokens(aliasId, 5n, serialNumber));
  const minted = serials.map((serialNumber) => tokens(aliasId, 7n, serialNumber));
  const rest = MOST - 1 - 40 - 20;
  const lent = depositReturn(bob, 1000n);
  return {
    inputs: [
      { output: state(1), unlock: alice },
      ...serials.map((serialNumber) => ({
        output: foundry(aliasId, { serialNumber, minted: 5n }),
        unlock: byAlias(0),
      })),
      ...nfts.map((output) => ({ output, unlock: referTo(0) })),
      ...times(rest, (i) => ({
        output: basic(alice, {
          conditions: [lent],
          tokens: i === 0 ? held : i === 1 ? foreign : [],
          amount: 2_000_000n,
        }),
        unlock: referTo(0),
      })),
    ],
    outputs: [
      state(2),
      ...serials.map((serialNumber) => foundry(aliasId, { serialNumber, minted: 7n })),
      ...nfts,
      basic(bob, { amount: BigInt(rest) * 1000n }),
      basic(alice, {
        amount: 4_000_000n - BigInt(rest) * 1000n,
        tokens: [...minted, ...foreign],
      }),
      ...times(rest - 2, () => basic(alice, { amount: 2_000_000n, features: [sender(alice)] })),
    ],
  };
}

/**
 * 256 different times: every input is timelocked and expires. Only the last one expires to somebody
 * else, so that all of them have to be looked at.
 */
const timed: TransactionPlan = {
  inputs: owned(
    times(MOST, (i) =>
      basic(alice, {
        conditions: [timelock(i + 1), expiration(i === MOST - 1 ? bob : alice, NOW + 1 + i)],
      }),
    ),
  ),
  outputs: plain.outputs,
};

function judging(name: string, plan: TransactionPlan): TimedWork {
  return {
    name,
    limit: 5,
    prepare: () => {
      const { tx, consumed } = judged(plan);
      assert.equal(tx.value.essence.inputs.length, MOST);
      assert.equal(tx.value.essence.outputs.length, MOST);
      assert.equal(judgeAt(tx, consumed, NOW), ConflictReason.None);
      return () => judgeAt(tx, consumed, NOW);
    },
  };
}

const works: readonly TimedWork[] = [
  judging('judge 128 basic inputs, 128 basic outputs', plain),
  judging('judge 128 inputs, 128 outputs of all kinds', mixed()),
  {
    name: 'judge 128 inputs over time, 256 different times in them',
    limit: 20,
    prepare: () => {
      const { tx, consumed } = judged(timed);
      const { TimelockNotExpired, None, InvalidInputUnlock } = ConflictReason;
      const steps = [
        { from: 0, reason: TimelockNotExpired },
        { from: MOST, reason: None },
        { from: NOW + MOST, reason: InvalidInputUnlock },
      ];
      assert.deepEqual(judgeOverTime(tx, consumed), steps);
      return () => judgeOverTime(tx, consumed);
    },
  },
];

/** Runs before the first one that is timed, and runs that are timed. */
const WARM_UP = 100;
const RUNS = 201;

export const judgeCases: readonly BenchCase[] = works.map(({ name, limit, prepare }) => ({
  name,
  about: 'All rules but the signatures, warm; the verdict is asserted before.',
  async run({ report }) {
    const work = prepare();
    for (let i = 0; i < WARM_UP; i++) work();
    const times: number[] = [];
    for (let i = 0; i < RUNS; i++) {
      const start = performance.now();
      work();
      times.push(performance.now() - start);
    }
    report({ name, value: median(times), unit: 'ms', target: { most: limit } });
  },
}));
