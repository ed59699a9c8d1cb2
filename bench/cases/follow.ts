/**
 * Catching up with an upstream on this machine: fetched over HTTP, verified, applied, published.
 */
import { strict as assert } from 'node:assert';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readStateHash } from '../../test/e2e/database.ts';
import { importFiles, untilLedger } from '../../test/e2e/walk.ts';
import { lastIndex, stateHash } from '../../test/network/model.ts';
import { randomNetwork } from '../../test/network/random-network.ts';
import { fullSnapshot } from '../../test/network/snapshot.ts';
import { NodeDouble } from '../../test/upstream/double.ts';
import type { Bench, BenchCase } from '../case.ts';
import { withEdge } from '../tools/servers.ts';

const MILESTONES = 150;
const BLOCKS = 40;

async function catchUp({ worker: folder, report }: Bench): Promise<void> {
  const network = randomNetwork({ seed: 'catch up', milestones: MILESTONES, events: BLOCKS });
  const persistTo = await mkdtemp(join(tmpdir(), 'bench-follow-'));
  const file = join(persistTo, 'full_snapshot.bin');
  await writeFile(file, [...fullSnapshot(network, { target: network.genesis.index })]);
  await importFiles(persistTo, { full: file });
  await using double = await NodeDouble.start(network);
  const vars = {
    UPSTREAM_URL: double.url,
    MILESTONE_PUBLIC_KEYS: network.keys.keys.map(({ publicKey }) => publicKey.toHex()).join(),
    MILESTONE_THRESHOLD: String(network.keys.threshold),
  };
  const seconds = await withEdge({ folder, persistTo, vars }, async (edge) => {
    await untilLedger(edge.url, network.genesis.index);
    const start = performance.now();
    double.confirm(lastIndex(network));
    await untilLedger(edge.url, lastIndex(network), 300);
    return (performance.now() - start) / 1000;
  });
  assert.equal(await readStateHash(persistTo), `0x${stateHash(network, lastIndex(network))}`);
  await rm(persistTo, { recursive: true });
  const blocks = [...network.blocks.values()].filter(({ referenced }) => referenced !== undefined).length;
  report({ name: 'milestones', value: MILESTONES / seconds, unit: 'a second', target: { least: 10 } });
  report({ name: 'blocks', value: blocks / seconds, unit: 'a second' });
}

export const followCases: readonly BenchCase[] = [
  {
    name: `catching up, ${MILESTONES} milestones of ${BLOCKS} blocks`,
    about:
      'From the upstream’s word that it has them to the last commit; the upstream runs in the process that measures.',
    run: catchUp,
  },
];
