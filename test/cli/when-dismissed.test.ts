/** A command that npm started ends with npm, and not with whoever started npm. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { PROJECT } from '../../cli/lib/project.ts';
import { launch } from '../support/edge/launch.ts';

const COMMAND = `
const { whenDismissed } = await import('${join(PROJECT, 'cli/lib/process/when-dismissed.ts')}');
whenDismissed(() => { console.log('dismissed'); process.exit(); });
setInterval(() => {}, 1000);
console.log('ready');`;

/** As npm: it runs the script in a shell. */
const NPM = `
console.log('npm', process.pid);
require('node:child_process').spawn('sh', ['-c', process.env.SCRIPT], { stdio: 'inherit' });`;

/** Longer than between two looks. */
const LOOK_MS = 700;

describe.runIf(process.platform === 'linux')('whenDismissed', () => {
  it.concurrent.each([
    ['becomes the script', 'exec "$NODE" --eval "$COMMAND"'],
    ['waits for it', '"$NODE" --eval "$COMMAND"; true'],
  ])('where the shell of npm %s', async (_, script) => {
    const { child, until, log } = launch('sh', ['-c', '"$NODE" --eval "$NPM" & wait'], {
      env: {
        ...{ NODE: process.execPath, NPM, COMMAND, SCRIPT: script },
        ...{ npm_lifecycle_event: 'npx', npm_node_execpath: process.execPath },
      },
    });
    const npm = Number((await until(/^npm (\d+)/))[1]);
    await until(/^ready/);
    child.kill('SIGKILL');
    await sleep(LOOK_MS);
    expect(log).not.toContain('dismissed');
    process.kill(npm, 'SIGKILL');
    await until(/^dismissed/);
  });
});
