/**
 * Proofs of a final ledger (docs/final-ledger.md): those of present and absent IDs verify, and none
 * that is changed does. `PROOFS` in the environment is how many of each; `npm run test:slow -- final`
 * sets 10,000.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LedgerDamaged } from '../../../src/ledger/core/checksum.ts';
import type { Database } from '../../../src/ledger/core/database.ts';
import { LedgerMoved } from '../../../src/ledger/core/fence.ts';
import { buildFinalLedger } from '../../../src/modules/final/build-final-ledger.ts';
import { LAYOUT, type Layout } from '../../../src/modules/final/final-tables.ts';
import { proveFinal, readFinalLedger } from '../../../src/modules/final/prove-final.ts';
import { blake2b256 } from '../../../src/stardust/crypto/hash.ts';
import { Writer } from '../../../src/stardust/encoding/bytes.ts';
import { encode } from '../../../src/stardust/encoding/codec.ts';
import {
  type FinalTreeName,
  finalLedgerToJson,
  finalRoot,
  GrowingTree,
  KEY_BYTES,
  requireLedger,
  verifyFinalProof,
} from '../../../src/stardust/proof/final-ledger.ts';
import { protocolParameters } from '../../../src/stardust/wire/parameters.ts';
import { MADE_INDEX } from '../../support/cli/made-snapshot.ts';
import {
  absentKey,
  buildWhole,
  type MadeLedger,
  madeFinalLedger,
  SMALL,
} from '../../support/final-ledger/made-ledger.ts';
import { disturbed, followTo, startLedger, startNew } from '../../support/ledger/ledger-harness.ts';
import { dump, openMemory } from '../../support/ledger/memory-database.ts';
import { Random } from '../../support/network/random.ts';
import { SyntheticNetwork } from '../../support/network/synthetic-network.ts';
import { merkleRootByDefinition } from '../../support/oracle/merkle.ts';
import { changeField } from '../../support/stardust/changed-json.ts';

const PROOFS = Number(process.env.PROOFS ?? 100);

/** Empty, one leaf, a range less, whole and more, a page whole and more, several pages. */
const SIZES = [0, 1, 3, 4, 5, 31, 32, 33, 64, 150];

const ledgers = new Map<number, Promise<MadeLedger>>();
function ledgerOf(size: number): Promise<MadeLedger> {
  if (!ledgers.has(size)) ledgers.set(size, madeFinalLedger(size));
  return ledgers.get(size)!;
}

/** The ledger has no trees any more. */
async function clear(db: Database): Promise<void> {
  for (const table of ['final_page', 'final_range', 'final_root'])
    await db.prepare(`DELETE FROM ${table}`).run();
}

/**
 * The forgery that needs no mistake in a hash: real records of the ledger, with real paths, on both
 * sides of a key, and not adjacent; or one that is not at an end, alone.
 *
 * @param key that the ledger may well have
 */
async function forgeAbsence(
  { keys, ask }: MadeLedger,
  tree: FinalTreeName,
  key: string,
  random: Random,
): Promise<Record<string, unknown> | undefined> {
  const all = keys[tree];
  const entryAt = async (place: number) => (await ask(tree, all[place]!)).entry;
  const next = all.findIndex((each) => each > key);
  const upper = next < 0 ? all.length : next;
  const lower = all.findLastIndex((each) => each < key);
  // two steps apart at least: those between are left out
  const before = lower - random.below(3);
  const after = upper + random.below(3);
  if (after - before < 2 || before < -1 || after > all.length) return undefined;
  const { ledger } = await ask(tree, '0'.repeat(2 * KEY_BYTES[tree]));
  return {
    ledger,
    present: false,
    before: before < 0 ? null : await entryAt(before),
    after: after >= all.length ? null : await entryAt(after),
  };
}

const question = fc.record({
  size: fc.constantFrom(...SIZES),
  tree: fc.constantFrom<FinalTreeName>('outputs', 'nfts'),
  seed: fc.integer(),
});

