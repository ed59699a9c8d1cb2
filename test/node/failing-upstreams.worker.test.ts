/**
 * Requests that need blocks from upstreams of which not all are good: the answer comes within the
 * deadline (src/node/answer-once-caught-up.ts).
 */
import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import type { NodeState } from '../support/hornet-double/node-state.ts';
import { respond } from '../support/hornet-double/routes.ts';
import { followTo, startLedger } from '../support/ledger/ledger-harness.ts';
import { askNode, openTestNode } from '../support/ledger/open-test-node.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Time passes while timers are waited for, and not while the machine is busy. */
function countTimersAlone(): void {
  let now = Date.now();
  const { setTimeout } = globalThis;
  vi.spyOn(Date, 'now').mockImplementation(() => now);
  vi.stubGlobal('setTimeout', (work: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => {
    const due = now + ms;
    return setTimeout(() => {
      now = Math.max(now, due);
      work(...args);
    }, ms);
  });
}

/** Hosts that drop packets; the others are the node. Returns who was asked. */
function stubFetch(node: NodeState, hanging: readonly string[]): string[] {
  const asked: string[] = [];
  vi.stubGlobal(
    'fetch',
    (url: string, init: RequestInit & { signal: AbortSignal; headers: { accept: string } }) => {
      const { host } = new URL(url);
      asked.push(host);
      if (hanging.includes(host)) {
        return new Promise((_, reject) =>
          init.signal.addEventListener('abort', () => reject(init.signal.reason)),
        );
      }
      return Promise.resolve(respond(node, url, init.headers.accept));
    },
  );
  return asked;
}

it.each([
  ['the first of two', ['a.example', 'b.example'], ['a.example']],
  ['two of three', ['c.example', 'd.example', 'e.example'], ['c.example', 'd.example']],
])('%s hang: the answer comes in time, and the next one at once', async (_, hosts, hanging) => {
  const network = new SyntheticNetwork({ seed: hanging.join() });
  network.note();
  network.milestone();
  const rig = await startLedger(env.LEDGER, network, 0);
  await followTo(rig, 1);
  const node = openTestNode(
    hosts.map((host) => `http://${host}`),
    network.keys,
  );
  const asked = stubFetch(rig.node, hanging);
  countTimersAlone();
  const times: number[] = [];
  for (let round = 0; round < 2; round++) {
    // more than may be asked for at once, several levels deep
    for (let i = 0; i < 30; i++) network.note();
    const { request, response } = network.propose();
    const since = Date.now();
    expect(await askNode(node, request)).toEqual(response);
    times.push(Date.now() - since);
    if (round === 0) asked.length = 0;
  }
  expect(times[0]).toBeLessThan(1500);
  expect([...new Set(asked)]).toEqual([hosts.at(-1)]);
});
