/**
 * Proofs of a final ledger (docs/final-ledger.md), over HTTP, each of another ID; every answer is
 * verified.
 */
import { strict as assert } from 'node:assert';
import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { openLocalDatabase, persistPath } from '../../cli/lib/wrangler/local-database.ts';
import { readWranglerConfig } from '../../cli/lib/wrangler/wrangler-config.ts';
import { loadSnapshot } from '../../src/ledger/import/load-snapshot.ts';
import { fillIndex } from '../../src/ledger/output-list/fill-index.ts';
import { buildFinalLedger } from '../../src/modules/final/build-final-ledger.ts';
import { readFinalLedger } from '../../src/modules/final/prove-final.ts';
import { toBech32 } from '../../src/stardust/bech32.ts';
import {
  type FinalTreeName,
  KEY_BYTES,
  verifyFinalProof,
} from '../../src/stardust/proof/final-ledger.ts';
import { verifyStatement } from '../../src/stardust/proof/statement.ts';
import type { SnapshotFile } from '../../src/stardust/snapshot/byte-stream.ts';
import { MADE_HOLDER, MADE_INDEX, madeSnapshot } from '../../test/support/cli/made-snapshot.ts';
import { OUR_ISOLATE, readHeaps } from '../../test/support/edge/heap.ts';
import { Random } from '../../test/support/network/random.ts';
import type { Bench, BenchCase } from '../case.ts';
import { LoadConnection } from '../tools/connection.ts';
import { keptLedger, withNewFolder } from '../tools/ledger.ts';
import { percentile } from '../tools/measure.ts';
import { withEdge } from '../tools/servers.ts';

/** A ledger of 8,000,000 takes 4.1 GB, twice while it is measured. */
const OUTPUTS = Number(process.env.OUTPUTS ?? 1_000_000);

/** Of each kind. */
const PROOFS = 1000;
const WITHIN = { unit: 'ms', target: { most: 60 } } as const;

const SETTINGS = { indexAll: true, finalMilestone: MADE_INDEX };
const VARS = { FINAL_MILESTONE: String(MADE_INDEX) };

/** What the proofs are about, and the root that they are to lead to. */
interface Questions {
  root: Uint8Array;
  asked: readonly { tree: FinalTreeName; present: boolean; ids: readonly string[] }[];
}

/** Outputs of the one address whose statement is made. */
const STATED = 1000;
const STATEMENTS = 10;

async function openKept(): Promise<string> {
  return keptLedger(`final-${OUTPUTS}`, async (db) => {
    await loadSnapshot(db, madeFile(), undefined);
    while (!(await fillIndex(db, SETTINGS)));
    while (!(await buildFinalLedger(db, MADE_INDEX)));
  });
}

async function run({ worker: folder, report }: Bench): Promise<void> {
  const kept = await openKept();
  const questions = await chooseQuestions(kept);
  await withEdge({ folder, persistTo: kept, vars: VARS }, ({ url }) =>
    prove(questions, url, (name, value) => report({ name, value, ...WITHIN })),
  );
  await withNewFolder(async (persistTo) => {
    cpSync(kept, persistTo, { recursive: true });
    const stored = () => readdirSync(join(persistPath(persistTo), 'kv'), { recursive: true });
    // the follower wakes as in `npm run serve`
    await withEdge({ folder, persistTo, vars: VARS, asServe: true }, async ({ url }) => {
      const { length } = stored();
      await prove(questions, url, (name, value) =>
        report({ name: `${name}, while KV is filled`, value, ...WITHIN }),
      );
      assert(stored().length > length + PROOFS, 'KV was not filled');
    });
  });
}

/** The made snapshot, as a file is read. */
function madeFile(): SnapshotFile {
  const size = madeSnapshot(OUTPUTS, STATED).reduce((sum, { length }) => sum + length, 0);
  return { size, chunks: Readable.from(madeSnapshot(OUTPUTS, STATED)) };
}