const options = { numRuns: PROOFS, seed: 1 };

it.each(SIZES)('commits to the trees of B.13 over %i outputs', async (size) => {
  const { db, root } = await ledgerOf(size);
  const outputs = (await db.prepare('SELECT * FROM output ORDER BY id').all<Row>()).results;
  const records = outputs.map(({ id, block, created, created_time: time, bytes }) => {
    const content = Uint8Array.fromBase64(bytes).slice(0, -7);
    const writer = new Writer().put(Uint8Array.fromHex(id)).put(Uint8Array.fromHex(block));
    return writer.u32(created).u32(time).u32(content.length).put(content).finish();
  });
  const nfts = (await db.prepare('SELECT * FROM nft ORDER BY id').all<Row>()).results;
  const pairs = nfts.map(({ id, output }) => Uint8Array.fromHex(id + output));
  const { id } = (await db.prepare('SELECT id FROM milestone').first<{ id: string }>())!;
  const text = (value: string) => new TextEncoder().encode(value);
  const writer = new Writer()
    .put(text('stardust-final-1'))
    .put(blake2b256(text('made')).slice(0, 8));
  writer.u32(MADE_INDEX).put(Uint8Array.fromHex(id));
  for (const leaves of [records, pairs])
    writer.u64(BigInt(leaves.length)).put(merkleRootByDefinition(leaves));
  expect(root).toEqual(blake2b256(writer.finish()));
});

interface Row {
  id: string;
  block: string;
  created: number;
  created_time: number;
  bytes: string;
  output: string;
}

