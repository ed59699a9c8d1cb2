/**
 * What bytes prove, over trees of each shape and over changed ones, against the definition of B.13;
 * and that nothing else is ever called proved.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROJECT } from '../../../cli/lib/project.ts';
import { verifyZip215 } from '../../../src/stardust/crypto/ed25519.ts';
import { blake2b256 } from '../../../src/stardust/crypto/hash.ts';
import { fromHex, toHex } from '../../../src/stardust/encoding/bytes.ts';
import { decode, encode } from '../../../src/stardust/encoding/codec.ts';
import { blockToJson, milestoneToJson } from '../../../src/stardust/json/rest-json.ts';
import { proofFor } from '../../../src/stardust/proof/proof.ts';
import { comparePayloads } from '../../../src/stardust/provenance/cone.ts';
import {
  compareCone,
  describeSignedAge,
  type Finding,
  isLive,
  levelsOf,
  type Proved,
  proveApplied,
  proveBlockBytes,
  proveBlocks,
  proveCone,
  provedValue,
  proveHash,
  proveMilestone,
  proveOrder,
  provePath,
  proveProofFile,
  proveSignedRoots,
  proveWalk,
  type Said,
  type SignedMilestone,
  type Trust,
  tell,
} from '../../../src/stardust/provenance/provenance.ts';
import { type Block, block } from '../../../src/stardust/wire/block.ts';
import { milestone } from '../../../src/stardust/wire/milestone.ts';
import { merkleRootByDefinition } from '../../support/oracle/merkle.ts';
import { milestoneOf } from '../../support/payloads/blocks.ts';
import { keyPair } from '../../support/payloads/keys.ts';
import { basic } from '../../support/payloads/outputs.ts';
import { transactionOf } from '../../support/payloads/transactions.ts';

const idOf = (i: number) => `0x${createHash('sha256').update(String(i)).digest('hex')}`;
const idsOf = (count: number) => Array.from({ length: count }, (_, i) => idOf(i));

const rootOf = (ids: readonly string[]) => merkleRootByDefinition(ids.map(fromHex));

const signers = [1, 2, 3].map((number) => keyPair(`signer ${number}`));
const trust: Trust = {
  whose: 'the keys of the test',
  keys: { keys: signers.map(({ publicKey }) => ({ publicKey, first: 0, last: 0 })), threshold: 2 },
  verify: async (...signed) => verifyZip215(...signed),
};

const INDEX = 7;
/** Of no block (B.13). */
const EMPTY_ROOT = toHex(blake2b256(new Uint8Array()));
const TIME = 1_700_000_000;

/** A milestone over these blocks, signed by all keys. */
function payloadOver(ids: readonly string[], applied: readonly string[]): Uint8Array {
  const parents = [fromHex(ids.at(-1) ?? idOf(0))];
  const roots = { inclusionMerkleRoot: rootOf(ids), appliedMerkleRoot: rootOf(applied) };
  const value = milestoneOf({ signers, index: INDEX, timestamp: TIME, parents, ...roots });
  return encode(milestone, value);
}

async function signedOver(
  ids: readonly string[],
  applied: readonly string[],
): Promise<Proved<SignedMilestone>> {
  return must(await proveMilestone(payloadOver(ids, applied), { index: INDEX }, trust));
}

function must<T>(finding: Finding<T>): Proved<T> {
  if (finding.standing !== 'proved') throw new Error(finding.reason);
  return finding.proof;
}

function refusedAs(finding: Finding<unknown>): string {
  expect(finding.standing).toBe('refuted');
  return (finding as { reason: string }).reason;
}

function blocksNamedBy(finding: Finding<unknown>): readonly string[] {
  return finding.standing === 'refuted' ? finding.blocks : [];
}

