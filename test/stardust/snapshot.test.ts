/**
 * Snapshot files (TIP-0035; docs/snapshot-format.md): the reference's own, made-up ones of every
 * shape, and damaged ones.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifyZip215 } from '../../src/stardust/crypto/ed25519.ts';
import { concatBytes, fromHex, toHex } from '../../src/stardust/encoding/bytes.ts';
import type { MilestoneKeys } from '../../src/stardust/milestone-keys.ts';
import { SnapshotRefusal } from '../../src/stardust/snapshot/byte-stream.ts';
import {
  mergeSnapshot,
  type SnapshotOptions,
  type SnapshotProgress,
  type SnapshotSummary,
} from '../../src/stardust/snapshot/read-snapshot.ts';
import { stateHash } from '../../src/stardust/state-hash.ts';
import {
  lastIndex,
  ledgerAt,
  milestoneAt,
  type Network,
  parametersAt,
  treasuryAt,
  ZERO_ID,
} from '../support/network/network-model.ts';
import {
  deltaSnapshot,
  fullSnapshot,
  solidEntryPoints,
} from '../support/network/network-snapshot.ts';
import {
  GENESIS_INDEX,
  type MilestonePlan,
  madeNetwork,
} from '../support/snapshot/made-network.ts';
import { fileOf, MemorySink } from '../support/snapshot/memory-sink.ts';

function recorded(name: string): Uint8Array {
  return new Uint8Array(
    gunzipSync(readFileSync(join(import.meta.dirname, '../vectors', `${name}.bin.gz`))),
  );
}

/** A full snapshot and the delta behind it. */
const both = (prefix: string): [Uint8Array, Uint8Array] => [
  recorded(`${prefix}full_snapshot`),
  recorded(`${prefix}delta_snapshot`),
];

const SHIMMER = 'shimmer/full_target17338_ledger17338';

async function load(
  full: Uint8Array,
  delta?: Uint8Array,
  options: SnapshotOptions = {},
  sink = new MemorySink(),
): Promise<{ summary: SnapshotSummary; sink: MemorySink; hash: string }> {
  const summary = await mergeSnapshot(fileOf(full), delta && fileOf(delta), sink, options);
  const hash = await stateHash(summary.ledgerIndex, summary.treasury, sink.sorted);
  return { summary, sink, hash: hash.toHex() };
}

/** Why the files are refused. */
async function refusal(
  full: Uint8Array,
  delta?: Uint8Array,
  options: SnapshotOptions = {},
): Promise<string> {
  try {
    await load(full, delta, options);
  } catch (error) {
    if (error instanceof SnapshotRefusal) return error.message;
    throw error;
  }
  return 'not refused';
}

const edited = (bytes: Uint8Array, at: number, ...values: number[]) => {
  const copy = bytes.slice();
  copy.set(values, at);
  return copy;
};

