/**
 * The broker of events: MQTT 3.1.1 over WebSockets that hibernate (src/modules/events/README.md). The
 * follower's calls are hints only: milestones are read from D1, so none is announced that is not
 * committed. Only a timer, before CONNECT, keeps the object awake. What must outlive an eviction is
 * in the sockets' attachments (client.ts) and one value of the object's storage.
 */
import { DurableObject } from 'cloudflare:workers';
import { LedgerDamaged } from '../../ledger/core/checksum.ts';
import { LedgerMoved } from '../../ledger/core/fence.ts';
import { LedgerUnreadable } from '../../ledger/core/head.ts';
import { waitForCalls } from '../../ledger/core/wrap-database.ts';
import { openLedgerBinding } from '../../ledger/open-ledger.ts';
import { BLOCKS, UNLOCKS } from '../../mqtt/topics.ts';
import { clientPath, createTurns } from '../../platform/client-path.ts';
import { takeTurns, untilSettled } from '../../platform/clock.ts';
import { describeError, writeLimitedLog } from '../../platform/log.ts';
import { readSettings } from '../../settings.ts';
import { StardustError } from '../../stardust/error.ts';
import type { MilestoneKeys } from '../../stardust/milestone-keys.ts';
import { tellBlock } from './block-events.ts';
import {
  addMessage,
  CLIENT_HEADER,
  type Client,
  hasWork,
  newClient,
  restoreClient,
  saveClient,
} from './client.ts';
import { createClients } from './clients.ts';
import { isReserved } from './close-codes.ts';
import type { Audience } from './milestone-events.ts';
import { type Counts, createPublisher, HalfTold, type PublishedMilestone } from './publisher.ts';
import { takeSlice } from './session.ts';

/**
 * Sockets that are open, or closed and not gone: a site may have as many as are left for others.
 * The object could have 32,768
 * (https://developers.cloudflare.com/durable-objects/api/state/#acceptwebsocket).
 */
const MAX_SOCKETS = 20_000;

/** Closed ones of a site, after which it gets no other: its client may answer no close. */
const MAX_LEFT_OF_SITE = 100;

/** Bytes of a WebSocket message, which may have several packets, and of those that wait. */
const MAX_MESSAGE_BYTES = 1 << 17;
const MAX_WAITING_BYTES = 2 * MAX_MESSAGE_BYTES;

/** Slices between two milestones of a catch-up, which all clients share. */
const SLICES_AT_ONCE = 16;

/** Milliseconds of slices between turns for other requests. */
const TURN_EVERY_MS = 5;

export interface EventCounts extends Counts {
  clients: number;
  topics: number;
}

export interface EventDemand {
  /** The milestone that was published last; undefined while nobody listens. */
  published: number | undefined;
  blocks: boolean;
}

function keysOf(env: Env): MilestoneKeys | undefined {
  const result = readSettings(env);
  return result.ok ? result.settings.milestoneKeys : undefined;
}

export class EventBroker extends DurableObject<Env> {
  readonly #db = waitForCalls(openLedgerBinding(this.env), (run) => untilSettled(run, 'D1'));
  /** Undefined without right settings: then no block is called a milestone's. */
  readonly #keys = keysOf(this.env);
  readonly #publisher = createPublisher(this.#db, this.ctx.storage.kv, this.#keys);
  readonly #clients = createClients(this.#publisher.counts);

