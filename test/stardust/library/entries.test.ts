/**
 * The entries of the library beside what they are made of: places of errors, encoders that refuse
 * what their decoders would, final ledgers, verdicts, snapshots.
 */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SNAPSHOT } from '../../../cli/start/sample.ts';
import {
  blockFromJson,
  blockToJson,
  decodeBlock,
  encodeBlock,
} from '../../../src/stardust/block.ts';
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { StardustError } from '../../../src/stardust/error.ts';
import { judge } from '../../../src/stardust/judge.ts';
import { decodeMilestone, encodeMilestone } from '../../../src/stardust/milestone.ts';
import {
  decodeOutput,
  encodeOutput,
  type Output,
  outputFromJson,
  outputToJson,
} from '../../../src/stardust/output.ts';
import { readSnapshot, type SnapshotPart } from '../../../src/stardust/snapshot.ts';
import { parseBlock } from '../../../src/stardust/wire/block.ts';
import { readLines } from '../../support/vectors.ts';

const parsing = readLines('parsing.jsonl') as { block: string; valid: boolean; json?: unknown }[];
const blocks = parsing.map(({ block }) => Uint8Array.fromHex(block.slice(2)));

function refusalOf(work: () => unknown): StardustError {
  try {
    work();
  } catch (error) {
    if (error instanceof StardustError) return error;
    throw error;
  }
  throw new Error('nothing is refused');
}

const transactions = blocks.flatMap((bytes) => {
  const result = parseBlock(bytes);
  return result.ok && result.parsed.transaction !== undefined ? [result.parsed] : [];
});

describe('decodeBlock', () => {
  it('names rule, place and offset of what parseBlock refuses', () => {
    const paths = new Set<string>();
    for (const bytes of blocks) {
      const result = parseBlock(bytes);
      if (result.ok) {
        expect(toHex(decodeBlock(bytes).id)).toBe(toHex(result.parsed.id));
        continue;
      }
      const { rule, reason, path, offset, message } = refusalOf(() => decodeBlock(bytes));
      expect({ rule, reason }).toEqual({ rule: result.rule, reason: result.reason });
      expect(message.endsWith(reason) && message.startsWith(path)).toBe(true);
      if (offset !== undefined) expect(offset).toBeLessThanOrEqual(bytes.length);
      paths.add(path.replaceAll(/\d+/g, 'N'));
    }
    for (const path of [
      'parents',
      'payload.essence.outputs[N].unlockConditions',
      'payload.essence.outputs[N].nativeTokens[N]',
      'payload.unlocks[N]',
    ])
      expect(paths).toContain(path);
  });

  it('says where the part begins', () => {
    const bytes = Uint8Array.from(transactions[0]!.bytes);
    // the type of the first input: behind version, parents, length, type, essence type, network, count
    const offset = 2 + 32 * bytes[1]! + 4 + 4 + 1 + 8 + 2;
    bytes[offset] = 1;
    expect(refusalOf(() => decodeBlock(bytes))).toMatchObject({
      rule: 'C-10',
      path: 'payload.essence.inputs[0].type',
      offset,
      message: `payload.essence.inputs[0].type, offset ${offset}: C-10: type 1 where 0 is due`,
    });
  });
});

describe('blockFromJson', () => {
  it('names the field', () => {
    const json = JSON.parse(JSON.stringify(blockToJson(transactions[0]!.block)));
    json.payload.essence.outputs[0].unlockConditions[0].address.type = 3;
    expect(refusalOf(() => blockFromJson(json))).toMatchObject({
      rule: 'TIP-25',
      path: 'payload.essence.outputs[0].unlockConditions[0].address',
      reason: 'address of type 3',
    });
  });
});

/** Each object of a value, and how it is written. */
function* objectsIn(value: unknown, path = ''): Generator<[path: string, object: object]> {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
  if (!Array.isArray(value)) yield [path, value];
  for (const [name, part] of Object.entries(value)) {
    const step = Array.isArray(value) ? `[${name}]` : `${path && '.'}${name}`;
    yield* objectsIn(part, path + step);
  }
}

