/**
 * Our Worker, whose broker of events counts what Cloudflare bills of a Durable Object: GET /billed.
 */
import { brokerOf } from '../../src/modules/events/events-stub.ts';
import worker, { EventBroker as Broker, Follower } from '../../src/worker.ts';

/** Since the object started. */
export interface Billed {
  /** Upgrades, and calls of the follower. */
  requests: number;
  /** Of clients to the object; twenty are billed as one request. */
  messages: number;
  rowsWritten: number;
}

export class EventBroker extends Broker {
  readonly #billed: Billed = { requests: 0, messages: 0, rowsWritten: 0 };

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const { kv } = ctx.storage;
    const put = kv.put.bind(kv);
    kv.put = (key, value) => {
      this.#billed.rowsWritten += 1;
      put(key, value);
    };
  }

  override fetch(request: Request): Promise<Response> {
    this.#billed.requests += 1;
    return super.fetch(request);
  }

  override applied(): ReturnType<Broker['applied']> {
    this.#billed.requests += 1;
    return super.applied();
  }

  override stored(blocks: readonly Uint8Array[]): Promise<void> {
    this.#billed.requests += 1;
    return super.stored(blocks);
  }

  override webSocketMessage(socket: WebSocket, message: ArrayBuffer | string): Promise<void> {
    this.#billed.messages += 1;
    return super.webSocketMessage(socket, message);
  }

  readBilled(): Billed {
    return this.#billed;
  }
}

export { Follower };

export default {
  ...worker,
  async fetch(request, env, ctx) {
    if (new URL(request.url).pathname !== '/billed') return worker.fetch(request, env, ctx);
    const broker = brokerOf(env.EVENTS) as unknown as DurableObjectStub<EventBroker>;
    return Response.json(await broker.readBilled());
  },
} satisfies ExportedHandler<Env>;