describe('snapshots of the reference', () => {
  it.each<[string, number, [outputs: number, nfts: number, entryPoints: number], bigint]>([
    ['snapshots/full_snapshot', 0, [1, 0, 1], 0n],
    ['snapshots/migration_full_snapshot', 0, [1, 0, 1], 10_000_000_000n],
    ['network-a/full_snapshot', 0, [1, 0, 1], 500_000_000n],
    ['network-c/full_snapshot', 0, [1, 0, 1], 500_000_000n],
    [SHIMMER, 17338, [23, 2, 48], 1_813_522_672_040_357n],
  ])('%s loads at milestone %i', async (full, index, counts, treasury) => {
    const { summary, sink } = await load(recorded(full));
    expect([summary.ledgerIndex, summary.treasury.amount]).toEqual([index, treasury]);
    expect([summary.outputs, summary.nfts, summary.solidEntryPoints.length]).toEqual(counts);
    expect([sink.outputs.size, sink.milestones.size]).toEqual([counts[0], 0]);
  });

  it('network-a: the delta leads to milestone 81 and its recorded state hash', async () => {
    const { summary, sink, hash } = await load(...both('network-a/'));
    expect(hash).toBe('987f45404baa75ebb31617db0dda5458367b1da1a1bc2859a860c2498e796b9e');
    expect([summary.ledgerIndex, summary.genesisIndex]).toEqual([81, 0]);
    expect([summary.outputs, summary.nfts]).toEqual([406, 60]);
    expect([...sink.milestones.keys()]).toEqual(Array.from({ length: 81 }, (_, i) => i + 1));
    expect(toHex(summary.milestoneId)).toBe(toHex(sink.milestones.get(81)!.id));
    expect(summary.timestamp).toBe(1_795_231_178);
    expect(summary.currentParameters.networkName).toBe('stardust_sample1');
  });

  it('network-c: the delta leads to milestone 41, its state hash and parameters', async () => {
    const { summary, hash } = await load(...both('network-c/'));
    expect(hash).toBe('3a0ad6b5f3b8b8018be60c3e0c2247c2fa5b9745ae5fac1e7f5470cf0e9dcd7d');
    expect(summary.parameters.map((option) => option.targetMilestoneIndex)).toEqual([0, 17, 31]);
    expect(summary.currentParameters.belowMaxDepth).toBe(19);
    expect(summary.currentParameters.rentStructure.vByteCost).toBe(248);
  });

  it('shimmer: knows milestone, parameters and NFTs', async () => {
    const { summary, sink } = await load(recorded(SHIMMER));
    expect(toHex(summary.milestoneId)).toBe(
      '0xe339ae0bac60cc7910d61f4086a164cfcc6500b357415a2719c3f89959967cf5',
    );
    expect([summary.timestamp, summary.genesisIndex]).toEqual([1_664_385_896, 0]);
    expect(summary.currentParameters).toMatchObject({
      networkName: 'shimmer',
      tokenSupply: 1_813_620_509_061_365n,
    });
    for (const { value, chainId } of sink.sorted)
      expect(chainId === undefined).toBe(value.type === 3);
  });

  // made by hand for HORNET's integration test: previous IDs and timestamps are all zero
  it('snapshot_full_snapshot, snapshot_delta_snapshot: refused, links missing', async () => {
    const [full, delta] = both('snapshots/snapshot_');
    const reason =
      'full snapshot, offset 1345: E.3: milestone 3 does not name milestone 2 as the one before it';
    expect(await refusal(full)).toBe(reason);
    expect(await refusal(full, delta)).toBe(reason);
  });

  it('snapshot_full_snapshot: rolls back to its target where links do not matter', async () => {
    const full = recorded('snapshots/snapshot_full_snapshot');
    const { summary, sink } = await load(full, undefined, { unlinked: true });
    expect([summary.ledgerIndex, summary.outputs, sink.milestones.size]).toEqual([1, 2, 0]);
    expect(sink.sorted.map(({ outputId }) => outputId[0])).toEqual([1, 2]);
  });

  // "the final ms diff outputs the 40'000'000 tokens to an output with all 9s as its ID (deducting
  // 10'000'000 from the treasury)": snapshot_test.go
  it('snapshot_full_snapshot, snapshot_delta_snapshot: load without links as HORNET does', async () => {
    const { summary, sink } = await load(...both('snapshots/snapshot_'), { unlinked: true });
    expect(summary.ledgerIndex).toBe(5);
    expect(sink.sorted.map(({ outputId, value }) => [outputId.toHex(), value.amount])).toEqual([
      ['09'.repeat(34), 40_000_000n],
    ]);
    expect(summary.treasury.amount).toBe(2_779_530_283_277_761n - 40_000_000n);
    expect([...sink.milestones.keys()]).toEqual([2, 3, 4, 5]);
  });

  it('refuses files that do not belong together', async () => {
    const [a, c] = [recorded('network-a/full_snapshot'), recorded('network-c/delta_snapshot')];
    expect(await refusal(recorded(SHIMMER), c)).toMatch(
      /^delta snapshot, offset 10: it continues milestone 0x0000/,
    );
    // both begin at genesis, which has no ID
    expect(await refusal(a, c)).toMatch(
      /^delta snapshot, offset 172300: E.5: 327 outputs hold .* not the token supply/,
    );
    expect(await refusal(c)).toBe('full snapshot, offset 1: this is a delta snapshot');
    expect(await refusal(a, a)).toBe('delta snapshot, offset 1: this is a full snapshot');
  });
});