/** Asks for all proofs and verifies them. `take` gets 99 % of the times of each kind, milliseconds. */
async function prove(
  { root, asked }: Questions,
  url: string,
  take: (name: string, ms: number) => void,
): Promise<void> {
  const connection = new LoadConnection(url);
  for (const { tree, present, ids } of asked) {
    const times: number[] = [];
    for (const id of ids) {
      const start = performance.now();
      const { status, body } = await connection.get(`/api/edge/v1/final/${tree}/0x${id}`);
      times.push(performance.now() - start);
      assert.equal(status, 200, body);
      const verdict = verifyFinalProof(JSON.parse(body), tree, Uint8Array.fromHex(id), root);
      assert(verdict.ok && verdict.present === present, id);
    }
    const name = `${present ? 'present' : 'absent'} of ${tree}, 99 % of the proofs`;
    take(name, percentile(times, 99));
  }
  connection.close();
}

/** Makes and verifies statements of one address: all are the same, so none may come from a cache. */
async function runStatements({ worker: folder, report }: Bench): Promise<void> {
  const kept = await openKept();
  const { root } = await chooseQuestions(kept);
  const path = `/api/edge/v1/final/addresses/${toBech32('mde', MADE_HOLDER)}`;
  await withEdge({ folder, persistTo: kept, vars: VARS, inspect: true }, async (edge) => {
    const connection = new LoadConnection(edge.url);
    const [made, verified]: number[][] = [[], []];
    let [bytes, heap] = [0, 0];
    for (let i = 0; i < STATEMENTS; i++) {
      const start = performance.now();
      const { status, body } = await connection.get(path);
      made!.push(performance.now() - start);
      assert.equal(status, 200, body);
      bytes = body.length;
      const from = performance.now();
      const verdict = verifyStatement(JSON.parse(body), root);
      verified!.push(performance.now() - from);
      assert(verdict.ok && verdict.statement.outputs.length === STATED);
      if (i === 0) heap = (await readHeaps(edge)).get(OUR_ISOLATE)!;
    }
    connection.close();
    const ms = (most: number) => ({ unit: 'ms', target: { most } }) as const;
    report({ name: 'slowest of 10 made', value: Math.max(...made!), ...ms(2000) });
    report({ name: 'slowest of 10 verified', value: Math.max(...verified!), ...ms(1000) });
    report({
      name: 'heap after the first, garbage included',
      value: heap / 1e6,
      unit: 'MB',
      target: { most: 100 },
    });
    report({ name: 'size', value: bytes / 1e6, unit: 'MB', target: { most: 3 } });
  });
}

async function chooseQuestions(persistTo: string): Promise<Questions> {
  const db = await openLocalDatabase(persistTo, readWranglerConfig());
  const found = await readFinalLedger(db, MADE_INDEX);
  assert(found.ok);
  const random = new Random('final ledger');
  const near = (tree: FinalTreeName) =>
    Array.from({ length: PROOFS }, () => random.bytes(KEY_BYTES[tree]).toHex());
  const asked: Questions['asked'][number][] = [];
  for (const [tree, table] of [
    ['outputs', 'output'],
    ['nfts', 'nft'],
  ] as const) {
    const statement = db.prepare(`SELECT id FROM ${table} WHERE id >= ?1 ORDER BY id LIMIT 1`);
    const rows = near(tree).map((id) => statement.bind(id).first<{ id: string }>());
    const present = (await Promise.all(rows)).flatMap((row) => row?.id ?? []);
    asked.push({ tree, present: true, ids: present }, { tree, present: false, ids: near(tree) });
  }
  db.close();
  return { root: found.root, asked };
}

export const finalLedgerCases: readonly BenchCase[] = [
  {
    name: 'final ledger',
    about: 'Proofs over a million outputs or OUTPUTS, one connection, every proof verified.',
    run,
  },
  {
    name: 'statement',
    about: `Statements of an address with ${STATED} outputs of a million or OUTPUTS.`,
    run: runStatements,
  },
];
