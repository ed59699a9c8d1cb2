/**
 * `stardust-edge restore FILE --persist-to DIR`: makes a data folder of a back-up
 * (docs/operations.md#restore).
 */
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { restore } from './backup/restore.ts';
import { exitWith, newCommand } from './lib/process/command.ts';
import { readWranglerConfig } from './lib/wrangler/wrangler-config.ts';

const ABOUT = `Makes a data folder of the back-up FILE, which the command backup wrote. The folder must be new or empty. Interrupted, the command can be called again.`;

export const restoreCommand = (): Command =>
  newCommand('restore', ABOUT)
    .argument('<FILE>', 'the back-up')
    .addOption(new Option('--persist-to <DIR>', 'the new data folder').makeOptionMandatory())
    .action(
      exitWith(async (file: string, { persistTo }: { persistTo: string }) => {
        await restore(resolve(file), resolve(persistTo), readWranglerConfig());
        return 0;
      }),
    );