describe('a proof', () => {
  it('verifies of every ID that is there', async () => {
    for (const size of SIZES) {
      const { keys, root, ask } = await ledgerOf(size);
      for (const tree of ['outputs', 'nfts'] as const) {
        for (const key of keys[tree]) {
          const id = Uint8Array.fromHex(key);
          const verdict = verifyFinalProof(await ask(tree, key), tree, id, root);
          expect(verdict).toMatchObject({ ok: true, present: true });
          expect('record' in verdict && verdict.record.toHex().startsWith(key)).toBe(true);
        }
      }
    }
  });

  it('takes two reads, and trees that are built are not built again', async () => {
    const { db, keys } = await ledgerOf(150);
    let batches = 0;
    const counted = disturbed(db, async () => void batches++);
    // there, or between two records of a group
    const key = keys.outputs[70]!;
    for (const asked of [key, key.replace(/0$/, '1')]) {
      batches = 0;
      await proveFinal(counted, MADE_INDEX, 'outputs', asked, SMALL);
      expect(batches).toBe(2);
    }
    await buildFinalLedger(counted, MADE_INDEX);
    expect(batches).toBe(3);
  });

  it('shows no absence of an ID that the record before or after has', async () => {
    const { keys, root, ask } = await ledgerOf(Math.max(...SIZES));
    for (const tree of ['outputs', 'nfts'] as const) {
      const [one, two] = keys[tree] as [string, string];
      const [before, after] = [await ask(tree, one), await ask(tree, two)];
      const absent = {
        ...{ ledger: before.ledger, present: false },
        ...{ before: before.entry, after: after.entry },
      };
      for (const key of [one, two])
        expect(verifyFinalProof(absent, tree, Uint8Array.fromHex(key), root)).toMatchObject({
          ok: false,
          reason: expect.stringContaining('the ID'),
        });
    }
  });

  it('verifies of random IDs, there or not', async () => {
    await fc.assert(
      fc.asyncProperty(question, async ({ size, tree, seed }) => {
        const { keys, root, ask } = await ledgerOf(size);
        const random = new Random(String(seed));
        const present = keys[tree].length > 0 && random.chance(0.5);
        const key = present
          ? random.pick(keys[tree])
          : absentKey(keys[tree], KEY_BYTES[tree], random);
        const verdict = verifyFinalProof(await ask(tree, key), tree, Uint8Array.fromHex(key), root);
        expect(verdict).toMatchObject({ ok: true, present });
      }),
      options,
    );
  });

  it('does not verify when anything of it is changed', async () => {
    await fc.assert(
      fc.asyncProperty(question, async ({ size, tree, seed }) => {
        const { keys, root, ask } = await ledgerOf(size);
        const random = new Random(String(seed));
        const known = keys[tree][random.below(keys[tree].length)];
        const isKnown = known !== undefined && random.chance(0.5);
        const key = isKnown ? known : absentKey(keys[tree], KEY_BYTES[tree], random);
        const changed = structuredClone(await ask(tree, key));
        changeField(changed, random);
        const verdict = verifyFinalProof(changed, tree, Uint8Array.fromHex(key), root);
        expect(verdict.ok, JSON.stringify(changed)).toBe(false);
      }),
      { ...options, numRuns: 4 * PROOFS },
    );
  });

  it('of absence does not verify from records that are not adjacent', async () => {
    await fc.assert(
      fc.asyncProperty(question, async ({ size, tree, seed }) => {
        const ledger = await ledgerOf(size);
        const random = new Random(String(seed));
        const keys = ledger.keys[tree];
        const known = keys[random.below(keys.length)];
        fc.pre(known !== undefined);
        const key = random.chance(0.7) ? known : absentKey(keys, KEY_BYTES[tree], random);
        const forged = await forgeAbsence(ledger, tree, key, random);
        fc.pre(forged !== undefined);
        const verdict = verifyFinalProof(forged, tree, Uint8Array.fromHex(key), ledger.root);
        expect(verdict).toEqual({
          ok: false,
          reason: 'B.13: the neighbours are not at adjacent places',
        });
      }),
      options,
    );
  });

  it('does not verify against another root, for another ID, or in the other tree', async () => {
    const { keys, root, ask } = await ledgerOf(150);
    const other = await ledgerOf(64);
    for (const tree of ['outputs', 'nfts'] as const) {
      const [key, next] = keys[tree];
      const id = Uint8Array.fromHex(key!);
      const answer = await ask(tree, key!);
      const verify = (...args: [FinalTreeName, Uint8Array, Uint8Array]) =>
        verifyFinalProof(answer, ...args).ok;
      expect(verify(tree, id, root)).toBe(true);
      expect(verify(tree, id, other.root)).toBe(false);
      expect(verify(tree, Uint8Array.fromHex(next!), root)).toBe(false);
      expect(verify(tree === 'nfts' ? 'outputs' : 'nfts', id, root)).toBe(false);
      // a longer ID is between the same records, and none could have it
      const absent = absentKey(keys[tree], KEY_BYTES[tree], new Random(tree));
      const proof = await ask(tree, absent);
      for (const [more, ok] of [
        ['', true],
        ['00', false],
      ] as const)
        expect(verifyFinalProof(proof, tree, Uint8Array.fromHex(absent + more), root).ok).toBe(ok);
    }
  });

  it.each<unknown>([null, [], 'x', {}, { ledger: null }, { ledger: [] }, { present: true }])(
    'that is no proof is refused: %j',
    (answer) => {
      const key = new Uint8Array(34);
      expect(verifyFinalProof(answer, 'outputs', key, new Uint8Array(32)).ok).toBe(false);
    },
  );
});