describe('a proof', () => {
  it('has a type that no value of a node has', () => {
    const said: Said<number> = { said: 1 };
    // @ts-expect-error: what a node says
    const isSaid: Proved<number> = said;
    // @ts-expect-error: an object of JSON
    const isJson: Proved<number> = {};
    // @ts-expect-error: what was proved of something else
    const isOther: Proved<number> = tell(must(proveHash([], EMPTY_ROOT)), String);
    expect(() => provedValue(isSaid)).toThrow('never proved');
    expect(() => provedValue(isJson)).toThrow('never proved');
    expect(typeof provedValue(isOther)).toBe('string');
  });

  it('is not made by a cast, nor from JSON', () => {
    for (const forged of [{}, { standing: 'proved' }, { value: 1 }])
      expect(() => provedValue(forged as Proved<unknown>)).toThrow('never proved');
  });

  it('is only made by the judges', () => {
    const folder = join('src', 'stardust', 'provenance');
    const sources = ['src', 'cli', 'tools', 'client', 'explorer', 'bench'].flatMap((root) =>
      readdirSync(join(PROJECT, root), { recursive: true, encoding: 'utf8' })
        .map((name) => join(root, name))
        .filter((name) => /\.tsx?$/.test(name) && !name.startsWith(folder)),
    );
    // by name only, so that it can be seen here
    const named =
      /^(?:import|export)(?: type)? \{(?<names>[^}]*)\} from '[^']*provenance\/[^']*';/gm;
    const makers = sources.filter((file) => {
      const text = readFileSync(join(PROJECT, file), 'utf8');
      const found = Array.from(text.matchAll(named), ({ groups }) => groups!.names!);
      const mentions = text.match(/['"][^'"\n]*provenance\/[^'"\n]*\.ts['"]/g) ?? [];
      return mentions.length !== found.length || found.some((names) => /\bprove\b/.test(names));
    });
    expect(sources.length).toBeGreaterThan(300);
    expect(makers).toEqual([]);
  });

  it('is the only thing that a tick of the page is drawn for', () => {
    const views = readdirSync(join(PROJECT, 'explorer'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.tsx') && name !== join('parts', 'standing.tsx'))
      .filter((name) =>
        /verdict good|class="good"|[✓✔]/.test(
          readFileSync(join(PROJECT, 'explorer', name), 'utf8'),
        ),
      );
    expect(views).toEqual([]);
  });
});

describe('a milestone', () => {
  const ids = idsOf(5);
  const payload = payloadOver(ids, ids.slice(0, 2));

  it('is what its bytes say, if the keys signed it', async () => {
    const value = provedValue(must(await proveMilestone(payload, { index: INDEX }, trust)));
    expect(value).toMatchObject({ index: INDEX, timestamp: TIME, whose: 'the keys of the test' });
    expect(value.signers).toHaveLength(3);
    const byId = { milestoneId: value.milestoneId };
    expect((await proveMilestone(payload, byId, trust)).standing).toBe('proved');
  });

  it('is not another one than was asked for', async () => {
    expect(refusedAs(await proveMilestone(payload, { index: 8 }, trust))).toMatch(
      /the bytes that came for milestone 8 are those of milestone 7/,
    );
    const other = await proveMilestone(payload, { milestoneId: idOf(9) }, trust);
    expect(refusedAs(other)).toMatch(/are those of 0x/);
  });

  it('is refuted, whichever bit of it is changed', async () => {
    const chance = Number(process.env.SEED ?? Date.now() % 1e6);
    console.log(`SEED=${chance}`);
    for (let i = 0; i < 100; i++) {
      const hash = createHash('sha256').update(`${chance} ${i}`).digest();
      const at = hash.readUInt32LE(0) % payload.length;
      const changed = payload.with(at, payload[at]! ^ (1 << (hash[4]! % 8)));
      const finding = await proveMilestone(changed as Uint8Array, { index: INDEX }, trust);
      expect(finding.standing, `SEED=${chance}, bit of byte ${at}`).toBe('refuted');
    }
  });

  it('needs as many keys as the reader says', async () => {
    const more = { ...trust, keys: { ...trust.keys, threshold: 4 } };
    expect(refusedAs(await proveMilestone(payload, { index: INDEX }, more))).toMatch(
      /not signed by the keys of the test: M-2/,
    );
  });

  it('has two roots, and no other answer is theirs', async () => {
    const signed = await signedOver(ids, ids.slice(0, 2));
    const roots = provedValue(signed);
    expect(proveSignedRoots(signed, roots).standing).toBe('proved');
    for (const root of ['inclusionMerkleRoot', 'appliedMerkleRoot'] as const)
      expect(refusedAs(proveSignedRoots(signed, { ...roots, [root]: idOf(1) }))).toMatch(
        /was signed with another/,
      );
  });

  it('is as old as it was signed', async () => {
    const value = provedValue(await signedOver(ids, []));
    expect(isLive(value, TIME + 59)).toBe(true);
    expect(describeSignedAge(value, TIME + 59)).toBe('signed 59 seconds ago');
    // 50 milestones back
    expect(describeSignedAge(value, TIME + 250)).toBe('signed, but 4 minutes old');
    expect(isLive(value, TIME + 250)).toBe(false);
    expect(isLive(value, TIME - 250)).toBe(false);
    expect(describeSignedAge(value, TIME - 7200)).toMatch(/2 hours from now: one of the clocks/);
  });
});

/** Real blocks, each with the parents of which it is given the places. */
function blocksOf(parentsOf: readonly (readonly number[])[], payloads: Block['payload'][] = []) {
  const ids: string[] = [];
  const findings = parentsOf.map((places, i) => {
    const parents = places.length === 0 ? [idOf(1000)] : places.map((place) => ids[place]!);
    const value: Block = {
      protocolVersion: 2,
      parents: parents.toSorted().map(fromHex),
      payload: payloads[i],
      nonce: BigInt(i),
    };
    const bytes = encode(block, value);
    ids.push(toHex(blake2b256(bytes)));
    return proveBlockBytes(bytes, ids[i]!);
  });
  return { ids, findings };
}

describe('blocks', () => {
  it('are what their bytes hash to', () => {
    const { ids, findings } = blocksOf([[], [0]]);
    expect(provedValue(must(findings[1]!))).toMatchObject({ parents: [ids[0]], payload: 'none' });
    const bytes = encode(block, {
      protocolVersion: 2,
      parents: [fromHex(idOf(1))],
      payload: undefined,
      nonce: 1n,
    });
    expect(refusedAs(proveBlockBytes(bytes, ids[0]!))).toMatch(/are those of/);
    expect(refusedAs(proveBlockBytes(bytes.subarray(1), ids[0]!))).toMatch(/does not parse/);
  });

  it('are met by the walk in one order', () => {
    const { ids, findings } = blocksOf([[], [0], [1], [0]]);
    const [a, b, c, d] = ids as [string, string, string, string];
    const set = must(proveBlocks(findings));
    expect(proveWalk([c, d], set, [a, b, c, d]).standing).toBe('proved');
    const wrong = proveWalk([c, d], set, [a, d, b, c]);
    expect(refusedAs(wrong)).toMatch(/^the white-flag order is wrong from place 1 on/);
    expect(blocksNamedBy(wrong)).toEqual([d, b]);
    for (const other of [
      [a, b, c],
      [b, a, c, d],
      [a, b, c, d, a],
    ])
      expect(proveWalk([c, d], set, other).standing).toBe('refuted');
  });

  it('are all proved or none', () => {
    const { findings } = blocksOf([[], [0]]);
    const late = { standing: 'not-checked', reason: 'late' } as const;
    expect(proveBlocks([...findings, late]).standing).toBe('not-checked');
    const other = proveBlockBytes(new Uint8Array(), idOf(3));
    expect(proveBlocks([late, other]).standing).toBe('refuted');
  });
});

describe('the applied root', () => {
  const ids = idsOf(12);
  const applied = ids.filter((_, i) => i % 3 !== 0);

  it('says which were applied', async () => {
    const order = must(proveOrder(await signedOver(ids, applied), ids));
    const outcome = must(proveApplied(order, (id) => applied.includes(id)));
    expect([...provedValue(outcome).applied]).toEqual(applied);
  });

  it.each([0, 4, 11])('names the false verdict on block %i', async (place) => {
    const order = must(proveOrder(await signedOver(ids, applied), ids));
    const lie = proveApplied(order, (id) => applied.includes(id) !== (id === ids[place]));
    const truth =
      place % 3 !== 0
        ? 'was applied, and the node says that it was not'
        : 'was not applied, and the node says that it was';
    expect(refusedAs(lie)).toMatch(
      `block ${place} ${truth}: only so do the roots agree. As it says, the applied ones do not lead to the signed applied root`,
    );
    expect(blocksNamedBy(lie)).toEqual([ids[place]]);
  });

  it('names none where more than one verdict is false', async () => {
    const order = must(proveOrder(await signedOver(ids, applied), ids));
    expect(blocksNamedBy(proveApplied(order, () => true))).toEqual([]);
  });

  it('is not looked at before the order', async () => {
    const swapped = [ids[1]!, ids[0]!, ...ids.slice(2)];
    expect(refusedAs(proveOrder(await signedOver(ids, applied), swapped))).toMatch(
      /do not lead to the signed inclusion root/,
    );
  });
});

describe('a cone', () => {
  const data = { type: 5 as const, tag: new Uint8Array(1), data: new Uint8Array() };

  async function coneOf(applied: (ids: readonly string[]) => string[]) {
    const { ids, findings } = blocksOf([[], [0]], [data, undefined]);
    const signed = await signedOver(ids, applied(ids));
    const outcome = must(
      proveApplied(must(proveOrder(signed, ids)), (id) => applied(ids).includes(id)),
    );
    return { ids, finding: proveCone(outcome, must(proveBlocks(findings))) };
  }

  it('has no transaction where the bytes have none, whatever the node says', async () => {
    const { ids, finding } = await coneOf(() => []);
    const honest = ids.map((blockId, whiteFlagIndex) => ({
      blockId,
      whiteFlagIndex,
      payload: whiteFlagIndex === 0 ? 'taggedData' : 'none',
      ledgerInclusionState: 'noTransaction',
    }));
    const cone = must(finding);
    expect(compareCone(cone, honest).standing).toBe('proved');
    const lies = [
      { payload: 'transaction' },
      { ledgerInclusionState: 'conflicting' },
      { whiteFlagIndex: 1 },
    ];
    for (const lie of lies) {
      const told = compareCone(cone, honest.with(0, { ...honest[0]!, ...lie }));
      expect(refusedAs(told)).toMatch(/^the node says that block 0 /);
      expect(blocksNamedBy(told)).toEqual([ids[0]]);
    }
  });

  it('whose verdicts nobody signed has them for transactions alone', () => {
    const { address } = signers[0]!;
    const inputs = [{ output: basic(address), unlock: signers[0]! }];
    const transaction = transactionOf({ inputs, outputs: [basic(address)] });
    const { ids, findings } = blocksOf([[], [0]], [data, transaction]);
    const judge = (...said: (readonly [payload: string, state: string])[]) =>
      comparePayloads(
        must(proveBlocks(findings)),
        said.map(([payload, ledgerInclusionState], whiteFlagIndex) => ({
          ...{ blockId: ids[whiteFlagIndex]!, whiteFlagIndex, payload, ledgerInclusionState },
        })),
      );
    const [none, included] = [
      ['taggedData', 'noTransaction'],
      ['transaction', 'included'],
    ] as const;
    must(judge(none, included));
    must(judge(none, ['transaction', 'conflicting']));
    for (const [at, lie] of [
      [0, judge(['taggedData', 'included'], included)],
      [0, judge(['none', 'noTransaction'], included)],
      [1, judge(none, ['transaction', 'noTransaction'])],
      [1, judge(none, ['taggedData', 'included'])],
    ] as const)
      expect(blocksNamedBy(lie)).toEqual([ids[at]]);
  });

  it('applies no tagged data', async () => {
    const { finding } = await coneOf((ids) => [ids[0]!]);
    expect(refusedAs(finding)).toBe('block 0 counts as applied, and carries no transaction');
  });
});

describe('a Merkle path', () => {
  it.each([1, 2, 3, 4, 5, 7, 8, 9, 31, 38])('shows what is beside it, of %i blocks', async (n) => {
    const ids = idsOf(n);
    const order = must(proveOrder(await signedOver(ids, []), ids));
    for (const [place, id] of ids.entries()) {
      const path = proofFor(ids.map(fromHex), place);
      const { levels } = levelsOf(path, id, order)!;
      for (const { isRight, covers, sibling } of levels) {
        expect(isRight).toBe(true);
        const [from, to] = covers!;
        expect(sibling).toBe(toHex(rootOf(ids.slice(from, to + 1))));
      }
      expect(levelsOf(path, id, undefined)!.levels.every((each) => !each.covers)).toBe(true);
    }
  });

  it('leads to the root that was signed, or names the level that was changed', async () => {
    const { ids: own, findings } = blocksOf([[], [0], [1]]);
    const ids = [...own, ...idsOf(35)];
    const signed = await signedOver(ids, []);
    const order = must(proveOrder(signed, ids));
    const [, proved] = findings.map(must);
    const path = JSON.stringify(proofFor(ids.map(fromHex), 1));
    const included = provePath(signed, proved!, JSON.parse(path), 'inclusionMerkleRoot');
    expect(provedValue(must(included)).hashes).toBe(7);
    for (const { index } of path.matchAll(/"h":"0x(.)/g)) {
      const at = index + '"h":"0x'.length;
      const changed = path.slice(0, at) + (path[at] === '0' ? '1' : '0') + path.slice(at + 1);
      const finding = provePath(signed, proved!, JSON.parse(changed), 'inclusionMerkleRoot');
      expect(refusedAs(finding)).toBe('the path does not lead to the signed root');
      const { levels } = levelsOf(JSON.parse(changed), ids[1]!, order)!;
      expect(levels.filter(({ isRight }) => !isRight)).toHaveLength(1);
    }
  });

  it('of another block, or of one without a transaction, proves nothing', async () => {
    const { ids, findings } = blocksOf([[], [0], [1]]);
    const signed = await signedOver(ids, [ids[0]!]);
    const [first, second] = findings.map(must);
    const path = proofFor(ids.map(fromHex), 0);
    expect(refusedAs(provePath(signed, second!, path, 'inclusionMerkleRoot'))).toMatch(
      /this is the proof of block/,
    );
    expect(refusedAs(provePath(signed, second!, { l: 1 }, 'inclusionMerkleRoot'))).toMatch(/B\.13/);
    for (const none of [{ l: 1 }, path]) expect(levelsOf(none, ids[1]!, undefined)).toBeUndefined();
    const applied = proofFor([fromHex(ids[0]!)], 0);
    expect(refusedAs(provePath(signed, first!, applied, 'appliedMerkleRoot'))).toMatch(
      /carries no transaction/,
    );
  });
});

it('a proof file of another milestone with the index, or without the applied path, is refuted', async () => {
  const value: Block = {
    protocolVersion: 2,
    parents: [fromHex(idOf(0))],
    payload: undefined,
    nonce: 0n,
  };
  const ids = [idOf(1), toHex(blake2b256(encode(block, value)))];
  const outcome = must(proveApplied(must(proveOrder(await signedOver(ids, []), ids)), () => false));
  const fileOver = (list: readonly string[]) => ({
    milestone: milestoneToJson(decode(milestone, payloadOver(list, []))),
    block: blockToJson(value),
    proof: proofFor(list.map(fromHex), list.length - 1),
  });
  const judge = (file: unknown) => proveProofFile(outcome, ids[1]!, file, trust);
  must(await judge(fileOver(ids)));
  expect(refusedAs(await judge(fileOver(ids.slice(1))))).toMatch(/leads to another milestone 7/);
  const last = [ids[1]!];
  const order = must(proveOrder(await signedOver(ids, last), ids));
  const applied = must(proveApplied(order, (id) => id === ids[1]));
  const finding = await proveProofFile(applied, ids[1]!, fileOver(ids), trust);
  expect(refusedAs(finding)).toMatch(/has no path to the applied root/);
});