  readonly #waiting = createTurns<Client>();
  /** Resolved when all that is in D1 has been published; undefined while nothing is to be. */
  #publishing: PromiseWithResolvers<void> | undefined;
  #isDue = false;
  #isWorking = false;
  readonly #turn = takeTurns(TURN_EVERY_MS);

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    for (const socket of ctx.getWebSockets())
      if (socket.readyState === WebSocket.OPEN) this.#restore(socket);
  }

  /** Never throws: an object that cannot start would fail all its sockets for ever. */
  #restore(socket: WebSocket): void {
    try {
      const { client, isWhole } = restoreClient(socket, this.#publisher.last()?.prefix ?? '');
      this.#clients.open(client);
      // without what was published last nobody knows what it has missed
      const isBehind = client.topics.size > 0 && this.#publisher.last() === undefined;
      if (!isWhole || isBehind) this.#clients.close(client, 'evicted');
    } catch (error) {
      writeLimitedLog('error', 'events.failed', { error: describeError(error) });
      const client = newClient(socket, '', Date.now());
      this.#clients.open(client);
      this.#clients.close(client, 'evicted');
    }
  }

  /** Accepts a WebSocket. Whoever calls has checked that the request asks for one. */
  override async fetch(request: Request): Promise<Response> {
    // the follower does not call where it has nothing to follow
    this.#clients.closeSilent(Date.now());
    const address = request.headers.get(CLIENT_HEADER) ?? '';
    const [site] = clientPath(address);
    // tags outlive the object's eviction
    const own = this.ctx.getWebSockets(site);
    const left = own.filter(({ readyState }) => readyState !== WebSocket.OPEN);
    const free = MAX_SOCKETS - this.ctx.getWebSockets().length;
    if (left.length >= MAX_LEFT_OF_SITE || own.length >= free)
      return new Response(null, { status: 503 });
    const [theirs, ours] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket];
    this.ctx.acceptWebSocket(ours, [site]);
    const client = newClient(ours, address, Date.now());
    this.#clients.open(client);
    saveClient(client);
    return new Response(null, { status: 101, webSocket: theirs });
  }

  /** Called after a milestone or a pass. Resolves when all that is in D1 has been published. */
  async applied(): Promise<EventDemand> {
    this.#clients.closeSilent(Date.now());
    const { topics } = this.#clients;
    if (topics.size() === 0) {
      this.#publisher.forget();
      return { published: undefined, blocks: false };
    }
    this.#isDue = true;
    this.#publishing ??= Promise.withResolvers();
    const { promise } = this.#publishing;
    void this.#work();
    await promise;
    return { published: this.#publisher.last()?.index, blocks: topics.hasAny(BLOCKS) };
  }

  async stored(blocks: readonly Uint8Array[]): Promise<void> {
    const audience = this.#audience();
    const turn = takeTurns();
    for (const bytes of blocks) {
      await tellBlock(bytes, audience);
      await turn();
    }
  }

  readCounts(): EventCounts {
    const { size, topics } = this.#clients;
    return { clients: size, topics: topics.size(), ...this.#publisher.counts };
  }

  override async webSocketMessage(socket: WebSocket, message: ArrayBuffer | string): Promise<void> {
    const client = this.#clients.get(socket);
    if (client === undefined) return;
    // MQTT-6.0.0-1
    if (typeof message === 'string') {
      this.#clients.close(client, 'malformed', 'a message that is not binary');
      return;
    }
    const bytes = message.byteLength;
    // it has no packet, and must not cost more than to be delivered
    if (bytes === 0) return;
    if (bytes > MAX_MESSAGE_BYTES || client.waitingBytes + bytes > MAX_WAITING_BYTES) {
      this.#clients.close(client, 'over-limit');
      return;
    }
    // not when it is read: a client is not silent because the broker is slow
    if (client.id !== undefined) client.seen = Date.now();
    addMessage(client, new Uint8Array(message));
    this.#clients.hold(client);
    this.#waiting.add(client);
    // workerd holds far more for an event that waits than its message: of all, one waits
    await this.#work();
  }

  /** RFC 6455, 5.5.1: a close frame is answered by one, with the same code. */
  override webSocketClose(socket: WebSocket, code: number): void {
    this.#clients.gone(socket);
    if (isReserved(code)) socket.close();
    else socket.close(code);
  }

  override webSocketError(socket: WebSocket): void {
    this.#clients.gone(socket);
  }

  /**
   * Does one thing at a time: publishes a milestone, or serves a slice of a client. So a
   * subscription begins between milestones, and nobody waits for two slices of another client.
   */
  async #work(): Promise<void> {
    if (this.#isWorking) return;
    this.#isWorking = true;
    try {
      do {
        if (this.#isDue) await this.#publishNext();
        for (let slices = 0; slices < SLICES_AT_ONCE; slices++) {
          const client = this.#waiting.take();
          if (client !== undefined) await this.#serve(client);
          await this.#turn();
          if (client === undefined) break;
        }
      } while (this.#isDue || this.#waiting.size > 0);
    } finally {
      // what comes next begins another run
      this.#isWorking = false;
    }
  }

  async #serve(client: Client): Promise<void> {
    const clients = this.#clients;
    try {
      const context = { db: this.#db, keys: this.#keys, clients, begin: () => this.#begin() };
      if (clients.isOpen(client)) await takeSlice(context, client);
    } catch (error) {
      if (error instanceof StardustError) clients.close(client, 'malformed', error.reason);
      else {
        writeLimitedLog('error', 'events.failed', { error: describeError(error) });
        clients.close(client, 'failed');
      }
    }
    if (clients.isOpen(client) && hasWork(client)) this.#waiting.add(client);
  }

  async #begin(): Promise<PublishedMilestone | undefined> {
    const before = this.#publisher.last();
    const published = await this.#publisher.begin();
    this.#closeOutdated(before, published);
    return published;
  }

  async #publishNext(): Promise<void> {
    // before it reads: what the follower tells meanwhile must not be lost
    this.#isDue = false;
    try {
      const before = this.#publisher.last();
      if (await this.#publisher.publishNext(this.#audience())) this.#isDue = true;
      this.#closeOutdated(before, this.#publisher.last());
    } catch (error) {
      this.#isDue = false;
      this.#fail(error);
    }
    if (this.#isDue) return;
    this.#publishing?.resolve();
    this.#publishing = undefined;
  }

  /** Whether clients can be told everything, once: if not, they connect again and catch up. */
  #fail(error: unknown): void {
    writeLimitedLog('error', 'events.failed', { error: describeError(error) });
    const isHalfTold = error instanceof HalfTold;
    const cause = isHalfTold ? error.cause : error;
    const isLost = [LedgerMoved, LedgerDamaged, LedgerUnreadable].some(
      (type) => cause instanceof type,
    );
    if (!isLost && !isHalfTold) return;
    const reason = isLost ? 'ledger-moved' : 'failed';
    for (const client of this.#clients.all()) this.#clients.close(client, reason);
    if (isLost) this.#publisher.forget();
  }

  /** Closes clients that listen to a replaced ledger, or to addresses with another prefix. */
  #closeOutdated(before?: PublishedMilestone, now?: PublishedMilestone): void {
    if (before === undefined || before === now) return;
    const isReplaced = before.generation !== now?.generation || before.index > now.index;
    if (!isReplaced && before.prefix === now?.prefix) return;
    for (const client of this.#clients.all()) {
      if ([...client.topics.keys()].some((topic) => isReplaced || topic.startsWith(UNLOCKS)))
        this.#clients.close(client, 'ledger-moved');
    }
  }

  #audience(): Audience {
    const publisher = this.#publisher;
    const { topics, publish } = this.#clients;
    return {
      hasAny: topics.hasAny,
      has: topics.has,
      tell: publish,
      get prefix() {
        return publisher.last()?.prefix ?? '';
      },
    };
  }
}
