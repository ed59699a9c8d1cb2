/**
 * At the final milestone the follower builds the trees over the ledger (docs/final-ledger.md).
 * Killed anywhere it goes on, and the root is that of `stardust-edge ledger-root` and of a script
 * in another language over snapshots of the same ledger.
 */

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { computeLedgerRoot } from '../../../cli/ledger-root/compute-ledger-root.ts';
import type { SqliteDatabase } from '../../../cli/lib/wrangler/sqlite-database.ts';
import { createFollowerMemory } from '../../../src/follower/follower-context.ts';
import { followOnce, type PassResult } from '../../../src/follower/pass.ts';
import type { Database } from '../../../src/ledger/core/database.ts';
import { ledgerStateHash } from '../../../src/ledger/read/ledger-state-hash.ts';
import { final } from '../../../src/modules/final/module.ts';
import { readFinalLedger } from '../../../src/modules/final/prove-final.ts';
import { buildWhole } from '../../support/final-ledger/made-ledger.ts';
import { disturbed, followTo, type Rig, startLedger } from '../../support/ledger/ledger-harness.ts';
import { dump, openMemory } from '../../support/ledger/memory-database.ts';
import { deltaSnapshot, fullSnapshot } from '../../support/network/network-snapshot.ts';
import { recordedNetwork } from '../../support/network/recorded-network.ts';
import { hasTool } from '../../support/tools.ts';

const network = recordedNetwork('network-n');
const FINAL = 124;
const START = 119;

async function followed(): Promise<{ db: SqliteDatabase; rig: Rig }> {
  const db = await openMemory();
  const rig = await startLedger(db, network, START);
  await followTo(rig, FINAL);
  // the network goes on, and the ledger does not
  rig.node.confirm(FINAL + 1);
  return { db, rig };
}

/** A pass of a follower that begins, as after a kill. */
function pass(rig: Rig, db: Database): Promise<PassResult> {
  const context = {
    ...{ ...rig.following, db, finalMilestone: FINAL },
    memory: createFollowerMemory(),
    moduleUpkeep: final.upkeep!,
  };
  return followOnce(context, { deadline: Date.now() + 20_000, milestones: 12 });
}

async function finalTables(db: Database) {
  const { final_page, final_range, final_root } = await dump(db);
  return { final_page, final_range, final_root };
}

function writeFiles(files: Record<string, Iterable<Uint8Array>>): (name: string) => string {
  const folder = mkdtempSync(join(tmpdir(), 'final-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, chunks] of Object.entries(files))
    writeFileSync(join(folder, name), Buffer.concat([...chunks]));
  return (name) => join(folder, name);
}

it('builds the root that ledger-root computes, killed in between or not', async () => {
  const { db, rig } = await followed();
  // other settings: nothing is built
  const { following } = rig;
  await followOnce(following, { deadline: 0, milestones: 0 });
  expect(await finalTables(db)).toEqual({ final_page: [], final_range: [], final_root: [] });
  const image = db.serialize();
  expect(await pass(rig, db)).toMatchObject({ behind: false, ended: true });
  const built = await finalTables(db);
  expect(built.final_page).toHaveLength(2);
  const found = await readFinalLedger(db, FINAL);
  if (!found.ok) throw new Error('the trees are not built');

  // before each batch, which is after the one before: reads of pages, writes of each, and the root's
  let batches = 0;
  for (let at = 1; batches >= at - 1; at++) {
    db.deserialize(image);
    const dying = disturbed(db, async (_, batch) => {
      batches = batch;
      if (batch >= at) throw new Error('killed');
    });
    await pass(rig, dying).catch(() => {});
    await pass(rig, db);
    expect(await finalTables(db)).toEqual(built);
  }
  expect(batches).toBeGreaterThan(5);

  // page by page, in steps of 32 leaves
  db.deserialize(image);
  expect(await buildWhole(db, FINAL)).toBeGreaterThan(20);
  expect(await readFinalLedger(db, FINAL)).toEqual(found);

  const path = writeFiles({
    full: fullSnapshot(network, { target: FINAL }),
    early: fullSnapshot(network, { target: START }),
    late: fullSnapshot(network, { target: START, ledger: START + 3 }),
    delta: deltaSnapshot(network, START, FINAL),
  });
  const { keys } = network;
  const full = await computeLedgerRoot({ full: path('full') });
  expect(full).toMatchObject({ ledger: found.ledger, root: found.root });
  expect(full.stateHash).toEqual(await ledgerStateHash(db));
  const hash = createHash('sha256')
    .update(readFileSync(path('full')))
    .digest('hex');
  expect(full.sha256.full).toBe(hash);
  // outputs of the delta come last, and some are removed; milestones are rolled back first
  for (const name of ['early', 'late']) {
    const files = { full: path(name), delta: path('delta') };
    expect((await computeLedgerRoot(files, keys)).root).toEqual(found.root);
  }
  const script = join(import.meta.dirname, '../../cli/ledger-root/final_root.py');
  if (!hasTool('python3')) return;
  const { status, stdout } = spawnSync('python3', [script, path('full')], { encoding: 'utf8' });
  expect([status, stdout.trim().split('\n').at(-1)]).toEqual([0, found.root.toHex()]);
});
