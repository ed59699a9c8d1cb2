/**
 * docs/protocol.md, H.3, H-49 to H-58: ledger lookup and order of blocks, by the product and by the
 * oracle.
 */
import { describe, expect, it } from 'vitest';
import type { WhiteFlagCase } from '../../../cli/conformance/white-flag.ts';
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { encode } from '../../../src/stardust/encoding/codec.ts';
import {
  blockId,
  migratedOutputId,
  outputBytes,
  outputId,
  transactionId,
} from '../../../src/stardust/wire/ids.ts';
import { type Transaction, transaction } from '../../../src/stardust/wire/transaction.ts';
import { whiteFlag } from '../../support/oracle/oracle.ts';
import { bothWhiteFlags, parsedBlocks } from '../../support/oracle/product-and-oracle.ts';
import { blockBytes } from '../../support/payloads/blocks.ts';
import { keyPair } from '../../support/payloads/keys.ts';
import { basic, idOf, ZERO } from '../../support/payloads/outputs.ts';
import {
  inputId,
  type PlannedInput,
  referTo,
  transactionOf,
} from '../../support/payloads/transactions.ts';

const alice = keyPair('alice');

/** An output of alice's, by what its ID is made from. */
const coin = (id: Uint8Array): PlannedInput => ({ output: basic(alice), unlock: alice, id });
const first = coin(inputId(0));
const second = coin(inputId(1));

/** Spends coins, all to alice. `to` tells transactions apart. */
function spend(coins: readonly PlannedInput[], to = 'alice'): Transaction {
  const inputs = coins.map((each, i) => (i === 0 ? each : { ...each, unlock: referTo(0) }));
  return transactionOf({
    inputs,
    outputs: [basic(keyPair(to).address, { amount: BigInt(coins.length) * 1_000_000n })],
  });
}

const idOfTransaction = (value: Transaction) => transactionId(encode(transaction, value));

/** The coin that a transaction makes. */
const coinOf = (value: Transaction) => coin(outputId(idOfTransaction(value), 0));

const carry = (payload: Transaction | undefined, ...parents: Uint8Array[]) =>
  blockBytes({ payload, parents: parents.length === 0 ? [ZERO] : parents.map(blockId) });

/** The first milestone over blocks; parents are given as blocks too. */
function over(blocks: Uint8Array[], parents: Uint8Array[], given: Partial<WhiteFlagCase> = {}) {
  return bothWhiteFlags({
    index: 1,
    timestamp: 1000,
    parents: parents.map((block) => toHex(blockId(block))),
    previousMilestoneId: toHex(ZERO),
    genesisMilestoneIndex: 0,
    blocks: parsedBlocks(...blocks),
    unspent: new Map([first, second].map(({ id, output }) => [toHex(id!), outputBytes(output)])),
    spent: new Set(),
    ...given,
  });
}

const reasonsOf = ({ order }: Awaited<ReturnType<typeof over>>) =>
  order.map(({ blockId, conflictReason }) => [blockId, conflictReason]);
const verdicts = async (...args: Parameters<typeof over>) => reasonsOf(await over(...args));
const named = (block: Uint8Array, reason = 0) => [toHex(blockId(block)), reason];

describe('H.3 ledger lookup', () => {
  const unspent = new Map([[toHex(first.id!), outputBytes(first.output)]]);
  const spent = new Set([toHex(second.id!)]);
  const unknown = coin(inputId(2));

  it('H-49 reasons: spent earlier 1, spent in this milestone 2, unknown 3', async () => {
    const a = carry(spend([first]));
    const b = carry(spend([first], 'bob'), a);
    const c = carry(spend([second]), b);
    const d = carry(spend([unknown]), c);
    const due = [named(a), named(b, 2), named(c, 1), named(d, 3)];
    expect(await verdicts([a, b, c, d], [d], { unspent, spent })).toEqual(due);
  });

  it('H-50 the first input that fails decides', async () => {
    const a = carry(spend([unknown, second]));
    const b = carry(spend([second, unknown]), a);
    const c = carry(spend([first]), b);
    const d = carry(spend([unknown, first]), c);
    const e = carry(spend([first, unknown]), d);
    const due = [named(a, 3), named(b, 1), named(c), named(d, 3), named(e, 2)];
    expect(await verdicts([a, b, c, d, e], [e], { unspent, spent })).toEqual(due);
  });

  it('H-51 an output is there once the transaction before has made it', async () => {
    const made = spend([first]);
    const next = spend([coinOf(made)]);
    const a = carry(made);
    const b = carry(next, a);
    expect(await verdicts([a, b], [b])).toEqual([named(a), named(b)]);
    const early = carry(next);
    const late = carry(made, early);
    expect(await verdicts([early, late], [late])).toEqual([named(early, 3), named(late)]);
  });

  it('H-52 a transaction in two blocks is applied once', async () => {
    const payload = spend([first]);
    const a = carry(payload);
    const b = carry(payload, a);
    const { order, inclusionMerkleRoot, appliedMerkleRoot } = await over([a, b], [b]);
    expect(order.map(({ conflictReason }) => conflictReason)).toEqual([0, 2]);
    const alone = await over([a], [a]);
    expect(appliedMerkleRoot).toBe(alone.inclusionMerkleRoot);
    expect(inclusionMerkleRoot).not.toBe(appliedMerkleRoot);
  });

  it('H-53 what depends on a conflicting transaction is unknown', async () => {
    const a = carry(spend([first]));
    const conflicting = spend([first], 'bob');
    const b = carry(conflicting, a);
    const c = carry(spend([coinOf(conflicting)]), b);
    expect(await verdicts([a, b, c], [c])).toEqual([named(a), named(b, 2), named(c, 3)]);
  });

  it('H-54 what the milestone itself migrates is not there yet', async () => {
    const block = carry(spend([coin(migratedOutputId(idOf('this milestone'), 0))]));
    expect(await verdicts([block], [block])).toEqual([named(block, 3)]);
  });
});

