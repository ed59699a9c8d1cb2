/**
 * Clients that make a node hold more than they send, or keep its thread busy: the attacks of a review
 * of the border, each with the name of what it is about. As hostile-clients.ts, they are bounded in
 * connections and bytes a second, so that two cores are enough for them and the node.
 */
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodePacket, PacketType } from '../../../src/mqtt/packets.ts';
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { type Attack, attempt, keepOpen, post, repeat, repeatTimes, send } from './attack.ts';
import { firstData, openRaw, openSocket, type RawClient } from './raw-client.ts';

const WHITE_FLAG = '/api/core/v2/whiteflag';
const EXPLAIN = '/api/edge/v1/whiteflag';

/** Writes a request and waits for the beginning of an answer, or for the end. */
async function say(url: string, address: string, request: string): Promise<void> {
  const socket = await openSocket(url, address);
  socket.write(request);
  await firstData(socket).finally(() => socket.destroy());
}

export const BORDER_ATTACKS: Readonly<Record<string, Attack>> = {
  /** A header of 32 KB of spaces that ends with a byte that no value has, four at once. */
  sendLongHeaders: (siege) => {
    const request = `GET / HTTP/1.1\r\nHost: x\r\nA:${' '.repeat(32_600)}\x01\r\n\r\n`;
    return repeatTimes(4, siege, 200, () => say(siege.url, siege.address, request));
  },

  /** Bodies in chunks of one byte that never end, 2 MB on the wire a second. */
  sendTinyChunks: (siege) => {
    const chunks = '1\r\nx\r\n'.repeat(10_000);
    return repeatTimes(4, siege, 500, async () => {
      const socket = await openSocket(siege.url, siege.address);
      socket.resume();
      socket.write(`POST ${WHITE_FLAG} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`);
      for (let i = 0; i < 20 && socket.writable; i++) {
        socket.write(chunks);
        await sleep(100);
      }
      socket.destroy();
    });
  },

  /** Packets of 65 KB with 32,690 empty topics. */
  nameManyTopics: (siege) => {
    const topics = new Array(32_690).fill('');
    const packet = encodePacket({ type: PacketType.Unsubscribe, packetId: 1, topics });
    return repeatTimes(12, siege, 100, async () => {
      const { socket, send } = await openRaw(siege.url, siege.address);
      socket.resume();
      for (let i = 0; i < 3; i++) send(packet);
      await Promise.race([once(socket, 'close'), sleep(1000)]);
      socket.destroy();
    });
  },

  /** Empty messages of 6 bytes, 8 clients, 1.2 MB a second, closed or not. */
  sendEmptyMessages: (siege) => {
    const messages = Buffer.from('828000000000'.repeat(1000), 'hex');
    const write = ({ socket }: RawClient) => {
      socket.resume();
      socket.write(messages);
    };
    return keepOpen(siege, { count: 8, pauseMs: 40, says: true }, write, write);
  },

  /** Messages that are announced with 30 MB and never end: one chunk of 64 KB after the other. */
  neverEndMessages: (siege) => {
    const head = Buffer.alloc(14);
    head.writeUInt16BE(0x82ff);
    head.writeBigUInt64BE(30_000_000n, 2);
    const chunk = Buffer.alloc(1 << 16);
    const goOn = ({ socket }: RawClient) => {
      if (socket.writableLength === 0) socket.write(chunk);
    };
    return keepOpen(
      siege,
      { count: 20, pauseMs: 100, says: true },
      ({ socket }) => {
        socket.resume();
        socket.write(head);
      },
      goOn,
    );
  },

  /** 400 connections ask for a large answer and read nothing of it. */
  leaveAnswers: async (siege) => {
    const sockets: Socket[] = [];
    for (;;) {
      await attempt(siege, async () => {
        const socket = await openSocket(siege.url, siege.address);
        socket.pause();
        socket.write('GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n');
        sockets.push(socket);
      });
      if (sockets.length > 400) sockets.shift()!.destroy();
      await sleep(20);
    }
  },

  /** Explanations of a proposal with other timestamps, over eight connections. */
  askForExplanations: (siege) => {
    let asked = 0;
    return repeatTimes(8, siege, 5, async () => {
      const proposal = siege.proposal();
      if (proposal === undefined) return sleep(1000);
      const timestamp = proposal.timestamp + 1 + (asked++ % 1000);
      await post(siege, EXPLAIN, JSON.stringify({ ...proposal, timestamp }));
    });
  },

  /** Changes and galleries, each in other words, over 32 connections. */
  askForGalleries: (siege) => {
    const ids = () => Array.from({ length: 100 }, () => toHex(randomBytes(32))).join();
    return repeatTimes(32, siege, 20, async () => {
      await send(siege, `/api/edge/v1/nfts?ids=${ids()}`);
      await send(siege, `/api/edge/v1/changes/nfts?after=1&x=${randomInt(1e9)}`);
    });
  },

  /** Proposals with eight unknown parents, each from another /64 of one /56. */
  nameUnknownParents: (siege) => {
    let asked = 0;
    return repeatTimes(16, siege, 20, async () => {
      const proposal = siege.proposal();
      if (proposal === undefined) return sleep(1000);
      const parents = Array.from({ length: 8 }, () => toHex(randomBytes(32)));
      const address = `2001:db8:0:${(asked++ % 250).toString(16)}::1`;
      await post({ ...siege, address }, WHITE_FLAG, JSON.stringify({ ...proposal, parents }));
    });
  },

  /** Proposals with unknown parents, eight at a time, each reset as soon as workerd has it. */
  resetProposals: (siege) =>
    repeatTimes(8, siege, 5, async () => {
      const proposal = siege.proposal();
      if (proposal === undefined) return sleep(1000);
      const parents = [toHex(randomBytes(32)), toHex(randomBytes(32))];
      const body = JSON.stringify({ ...proposal, parents });
      const socket = await openSocket(siege.url, siege.address);
      socket.write(
        `POST ${WHITE_FLAG} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      await sleep(15);
      socket.resetAndDestroy();
    }),

  /** What is refused, of all kinds, as fast as eight connections can; each refusal is a line of log. */
  fillLog: (siege) => {
    const paths = ['/x', '/api/indexer/v1/outputs/nft/x', '/api/mqtt/v1', '/api/core/v2/outputs/x'];
    return repeatTimes(8, siege, 1, async () => {
      for (const path of paths) await send(siege, path);
      await send(siege, '/health', { method: 'PUT' });
      await post(siege, WHITE_FLAG, 'x');
      const proposal = siege.proposal();
      if (proposal) await post(siege, WHITE_FLAG, JSON.stringify(proposal));
    });
  },

  /** Clients that the broker closes for what they say, and that do not go: up to 1,500. */
  stayClosed: async (siege) => {
    const held: RawClient[] = [];
    for (let i = 0; ; i++) {
      await attempt(siege, async () => {
        const client = await openRaw(siege.url, `127.0.3.${1 + (i % 13)}`, false);
        client.socket.resume();
        client.send(Uint8Array.of(0, 0));
        held.push(client);
      });
      if (held.length > 1500) held.shift()!.socket.destroy();
      await sleep(10);
    }
  },

  /** Eleven addresses open WebSockets for as long as they get any, up to 300 each. */
  takeWebSockets: async (siege) => {
    const held: RawClient[] = [];
    for (let i = 0; ; i++) {
      if (held.filter(({ socket }) => !socket.destroyed).length < 3300)
        await attempt(siege, async () => {
          const client = await openRaw(siege.url, `127.0.2.${1 + (i % 11)}`);
          client.socket.resume();
          held.push(client);
        });
      await sleep(10);
    }
  },

  /** 500 subscribe to everything and ignore what the broker says. */
  ignoreClose: (siege) => {
    const topics = ['blocks', 'milestones', 'block-metadata/referenced', 'milestone-info/latest'];
    return keepOpen(siege, { count: 500, pauseMs: 500, says: true }, (client) => {
      client.socket.resume();
      client.sendPacket({ type: PacketType.Subscribe, packetId: 1, topics });
    });
  },

  /** Connects with the client ID of others. */
  takeIds: (siege) =>
    repeat(siege, 200, async () => {
      const client = await openRaw(siege.url, siege.address, false);
      client.socket.resume();
      const [level, cleanSession, keepAlive] = [4, true, 0];
      const clientId = 'honest';
      client.sendPacket({ type: PacketType.Connect, level, cleanSession, keepAlive, clientId });
      await sleep(50);
      client.socket.destroy();
    }),
};
