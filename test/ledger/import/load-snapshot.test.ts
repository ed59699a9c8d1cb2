/**
 * Loading snapshots into the ledger's tables (docs/storage.md#import): what is in
 * them afterwards, that nothing else is, and that no failure and no interruption shows.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { describe, expect, it } from 'vitest';
import { computeLedgerRoot } from '../../../cli/ledger-root/compute-ledger-root.ts';
import { openSnapshotFile } from '../../../cli/lib/snapshot-file.ts';
import type { SqliteDatabase } from '../../../cli/lib/wrangler/sqlite-database.ts';
import { LedgerDamaged } from '../../../src/ledger/core/checksum.ts';
import type { Database } from '../../../src/ledger/core/database.ts';
import { type LoadedLedger, loadSnapshot } from '../../../src/ledger/import/load-snapshot.ts';
import { readStagingScript } from '../../../src/ledger/import/staging-tables.ts';
import { ledgerStateHash } from '../../../src/ledger/read/ledger-state-hash.ts';
import { readOutput } from '../../../src/ledger/read/output-status.ts';
import { toHex, toHexDigits } from '../../../src/stardust/encoding/bytes.ts';
import { SnapshotRefusal } from '../../../src/stardust/snapshot/byte-stream.ts';
import { temporaryFolder } from '../../support/cli/script-process.ts';
import { disturbed } from '../../support/ledger/ledger-harness.ts';
import { dump, openMemory, schema } from '../../support/ledger/memory-database.ts';
import { strayRests } from '../../support/ledger/stray-rests.ts';
import {
  ledgerAt,
  milestoneAt,
  type Network,
  type NetworkMilestone,
  type NetworkOutput,
} from '../../support/network/network-model.ts';
import {
  deltaSnapshot,
  fullSnapshot,
  solidEntryPoints,
} from '../../support/network/network-snapshot.ts';
import { recordedNetwork } from '../../support/network/recorded-network.ts';
import { GENESIS_INDEX, madeNetwork } from '../../support/snapshot/made-network.ts';
import { fileOf } from '../../support/snapshot/memory-sink.ts';
import { readVector } from '../../support/vectors.ts';

interface Files {
  full: Uint8Array;
  delta?: Uint8Array;
}

const filesOf = (name: string) => ({
  full: readVector(`${name}/full_snapshot.bin`),
  delta: readVector(`${name}/delta_snapshot.bin`),
});
const NETWORK_A = filesOf('network-a');
const NETWORK_C = filesOf('network-c');
const SHIMMER: Files = { full: readVector('shimmer/full_target17338_ledger17338.bin') };

/** State hashes (test/vectors/README.md). */
const STATE_A = '987f45404baa75ebb31617db0dda5458367b1da1a1bc2859a860c2498e796b9e';
const STATE_C = '3a0ad6b5f3b8b8018be60c3e0c2247c2fa5b9745ae5fac1e7f5470cf0e9dcd7d';

const folder = temporaryFolder();

function load(db: Database, { full, delta }: Files): Promise<LoadedLedger> {
  return loadSnapshot(db, fileOf(full), delta && fileOf(delta));
}

/** Without what is another one with each import. */
function timeless(tables: Record<string, unknown[]>): Record<string, unknown[]> {
  const head = (tables.head as Record<string, unknown>[]).map(
    ({ generation: _, sum: __, ...rest }) => rest,
  );
  return { ...tables, head };
}

async function loaded(files: Files): Promise<SqliteDatabase> {
  const db = await openMemory();
  await load(db, files);
  return db;
}

it('takes a solid entry point that a file names twice, as the reference does', async () => {
  const { full } = NETWORK_A;
  const twice = new Uint8Array(full.length + 32);
  twice.set(full);
  twice.set(full.subarray(-32), full.length);
  const header = new DataView(twice.buffer);
  // the last count of the header: behind the milestone's parameters, the outputs' count and the diffs' (docs/snapshot-format.md)
  const count = 104 + header.getUint16(90, true);
  header.setUint16(count, header.getUint16(count, true) + 1, true);
  expect(timeless(await dump(await loaded({ full: twice })))).toEqual(
    timeless(await dump(await loaded({ full }))),
  );
});

