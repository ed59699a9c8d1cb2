/**
 * Clients that each try to stop a node for everybody else. They go on until they are told to stop,
 * however often they are cut off, and are bounded in connections and bytes a second.
 */
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodePacket, PacketType } from '../../../src/mqtt/packets.ts';
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { openRaw, type RawClient } from './raw-client.ts';

export interface Siege {
  /** Of the node, without a slash at the end. */
  url: string;
  signal: AbortSignal;
  /** The node's ledger index. */
  ledgerIndex(): number;
}

/** Repeats an attack, with a pause, until the end; that it fails is no news. */
async function repeat({ signal }: Siege, pauseMs: number, act: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await act().catch(() => {});
    await sleep(pauseMs);
  }
}

/** Opens connections, does something with each until the end, opens those again that were closed. */
async function keepOpen(
  siege: Siege,
  { count, pauseMs, says }: { count: number; pauseMs: number; says: boolean },
  begin: (client: RawClient, i: number) => void,
  goOn: (client: RawClient, i: number) => void = () => {},
): Promise<void> {
  const clients: (RawClient | undefined)[] = new Array(count).fill(undefined);
  await repeat(siege, pauseMs, async () => {
    for (const [i, client] of clients.entries()) {
      if (siege.signal.aborted) return;
      if (client?.isOpen()) {
        goOn(client, i);
        continue;
      }
      const opened = await openRaw(siege.url, says);
      clients[i] = opened;
      begin(opened, i);
    }
  });
  for (const client of clients) client?.socket.destroy();
}

const randomTopics = (beginning: string, count: number) =>
  Array.from({ length: count }, () => `${beginning}${toHex(randomBytes(32))}`);

function subscribe(client: RawClient, topics: string[]): void {
  client.sendPacket({ type: PacketType.Subscribe, packetId: 1, topics });
}

/** Ten ask for 400 blocks that do not exist, twice a second, and for others a second later. */
function askForBlocks(siege: Siege): Promise<void> {
  const asked = new Map<RawClient, string[]>();
  const ask = (client: RawClient) => {
    client.socket.resume();
    const topics = asked.get(client);
    if (topics) client.sendPacket({ type: PacketType.Unsubscribe, packetId: 2, topics });
    const others = randomTopics('block-metadata/', 400);
    asked.set(client, others);
    for (let times = 0; times < 2; times++) subscribe(client, others);
  };
  return keepOpen(siege, { count: 10, pauseMs: 1000, says: true }, ask, ask);
}

/** Messages of 60,000 packets, and messages that are larger than any may be. */
function sendManyPackets(siege: Siege): Promise<void> {
  const pings = Buffer.from('c000'.repeat(60_000), 'hex');
  const attack = (client: RawClient, i: number) => {
    client.socket.resume();
    client.send(i === 0 ? pings : Buffer.concat(new Array(8).fill(pings)));
  };
  return keepOpen(siege, { count: 2, pauseMs: 1000, says: true }, attack, attack);
}

/** Twelve read nothing, and are sent every block, and the first messages again and again. */
function readNothing(siege: Siege): Promise<void> {
  const topics = ['blocks', 'milestones', 'block-metadata/referenced', 'milestone-info/latest'];
  const ask = (client: RawClient) => {
    client.socket.pause();
    client.sendPacket({ type: PacketType.Unsubscribe, packetId: 2, topics });
    subscribe(client, topics);
  };
  return keepOpen(siege, { count: 12, pauseMs: 200, says: true }, ask, ask);
}

/** 250 hold all but the last byte of the largest packet. */
function holdPackets(siege: Siege): Promise<void> {
  const packet = encodePacket({
    type: PacketType.Publish,
    topic: 'a',
    payload: new Uint8Array(65_529),
  });
  const begin = (client: RawClient) => {
    client.socket.resume();
    client.send(packet.subarray(0, -1));
  };
  return keepOpen(siege, { count: 250, pauseMs: 2000, says: true }, begin);
}

/** 250 take all topics that there are. */
function takeTopics(siege: Siege): Promise<void> {
  const begin = (client: RawClient) => {
    client.socket.resume();
    subscribe(client, randomTopics('outputs/nft/', 400));
  };
  return keepOpen(siege, { count: 250, pauseMs: 2000, says: true }, begin);
}

/** 50 say anything but CONNECT. */
function sayNothing(siege: Siege): Promise<void> {
  const dribble = (client: RawClient, i: number) => {
    client.socket.resume();
    client.send(new Uint8Array(i % 2));
  };
  return keepOpen(siege, { count: 50, pauseMs: 3000, says: false }, dribble, dribble);
}

/** 300 ask for all changes as soon as there is a milestone, as docs/events.md says. */
async function askForChanges(siege: Siege): Promise<void> {
  let seen = 0;
  await repeat(siege, 50, async () => {
    const index = siege.ledgerIndex();
    if (index === seen) return;
    const url = `${siege.url}/api/edge/v1/changes/nfts?after=${Math.max(0, index - 1)}`;
    seen = index;
    const headers = { 'x-min-ledger-index': String(index) };
    const ask = async () => (await fetch(url, { headers })).arrayBuffer();
    await Promise.allSettled(Array.from({ length: 300 }, ask));
  });
}

/** Lists that look at everything, over eight connections. */
async function askForLists(siege: Siege): Promise<void> {
  const url = `${siege.url}/api/indexer/v1/outputs/nft?hasTimelock=true&pageSize=1000`;
  const ask = async () => {
    await (await fetch(url)).arrayBuffer();
  };
  await Promise.all(Array.from({ length: 8 }, () => repeat(siege, 20, ask)));
}

/** 50 POST a body that never ends, a byte a second. */
async function dribbleBodies(siege: Siege): Promise<void> {
  const { hostname, port, host } = new URL(siege.url);
  const dribble = async () => {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => {}).resume();
    socket.write(
      `POST /api/core/v2/whiteflag HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 1000\r\n\r\n`,
    );
    while (!siege.signal.aborted && !socket.destroyed && socket.writable) {
      socket.write(' ');
      await sleep(1000);
    }
    socket.destroy();
  };
  await Promise.all(Array.from({ length: 50 }, () => repeat(siege, 100, dribble)));
}

/** All of them; each resolves soon after the signal. */
export const HOSTILE_CLIENTS: readonly ((siege: Siege) => Promise<void>)[] = [
  askForBlocks,
  sendManyPackets,
  readNothing,
  holdPackets,
  takeTopics,
  sayNothing,
  askForChanges,
  askForLists,
  dribbleBodies,
];
