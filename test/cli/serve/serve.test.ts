/**
 * `npm run serve`: what it serves, what it refuses and in which words, and that it leaves nothing
 * behind. test/e2e/serve.test.ts kills it while it follows a network.
 */
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { checkAddress } from '../../../cli/lib/process/check-machine.ts';
import { SettingsError } from '../../../cli/lib/process/command-line.ts';
import { PROJECT } from '../../../cli/lib/project.ts';
import { holdFolder } from '../../../cli/lib/wrangler/hold-folder.ts';
import { openLocalDatabase } from '../../../cli/lib/wrangler/local-database.ts';
import { readDevVars, readVars } from '../../../cli/lib/wrangler/read-vars.ts';
import { readWranglerConfig } from '../../../cli/lib/wrangler/wrangler-config.ts';
import { SNAPSHOT } from '../../../cli/start/sample.ts';
import { callCommand } from '../../support/cli/call-script.ts';
import { runCommand, startCommand, temporaryFolder } from '../../support/cli/script-process.ts';
import { freePort, listen } from '../../support/edge/launch.ts';
import { killProcess, startServe } from '../../support/edge/npm-serve.ts';
import { readInfo } from '../../support/edge/walk-network.ts';

const folder = temporaryFolder();

/** A module that sets the clock of its process back by twenty years, or right again, at a signal. */
const CLOCK = `
  const [right, YEARS_MS] = [Date.now, 20 * 365 * 86_400_000];
  let back = 0;
  process.on('SIGUSR2', () => { back = YEARS_MS - back; });
  Date.now = () => right() - back;`;

/** Asks until it answers. */
async function untilServed(url: string, tries = 600): Promise<number> {
  for (; tries > 0; tries--) {
    const info = await readInfo(url).catch(() => undefined);
    if (info !== undefined) return info.status.confirmedMilestone.index;
    await sleep(50);
  }
  throw new Error(`${url} does not answer`);
}