describe('recorded snapshots', () => {
  it.each<[name: string, files: Files, index: number, outputs: number, hash?: string]>([
    ['network-a, genesis', { full: NETWORK_A.full }, 0, 1],
    ['network-a to 81', NETWORK_A, 81, 406, STATE_A],
    ['network-c to 41', NETWORK_C, 41, 327, STATE_C],
    ['Shimmer', SHIMMER, 17338, 23],
  ])('%s', async (_, files, index, outputs, hash) => {
    const db = await openMemory();
    const summary = await load(db, files);
    expect([summary.ledgerIndex, summary.outputs]).toEqual([index, outputs]);
    if (hash !== undefined) expect((await ledgerStateHash(db)).toHex()).toBe(hash);
    expect(await strayRests(db)).toEqual([]);
    const tables = await dump(db);
    const nfts = tables.nft as { id: string; output: string; changed: number }[];
    expect(tables.output).toHaveLength(outputs);
    expect(nfts).toHaveLength(summary.nfts);
    expect(tables.output_detail).toHaveLength(summary.nfts);
    expect(tables.head).toMatchObject([
      { generation: summary.generation, start: index, ledger: index },
    ]);
  });

  it('fills the tables with what the network tells', async () => {
    const network = recordedNetwork('network-a');
    const db = await loaded(NETWORK_A);
    const tables = await dump(db);
    const { payload, ...milestone } = (tables.milestone as Record<string, unknown>[])[0]!;
    const due = milestoneAt(network, 81)!;
    expect(tables.milestone).toHaveLength(1);
    expect(milestone).toMatchObject({ idx: 81, id: due.id.slice(2), timestamp: due.timestamp });
    // a checksum of seven bytes is behind it
    expect(Uint8Array.fromBase64(String(payload)).subarray(0, -7)).toEqual(due.payload);
    expect(tables.id_0).toEqual(
      [...solidEntryPoints(network, 81).map(toHexDigits).sort(), `m${due.id.slice(2)}`].map(
        (id) => ({ id, milestone: 81, block: 0, sum: 81 }),
      ),
    );
    for (const { outputId, blockId, bookedIndex, bookedTimestamp, bytes } of ledgerAt(
      network,
      81,
    )) {
      expect(await readOutput(db, toHexDigits(outputId))).toEqual({
        outputId: toHexDigits(outputId),
        bytes: new Uint8Array(bytes),
        blockId: toHexDigits(blockId),
        bookedIndex,
        bookedTimestamp,
        spent: undefined,
        ledgerIndex: 81,
      });
    }
  });

  it('brings the parameters in force and those that are pending', async () => {
    const db = await openMemory();
    const network = recordedNetwork('network-c');
    await load(db, {
      full: join(fullSnapshot(network, { target: 0 })),
      delta: join(deltaSnapshot(network, 0, 15)),
    });
    // announced in milestone 14 for milestone 17 (test/vectors/README.md)
    expect((await dump(db)).parameters).toMatchObject([{ target: 0 }, { target: 17 }]);
  });

  it('takes a full snapshot back to its target', async () => {
    const network = recordedNetwork('network-a');
    const direct = await loaded({ full: join(fullSnapshot(network, { target: 40 })) });
    const back = await loaded({
      full: join(fullSnapshot(network, { target: 40, ledger: 60, moreDiffs: 30 })),
    });
    expect((await ledgerStateHash(back)).toHex()).toBe((await ledgerStateHash(direct)).toHex());
  });
});

function join(parts: Iterable<Uint8Array>): Uint8Array {
  return new Uint8Array(Buffer.concat([...parts]));
}

