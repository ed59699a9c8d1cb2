/**
 * A client of the broker that says exactly what a test wants, over any WebSocket. Real clients are
 * in test/e2e/events.test.ts.
 */
import { expect, vi } from 'vitest';
import {
  createPacketReader,
  encodePacket,
  type Packet,
  PacketType,
  type Publish,
} from '../../../src/mqtt/packets.ts';

/** Bytes of the longest packet that a test is sent. */
const LONGEST = 1_000_000;

export interface Message {
  topic: string;
  text: string;
  bytes: Uint8Array;
}

export class MqttClient {
  readonly #socket: WebSocket;
  readonly packets: Packet[] = [];
  readonly messages: Message[] = [];
  closed: { code: number; reason: string } | undefined;
  #packetId = 0;

  /** @param answersClose whether it closes when the broker does, as all clients do that read */
  constructor(socket: WebSocket, answersClose = true) {
    this.#socket = socket;
    socket.binaryType = 'arraybuffer';
    const reader = createPacketReader(LONGEST);
    socket.addEventListener('message', ({ data }) => {
      for (const packet of reader.read(new Uint8Array(data as ArrayBuffer))) {
        this.packets.push(packet);
        if (packet.type === PacketType.Publish) this.messages.push(messageOf(packet));
      }
    });
    socket.addEventListener('close', ({ code, reason }) => {
      this.closed = { code, reason };
    });
    const { accept } = socket as { accept?: (options: object) => void };
    accept?.call(socket, { allowHalfOpen: !answersClose });
  }

  send(packet: Packet): void {
    this.sendBytes(encodePacket(packet));
  }

  sendBytes(bytes: Uint8Array): void {
    this.#socket.send(new Uint8Array(bytes));
  }

  sendText(text: string): void {
    this.#socket.send(text);
  }

  /** @param code of the close frame, which has none where this is undefined */
  close(code?: number): void {
    this.#socket.close(code);
  }

  async connect(clientId = '', keepAlive = 60): Promise<void> {
    const level = 4;
    this.send({ type: PacketType.Connect, level, cleanSession: true, clientId, keepAlive });
    await this.until(() => this.packets.some(({ type }) => type === PacketType.ConnectAck));
  }

  async subscribe(...topics: string[]): Promise<number[]> {
    const packetId = ++this.#packetId;
    this.send({ type: PacketType.Subscribe, packetId, topics });
    const find = () =>
      this.packets.find(
        (each) => each.type === PacketType.SubscribeAck && each.packetId === packetId,
      );
    await this.until(() => find() !== undefined);
    return (find() as { returnCodes: number[] }).returnCodes;
  }

  async unsubscribe(...topics: string[]): Promise<void> {
    const packetId = ++this.#packetId;
    this.send({ type: PacketType.Unsubscribe, packetId, topics });
    await this.until(() =>
      this.packets.some(
        (each) => each.type === PacketType.UnsubscribeAck && each.packetId === packetId,
      ),
    );
  }

  /** Everything that was sent before has been answered then. */
  async ping(): Promise<void> {
    const pongs = () => this.packets.filter(({ type }) => type === PacketType.PingResponse).length;
    const before = pongs();
    this.send({ type: PacketType.PingRequest });
    await this.until(() => pongs() > before);
  }

  /** The messages so far, which are dropped. */
  take(): Message[] {
    return this.messages.splice(0);
  }

  until(holds: () => boolean): Promise<void> {
    return vi.waitFor(() => expect(holds()).toBe(true), { timeout: 10_000, interval: 5 });
  }

  async untilClosed(): Promise<{ code: number; reason: string }> {
    await this.until(() => this.closed !== undefined);
    return this.closed!;
  }
}

function messageOf({ topic, payload }: Publish): Message {
  const bytes = payload.slice();
  return { topic, text: new TextDecoder().decode(bytes), bytes };
}