describe('npm run serve', () => {
  const persistTo = join(folder, 'state');

  it('serves what was imported, alone, and starts again what dies', async () => {
    await runCommand('import', SNAPSHOT, '--persist-to', persistTo);
    const served = await startServe(['--port', '0', '--persist-to', persistTo]);
    onTestFinished(() => served.kill('all').catch(() => undefined));
    expect(await untilServed(served.url)).toBe(17338);
    // no way in for development
    for (const path of ['/cdn-cgi/handler/scheduled', '/cdn-cgi/explorer', '/cdn-cgi/mf/stream'])
      expect((await fetch(served.url + path)).status).toBe(404);

    const second = await runCommand('serve', '--port', '0', '--persist-to', persistTo);
    expect([second.code, second.stderr]).toEqual([
      1,
      `${persistTo} is in use by another process, such as serve: ` +
        'stop it, or name another folder by --persist-to\n',
    ]);

    for (const name of ['workerd', 'host'] as const) {
      const before = served.processes();
      expect(killProcess(before[name]!)).toBe(true);
      await sleep(500);
      expect(await untilServed(served.url)).toBe(17338);
      const after = served.processes();
      expect(after.workerd).not.toBe(before.workerd);
      expect(after.serve).toBe(before.serve);
    }

    // a host that is stopped cannot see that its parent died
    process.kill(served.processes().host!, 'SIGSTOP');
    await served.kill('serve');
    await expect(readInfo(served.url)).rejects.toThrow('fetch failed');
  });

  it.runIf(process.env.SLOW)(
    'starts workerd again once a clock that was set back is right',
    async () => {
      const served = await startServe(['--port', '0', '--persist-to', join(folder, 'clock')], {
        NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(CLOCK)}`,
      });
      onTestFinished(() => served.kill('all').catch(() => undefined));
      const before = served.processes();
      process.kill(before.host!, 'SIGUSR2');
      // workerd would not start
      await sleep(2500);
      expect(served.processes()).toEqual(before);
      process.kill(before.host!, 'SIGUSR2');
      await vi.waitFor(() => expect(served.log.join()).toContain('it is started again'), 60_000);
      expect(served.log.join()).toContain('The clock was set back');
      await vi.waitFor(() => expect(served.processes()).toHaveProperty('workerd'), 60_000);
      expect((await fetch(`${served.url}/health`)).status).toBe(503);
    },
  );

  it('says in a sentence that workerd does not run', async () => {
    const program = join(folder, 'no-program');
    writeFileSync(program, '');
    const served = startCommand(
      'serve',
      ['--port', '0', '--persist-to', join(folder, 'no-workerd')],
      {
        MINIFLARE_WORKERD_PATH: program,
      },
    );
    const { code, stderr } = await served.ended;
    expect([code, stderr.split('\n').at(-2)]).toEqual([
      1,
      `workerd does not run on this machine: spawn ${program} EACCES`,
    ]);
  });

  it('starts where nothing was imported, says so, and ends without an error', async () => {
    // an operator's, who named the wrong folder
    const foreign = join(folder, 'empty', 'worker');
    mkdirSync(foreign, { recursive: true });
    const served = await startServe(['--port', '0', '--persist-to', join(folder, 'empty')], {
      UPSTREAM_URLS: 'https://a.example',
    });
    const answer = await fetch(`${served.url}/health`);
    expect([answer.status, answer.headers.get('x-error-detail')]).toEqual([
      503,
      'no ledger was imported yet: npx stardust-edge import FILE (docs/operations.md#import-a-snapshot)',
    ]);
    // as systemd does: a signal to each of its processes
    for (const pid of Object.values(served.processes()).toReversed()) process.kill(pid, 'SIGTERM');
    expect(await served.stop()).toBe(0);
    expect(readdirSync(foreign)).toEqual([]);
    const empty = join(folder, 'empty');
    // how many files a process may open is up to the machine (check-start.test.ts), and so is whether
    // the host sees workerd end before its own signal comes, and the follower has passed by then
    const isEvent = /"event":"(?:http.request|follower.ledger-scrubbed)"/;
    const isNote = /^A process may open|^\[mf:warn\] .* crashed/;
    const isOther = (line: string) => !isEvent.test(line) && !isNote.test(line);
    const said = served.log.filter(isOther);
    expect(said.toSorted()).toEqual([
      `${empty} has no ledger: npx stardust-edge import FILE --persist-to ${empty}`,
      `Serving ${empty} at ${served.url}/`,
      'UPSTREAM_URL is not set: nothing is followed',
      'UPSTREAM_URLS is not a setting: is UPSTREAM_URL meant?',
    ]);
  });

  it.runIf(process.env.SLOW)('serves on where nobody reads its log any more', async () => {
    const args = ['--port', '0', '--persist-to', join(folder, 'unread')];
    const { child, until } = startCommand('serve', args);
    const [, url] = await until(/^Serving .* at (http:.*)\/$/);
    const host = () => readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8');
    const before = host();
    child.stdout.destroy();
    child.stderr.destroy();
    // each writes a line of log
    for (let i = 0; i < 20; i++) {
      expect((await fetch(`${url}/nosuch`)).status).toBe(404);
      await sleep(20);
    }
    expect(host()).toBe(before);
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    expect((await ended)[0]).toBe(0);
  });

  it.runIf(process.env.SLOW)('ends without an error where no disk took its log', async () => {
    const port = await freePort();
    const full = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(full));
    const args = ['serve', '--port', `${port}`, '--persist-to', join(folder, 'unlogged')];
    const script = join(PROJECT, 'cli/stardust-edge.js');
    const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', full, full] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const answers = () => fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined);
    while (child.exitCode === null && (await answers()) === undefined) await sleep(50);
    child.kill('SIGTERM');
    expect((await once(child, 'exit'))[0]).toBe(0);
  });

  it.runIf(process.env.SLOW)(
    'starts where the ledger is damaged, and /health says so',
    async () => {
      const damaged = join(folder, 'damaged');
      await runCommand('import', SNAPSHOT, '--persist-to', damaged);
      const db = await openLocalDatabase(damaged, readWranglerConfig());
      db.exec('UPDATE head SET sum = sum + 1; UPDATE parameters SET sum = sum + 1');
      db.close();
      const served = await startServe(['--port', '0', '--persist-to', damaged]);
      onTestFinished(() => served.kill('all').catch(() => undefined));
      const { status, headers } = await fetch(`${served.url}/health`);
      expect([status, headers.get('x-error-detail')]).toEqual([
        503,
        expect.stringMatching(/ are damaged on disk: restore a back-up or import a snapshot /),
      ]);
      expect(served.log.join('\n')).toContain(' are damaged on disk: ');
      expect(await served.stop()).toBe(0);
    },
  );

  it('ends its host with a sentence where a setting has become wrong', async () => {
    const script = join(PROJECT, 'cli/serve/host.ts');
    const env = { ...process.env, FINAL_MILESTONE: 'x' };
    const host = fork(script, [], { cwd: PROJECT, env, silent: true });
    onTestFinished(() => void host.kill('SIGKILL'));
    host.send({ folder, persistTo: folder });
    const [[code], stderr] = await Promise.all([once(host, 'exit'), readText(host.stderr!)]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^FINAL_MILESTONE must [^\n]+\n$/)]);
  });

  it.runIf(process.env.SLOW)('goes on once its host can start again', async () => {
    const broken = join(folder, 'broken');
    const served = await startServe(['--port', '0', '--persist-to', broken]);
    onTestFinished(() => served.kill('all').catch(() => undefined));
    const worker = join(broken, 'serve.worker');
    renameSync(worker, `${worker}-gone`);
    process.kill(served.processes().host!, 'SIGKILL');
    const starts = () => served.log.join('\n').match(/it is started again/g) ?? [];
    await sleep(40_000);
    // after 2, 4, 8 and 16 seconds more: each takes a second of the machine
    expect(starts().length).toBeGreaterThan(3);
    expect(starts().length).toBeLessThan(7);
    renameSync(`${worker}-gone`, worker);
    const answers = async () => (await fetch(`${served.url}/health`)).status;
    await vi.waitFor(async () => expect(await answers()).toBe(503), 60_000);
    renameSync(worker, `${worker}-gone`);
    process.kill(served.processes().host!, 'SIGKILL');
    await sleep(20_000);
    const before = performance.now();
    expect(await served.stop()).toBe(0);
    expect(performance.now() - before).toBeLessThan(5000);
  });

  it('answers each request that it got before SIGTERM', async () => {
    const served = await startServe(['--port', '0', '--persist-to', join(folder, 'ending')]);
    onTestFinished(() => served.kill('all').catch(() => undefined));
    const { hostname, port } = new URL(served.url);
    await (await fetch(`${served.url}/api/routes`)).text();
    // so that it has accepted none of them when it is told to end
    const { serve } = served.processes();
    process.kill(serve, 'SIGSTOP');
    const clients = await Promise.all(
      Array.from({ length: 64 }, async () => {
        const client = connect(Number(port), hostname);
        await once(client, 'connect');
        return client;
      }),
    );
    const answers = Promise.allSettled(
      clients.map(async (client) => (await readText(client)).slice(0, 15)),
    );
    const sent = clients.map((client) =>
      promisify(client.write.bind(client) as (text: string, end: () => void) => void)(
        `GET /api/routes HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`,
      ),
    );
    await Promise.all(sent);
    const ended = served.stop();
    process.kill(serve, 'SIGCONT');
    expect(await ended).toBe(0);
    const value = 'HTTP/1.1 200 OK';
    expect(await answers).toEqual(clients.map(() => ({ status: 'fulfilled', value })));
  });

  it('refuses a port in use', async () => {
    const other = createServer();
    onTestFinished(() => void other.close());
    const { port } = new URL(await listen(other));
    const { code, stderr } = await runCommand(
      ...(['serve', '--port', String(port), '--persist-to', join(folder, 'other')] as const),
    );
    expect([code, stderr]).toEqual([
      1,
      `port ${port} of 127.0.0.1 is in use: npx stardust-edge serve --port N names another\n`,
    ]);
  });

  it.each(['x', '-1', '65536', '1e3', ''])('refuses port %j', async (port) => {
    const { code, stderr } = await callCommand('serve', `--port=${port}`);
    expect(code).toBe(2);
    expect(stderr).toMatch(`--port must be a number from 0 to 65535, not ${port}\n`);
  });

  it.each(['10.0.0.0/', '10.0.0.0/8/16', '/8', 'x'])('refuses the proxy %j', async (proxy) => {
    const { stderr } = await callCommand('serve', `--proxy=${proxy}`, '--network=nowhere');
    expect(stderr).toContain(
      `--proxy must name addresses or ranges such as 10.0.0.0/8, not ${proxy}\n`,
    );
  });

  it('refuses a data folder that cannot be one', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    const { code, stderr } = await runCommand('serve', '--persist-to', file);
    expect([code, stderr]).toEqual([1, `${file} is not a folder\n`]);
    const inProc = await runCommand('serve', '--persist-to', '/proc/edge');
    expect([inProc.code, inProc.stderr]).toEqual([
      1,
      '/proc/edge cannot be written (ENOENT): name another folder by --persist-to\n',
    ]);
  });
});

it('refuses a data folder on a full disk', async () => {
  const full = join(folder, 'full');
  mkdirSync(full);
  symlinkSync('/dev/full', join(full, 'space.probe'));
  const { code, stderr } = await runCommand('serve', '--port', '0', '--persist-to', full);
  expect([code, stderr]).toEqual([
    1,
    `4 MB cannot be written to ${full} (ENOSPC): ` +
      'free some space, or name another folder by --persist-to\n',
  ]);
});

it('refuses an address that is not of this machine', async () => {
  await expect(checkAddress('192.0.2.1', 8787)).rejects.toThrow(
    '192.0.2.1 is no address of this machine (EADDRNOTAVAIL): name another by --host',
  );
  await expect(checkAddress('127.0.0.1', 0)).resolves.toBeUndefined();
});

it('holds a data folder until it lets it go', () => {
  const held = join(folder, 'held');
  const lock = holdFolder(held);
  expect(() => holdFolder(held)).toThrow(`${held} is in use by another process`);
  lock.close();
  holdFolder(held).close();
});

describe('settings', () => {
  const file = join(folder, 'dev.vars');
  writeFileSync(file, 'UPSTREAM_URL="https://b.example"\nAPI_TOKEN=b\nFINAL_MILESTONE=2\n');
  const signers = { MILESTONE_PUBLIC_KEYS: 'ab'.repeat(32), MILESTONE_THRESHOLD: '1' };
  const vars = { UPSTREAM_URL: 'https://a.example', RETENTION_MILESTONES: '100', ...signers };

  it('of wrangler.toml, over these of .dev.vars, over both of the environment', () => {
    const environment = { FINAL_MILESTONE: '3', VERSION: '1', PATH: '/bin' };
    expect(readVars({ vars }, environment, file)).toEqual({
      UPSTREAM_URL: 'https://b.example',
      RETENTION_MILESTONES: '100',
      ...signers,
      API_TOKEN: 'b',
      FINAL_MILESTONE: '3',
    });
    expect(readVars({ vars }, { UPSTREAM_URL: '' }, join(folder, 'none'))).toEqual({
      UPSTREAM_URL: '',
      RETENTION_MILESTONES: '100',
      ...signers,
    });
  });

  it('that following needs are missed by name; without an upstream they are not missed', () => {
    const none = join(folder, 'none');
    const missed = 'must be set where UPSTREAM_URL is: ';
    expect(() => readVars({ vars }, { MILESTONE_THRESHOLD: '' }, none)).toThrow(
      `MILESTONE_THRESHOLD ${missed}`,
    );
    const neither = { MILESTONE_PUBLIC_KEYS: ' ', MILESTONE_THRESHOLD: '' };
    expect(() => readVars({ vars }, neither, none)).toThrow(
      `MILESTONE_PUBLIC_KEYS and MILESTONE_THRESHOLD ${missed}`,
    );
    expect(readVars({ vars: {} }, { UPSTREAM_URL: '' }, none)).toEqual({ UPSTREAM_URL: '' });
  });

  it('are read from a file that begins with a byte order mark; one in UTF-16 is refused', () => {
    const other = join(folder, 'other.vars');
    const text = '\uFEFFPROTECTED_ROUTES=*\nAPI_TOKEN=b\n';
    writeFileSync(other, text);
    expect(readDevVars(other)).toEqual({ PROTECTED_ROUTES: '*', API_TOKEN: 'b' });
    writeFileSync(other, text, 'utf16le');
    const sentence = `${other} has NUL bytes: save it as UTF-8`;
    expect(() => readDevVars(other)).toThrow(new SettingsError(sentence));
  });

  it('are refused where a line has no equals sign, and is none of a value in quotes', () => {
    const other = join(folder, 'colon.vars');
    writeFileSync(
      other,
      '# a: b\r\nBASE_TOKEN=\'{\n"name": "a=#"\n}\'\n\t\nexport API_TOKEN=b # c\n',
    );
    expect(readDevVars(other)).toEqual({ BASE_TOKEN: '{\n"name": "a=#"\n}', API_TOKEN: 'b' });
    appendFileSync(other, '\nPROTECTED_ROUTES: */whiteflag\n');
    const sentence = `${other}: line 8 is not of the form NAME=VALUE`;
    expect(() => readDevVars(other)).toThrow(new SettingsError(sentence));
  });

  it('that cannot be read are a setting that is wrong: systemd does not start again', () => {
    expect(() => readDevVars(folder)).toThrow(SettingsError);
  });

  it('that are wrong are named, all of them', () => {
    const environment = { UPSTREAM_URL: 'ftp://a', MILESTONE_THRESHOLD: 'x' };
    expect(() => readVars({ vars }, environment, file)).toThrow(
      /^UPSTREAM_URL must be http or https URLs.*\nMILESTONE_THRESHOLD must be an integer/,
    );
  });
});

it.each([
  ['FINAL_MILESTONE', 'x', /^FINAL_MILESTONE must be [^\n]+\n$/],
  ['PROTECTED_ROUTES', '/helth', /^PROTECTED_ROUTES: \/helth matches no route /],
  ['PROTECTED_ROUTE', '*', /^PROTECTED_ROUTE is not a setting: is PROTECTED_ROUTES meant\?\n$/],
])('ends with an exit code that systemd does not restart on if %s is %s', async (...setting) => {
  const [name, value, sentence] = setting;
  const args = ['--port', '0', '--persist-to', join(folder, 'unused')];
  const { ended } = startCommand('serve', args, { [name]: value, API_TOKEN: 'abc' });
  const { code, stderr } = await ended;
  expect([code, stderr]).toEqual([2, expect.stringMatching(sentence)]);
});
