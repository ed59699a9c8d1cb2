/**
 * The recorded networks: what recorded-network.ts derives from blocks and receipts agrees with what
 * HORNET recorded beside them.
 */
import { describe, expect, it } from 'vitest';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import { milestoneBlock } from '../support/network/blocks.ts';
import {
  changesOf,
  coneOf,
  lastIndex,
  stateHash,
  treasuryAt,
} from '../support/network/network-model.ts';
import { deltaSnapshot, fullSnapshot } from '../support/network/network-snapshot.ts';
import {
  type RecordedName,
  readVector,
  recordedNetwork,
  recordedQuestions,
} from '../support/network/recorded-network.ts';
import { readLines } from '../support/vectors.ts';

/** test/vectors/README.md#recorded-networks */
const stateHashes: { name: RecordedName; index: number; hash: string }[] = [
  {
    name: 'network-a',
    index: 81,
    hash: '987f45404baa75ebb31617db0dda5458367b1da1a1bc2859a860c2498e796b9e',
  },
  {
    name: 'network-a',
    index: 106,
    hash: '577f3d596803a35b2abee1e2b115702092a672ce404186a78f581c32e10884df',
  },
  {
    name: 'network-c',
    index: 41,
    hash: '3a0ad6b5f3b8b8018be60c3e0c2247c2fa5b9745ae5fac1e7f5470cf0e9dcd7d',
  },
  {
    name: 'network-c',
    index: 68,
    hash: '5d8c90245d379f5b3ac95b3428e8f97f7cecd137b21591cbc995c97b64c580e3',
  },
];

it.each(stateHashes)('$name has the recorded state hash at $index', ({ name, index, hash }) => {
  expect(stateHash(recordedNetwork(name), index)).toBe(hash);
});

describe.each<RecordedName>(['network-a', 'network-c'])('%s', (name) => {
  const network = recordedNetwork(name);
  const recorded = readLines(`${name}/milestones.jsonl`) as {
    index: number;
    milestoneId: string;
    created: string[];
    consumed: string[];
  }[];

  it('has milestones with the recorded IDs and changes', () => {
    expect(network.milestones.map(({ index, id }) => ({ index, milestoneId: id }))).toEqual(
      recorded.map(({ index, milestoneId }) => ({ index, milestoneId })),
    );
    for (const { index, created, consumed } of recorded) {
      const changes = changesOf(network, index);
      expect(changes.created.map(({ outputId }) => toHex(outputId))).toEqual(created.sort());
      expect(changes.consumed.map(({ outputId }) => toHex(outputId))).toEqual(consumed.sort());
    }
  });

  it('ends with the recorded treasury', () => {
    const { treasury } = JSON.parse(readVector(`${name}/final.json`).toString()) as {
      treasury: { milestoneId: string; amount: string };
    };
    const last = treasuryAt(network, lastIndex(network));
    expect({ milestoneId: toHex(last.milestoneId), amount: `${last.amount}` }).toEqual(treasury);
  });

  it('has the snapshot of its genesis byte for byte', () => {
    const file = Buffer.concat([...fullSnapshot(network, { target: 0 })]);
    expect(file.equals(readVector(`${name}/full_snapshot.bin`))).toBe(true);
  });

  it('has the recorded delta snapshot, except spending transaction IDs and order', () => {
    const recorded = readVector(`${name}/delta_snapshot.bin`);
    const made = Buffer.concat([...deltaSnapshot(network, 0, recorded.readUInt32LE(2))]);
    const filler = 0x5a;
    const end = Number(recorded.readBigInt64LE(42));
    expect(made.length).toBe(recorded.length);
    expect(made.subarray(0, end).every((byte, i) => byte === recorded[i] || byte === filler)).toBe(
      true,
    );
    const entryPoints = (file: Buffer) =>
      file.subarray(end).toString('hex').match(/.{64}/g)!.sort();
    expect(entryPoints(made)).toEqual(entryPoints(recorded));
  });

  it('has one block of every milestone, and it is the one that its payload determines', () => {
    const byIndex = new Map(network.milestones.map((each) => [each.index, each]));
    const blocks = [...network.blocks.values()].filter(
      ({ milestoneIndex }) => milestoneIndex !== undefined,
    );
    expect(blocks.map(({ milestoneIndex }) => milestoneIndex)).toEqual([...byIndex.keys()]);
    for (const { bytes, milestoneIndex } of blocks) {
      expect(Buffer.from(milestoneBlock(byIndex.get(milestoneIndex!)!.payload)).equals(bytes)).toBe(
        true,
      );
    }
  });

  it('numbers the blocks of a cone from 0 without a gap', () => {
    for (const { index } of network.milestones) {
      const numbers = coneOf(network, index).map(({ referenced }) => referenced!.whiteFlagIndex);
      expect(numbers).toEqual(numbers.map((_, i) => i));
    }
  });

  it('shows a block after parents and earlier milestones, before the one that references it', () => {
    for (const block of network.blocks.values()) {
      for (const parent of block.parents) {
        expect(block.visibleFrom).toBeGreaterThanOrEqual(
          network.blocks.get(parent)?.visibleFrom ?? 0,
        );
      }
      if (block.milestoneIndex !== undefined) expect(block.visibleFrom).toBe(block.milestoneIndex);
      if (block.referenced !== undefined)
        expect(block.visibleFrom).toBeLessThan(block.referenced.index);
    }
  });

  it('shows every parent that was asked about, and shows it unreferenced', () => {
    for (const { name: question, ledgerIndex, request, status } of recordedQuestions(name)) {
      const { parents } = request as { parents?: unknown };
      if (!Array.isArray(parents) || question === 'unknown parent') continue;
      for (const parent of parents) {
        const block = network.blocks.get(parent);
        if (block === undefined) {
          expect(status, question).not.toBe(200);
          continue;
        }
        expect(block.visibleFrom, question).toBeLessThanOrEqual(ledgerIndex);
        expect(block.referenced?.index ?? Number.POSITIVE_INFINITY, question).toBeGreaterThan(
          ledgerIndex,
        );
      }
    }
  });
});