describe('a field that the format does not have', () => {
  it.each(['feature', 'Payload', 'toString'])('%s, in any object of a block in JSON', (name) => {
    const { block } = transactions.toSorted((a, b) => b.bytes.length - a.bytes.length)[0]!;
    const plain = () => JSON.parse(JSON.stringify(blockToJson(block)));
    const places = [...objectsIn(plain())].map(([path]) => path);
    expect(places.length).toBeGreaterThan(5);
    for (const place of places) {
      const json = plain();
      const [, object] = [...objectsIn(json)].find(([path]) => path === place)!;
      Object.defineProperty(object, name, { value: [], enumerable: true });
      expect(refusalOf(() => blockFromJson(json))).toMatchObject({
        rule: 'TIP-25',
        path: `${place}${place && '.'}${name}`,
        reason: 'the format has no such field',
      });
    }
    expect(blockFromJson({ ...plain(), [name]: undefined })).toEqual(block);
  });

  it('immutableFeatures of a basic output, which has none', () => {
    const basic = transactions
      .flatMap(({ transaction }) => transaction!.value.essence.outputs)
      .find(({ type }) => type === 3)!;
    const json = JSON.parse(JSON.stringify(outputToJson(basic)));
    const lost = { immutableFeatures: [{ type: 2, data: '0x12' }] };
    expect(refusalOf(() => outputFromJson({ ...json, ...lost })).path).toBe('immutableFeatures');
    const value = { ...basic, immutableFeatures: [] } as Output;
    expect(refusalOf(() => encodeOutput(value))).toMatchObject({
      rule: 'A.0',
      path: 'immutableFeatures',
    });
  });

  it('in any object that is encoded', () => {
    const { block } = transactions.toSorted((a, b) => b.bytes.length - a.bytes.length)[0]!;
    const places = [...objectsIn(block)].map(([path]) => path);
    for (const place of places) {
      const value = structuredClone(block);
      const [, object] = [...objectsIn(value)].find(([path]) => path === place)!;
      Object.assign(object, { feature: [] });
      expect(refusalOf(() => encodeBlock(value))).toMatchObject({
        rule: 'A.0',
        path: `${place}${place && '.'}feature`,
      });
    }
  });

  it('a uint256 with zeros in front, which iota.go refuses', () => {
    const token = { id: `0x${'00'.repeat(38)}`, amount: '0x01' };
    const json = { type: 3, amount: '1', nativeTokens: [token] };
    expect(refusalOf(() => outputFromJson(json))).toMatchObject({
      path: 'nativeTokens[0]',
      reason: '"amount" is no uint256',
    });
    for (const amount of ['0x0', '0x1', `0x${'f'.repeat(64)}`])
      expect(() => outputFromJson({ ...json, nativeTokens: [{ ...token, amount }] })).not.toThrow();
  });
});