describe('building', () => {
  it('goes on where it was cut off, and makes the same', async () => {
    const { db: whole } = await ledgerOf(150);
    const tables = async (db: Database) => {
      const { final_page, final_range, final_root } = await dump(db);
      return { final_page, final_range, final_root };
    };
    const expected = await tables(whole);
    for (let dies = 1; ; dies++) {
      await clear(whole);
      const mortal = disturbed(whole, async (_, batch) => {
        if (batch === dies) throw new Error('killed');
      });
      const isKilled = await buildWhole(mortal, MADE_INDEX).then(
        () => false,
        () => true,
      );
      await buildWhole(whole, MADE_INDEX);
      expect(await tables(whole)).toEqual(expected);
      if (!isKilled) {
        expect(dies).toBeGreaterThan(10);
        break;
      }
    }
  });

  it('does not commit to a ledger from which rows are missing', async () => {
    const image = (await ledgerOf(150)).db.serialize();
    const { db, keys } = await madeFinalLedger(150);
    for (const [table, id, amounts] of [
      ['output', keys.outputs[11], /^\d+ of \d+$/],
      ['nft', keys.nfts[2], /^\d+, of \d+ outputs$/],
    ] as const) {
      db.deserialize(image);
      await db.prepare(`DELETE FROM ${table} WHERE id = '${id}'`).run();
      await clear(db);
      const reason: Error = await buildWhole(db, MADE_INDEX).then(
        () => expect.unreachable(),
        (error) => error,
      );
      const [, said] = /^rows of the table \w+ \((.+)\) are damaged on disk/.exec(reason.message)!;
      expect(said).toMatch(amounts);
      const [first, second] = said!.match(/\d+/g)!;
      expect(BigInt(first!)).toBeLessThan(BigInt(second!));
      // noted: readers say so too, and not that the trees are being built
      await expect(buildWhole(db, MADE_INDEX)).rejects.toThrow(reason.message);
      await expect(readFinalLedger(db, MADE_INDEX)).rejects.toThrow(reason.message);
    }
  });

  it('builds pages again of which one was damaged meanwhile, and takes the ledger for whole', async () => {
    const { db: whole, root } = await ledgerOf(150);
    const image = whole.serialize();
    const { final_page: pages, final_range: ranges } = await dump(whole);
    for (const column of ['leaves', 'amount', 'nfts', 'root']) {
      const db = await openMemory();
      db.deserialize(image);
      await db.prepare('DELETE FROM final_root').run();
      // its last digit is another one
      const digit = `iif(substr(${column}, -1) = '1', '2', '1')`;
      await db
        .prepare(
          `UPDATE final_page SET ${column} = substr(${column}, 1, length(${column}) - 1) || ${digit}
          WHERE tree = 'outputs' AND page = 1`,
        )
        .run();
      await buildWhole(db, MADE_INDEX);
      expect(await readFinalLedger(db, MADE_INDEX), column).toMatchObject({ ok: true, root });
      expect(await dump(db)).toMatchObject({ final_page: pages, final_range: ranges });
    }
  });

  it.each([
    ['before', 1000],
    ['meanwhile', 0],
  ])(
    'ends whole: a page damaged %s, before any batch another builds %i pages, the next one dies',
    async (damaged, pages) => {
      const { db: whole, root } = await ledgerOf(150);
      const image = whole.serialize();
      const { final_page, final_range } = await dump(whole);
      let batches = Number.POSITIVE_INFINITY;
      for (let other = 1; other <= batches; other++) {
        const db = await openMemory();
        db.deserialize(image);
        const damage = () =>
          db.prepare('UPDATE final_page SET nfts = nfts + 1 WHERE page = 0').run();
        if (damaged === 'before') {
          await db.prepare('DELETE FROM final_root').run();
          await damage();
        } else await clear(db);
        let seen = 0;
        const beside = disturbed(db, async (_, batch) => {
          seen = batch;
          if (batch > other) throw new Error('killed');
          if (batch < other) return;
          if (damaged === 'meanwhile') await damage();
          await buildFinalLedger(db, MADE_INDEX, pages, SMALL);
        });
        await buildFinalLedger(beside, MADE_INDEX, 1000, SMALL).catch((error: Error) =>
          expect(error.message).toMatch(/killed|another writer was first/),
        );
        if (seen < other) batches = seen;
        await buildWhole(db, MADE_INDEX);
        expect(await readFinalLedger(db, MADE_INDEX), `${other}`).toMatchObject({ ok: true, root });
        expect(await dump(db), `${other}`).toMatchObject({ final_page, final_range });
      }
      expect(batches).toBeGreaterThan(5);
    },
  );

  it('does not put pages of two ledgers together', async () => {
    const db = await openMemory();
    const network = new SyntheticNetwork({ seed: 'replaced' });
    network.milestone();
    await startLedger(db, network, 1);
    const replaced = disturbed(db, async (_, batch) => {
      // an import comes before the first page is written
      if (batch === 2) await startLedger(db, network, 1);
    });
    await expect(buildFinalLedger(replaced, 1)).rejects.toThrow(/another writer was first/i);
    expect((await dump(db)).final_page).toEqual([]);
    expect(await buildFinalLedger(db, 1)).toBe(true);
    expect(await readFinalLedger(db, 1)).toMatchObject({ ok: true });
  });

  it('takes a treasury that was overdrawn, or a supply announced since, for no damage', async () => {
    const db = await openMemory();
    const { network, rig } = await startNew(db, 'other supply', { treasury: 1_000_000n });
    const fund = { tailTransactionHash: new Uint8Array(49), deposit: 2_000_000n };
    // H-119
    network.milestone({ migrate: [{ ...fund, address: network.account(0).address }] });
    await startLedger(await openMemory(), network, 2);
    const { parameters } = network.genesis;
    const tokenSupply = parameters.tokenSupply + 1n;
    const announced = encode(protocolParameters, { ...parameters, tokenSupply });
    const from = { targetMilestoneIndex: 4, protocolVersion: 2 };
    network.milestone({ announce: { type: 1, ...from, parameters: announced } });
    network.milestone();
    await followTo(rig, 4);
    expect(await buildFinalLedger(db, 4)).toBe(true);
    expect(await readFinalLedger(db, 4)).toMatchObject({ ok: true });
  });

  it('writes nothing, and reads nothing, without a final milestone', async () => {
    const { db } = await ledgerOf(5);
    const none = new Proxy<Database>(db, { get: () => expect.unreachable() });
    expect(await buildFinalLedger(none, undefined)).toBe(true);
    const before = await dump(db);
    expect(await buildFinalLedger(db, MADE_INDEX + 1)).toBe(true);
    expect(await dump(db)).toEqual(before);
    expect(await readFinalLedger(db, MADE_INDEX + 1)).toEqual({
      ok: false,
      ledgerIndex: MADE_INDEX,
      isBuilding: false,
    });
  });

  it('says so until it is done', async () => {
    const { db } = await madeFinalLedger(150);
    await db.prepare('DELETE FROM final_root').run();
    const building = { ok: false, ledgerIndex: MADE_INDEX, isBuilding: true };
    expect(await readFinalLedger(db, MADE_INDEX)).toEqual(building);
    expect(await proveFinal(db, MADE_INDEX, 'nfts', '00'.repeat(32), SMALL)).toEqual(building);
  });
});

