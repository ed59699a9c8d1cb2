/**
 * Killed at random moments while it follows network-a, and started again each time: the ledger at
 * the end is the one that it always was, no milestone is applied twice, none left out.
 * `npm run test:slow -- kills` kills it 300 times.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, inject, it } from 'vitest';
import { checkChain } from '../support/edge/check-chain.ts';
import { readStateHash } from '../support/edge/d1-file.ts';
import { startEdge } from '../support/edge/edge.ts';
import { importSnapshot, readInfo } from '../support/edge/walk-network.ts';
import { NodeDouble } from '../support/hornet-double/hornet-double.ts';
import { lastIndex } from '../support/network/network-model.ts';
import { recordedNetwork } from '../support/network/recorded-network.ts';

const KILLS = Number(process.env.KILLS ?? 8);

const network = recordedNetwork('network-a');
const last = lastIndex(network);
const folder = await mkdtemp(join(tmpdir(), 'edge-kills-'));

afterAll(() => rm(folder, { recursive: true, force: true }));

it(`killed ${KILLS} times`, async () => {
  const persistTo = await mkdtemp(join(folder, 'run-'));
  await importSnapshot('network-a', persistTo, false);
  await using double = await NodeDouble.start(network);
  const vars = {
    UPSTREAM_URL: double.url,
    MILESTONE_PUBLIC_KEYS: network.keys.keys.map(({ publicKey }) => publicKey.toHex()).join(),
    MILESTONE_THRESHOLD: String(network.keys.threshold),
  };
  for (let kill = 0; kill < KILLS; kill++) {
    const edge = await startEdge({ folder: inject('builtWorker'), persistTo, vars });
    await readInfo(edge.url);
    // so many milestones for each life that the last one is reached with the last kill
    double.confirm(Math.ceil((last * (kill + 1)) / KILLS));
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 1500));
    await edge.kill();
    checkChain(persistTo, network);
  }
  const edge = await startEdge({ folder: inject('builtWorker'), persistTo, vars });
  const deadline = Date.now() + 60_000;
  while (
    (await readInfo(edge.url)).status.confirmedMilestone.index < last &&
    Date.now() < deadline
  ) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await edge.stop();
  expect(checkChain(persistTo, network)).toBe(last);
  expect(await readStateHash(persistTo)).toBe(
    '0x577f3d596803a35b2abee1e2b115702092a672ce404186a78f581c32e10884df',
  );
}, 3_600_000);