describe('replacing', () => {
  // src/ledger/import/staging-tables.ts: the batch drops tables, which D1 does not bill. SQLite
  // deletes the rows of a table that another one refers to one by one before it drops the table.
  it('drops contents before the packs that they refer to, and creates them behind these', async () => {
    const { swap } = await readStagingScript(await openMemory());
    const [pack, content] = ['TABLE pack', 'TABLE pack_content'];
    const places = [`DROP ${content}`, `DROP ${pack}`, `CREATE ${pack} `, `CREATE ${content} `].map(
      (begin) => swap.findIndex((sql) => sql === begin || sql.startsWith(`${begin}(`)),
    );
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });

  it('leaves nothing of the ledger before, in any table', async () => {
    const db = await loaded(NETWORK_A);
    // something in every table that following fills
    for (const sql of [
      `INSERT INTO pack VALUES (1, 1, NULL, 1, 0, 2, 2, '[0, 0, 0]', '', '', '', '[]', '[]', '[]')`,
      `INSERT INTO milestone_part VALUES (82 * 4096, '[1]', '', '[]', 0)`,
      ...[0, 1, 2, 3, 4].map((table) => `INSERT INTO id_${table} VALUES ('ab', 82, 1, 83)`),
      `INSERT INTO nft_change VALUES (82, 0, '["cd"]')`,
      `INSERT INTO nft VALUES ('cd', NULL, 82)`,
      `INSERT INTO output_detail (kind, created_time, output, address, native_tokens) VALUES (6, 1, 'cd', 'ef', 0)`,
      `INSERT INTO receipt VALUES (1, 82, 'AA==', 0)`,
      `INSERT INTO follower (one, state) VALUES (1, 'following')`,
    ]) {
      await db.prepare(sql).run();
    }
    await load(db, NETWORK_C);
    expect(timeless(await dump(db))).toEqual(timeless(await dump(await loaded(NETWORK_C))));
  });

  it('leaves the tables as the migrations define them, and served through their indexes', async () => {
    const db = await openMemory();
    const before = await schema(db);
    for (const files of [NETWORK_A, NETWORK_C, SHIMMER]) await load(db, files);
    expect(await schema(db)).toEqual(before);
    const plans = [];
    for (const sql of [
      'SELECT bytes FROM output WHERE id = ?1',
      'SELECT output FROM nft WHERE id = ?1',
      'SELECT output FROM output_detail WHERE address = ?1',
    ]) {
      plans.push(...(await db.prepare(`EXPLAIN QUERY PLAN ${sql}`).bind('00').all()).results);
    }
    expect(plans).toMatchObject([
      { detail: 'SEARCH output USING PRIMARY KEY (id=?)' },
      { detail: 'SEARCH nft USING PRIMARY KEY (id=?)' },
      { detail: 'SEARCH output_detail USING COVERING INDEX detail_by_address (address=?)' },
    ]);
  });

  it('names every import anew', async () => {
    const db = await openMemory();
    const generations = [await load(db, SHIMMER), await load(db, SHIMMER)].map(
      ({ generation }) => generation,
    );
    expect(new Set(generations).size).toBe(2);
  });
});

