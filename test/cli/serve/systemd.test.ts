/**
 * The unit of systemd/, and what `npm run serve` tells systemd. No systemd runs here: the messages
 * arrive at a socket like its own.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, it, onTestFinished, vi } from 'vitest';
import { STARTING, tellSystemd } from '../../../cli/lib/process/notify-systemd.ts';
import { PROJECT } from '../../../cli/lib/project.ts';
import { temporaryFolder } from '../../support/cli/script-process.ts';
import { launch } from '../../support/edge/launch.ts';
import { startServe } from '../../support/edge/npm-serve.ts';
import { hasTool } from '../../support/tools.ts';

const folder = temporaryFolder();

const WATCHDOG_MS = 2400;

/** Binds the socket and prints each message. Descriptors that come with one are closed. */
const RECEIVE = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print('bound', flush=True)
while True: print(s.recv(4096).decode(), flush=True)`;

it.runIf(hasTool('systemd-analyze'))('systemd accepts the unit', async () => {
  const unit = join(PROJECT, 'systemd/stardust-edge-node@.service');
  const { stdout, stderr } = await promisify(execFile)('systemd-analyze', ['verify', unit]);
  expect(stdout + stderr).toBe('');
  expect(readFileSync(unit, 'utf8')).toContain('\nSyslogIdentifier=%N\n');
});

it.runIf(process.env.SLOW && hasTool('systemd-notify') && hasTool('python3'))(
  'the watchdog hears of each answer, and of nothing while the node does not answer',
  { timeout: 900_000 },
  async () => {
    const path = join(folder, 'notify');
    const { child, log: messages } = launch('python3', ['-c', RECEIVE, path]);
    onTestFinished(() => void child.kill());
    const until = (condition: () => boolean) =>
      vi.waitFor(() => expect(condition(), messages.join()).toBe(true), 20_000);
    const count = () => messages.filter((message) => message === 'WATCHDOG=1').length;
    await until(() => messages.includes('bound'));

    // without a ledger: each answer is a 503
    const served = await startServe(['--port', '0', '--persist-to', join(folder, 'state')], {
      NOTIFY_SOCKET: path,
      WATCHDOG_USEC: String(WATCHDOG_MS * 1000),
    });
    onTestFinished(() => served.kill('all').catch(() => undefined));
    await until(() => count() >= 2);
    expect(messages.filter((message) => message === 'READY=1')).toHaveLength(1);
    expect(messages.indexOf('READY=1')).toBeLessThan(messages.indexOf('WATCHDOG=1'));

    const { workerd } = served.processes();
    process.kill(workerd!, 'SIGSTOP');
    // what was answered before may still arrive
    await sleep(WATCHDOG_MS / 8);
    const before = count();
    await sleep(WATCHDOG_MS / 2);
    expect(count()).toBe(before);
    expect(served.log.join()).toContain('/health was not answered within 300 ms');
    process.kill(workerd!, 'SIGCONT');
    await until(() => count() > before);

    // a host that was started again is asked at its own address
    process.kill(served.processes().host!, 'SIGKILL');
    await until(() => served.log.filter((line) => line.startsWith('Serving ')).length === 2);
    const restarted = count();
    await until(() => count() > restarted);
    expect(messages.filter((message) => message === 'READY=1')).toHaveLength(1);
    expect(await served.stop()).toBe(0);
  },
);

/** Tells nobody of a node that answers like this. Returns what it says about that. */
async function tellNobody(answer: RequestListener, microseconds: string) {
  const front = createServer(answer);
  onTestFinished(() => void front.close());
  await once(front.listen(0, '127.0.0.1'), 'listening');
  const { port } = front.address() as AddressInfo;
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => said.mockRestore());
  // the next file of this process must not hear of it
  const timers = vi.spyOn(globalThis, 'setInterval');
  onTestFinished(() => {
    for (const { value } of timers.mock.results) clearInterval(value);
    timers.mockRestore();
  });
  const environment = { NOTIFY_SOCKET: join(folder, 'nobody'), WATCHDOG_USEC: microseconds };
  tellSystemd(`http://127.0.0.1:${port}`, environment);
  return said;
}

it('the watchdog does not hear of an answer that the front gives in place of the node', async () => {
  const said = await tellNobody((_, response) => {
    response.writeHead(503, { 'x-error-detail': STARTING }).end();
  }, '4000000');
  const told = expect.stringMatching(
    /^\/health was not answered within 500 ms: the node is starting$/,
  );
  await vi.waitFor(() => expect(said).toHaveBeenCalledWith(told), 20_000);
});

it('the node is requested whatever the interval of the watchdog', async () => {
  const requested = vi.fn<RequestListener>((_, response) => void response.end());
  await tellNobody(requested, '4001500');
  await vi.waitFor(() => expect(requested).toHaveBeenCalled(), 20_000);
});
