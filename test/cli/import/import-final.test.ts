/** What an import of a last ledger takes from the network's name, as `serve` does. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { findFinalNetwork, readSigners } from '../../../cli/lib/network.ts';
import { openLocalDatabase } from '../../../cli/lib/wrangler/local-database.ts';
import { readWranglerConfig } from '../../../cli/lib/wrangler/wrangler-config.ts';
import { IMPORTED, SNAPSHOT } from '../../../cli/start/sample.ts';
import { readHead } from '../../../src/ledger/core/head.ts';
import { callCommand } from '../../support/cli/call-script.ts';
import { temporaryFolder } from '../../support/cli/script-process.ts';

const folder = temporaryFolder();

it('fills the index of every kind of output, whatever the environment says', async () => {
  const final = findFinalNetwork('iota-final')!;
  const published = { ...final };
  onTestFinished(() => void Object.assign(final, published));
  // as if Shimmer had ended with the sample's snapshot
  Object.assign(final, {
    networkName: 'shimmer',
    sha256: createHash('sha256').update(readFileSync(SNAPSHOT)).digest('hex'),
    milestone: IMPORTED,
    signers: readSigners('shimmer'),
  });
  vi.stubEnv('FINAL_MILESTONE', '5');
  onTestFinished(() => void vi.unstubAllEnvs());
  const persistTo = join(folder, 'state');
  const args = [SNAPSHOT, '--network', 'iota-final', '--persist-to', persistTo];
  expect(await callCommand('import', ...args)).toMatchObject({ code: 0, stderr: '' });
  const db = await openLocalDatabase(persistTo, readWranglerConfig());
  onTestFinished(() => db.close());
  expect(await readHead(db)).toMatchObject({ ledger: IMPORTED, indexed: 'all' });
});
