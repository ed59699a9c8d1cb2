/**
 * `stardust-edge restore FILE --persist-to DIR`: makes a data folder of a back-up
 * (docs/operations.md#restore).
 */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { restore } from './backup/restore.ts';
import { exitWith, folderOption, newCommand } from './lib/process/command.ts';
import { UsageError } from './lib/process/command-line.ts';
import { readWranglerConfig } from './lib/wrangler/wrangler-config.ts';

const ABOUT = `Makes a data folder of the back-up FILE, which the command backup wrote. The folder
must be new or empty. Interrupted, the command can be called again.`;

export const restoreCommand = (): Command =>
  newCommand('restore', ABOUT)
    .argument('<FILE>', 'the back-up')
    .addOption(folderOption('the new data folder'))
    .action(
      exitWith(async (file: string, { persistTo }: { persistTo?: string }) => {
        if (persistTo === undefined) throw new UsageError('--persist-to is missing');
        await restore(resolve(file), persistTo, readWranglerConfig());
        return 0;
      }),
    );
