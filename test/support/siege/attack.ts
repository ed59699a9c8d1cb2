/**
 * What hostile clients are made of: they go on for as long as their process lives, however often
 * they are cut off. Each kind has an address of its own.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { WhiteFlagCase } from '../network/network-model.ts';
import { openRaw, type RawClient } from './raw-client.ts';

export type Proposal = WhiteFlagCase['request'];

/** How often a kind did what it does, and how often it was refused or cut off. */
export interface Tally {
  done: number;
  failed: number;
}

export interface Siege {
  /** Of the node, without a slash at the end. */
  url: string;
  /** Of the client, on this machine. */
  address: string;
  tally: Tally;
  /** The node's ledger index. */
  ledgerIndex(): number;
  /** The coordinator's last one, as it was sent. */
  proposal(): Proposal | undefined;
}

export type Attack = (siege: Siege) => Promise<void>;

/** That it fails is no news. */
export async function attempt({ tally }: Siege, act: () => Promise<void> | void): Promise<void> {
  try {
    await act();
    tally.done++;
  } catch {
    tally.failed++;
  }
}

/** Repeats an attack, with a pause. */
export async function repeat(
  siege: Siege,
  pauseMs: number,
  act: () => Promise<void>,
): Promise<never> {
  for (;;) {
    await attempt(siege, act);
    await sleep(pauseMs);
  }
}

export async function repeatTimes(
  count: number,
  siege: Siege,
  pauseMs: number,
  act: () => Promise<void>,
): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => repeat(siege, pauseMs, act)));
}

/** Opens connections, does something with each, opens those again that were closed. */
export async function keepOpen(
  siege: Siege,
  { count, pauseMs, says }: { count: number; pauseMs: number; says: boolean },
  begin: (client: RawClient, i: number) => void,
  goOn: (client: RawClient, i: number) => void = () => {},
): Promise<void> {
  const clients: (RawClient | undefined)[] = new Array(count).fill(undefined);
  for (;;) {
    for (const [i, client] of clients.entries())
      await attempt(siege, async () => {
        if (client?.isOpen()) return goOn(client, i);
        const opened = await openRaw(siege.url, siege.address, says);
        clients[i] = opened;
        begin(opened, i);
      });
    await sleep(pauseMs);
  }
}

/** Through a proxy that is believed, which this machine is. */
export async function send(
  { url, address }: Pick<Siege, 'url' | 'address'>,
  path: string,
  init: RequestInit = {},
): Promise<void> {
  const headers = { ...init.headers, 'x-forwarded-for': address };
  await (await fetch(url + path, { ...init, headers })).arrayBuffer();
}

export const post = (siege: Siege, path: string, body: string) =>
  send(siege, path, { method: 'POST', body });