it('a ledger that is replaced while a proof is made is not taken for damage', async () => {
  const { db, keys } = await madeFinalLedger(150);
  const network = new SyntheticNetwork({ seed: 'replaced' });
  network.milestone();
  // an import comes once the upper levels of the tree were read
  const replace = async () => void (await startLedger(db, network, 1));
  const replaced = disturbed(db, async () => {}, replace);
  const proof = proveFinal(replaced, MADE_INDEX, 'outputs', keys.outputs[70]!, SMALL);
  await expect(proof).rejects.toThrow(LedgerMoved);
});

it('any layout gives the same root and the same proofs', async () => {
  const { db, keys, root, ask } = await ledgerOf(150);
  const layouts: Layout[] = [
    LAYOUT,
    { groupLeaves: 1, rangeGroups: 1, pageRanges: 2 },
    { groupLeaves: 1, rangeGroups: 4, pageRanges: 2 },
    { groupLeaves: 64, rangeGroups: 1, pageRanges: 1 },
  ];
  const asked = keys.outputs.filter((_, i) => i % 13 === 0);
  const answers = await Promise.all(asked.map((key) => ask('outputs', key)));
  for (const layout of layouts) {
    await clear(db);
    expect(await buildFinalLedger(db, MADE_INDEX, 1000, layout)).toBe(true);
    expect(await readFinalLedger(db, MADE_INDEX)).toMatchObject({ ok: true, root });
    for (const [i, key] of asked.entries()) {
      const found = await proveFinal(db, MADE_INDEX, 'outputs', key, layout);
      const entry = answers[i]!.entry as { path: string[] };
      expect(found).toMatchObject({ proof: { entry: { path: entry.path.map(bytes) } } });
    }
  }
  ledgers.delete(150);
});

