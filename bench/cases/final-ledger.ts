/**
 * Proofs of a final ledger (docs/final-ledger.md), over HTTP, each of another ID; every answer is
 * verified.
 */
import { strict as assert } from 'node:assert';
import { openLocalDatabase } from '../../scripts/lib/wrangler/local-database.ts';
import { readWranglerConfig } from '../../scripts/lib/wrangler/wrangler-config.ts';
import { buildFinalLedger } from '../../src/ledger/final/build-final-ledger.ts';
import { readFinalLedger } from '../../src/ledger/final/prove-final.ts';
import { loadSnapshot } from '../../src/ledger/import/load-snapshot.ts';
import {
  type FinalTreeName,
  KEY_BYTES,
  verifyFinalProof,
} from '../../src/stardust/proof/final-ledger.ts';
import { asFile } from '../../test/support/ledger/ledger-harness.ts';
import { Random } from '../../test/support/network/random.ts';
import { MADE_INDEX, madeSnapshot } from '../../test/support/scripts/made-snapshot.ts';
import type { Bench, BenchCase } from '../case.ts';
import { Connection } from '../tools/connection.ts';
import { keptLedger } from '../tools/ledger.ts';
import { withEdge } from '../tools/servers.ts';

const OUTPUTS = 1_000_000;

/** Of each kind. */
const PROOFS = 1000;

async function proveMany({ worker, report }: Bench): Promise<void> {
  const persistTo = await keptLedger(`final-${OUTPUTS}`, async (db) => {
    await loadSnapshot(db, asFile(madeSnapshot(OUTPUTS)), undefined);
    while (!(await buildFinalLedger(db, MADE_INDEX)));
  });
  const { root, idOf } = await open(persistTo);
  const vars = { FINAL_MILESTONE: String(MADE_INDEX) };
  await withEdge({ folder: worker, persistTo, vars }, async ({ url }) => {
    const connection = new Connection(url);
    for (const tree of ['outputs', 'nfts'] as const) {
      for (const present of [true, false]) {
        const ids = idOf(tree, present);
        const times: number[] = [];
        for (const id of ids) {
          const start = performance.now();
          const { status, body } = await connection.get(`/api/edge/v1/final/${tree}/0x${id}`);
          times.push(performance.now() - start);
          assert.equal(status, 200, body);
          const verdict = verifyFinalProof(JSON.parse(body), tree, Uint8Array.fromHex(id), root);
          assert(verdict.ok && verdict.present === present, id);
        }
        const value = times.sort((a, b) => a - b)[Math.ceil(times.length * 0.99) - 1]!;
        const name = `${present ? 'present' : 'absent'} of ${tree}, 99 % of the proofs`;
        report({ name, value, unit: 'ms', target: { most: 60 } });
      }
    }
    connection.close();
  });
}

/** The final root of a kept ledger, and IDs of it, or near those. */
async function open(persistTo: string) {
  const db = await openLocalDatabase(persistTo, readWranglerConfig());
  const found = await readFinalLedger(db, MADE_INDEX);
  assert(found.ok);
  const random = new Random('final ledger');
  const select = async (table: string) => {
    const all = await db.prepare(`SELECT id FROM ${table}`).all<{ id: string }>();
    return random.sample(all.results, PROOFS).map(({ id }) => id);
  };
  const known = { outputs: await select('output'), nfts: await select('nft') };
  db.close();
  return {
    root: found.root,
    idOf: (tree: FinalTreeName, present: boolean): string[] =>
      present ? known[tree] : known[tree].map(() => random.bytes(KEY_BYTES[tree]).toHex()),
  };
}

export const finalLedgerCases: readonly BenchCase[] = [
  {
    name: 'final ledger',
    about: 'Proofs over a million outputs, one connection, every proof verified.',
    run: proveMany,
  },
];