describe('refused files', () => {
  const delta = NETWORK_A.delta;
  const flipped = delta.map((byte, i) => (i === 80 ? byte ^ 1 : byte));

  const other = NETWORK_C.delta;
  // stardust/snapshot.test.ts has more ways in which files are damaged, and why they are refused
  it.each<[string, Files, RegExp]>([
    ['an empty file', { full: new Uint8Array(0) }, /^full snapshot, offset 0: the file is empty/],
    [
      'a delta in the place of a full snapshot',
      { full: delta },
      /^full snapshot, offset 1: this is a delta snapshot/,
    ],
    [
      'a truncated full snapshot',
      { full: SHIMMER.full.slice(0, 5000) },
      /^full snapshot, offset \d+: /,
    ],
    [
      'a truncated delta',
      { ...NETWORK_A, delta: delta.slice(0, delta.length / 2) },
      /^delta snapshot, offset \d+: /,
    ],
    [
      'the delta of another network',
      { ...NETWORK_A, delta: other },
      /^delta snapshot, offset \d+: E\.5: /,
    ],
    ['the other way round', { ...NETWORK_C, delta }, /^delta snapshot, offset \d+: E\.5: /],
    [
      'a flipped bit in a milestone',
      { ...NETWORK_A, delta: flipped },
      /^delta snapshot, offset 56: E\.3: /,
    ],
  ])('%s leaves the ledger as it was', async (_, files, sentence) => {
    const db = await loaded(NETWORK_C);
    const before = await dump(db);
    const failure = await load(db, files).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SnapshotRefusal);
    expect((failure as Error).message).toMatch(sentence);
    expect(await dump(db)).toEqual(before);
  });

  type Change = (outputs: Map<string, NetworkOutput>, first: NetworkMilestone) => void;

  /** The files of a made-up network in which something was changed before they were written. */
  const filesOf = (change: Change) => {
    const plan = { consume: 1, create: 3, transient: 1, migrate: 0n, announce: undefined };
    const network = madeNetwork([plan, plan]);
    change(network.outputs, network.milestones[0]!);
    return {
      full: join(fullSnapshot(network, { target: GENESIS_INDEX })),
      delta: join(deltaSnapshot(network, GENESIS_INDEX, GENESIS_INDEX + 2)),
    };
  };
  const faultyFull = (change: Change): Files => ({ full: filesOf(change).full });
  const faultyDelta = (change: Change): Files => {
    return { full: filesOf(() => {}).full, delta: filesOf(change).delta };
  };

  const addToAmount = (output: NetworkOutput): NetworkOutput => {
    const bytes = output.bytes.slice();
    const view = new DataView(bytes.buffer);
    view.setBigUint64(1, view.getBigUint64(1, true) + 1n, true);
    return { ...output, bytes };
  };

  const faulty: [what: string, files: Files, sentence: RegExp][] = [
    [
      'that is in the full snapshot twice',
      faultyFull((outputs) => {
        const [first, second] = [...outputs.values()];
        outputs.set(toHex(second!.outputId), { ...second!, outputId: first!.outputId });
      }),
      /^full snapshot, offset \d+: 1\.4: output 0x[0-9a-f]{68} is added again/,
    ],
    [
      'that a milestone creates again',
      faultyDelta((outputs, { index, timestamp }) => {
        const kept = [...outputs.values()].find(({ spent }) => spent === undefined)!;
        outputs.set('again', { ...kept, bookedIndex: index, bookedTimestamp: timestamp });
      }),
      /^delta snapshot, offset \d+: 1\.4: output 0x[0-9a-f]{68} is added again/,
    ],
    [
      'that a milestone consumes twice',
      faultyDelta((outputs) => {
        const consumed = [...outputs.values()].find(
          ({ spent }) => spent?.index === GENESIS_INDEX + 2,
        )!;
        outputs.set('twice', consumed);
      }),
      /^delta snapshot, offset \d+: 1\.5: output 0x[0-9a-f]{68} is removed, here or shortly before, and was not there/,
    ],
    [
      'with the NFT of another one',
      faultyFull((outputs) => {
        const [nft, other] = [...outputs.values()];
        // the reader goes by what the bytes say; both amounts stay, so that the supply is right
        const bytes = nft!.bytes.slice();
        bytes.set(other!.bytes.subarray(1, 9), 1);
        bytes.fill(7, NFT_ID_AT, NFT_ID_AT + 32);
        const twin = nft!.bytes.slice();
        twin.fill(7, NFT_ID_AT, NFT_ID_AT + 32);
        outputs.set(toHex(nft!.outputId), { ...nft!, bytes: twin });
        outputs.set(toHex(other!.outputId), { ...other!, bytes });
      }),
      /^full snapshot, offset \d+: E\.5: two unspent outputs have the ID 0x(07){32}/,
    ],
    [
      'with the alias of another one',
      {
        full: join(fullSnapshot(withTwins(recordedNetwork('network-a'), ALIAS), { target: 81 })),
      },
      /^full snapshot, offset \d+: E\.5: two unspent outputs have the ID 0x(07){32}/,
    ],
    [
      'that a milestone consumes with more than it has, and gives to another one',
      faultyDelta((outputs) => {
        const isGiven = ({ bookedIndex, spent }: NetworkOutput) =>
          (bookedIndex === GENESIS_INDEX + 1 && spent === undefined) ||
          (bookedIndex === GENESIS_INDEX && spent?.index === GENESIS_INDEX + 1);
        const given = [...outputs].filter(([, output]) => isGiven(output));
        for (const is of [true, false]) {
          const [id, output] = given.find(([, { spent }]) => (spent === undefined) === is)!;
          outputs.set(id, addToAmount(output));
        }
      }),
      /^delta snapshot, offset \d+: E\.5: the outputs hold \d+ base tokens/,
    ],
  ];

  it.each(faulty)('refuses an output %s', async (_, files, sentence) => {
    const db = await loaded(SHIMMER);
    const before = await dump(db);
    await expect(load(db, files)).rejects.toThrow(sentence);
    expect(await dump(db)).toEqual(before);
  });

  // the root has aliases as outputs alone
  it.each(faulty.filter(([what]) => !what.includes('alias')))(
    'of ledger-root refuses an output %s',
    async (what, { full, delta }) => {
      const paths = { full: joinPath(folder, 'full'), delta: delta && joinPath(folder, 'delta') };
      writeFileSync(paths.full, full);
      if (delta) writeFileSync(paths.delta!, delta);
      const reason = what.startsWith('that is in the full') ? 'is added twice' : 'E.5: ';
      await expect(computeLedgerRoot(paths)).rejects.toThrow(reason);
    },
  );
});

