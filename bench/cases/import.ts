/**
 * An import of a snapshot with 1,000,000 outputs, as the process that operators start.
 */
import { strict as assert } from 'node:assert';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from '../../cli/lib/project.ts';
import { writeMadeSnapshot } from '../../test/support/cli/made-snapshot.ts';
import type { BenchCase } from '../case.ts';
import { withNewFolder } from '../tools/ledger.ts';
import { descendantsOf } from '../tools/process.ts';

const OUTPUTS = 1_000_000;
const LOOK_EVERY_MS = 200;

/** The most that each process had resident until now, added up, in MB. */
function mostResident(pids: readonly number[]): number {
  const kilobytes = pids.map((pid) => {
    try {
      return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
    } catch {
      return 0;
    }
  });
  return kilobytes.reduce((sum, each) => sum + each, 0) / 1000;
}

export const importCases: readonly BenchCase[] = [
  {
    name: 'import',
    about: `A snapshot of ${OUTPUTS.toLocaleString('en')} outputs, a tenth of them NFTs, into a new folder.`,
    run: ({ report }) =>
      withNewFolder(async (folder) => {
        const file = join(folder, 'full_snapshot.bin');
        writeMadeSnapshot(file, OUTPUTS);
        const began = performance.now();
        const args = [
          'cli/stardust-edge.js',
          'import',
          file,
          '--persist-to',
          join(folder, 'state'),
        ];
        const child = spawn(process.execPath, args, { cwd: PROJECT, stdio: 'ignore' });
        let most = 0;
        const timer = setInterval(() => {
          most = Math.max(most, mostResident([child.pid!, ...descendantsOf(child.pid!)]));
        }, LOOK_EVERY_MS);
        const [code] = await once(child, 'exit');
        clearInterval(timer);
        assert.equal(code, 0);
        const name = `import of ${OUTPUTS.toLocaleString('en')} outputs`;
        report({ name: `${name}: time`, value: performance.now() - began, unit: 'ms' });
        report({ name: `${name}: memory`, value: most, unit: 'MB' });
      }),
  },
];