describe('signatures', () => {
  const publicKeys = [
    '0xed3c3f1a319ff4e909cf2771d79fece0ac9bd9fd2ee49ea6c0885c9cb3b1248c',
    '0xf6752f5f46a53364e2ee9c4d662d762a81efd51010282a75cd6bd03f28ef349c',
  ].map(fromHex);
  const by = (keys: MilestoneKeys['keys'], threshold: number): SnapshotOptions => ({
    signers: { keys: { keys, threshold }, verify: async (...args) => verifyZip215(...args) },
  });
  const keys = publicKeys.map((publicKey) => ({ publicKey, first: 0, last: 0 }));
  const [full, delta] = both('network-a/');

  it('are those of the network', async () => {
    expect((await load(full, delta, by(keys, 2))).summary.ledgerIndex).toBe(81);
  });

  it('by other keys are refused', async () => {
    const stopped = keys.with(1, { ...keys[1]!, last: 40 });
    expect(await refusal(full, delta, by(stopped, 1))).toMatch(
      /milestone 41 is not properly signed, M-3: signed by 0xf6752f/,
    );
    expect(await refusal(full, delta, by(keys, 3))).toMatch(
      /milestone 1 is not properly signed, M-2: 2 keys may sign/,
    );
  });

  it('are verified in rolled back diffs too', async () => {
    const made = madeNetwork([plan({}), plan({}), plan({})]);
    const file = fullOf(made, GENESIS_INDEX + 1, GENESIS_INDEX + 3, 0);
    expect(await refusal(file, undefined, by(keys, 2))).toMatch(
      /milestone 10 is not properly signed/,
    );
  });
});

function plan(fields: Partial<MilestonePlan>): MilestonePlan {
  return { consume: 1, create: 2, transient: 0, migrate: 0n, announce: undefined, ...fields };
}

const fullOf = (network: Network, target: number, ledger: number, moreDiffs: number) =>
  concatBytes(...fullSnapshot(network, { target, ledger, moreDiffs }));
const deltaOf = (network: Network, from: number, target: number) =>
  concatBytes(...deltaSnapshot(network, from, target));

const anyPlan: fc.Arbitrary<MilestonePlan> = fc.record({
  consume: fc.nat(4),
  create: fc.nat(5),
  transient: fc.nat(2),
  migrate: fc.constantFrom(0n, 0n, 1_000_000n),
  announce: fc.constantFrom(undefined, undefined, 1, 3, 6),
});

/** A network, and the milestones that snapshots of it are taken at. */
const anyCase = fc.record({
  plans: fc.array(anyPlan, { minLength: 1, maxLength: 14 }),
  cuts: fc.tuple(fc.nat(1000), fc.nat(1000), fc.nat(1000)),
  extra: fc.nat(14),
  chunkLength: fc.integer({ min: 1, max: 3000 }),
});