const ALIAS = 4;

/** The network with the same ID in two unspent outputs of that type without native tokens. */
function withTwins(network: Network, type: number): Network {
  const outputs = new Map(network.outputs);
  const chains = [...outputs].filter(
    ([, { spent, bytes }]) => spent === undefined && bytes[0] === type && bytes[9] === 0,
  );
  for (const [id, output] of chains.slice(0, 2))
    outputs.set(id, { ...output, bytes: output.bytes.slice().fill(7, NFT_ID_AT, NFT_ID_AT + 32) });
  return { ...network, outputs };
}

/** Bytes of an NFT output before its ID: type, amount, count of native tokens (A.8). */
const NFT_ID_AT = 1 + 8 + 1;

/** Of the batches after which an import is killed. */
const STEP = process.env.SLOW ? 1 : 3;

describe('interruptions', () => {
  /** Fails at one of its batches, before or after it was done, as a process that is killed then. */
  function mortal(db: Database, batches: number, isAfter: boolean): Database {
    const die = async (batch: number) => {
      if (batch === batches + 1) throw new Error('killed');
    };
    return isAfter
      ? disturbed(
          db,
          async () => {},
          (_, batch) => die(batch),
        )
      : disturbed(db, (_, batch) => die(batch));
  }

  it('goes on from wherever it was killed, and ends in the same ledger', async () => {
    const due = timeless(await dump(await loaded(NETWORK_A)));
    for (let batches = 0, done = false; !done; batches += STEP) {
      for (const isAfter of [false, true]) {
        const db = await loaded(NETWORK_C);
        const { output: former } = await dump(db);
        done = await load(mortal(db, batches, isAfter), NETWORK_A).then(
          () => true,
          () => false,
        );
        // what is served is the one or the other, and whole
        expect([former, due.output]).toContainEqual((await dump(db)).output);
        if (!done) await load(db, NETWORK_A);
        expect(timeless(await dump(db))).toEqual(due);
      }
    }
  });

  it('does not do again what was done', async () => {
    const db = await openMemory();
    await load(mortal(db, 5, true), NETWORK_A).catch(() => undefined);
    const position = await db.prepare('SELECT position FROM import_progress').first('position');
    expect(position).toBeGreaterThan(0);
    // whatever is staged already would be there twice
    await db.prepare('UPDATE import_output SET created_time = -1').run();
    await load(db, NETWORK_A);
    const kept = db.prepare('SELECT count(*) AS kept FROM output WHERE created_time = -1');
    expect(await kept.first('kept')).toBeGreaterThan(0);
  });

  it('begins anew where what was staged is damaged', async () => {
    const db = await openMemory();
    const again = () =>
      loadSnapshot(db, fileOf(NETWORK_A.full), fileOf(NETWORK_A.delta!), {
        beforeReplacing: async () => {},
      });
    await load(mortal(db, 5, true), NETWORK_A).catch(() => undefined);
    await db.prepare('UPDATE import_output SET created = created + 1').run();
    await expect(again()).rejects.toThrow(LedgerDamaged);
    await again();
    expect(timeless(await dump(db))).toEqual(timeless(await dump(await loaded(NETWORK_A))));
  });

  it('begins anew with other files', async () => {
    const db = await openMemory();
    await load(mortal(db, 5, true), NETWORK_A).catch(() => undefined);
    await load(db, NETWORK_C);
    expect(timeless(await dump(db))).toEqual(timeless(await dump(await loaded(NETWORK_C))));
  });

  it('begins anew with a file that was damaged when it was read before', async () => {
    const network = recordedNetwork('network-a');
    const right = join(fullSnapshot(network, { target: 81 }));
    const outputs = new Map(network.outputs);
    // one that ends with an address, and no feature behind it
    const [id, output] = [...outputs].find(
      ([, { spent, bytes }]) => spent === undefined && bytes[0] === 3 && bytes.at(-1) === 0,
    )!;
    outputs.set(id, { ...output, bytes: output.bytes.with(-2, output.bytes.at(-2)! ^ 1) });
    const damaged = join(fullSnapshot({ ...network, outputs }, { target: 81 }));
    expect(damaged.length).toBe(right.length);
    expect(damaged).not.toEqual(right);
    const due = await ledgerStateHash(await loaded({ full: right }));
    const folder = mkdtempSync(joinPath(tmpdir(), 'resumed-'));
    try {
      const open = (name: string, content: Uint8Array) => {
        const path = joinPath(folder, name);
        writeFileSync(path, content);
        return openSnapshotFile(path);
      };
      for (let batches = 1; batches < 6; batches++) {
        const db = await openMemory();
        const first = open(`damaged-${batches}`, damaged);
        await loadSnapshot(mortal(db, batches, true), first, undefined).catch(() => undefined);
        await loadSnapshot(db, open(`right-${batches}`, right), undefined);
        expect(await ledgerStateHash(db)).toEqual(due);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('keeps what a migration brings meanwhile', async () => {
    const db = await openMemory();
    const migrating = (sql: string) =>
      loadSnapshot(db, fileOf(NETWORK_C.full), fileOf(NETWORK_C.delta), {
        beforeReplacing: async () => db.exec(sql),
      });
    // of a table that an import makes again, and of one that it fills
    await migrating('ALTER TABLE follower ADD COLUMN late TEXT');
    const filled = migrating('ALTER TABLE output ADD COLUMN late TEXT');
    await expect(filled).rejects.toThrow('give the same command again');
    await load(db, NETWORK_C);
    const late = db.prepare('SELECT f.late, o.late FROM output o LEFT JOIN follower f LIMIT 1');
    expect(await late.first()).toEqual({ late: null });
  });

  it('does not mix two imports at once', async () => {
    const db = await openMemory();
    const results = await Promise.allSettled([
      load(db, NETWORK_A),
      load(db, NETWORK_C),
      load(db, NETWORK_A),
    ]);
    expect(results.some(({ status }) => status === 'rejected')).toBe(true);
    await load(db, NETWORK_C);
    expect(timeless(await dump(db))).toEqual(timeless(await dump(await loaded(NETWORK_C))));
  });
});