describe('H.3 order', () => {
  /** What the oracle knows before the first milestone, and its question about a block. */
  const NOTHING = {
    genesisMilestoneIndex: 0,
    solidEntryPoints: new Set([toHex(ZERO)]),
    referenced: new Set<string>(),
    milestoneBlocks: new Set<string>(),
    outputs: new Map(),
    spent: new Set<string>(),
  };
  const firstOver = (block: Uint8Array) => {
    const parents = [toHex(blockId(block))];
    return { index: 1, timestamp: 1000, parents, previousMilestoneId: toHex(ZERO) };
  };

  it('H-55 parents come as they are given, and repeats change nothing', async () => {
    const a = carry(spend([first]));
    const b = carry(spend([first], 'bob'));
    const forth = await over([a, b], [a, b]);
    const back = await over([a, b], [b, a]);
    expect(reasonsOf(forth)).toEqual([named(a), named(b, 2)]);
    expect(reasonsOf(back)).toEqual([named(b), named(a, 2)]);
    expect(forth.inclusionMerkleRoot).not.toBe(back.inclusionMerkleRoot);
    expect(forth.appliedMerkleRoot).not.toBe(back.appliedMerkleRoot);
    expect(await over([a, b], [a, a, b, a, b])).toEqual(forth);
  });

  it('H-56 a diamond: the parents in order, each block once', async () => {
    const a = carry(undefined);
    const [b, c] = [carry(spend([first]), a), carry(spend([second]), a)].sort((x, y) =>
      Buffer.compare(blockId(x), blockId(y)),
    ) as [Uint8Array, Uint8Array];
    const d = carry(undefined, b, c);
    expect(await verdicts([a, b, c, d], [d])).toEqual([a, b, c, d].map((block) => named(block)));
  });

  it('H-57 a parent below another comes where first met; an unknown one is an error', async () => {
    const a = carry(undefined);
    const b = carry(undefined, a);
    const c = carry(spend([first]), b);
    expect(await verdicts([a, b, c], [c, a])).toEqual([a, b, c].map((block) => named(block)));
    expect(await verdicts([a, b, c], [a, c])).toEqual([a, b, c].map((block) => named(block)));
    const view = { ...NOTHING, blocks: parsedBlocks(a, c) };
    await expect(whiteFlag(view, firstOver(c))).rejects.toThrow(/block not found/);
  });

  it('H-58 the walk stops at referenced blocks and at solid entry points, stored or not', async () => {
    const a = carry(undefined);
    const b = carry(spend([first]), a);
    const c = carry(spend([second]), b);
    // the product's cones hold neither: parents outside the cone end the walk
    const outside = await over([c], [c]);
    expect(outside.order.map(({ blockId }) => blockId)).toEqual([toHex(blockId(c))]);
    const outputs = new Map([[toHex(second.id!), { bytes: outputBytes(second.output) }]]);
    const view = { ...NOTHING, blocks: parsedBlocks(a, b, c), outputs };
    const blockB = new Set([toHex(blockId(b))]);
    const none = new Set<string>();
    for (const stop of [
      { referenced: blockB, solidEntryPoints: none },
      { referenced: none, solidEntryPoints: blockB },
    ]) {
      const { inclusionMerkleRoot } = await whiteFlag({ ...view, ...stop }, firstOver(c));
      expect(inclusionMerkleRoot).toBe(outside.inclusionMerkleRoot);
    }
  });
});