const bytes = (hex: string) => Uint8Array.fromHex(hex.slice(2));

it('a row that is damaged, or gone, is an error', async () => {
  const { db, keys } = await madeFinalLedger(150);
  const image = db.serialize();
  const key = keys.outputs[70]!;
  for (const damage of [
    `DELETE FROM output WHERE id = '${keys.outputs[71]}'`,
    `UPDATE output SET created = created + 1 WHERE id = '${keys.outputs[71]}'`,
    // with a sum that is right again
    `UPDATE output SET created = created + 1, sum = sum + 1 WHERE id = '${keys.outputs[71]}'`,
    `DELETE FROM final_page WHERE tree = 'outputs' AND page = 2`,
    `DELETE FROM final_page WHERE tree = 'outputs' AND page = 4`,
    `UPDATE final_page SET ranges = replace(ranges, substr(ranges, 80, 10), '0123456789')
      WHERE tree = 'outputs' AND page = 2`,
    `UPDATE final_page SET ranges = '' WHERE tree = 'outputs' AND page = 2`,
    `DELETE FROM final_range WHERE first <= '${key}'`,
    `UPDATE final_range SET groups = replace(groups, substr(groups, 80, 10), '0123456789')`,
    `UPDATE final_range SET groups = ''`,
    `UPDATE final_range SET groups = substr(groups, 1, 79) || 'x' || substr(groups, 81)`,
    `UPDATE final_root SET outputs = outputs + 1`,
  ]) {
    db.deserialize(image);
    await db.prepare(damage).run();
    await expect(proveFinal(db, MADE_INDEX, 'outputs', key, SMALL), damage).rejects.toThrow(
      LedgerDamaged,
    );
  }
});

it('the fields of a final root have their lengths, as one hash is over all', () => {
  const zeros = new Uint8Array(32);
  const ledger = {
    ...{ networkName: 'made', milestoneIndex: 1, milestoneId: zeros },
    ...{ outputs: { count: 256, root: zeros }, nfts: { count: 0, root: zeros } },
  };
  const root = finalRoot(ledger);
  const json = finalLedgerToJson(ledger);
  expect(requireLedger(json, root)).toEqual(ledger);
  // the same bytes, cut one later: 1 output, where there are 256
  const { milestoneId, outputs, nfts } = json;
  const shifted = {
    ...{ ...json, milestoneId: `${milestoneId}00`, outputs: { ...outputs, count: 1 } },
    nfts: { ...nfts, root: nfts.root.slice(0, -2) },
  };
  expect(() => requireLedger(shifted, root)).toThrow('33 bytes');
});

it('a tree that grows has the root of B.13 at any size', () => {
  const tree = new GrowingTree();
  const leaves: Uint8Array[] = [];
  for (let i = 0; i < 70; i++) {
    expect(tree.root()).toEqual(merkleRootByDefinition(leaves));
    leaves.push(Uint8Array.of(i));
    tree.add(leaves[i]!);
  }
});