describe('made-up networks', () => {
  /** Target ≤ ledger, and target ≤ where the delta leads to. */
  function cut(network: Network, [a, b, c]: readonly [number, number, number]) {
    const within = (from: number, n: number) => from + (n % (lastIndex(network) - from + 1));
    const target = within(GENESIS_INDEX, a);
    return { target, ledger: within(target, b), end: within(target, c) };
  }

  it.each([
    ['full', false],
    ['full and delta', true],
  ])('%s: the ledger that was written is read', async (_, withDelta) => {
    let missingParameters = 0;
    await fc.assert(
      fc.asyncProperty(anyCase, async ({ plans, cuts, extra, chunkLength }) => {
        const network = madeNetwork(plans);
        const { target, ledger, end: last } = cut(network, cuts);
        const full = fileOf(fullOf(network, target, ledger, extra), chunkLength);
        const delta =
          withDelta && last > target
            ? fileOf(deltaOf(network, target, last), chunkLength)
            : undefined;
        const end = delta ? last : target;
        const due = milestoneAt(network, end) ?? network.genesis;
        const { since, parameters, pending } = parametersAt(network, end);
        const sink = new MemorySink();
        let summary: SnapshotSummary;
        try {
          summary = await mergeSnapshot(full, delta, sink);
        } catch (error) {
          // If parameters came into force between target and ledger, the file holds the later ones.
          // It holds the older ones only by chance.
          expect(String(error)).toMatch(
            /protocol parameters in force at milestone \d+ are not in the file/,
          );
          expect(parametersAt(network, ledger).since).toBeGreaterThan(since);
          missingParameters++;
          return;
        }
        expect([summary.ledgerIndex, summary.timestamp, summary.genesisIndex]).toEqual([
          end,
          due.timestamp,
          GENESIS_INDEX,
        ]);
        expect(toHex(summary.milestoneId)).toBe('id' in due ? due.id : ZERO_ID);
        expect(summary.treasury).toEqual(treasuryAt(network, end));
        expect(summary.solidEntryPoints).toEqual(solidEntryPoints(network, end));
        const outputs = ledgerAt(network, end).map(({ spent: _, ...output }) => output);
        expect(summary.outputs).toBe(outputs.length);
        const read = sink.sorted.map(
          ({ value: _, chainId: __, file: ___, offset: ____, ...output }) => output,
        );
        expect(read).toEqual(outputs);
        expect(summary.nfts).toBe(
          [...sink.outputs.values()].filter(({ value }) => value.type === 6).length,
        );

        const known = summary.parameters.map((option) => option.targetMilestoneIndex);
        const all = network.milestones.flatMap(({ index, announced }) =>
          announced && index <= end ? [announced.targetMilestoneIndex] : [],
        );
        expect([GENESIS_INDEX, ...all]).toEqual(expect.arrayContaining(known));
        // The file holds what was announced within the extra diffs. Here parameters come into force
        // at most 6 milestones later.
        if (extra >= 6) {
          expect(summary.currentParameters).toEqual(parameters);
          const targets = pending.map((option) => option.targetMilestoneIndex);
          expect(known).toEqual(expect.arrayContaining(targets));
        }

        const first = Math.max(GENESIS_INDEX + 1, target + 1 - extra);
        const kept = network.milestones.filter(({ index }) => index >= first && index <= end);
        expect([...sink.milestones.keys()].sort((a, b) => a - b)).toEqual(
          kept.map(({ index }) => index),
        );
        for (const { index, payload } of kept)
          expect(sink.milestones.get(index)!.payload).toEqual(payload);
      }),
      { numRuns: 150 },
    );
    // about a quarter of the full snapshots is refused, so most cases do test something
    expect(missingParameters).toBeLessThan(75);
  });

  const network = madeNetwork([
    plan({ create: 400 }),
    plan({ consume: 300, create: 230, transient: 30 }),
    // the delta begins here: the next milestone is the last operation of a batch
    plan({ consume: 100, create: 898, announce: 3 }),
    plan({ consume: 700, create: 10, migrate: 1_000_000n }),
    plan({ consume: 5, create: 500 }),
  ]);
  const full = fullOf(network, 9, 11, 2);
  const delta = deltaOf(network, 9, 12);

  // E.3, as the follower has it: of genesis only the index counts
  it('the first milestone names none, whatever ID and time a header gives genesis', async () => {
    const late = (file: Uint8Array) => edited(file, 13, 0xff, 1);
    const begun = fullOf(network, GENESIS_INDEX, GENESIS_INDEX, 0);
    const on = edited(deltaOf(network, GENESIS_INDEX, 9), 10, 1);
    expect((await load(late(begun), on)).summary.ledgerIndex).toBe(9);
    const rolledBack = late(fullOf(network, GENESIS_INDEX, 9, 0));
    expect((await load(rolledBack)).summary.ledgerIndex).toBe(GENESIS_INDEX);
    expect((await load(rolledBack, on)).summary.ledgerIndex).toBe(9);
    // the previous ID of the delta's first milestone
    expect(await refusal(late(begun), edited(on, 77, 1))).toMatch(/^delta snapshot.* E\.3: /);
  });

  it('an interrupted import goes on after its last batch', async () => {
    const whole = await load(full, delta);
    expect(whole.sink.changes).toBeGreaterThan(4);
    for (let dieAfter = 0; dieAfter < whole.sink.changes; dieAfter++) {
      const sink = new MemorySink();
      sink.dieAfter = dieAfter;
      await expect(load(full, delta, {}, sink)).rejects.toThrow('killed');
      const { hash, summary } = await load(full, delta, {}, sink);
      expect(hash).toBe(whole.hash);
      expect(summary).toEqual(whole.summary);
      expect(sink.changes).toBe(whole.sink.changes);
    }
  });

  it('an import of other files begins anew', async () => {
    const sink = new MemorySink();
    sink.dieAfter = 3;
    await expect(load(full, delta, {}, sink)).rejects.toThrow('killed');
    const { summary } = await load(full, undefined, {}, sink);
    expect(sink.outputs.size).toBe(summary.outputs);
  });

  it('a sink that claims more operations than the files have is an error', async () => {
    const sink = new MemorySink();
    sink.begin = async () => 1_000_000;
    await expect(load(full, delta, {}, sink)).rejects.toThrow(
      'the sink went on from operation 1000000',
    );
  });

  it('progress is told, to the end of both files', async () => {
    const steps: SnapshotProgress[] = [];
    await load(full, delta, { onProgress: (step) => steps.push(step) });
    for (const [file, { length }] of [['full', full] as const, ['delta', delta] as const]) {
      const offsets = steps.filter((step) => step.file === file).map((step) => step.offset);
      expect(offsets.length).toBeGreaterThan(2);
      expect(offsets).toEqual(offsets.toSorted((a, b) => a - b));
      expect(offsets.at(-1)).toBe(length);
    }
  });

  it('files are released, whatever happens', async () => {
    for (const bytes of [full, edited(full, 400, 0xff, 0xff)]) {
      let open = 0;
      const watched = (content: Uint8Array) => ({
        size: content.length,
        chunks: (async function* () {
          open++;
          try {
            yield content.subarray(0, 300);
            yield content.subarray(300);
          } finally {
            open--;
          }
        })(),
      });
      await mergeSnapshot(watched(bytes), watched(delta), new MemorySink()).catch(() => {});
      expect(open).toBe(0);
    }
  });
});

