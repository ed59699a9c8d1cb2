/**
 * `stardust-edge backup FILE`: saves the ledger that `serve` serves, also while it does, or makes a
 * back-up of what D1 exported (docs/operations.md#back-up).
 */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { backUp } from './backup/back-up.ts';
import { cutExport } from './backup/cut-export.ts';
import { exitWith, newCommand, persistToOption } from './lib/process/command.ts';
import { readWranglerConfig } from './lib/wrangler/wrangler-config.ts';

const ABOUT = `Saves the ledger of a data folder into FILE, which must not exist: all of one
moment, also while serve runs. FILE is complete or is not there. The command restore makes a data
folder of it.

With --from-d1, FILE is a copy of the SQL file that wrangler d1 export wrote, with statements of at
most 100 KB: D1 refuses longer ones, but writes them for long rows. The ledger in FILE is an import
of its own: call it again for each restore.`;

export const backupCommand = (): Command =>
  newCommand('backup', ABOUT)
    .argument('<FILE>', 'the new file')
    .addOption(persistToOption().conflicts('fromD1'))
    .option('--from-d1 <EXPORT>', 'the SQL file that wrangler d1 export wrote')
    .action(
      exitWith(async (file: string, options: { persistTo: string; fromD1?: string }) => {
        const { persistTo, fromD1 } = options;
        if (fromD1 === undefined) await backUp(persistTo, resolve(file), readWranglerConfig());
        else await cutExport(fromD1, file);
        return 0;
      }),
    );
