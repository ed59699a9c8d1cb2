/**
 * Clients that each try to stop a node for everybody else, bounded in connections and bytes a
 * second.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodePacket, PacketType } from '../../../src/mqtt/packets.ts';
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { type Attack, attempt, keepOpen, post, repeat, repeatTimes, send } from './attack.ts';
import { openRaw, openSocket, type RawClient } from './raw-client.ts';

const randomTopics = (beginning: string, count: number) =>
  Array.from({ length: count }, () => `${beginning}${toHex(randomBytes(32))}`);

function subscribe(client: RawClient, topics: string[]): void {
  client.sendPacket({ type: PacketType.Subscribe, packetId: 1, topics });
}

export const HOSTILE_CLIENTS: Readonly<Record<string, Attack>> = {
  /** Ten ask for 400 blocks that do not exist, twice a second, and for others a second later. */
  askForBlocks: (siege) => {
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
  },

  /** Messages of 60,000 packets, and messages that are larger than any may be. */
  sendManyPackets: (siege) => {
    const pings = Buffer.from('c000'.repeat(60_000), 'hex');
    const attack = (client: RawClient, i: number) => {
      client.socket.resume();
      client.send(i === 0 ? pings : Buffer.concat(new Array(8).fill(pings)));
    };
    return keepOpen(siege, { count: 2, pauseMs: 1000, says: true }, attack, attack);
  },

  /** Twelve read nothing, and are sent every block, and the first messages again and again. */
  readNothing: (siege) => {
    const topics = ['blocks', 'milestones', 'block-metadata/referenced', 'milestone-info/latest'];
    const ask = (client: RawClient) => {
      client.socket.pause();
      client.sendPacket({ type: PacketType.Unsubscribe, packetId: 2, topics });
      subscribe(client, topics);
    };
    return keepOpen(siege, { count: 12, pauseMs: 200, says: true }, ask, ask);
  },

  /** 250 hold all but the last byte of the largest packet. */
  holdPackets: (siege) => {
    const payload = new Uint8Array(65_529);
    const packet = encodePacket({ type: PacketType.Publish, topic: 'a', payload });
    const begin = (client: RawClient) => {
      client.socket.resume();
      client.send(packet.subarray(0, -1));
    };
    return keepOpen(siege, { count: 250, pauseMs: 2000, says: true }, begin);
  },

  /** 250 take all topics that there are. */
  takeTopics: (siege) => {
    const begin = (client: RawClient) => {
      client.socket.resume();
      subscribe(client, randomTopics('outputs/nft/', 400));
    };
    return keepOpen(siege, { count: 250, pauseMs: 2000, says: true }, begin);
  },

  /** 50 say anything but CONNECT. */
  sayNothing: (siege) => {
    const dribble = (client: RawClient, i: number) => {
      client.socket.resume();
      client.send(new Uint8Array(i % 2));
    };
    return keepOpen(siege, { count: 50, pauseMs: 3000, says: false }, dribble, dribble);
  },

  /** Opens WebSockets that it neither uses nor closes, 50 a second, for as long as it gets any. */
  keepWebSockets: (siege) =>
    repeat(siege, 20, async () => {
      const { socket } = await openRaw(siege.url, siege.address, false);
      socket.resume();
    }),

  /** Opens connections that it never uses, 500 a second. */
  keepConnections: (siege) =>
    repeat(siege, 100, async () => {
      const open = async () => (await openSocket(siege.url, siege.address)).resume();
      await Promise.all(Array.from({ length: 50 }, open));
    }),

  /**
   * 1,000, each with an address of its own, ask for all changes as soon as there is a milestone, as
   * docs/developers.md#events says.
   */
  askForChanges: async (siege) => {
    let seen = 0;
    for (;;) {
      const index = siege.ledgerIndex();
      if (index !== seen) {
        seen = index;
        const path = `/api/edge/v1/changes/nfts?after=${Math.max(0, index - 1)}`;
        const headers = { 'x-min-ledger-index': String(index) };
        const ask = (_: unknown, i: number) =>
          attempt(siege, () =>
            send({ url: siege.url, address: `10.0.${i >> 8}.${i & 255}` }, path, { headers }),
          );
        await Promise.all(Array.from({ length: 1000 }, ask));
      }
      await sleep(50);
    }
  },

  /** Lists that look at everything, each in other words, over eight connections. */
  askForLists: (siege) => {
    let asked = 0;
    return repeatTimes(8, siege, 20, () =>
      send(siege, `/api/indexer/v1/outputs/nft?hasTimelock=true&pageSize=${1 + (asked++ % 1000)}`),
    );
  },

  /** What everybody reads, over four connections, as fast as it comes. */
  readRoutes: (siege) =>
    repeatTimes(4, siege, 1, async () => {
      await send(siege, '/api/routes');
      await send(siege, '/api/core/v2/tips');
    }),

  /** Proposals of a milestone that is ahead of the ledger, over eight connections. */
  askAhead: (siege) =>
    repeatTimes(8, siege, 0, () =>
      post(
        siege,
        '/api/core/v2/whiteflag',
        JSON.stringify({
          index: siege.ledgerIndex() + 2,
          timestamp: 4_000_000_000,
          parents: [toHex(randomBytes(32))],
          previousMilestoneId: toHex(randomBytes(32)),
        }),
      ),
    ),

  /** Proposals that cannot be read: deep, with numbers in other words, not JSON. */
  sendOddProposals: (siege) => {
    const bodies = [
      `{"x":${'['.repeat(30_000)}${']'.repeat(30_000)}}`,
      '{"index":1.734e4,"timestamp":17340.0,"parents":[]}',
      '\ufeff{"index":1',
    ];
    return repeatTimes(2, siege, 50, async () => {
      for (const body of bodies) await post(siege, '/api/core/v2/whiteflag', body);
    });
  },

  /** Proofs whose lists are longer than any encoding has. */
  sendOddProofs: (siege) => {
    const parents = Array.from({ length: 256 }, () => toHex(randomBytes(32)));
    const block = { protocolVersion: 2, parents, nonce: '0' };
    const body = JSON.stringify({ milestone: block, block, proof: {} });
    return repeatTimes(2, siege, 50, () => post(siege, '/api/poi/v1/validate', body));
  },

  /** 50 send a head or a body that never ends, a byte a second. */
  dribble: (siege) => {
    const { host } = new URL(siege.url);
    const head = `POST /api/core/v2/whiteflag HTTP/1.1\r\nHost: ${host}\r\n`;
    let opened = 0;
    return repeatTimes(50, siege, 100, async () => {
      const socket = await openSocket(siege.url, siege.address);
      socket.resume();
      socket.write(opened++ % 2 === 0 ? `${head}Content-Length: 1000\r\n\r\n` : `${head}X-Slow: `);
      while (!socket.destroyed && socket.writable) {
        socket.write(' ');
        await sleep(1000);
      }
      socket.destroy();
    });
  },
};