/** Of the bytes: a prime, so that fields of any width are cut everywhere. */
const STEP = process.env.SLOW ? 1 : 5;
const FLIPS = process.env.SLOW ? 1000 : 300;

describe('damage', () => {
  // target 9, ledger 11, two extra diffs; on to 12
  const network = madeNetwork([
    plan({}),
    plan({ consume: 2, transient: 1 }),
    plan({ consume: 2, create: 3, migrate: 1_000_000n }),
    plan({ announce: 3 }),
    plan({ consume: 1, create: 1 }),
  ]);
  const full = fullOf(network, 9, 11, 2);
  const delta = deltaOf(network, 9, 12);
  // header (docs/snapshot-format.md#full-header)
  const counts = 92 + (full[90]! | (full[91]! << 8));
  const outputs = counts + 14;

  it('none: the files that the cases below damage load', async () => {
    expect((await load(full)).summary.ledgerIndex).toBe(9);
    expect((await load(full, delta)).summary.ledgerIndex).toBe(12);
  });

  const inFull = (at: number, ...values: number[]) => edited(full, at, ...values);
  const inDelta = (at: number, ...values: number[]) => edited(delta, at, ...values);
  const inTarget = (at: number, ...values: number[]) =>
    edited(fullOf(network, 9, 9, 2), at, ...values);
  const u32 = (value: number) => new Uint8Array(Uint32Array.of(value).buffer);

  const html = new TextEncoder().encode('<html>not found</html>');
  const noCounts = new Uint8Array(14);
  const any = undefined;
  const end = full.length;

  it.each<[what: string, bytes: Uint8Array, offset: number | undefined, reason: string]>([
    ['an empty file', new Uint8Array(0), 0, 'the file is empty'],
    ['another format version', inFull(0, 1), 0, 'format version 1, only 2 is known'],
    ['text', html, 0, 'format version 60'],
    ['another type', inFull(1, 7), 1, 'this is type 7'],
    ['an early target', inFull(6, 1), any, 'target 1 and ledger 11 do not ascend'],
    ['an early ledger', inFull(46, 8), any, 'target 9 and ledger 8 do not ascend'],
    ['another ledger', inFull(46, 14), counts, '4 milestone diffs do not fit ledger 14, target 9'],
    ['other parameters', inFull(92, 0), 92, 'protocol parameters: A.10: type 0 where 1 is due'],
    ['parameters too short', inFull(98, 1), 92, 'protocol parameters: A.0:'],
    ['another protocol version', inFull(97, 3), end, 'G: protocol version 3 is in force'],
    ['too many outputs', inFull(counts + 5, 1), counts, 'truncated: 136'],
    ['no diffs', inFull(counts + 8, 0), counts, '0 milestone diffs do not fit'],
    ['a diff of genesis', inFull(counts + 8, 5), counts, '5 milestone diffs do not fit'],
    ['no counts at all', inFull(counts, ...noCounts), any, 'milestone diffs do not fit'],
    [
      'no entry points',
      inFull(counts + 12, 0),
      counts + 12,
      'no solid entry points: whoever wrote',
    ],
    ['one entry point less', inFull(counts + 12, 1), end - 32, 'more bytes follow'],
    ['one byte more', concatBytes(full, Uint8Array.of(0)), end, 'more bytes follow'],
    ['an endless output', inFull(outputs + 74, 1, 128), outputs, 'an output of 32769 bytes'],
    ['an output of no known type', inFull(outputs + 78, 2), outputs, 'an output: C-12: type 2'],
    ['an output from the future', inFull(outputs + 66, 12), outputs, '1.4: an output booked after'],
    ['another amount', inFull(outputs + 79, 1), end, 'E.5: '],
    [
      'another treasury',
      inFull(82, 1),
      any,
      '1.5: the treasury in the diff of milestone 10 is not the one',
    ],
    [
      'another target',
      inFull(20, 1),
      any,
      'E.3: milestone 10 does not name milestone 9 as the one before it',
    ],
    [
      'another target timestamp',
      inFull(10, 0),
      any,
      '1.1: milestone 9 is not the one that the header names',
    ],
    ['another target, not rolled back to', inTarget(20, 1), any, '1.1: milestone 9 is not the one'],
    [
      'a target as late as the next',
      inFull(10, ...u32(milestoneAt(network, 10)!.timestamp)),
      any,
      'E.3: milestone 10 is not later than milestone 9',
    ],
    [
      'a target later than the next',
      inFull(13, 0xff),
      any,
      'E.3: milestone 10 is not later than milestone 9',
    ],
  ])('%s is refused', async (_, bytes, offset, reason) => {
    expect(await refusal(bytes)).toContain(
      offset === undefined ? reason : `offset ${offset}: ${reason}`,
    );
  });

  const spent = 64 + (delta[60]! | (delta[61]! << 8));
  // diff of milestone 10 (docs/snapshot-format.md#milestone-diff)
  const created = spent + 44;
  const lengthAt = (at: number) => new DataView(delta.buffer).getUint32(at, true);
  let consumed = created + 4;
  for (let i = 0; i < lengthAt(spent + 40); i++) consumed += 78 + lengthAt(consumed - 4 + 74);
  const noPoints = edited(delta.slice(0, -64), 54, 0);

  it.each<[what: string, bytes: Uint8Array, offset: number | undefined, reason: string]>([
    ['another length', inDelta(42, 1), 42, ''],
    ['one byte more', concatBytes(delta, Uint8Array.of(0)), 42, ''],
    [
      'another target',
      inDelta(2, 13),
      50,
      '3 milestone diffs do not lead from milestone 9 to milestone 13',
    ],
    ['another full snapshot', inDelta(20, 1), 10, 'it continues milestone 0x'],
    [
      'another target timestamp',
      inDelta(6, 0),
      undefined,
      '1.2: its diffs lead to milestone 12, not to the target',
    ],
    ['no entry points', noPoints, 54, 'no solid entry points'],
    ['a longer diff', inDelta(56, delta[56]! + 1), 56, 'the diff of milestone 10'],
    ['an endless milestone', inDelta(60, 1, 128), 64, 'a milestone of 32769 bytes'],
    [
      'another milestone',
      inDelta(68, 11),
      56,
      '1.5: the diff of milestone 11 where milestone 10 is due',
    ],
    ['another treasury spent', inDelta(spent, 9), 56, '1.5: the treasury'],
    [
      'a created output of before',
      inDelta(created + 66, 9),
      created,
      'an output that milestone 10',
    ],
    ['one of another time', inDelta(created + 70, 0xff), created, 'an output that milestone 10'],
    [
      'a consumed output of later',
      inDelta(consumed + 66, 11),
      consumed,
      'an output that milestone 10 consumed says it was booked later',
    ],
    ['one consumed output more', inDelta(consumed - 4, lengthAt(consumed - 4) + 1), any, ' output'],
  ])('%s in a delta is refused', async (_, bytes, offset, reason) => {
    const refused = await refusal(full, bytes);
    expect(refused).toContain(offset === undefined ? reason : `offset ${offset}: ${reason}`);
  });

  it('diffs of a full snapshot out of order are refused', async () => {
    const records = [...fullSnapshot(network, { target: 9, ledger: 11, moreDiffs: 2 })];
    const diffs = 1 + ledgerAt(network, 11).length;
    [records[diffs], records[diffs + 1]] = [records[diffs + 1]!, records[diffs]!];
    expect(await refusal(concatBytes(...records))).toMatch(
      /1.5: the diff of milestone 10 where milestone 11 is due/,
    );
  });

  it.each([
    { what: 'full', bytes: full, before: [] },
    { what: 'delta', bytes: delta, before: [full] },
  ])(
    'a $what snapshot cut off anywhere is refused, where it ends or before',
    async ({ bytes, before }) => {
      for (let length = 0; length < bytes.length; length += STEP) {
        // once as it is, once as a file that ends too early
        for (const size of [length, bytes.length]) {
          const cut = fileOf(bytes.subarray(0, length), 1000, size);
          const [base, continued] = [...before.map((whole) => fileOf(whole)), cut];
          const read = mergeSnapshot(base!, continued, new MemorySink());
          const error = await read.catch((reason) => reason);
          expect(error).toBeInstanceOf(SnapshotRefusal);
          expect(error.offset).toBeLessThanOrEqual(length);
          if (size === bytes.length)
            expect(error.message).toMatch(/the file ends within .*, \d+ bytes too early/);
        }
      }
    },
  );

  it('flipped bytes never do anything but load or be refused', async () => {
    const sinkReasons = /is (there already|not there)$/;
    const verdicts = { loaded: 0, refused: 0 };
    const flips = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })), {
      minLength: 1,
      maxLength: 4,
    });
    await fc.assert(
      fc.asyncProperty(flips, fc.boolean(), fc.boolean(), async (changes, inDelta, unlinked) => {
        const bytes = (inDelta ? delta : full).slice();
        for (const [at, mask] of changes) bytes[at % bytes.length]! ^= mask;
        const files = inDelta ? ([full, bytes] as const) : ([bytes, delta] as const);
        try {
          await load(files[0], files[1], { unlinked });
          verdicts.loaded++;
        } catch (error) {
          if (!(error instanceof SnapshotRefusal)) expect(String(error)).toMatch(sinkReasons);
          verdicts.refused++;
        }
      }),
      { numRuns: FLIPS },
    );
    expect(verdicts.refused).toBeGreaterThan(verdicts.loaded);
  });
});