describe('encoders', () => {
  it('make the bytes again', () => {
    for (const { block, bytes, milestone } of transactions) {
      expect(toHex(encodeBlock(block))).toBe(toHex(bytes));
      expect(milestone).toBe(undefined);
    }
    const milestones = blocks.flatMap((bytes) => {
      const result = parseBlock(bytes);
      return (result.ok && result.parsed.milestone) || [];
    });
    expect(milestones.length).toBeGreaterThan(0);
    for (const { value, id } of milestones)
      expect(toHex(decodeMilestone(encodeMilestone(value)).id)).toBe(toHex(id));
  });

  it('name the field that they refuse', () => {
    const output = transactions[0]!.transaction!.value.essence.outputs[0]!;
    const [condition] = output.unlockConditions;
    const wrong: [string, Partial<Output>][] = [
      ['amount', { amount: -1n }],
      ['amount', { amount: 1n << 64n }],
      ['unlockConditions', { unlockConditions: [] }],
      ['unlockConditions[1]', { unlockConditions: [condition!, condition!] }],
      ['nativeTokens[0].id', { nativeTokens: [{ id: new Uint8Array(37), amount: 1n }] }],
      ['nativeTokens', { nativeTokens: Array(300).fill({ id: new Uint8Array(38), amount: 1n }) }],
    ];
    for (const [path, change] of wrong)
      expect(refusalOf(() => encodeOutput({ ...output, ...change } as Output)).path).toBe(path);
  });

  it('make nothing that says something else, whatever the value', () => {
    const [first] = transactions;
    const output = first!.transaction!.value.essence.outputs[0]!;
    const keys = ['type', 'amount', 'nativeTokens', 'unlockConditions', 'features'] as const;
    fc.assert(
      fc.property(fc.constantFrom(...keys), fc.anything({ withBigInt: true }), (key, thing) => {
        const given = { ...output, [key]: thing } as Output;
        let bytes: Uint8Array;
        try {
          bytes = encodeOutput(given);
        } catch (error) {
          return error instanceof StardustError;
        }
        expect(decodeOutput(bytes)).toEqual(given);
        return true;
      }),
    );
  });

  it('refuse a block that breaks a rule beyond its layout', () => {
    const { block } = transactions.find(({ block: { payload } }) => payload?.type === 6)!;
    const changed = structuredClone(block);
    if (changed.payload?.type !== 6) throw new Error('no transaction');
    changed.payload.essence.outputs[0]!.amount = 0n;
    expect(refusalOf(() => encodeBlock(changed))).toMatchObject({
      rule: 'C-14',
      path: 'payload.essence.outputs[0]',
    });
    expect(refusalOf(() => encodeBlock({ ...block, parents: [] })).rule).toBe('C-2');
    const parents = [new Uint8Array(31)];
    expect(refusalOf(() => encodeBlock({ ...block, parents })).path).toMatch(/^p/);
  });
});

describe('judge', () => {
  it('gives the recorded verdicts', async () => {
    const lines = readLines('semantics.jsonl') as {
      unixTime: number;
      conflict: number;
      transaction: string;
      inputs: [id: string, output: string][];
    }[];
    const reasons = new Set<number>();
    for (const { unixTime, conflict, transaction, inputs } of lines.slice(0, 200)) {
      const payload = Uint8Array.fromHex(transaction.slice(2));
      const length = new Uint8Array(Uint32Array.of(payload.length).buffer);
      const block = Uint8Array.from([
        2,
        1,
        ...new Uint8Array(32),
        ...length,
        ...payload,
        ...Array(8).fill(0),
      ]);
      const consumed = inputs.map(([id, output]) => {
        const bytes = Uint8Array.fromHex(output.slice(2));
        return { id: Uint8Array.fromHex(id.slice(2)), bytes, output: decodeOutput(bytes) };
      });
      const tx = decodeBlock(block).transaction!;
      const fault = await judge(tx, consumed, { timestamp: unixTime });
      expect(fault?.reason ?? 0).toBe(conflict);
      reasons.add(conflict);
    }
    expect(reasons.size).toBeGreaterThan(4);
  });
});

describe('readSnapshot', () => {
  const bytes = readFileSync(SNAPSHOT);
  const fileOf = (content: Uint8Array) => ({
    size: content.length,
    chunks: (async function* () {
      for (let at = 0; at < content.length; at += 1000) yield content.subarray(at, at + 1000);
    })(),
  });
  async function read(content: Uint8Array, kind: 'full' | 'delta' = 'full') {
    const parts: SnapshotPart[] = [];
    for await (const part of readSnapshot(fileOf(content), { kind })) parts.push(part);
    return parts;
  }

  it('reads header and records', async () => {
    const [header, ...records] = await read(bytes);
    if (header?.kind !== 'header') throw new Error('the first part is no header');
    const { outputs, diffs, solidEntryPoints } = header.header.counts;
    const count = (kind: SnapshotPart['kind']) =>
      records.filter((record) => record.kind === kind).length;
    expect([count('output'), count('diff'), count('solidEntryPoint')]).toEqual([
      outputs,
      diffs,
      solidEntryPoints,
    ]);
    expect(outputs).toBe(23);
  });

  it('refuses another kind, and a file that is cut off, with the offset', async () => {
    await expect(read(bytes, 'delta')).rejects.toMatchObject({ rule: 'TIP-35', offset: 1 });
    const cut = read(bytes.subarray(0, bytes.length - 1));
    await expect(cut).rejects.toThrow(StardustError);
  });
});
