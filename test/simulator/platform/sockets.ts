/**
 * WebSockets as workerd has them: pairs, hibernation's attachments, and answers with status 101.
 */
import { serialize } from 'node:v8';
import { currentOwner, type Process, type Simulation } from './simulation.ts';

/** https://developers.cloudflare.com/durable-objects/api/websockets/ */
const MAX_ATTACHMENT_BYTES = 16_384;

type Data = ArrayBuffer | string;

/** One end. Messages come in order, as an event each; who was killed gets none. */
export class Socket extends EventTarget {
  static readonly CONNECTING = 0;
  static readonly OPEN = 1;
  static readonly CLOSING = 2;
  static readonly CLOSED = 3;
  static simulation: Simulation;
  /** When a Durable Object sent something last. */
  static servedAt = Number.NEGATIVE_INFINITY;

  other!: Socket;
  readyState = 1;
  binaryType = 'blob';
  owner: Process | undefined;
  /** What its end, by either side, ends too. */
  readonly onEnd: (() => void)[] = [];
  /** Whether a Durable Object serves it: it stays until its client has answered a close. */
  isServed = false;
  /** Whether this end goes on after a close of the other one. */
  answersNoClose = false;
  /** Disturbs what the other end sends: how often each message comes. */
  copies: () => number = () => 1;
  readonly #simulation = Socket.simulation;
  #attachment: unknown;
  #isHeld = true;
  #held: (() => void)[] = [];
  /** Messages arrive in order, whatever time each takes. */
  #lastArrival = 0;

  received: (data: Data) => void = (data) => {
    this.dispatchEvent(Object.assign(new Event('message'), { data }));
  };
  ended: (code: number, reason: string) => void = (code, reason) => {
    this.dispatchEvent(
      Object.assign(new Event('close'), { code, reason, wasClean: code !== 1006 }),
    );
  };

  /** Whoever accepts it gets its messages, until killed: that ends the connection. */
  accept(): void {
    const process = currentOwner()?.process;
    this.open(process);
    process?.onEnd.push(() => this.close(1006));
  }

  /** From now on messages are received. */
  open(owner: Process | undefined): void {
    this.owner = owner;
    this.#isHeld = false;
    for (const each of this.#held.splice(0)) this.#arrive(each);
  }

  send(data: ArrayBufferView | Data): void {
    if (this.readyState !== 1) throw new TypeError("Can't call WebSocket send() after close().");
    const copy: Data =
      typeof data === 'string'
        ? data
        : data instanceof ArrayBuffer
          ? data.slice(0)
          : new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice().buffer;
    const { other } = this;
    if (this.isServed) Socket.servedAt = this.#simulation.now;
    for (let i = other.copies(); i > 0; i--)
      other.#arrive(() => other.readyState < 2 && other.received(copy));
  }

  close(code = 1005, reason = ''): void {
    const { other } = this;
    // a connection that broke is closed at once
    if (this.isServed && code !== 1006) {
      if (this.readyState > 1) return;
      this.readyState = 2;
      other.#arrive(() => {
        if (other.answersNoClose || !other.#end()) return;
        other.ended(code, reason);
        this.#arrive(() => {
          if (this.#end()) this.ended(code, reason);
        });
      });
      return;
    }
    if (!this.#end()) return;
    other.#arrive(() => {
      if (other.#end()) other.ended(code, reason);
    });
  }

  /** Whether it had not ended before. */
  #end(): boolean {
    if (this.readyState === 3) return false;
    this.readyState = 3;
    for (const end of this.onEnd.splice(0)) end();
    return true;
  }

  #arrive(event: () => void): void {
    if (this.#isHeld) {
      this.#held.push(event);
      return;
    }
    const simulation = this.#simulation;
    this.#lastArrival = Math.max(
      this.#lastArrival,
      simulation.now + simulation.random.between(1, 3),
    );
    if (this.owner === undefined) simulation.atForWorld(this.#lastArrival, event);
    else simulation.begin(this.owner, this.#lastArrival, event);
  }

  serializeAttachment(value: unknown): void {
    if (serialize(value).length > MAX_ATTACHMENT_BYTES)
      throw new Error(`An attachment cannot be larger than ${MAX_ATTACHMENT_BYTES} bytes.`);
    this.#attachment = structuredClone(value);
  }

  deserializeAttachment(): unknown {
    return structuredClone(this.#attachment);
  }
}

export class SocketPair {
  0 = new Socket();
  1 = new Socket();

  constructor() {
    this[0].other = this[1];
    this[1].other = this[0];
  }
}

/** Node's Response refuses 101, and knows no WebSocket. */
export class SimulatedResponse extends Response {
  constructor(
    body?: BodyInit | null,
    init: Omit<ResponseInit, 'webSocket'> & { webSocket?: Socket } = {},
  ) {
    const { webSocket = null, status, ...rest } = init;
    super(body, { ...rest, ...(status !== 101 && status !== undefined && { status }) });
    if (status === 101) Object.defineProperty(this, 'status', { value: 101 });
    Object.defineProperty(this, 'webSocket', { value: webSocket });
  }
}
