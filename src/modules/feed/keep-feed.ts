/**
 * A feed: messages of a node's MQTT plug-in (https://github.com/iotaledger/inx-mqtt), over one
 * connection, to the first upstream that has it. Nothing here is believed or waited for: receivers
 * check the messages, and what does not come is fetched.
 */
import * as v from 'valibot';
import type { TakePushed } from '../../follower/follower-context.ts';
import type { Feed } from '../../follower/follower-part.ts';
import { BLOCKS, CONFIRMED_MILESTONE, MILESTONES } from '../../mqtt/topics.ts';
import { withSignal } from '../../platform/clock.ts';
import { describeError, writeLog } from '../../platform/log.ts';
import type { Ranking } from '../../upstream/ask-in-turn.ts';
import { parseAnswer, readBody, upstreamName } from '../../upstream/rest-upstream.ts';
import { UpstreamFailure } from '../../upstream/upstream.ts';
import { type ConnectionStep, createFeedConnection } from './feed-connection.ts';
import type { FeedAddress, FeedSocket, OpenSocket, SocketEvents } from './web-socket.ts';

const ROUTE = 'mqtt/v1';

/** Milliseconds from one look at the connection to the next. */
const TICK_MS = 500;

/** Milliseconds for the question whether an upstream has a feed, and again for connecting. */
const STEP_TIMEOUT_MS = 3000;

/** Bytes of the longest answer to that question. */
const MAX_ROUTES_BYTES = 1 << 16;

export interface FeedOptions {
  /** Base URLs of the upstreams, in order of preference, without a slash at the end. */
  upstreams: readonly string[];
  /** Bearer token for the first upstream alone. */
  token?: string | undefined;
  ranking: Ranking;
  fetch: typeof fetch;
  openSocket: OpenSocket;
  clock: () => number;
  take: TakePushed;
}

/** Topics that are subscribed to, and what their messages are. */
const KINDS = new Map<string, Parameters<TakePushed>[0]>([
  [BLOCKS, 'block'],
  [MILESTONES, 'milestone'],
  [CONFIRMED_MILESTONE, 'confirmed'],
]);

export function keepFeed(options: FeedOptions): Feed {
  const { clock, take } = options;
  const clientId = `edge${crypto.randomUUID().replaceAll('-', '').slice(0, 16)}`;
  const connection = createFeedConnection(clientId, [...KINDS.keys()]);
  let current: Attempt | undefined;
  /** Connections in a row that brought nothing, or were closed: another upstream comes next. */
  let barren = 0;
  /** Reason without a feed, as logged last. */
  let told: string | undefined;

  function tell(reason: string): void {
    if (reason !== told) writeLog('warn', 'feed.unavailable', { detail: reason });
    told = reason;
  }

  function follow(step: ConnectionStep): void {
    if (step.close !== undefined) {
      tell(`${current?.name ?? 'upstreams'}: ${step.close}`);
      // a search that was given up goes on behind those that it came to
      barren = current?.socket ? barren || 1 : barren + (current?.tried ?? 0);
      end();
    }
    if (step.open) void open();
    for (const bytes of step.send) current?.socket?.send(bytes);
    for (const { topic, payload } of step.messages) take(KINDS.get(topic)!, payload);
    // whoever subscribes is told the confirmed milestone
    if (step.messages.some(({ topic }) => topic !== CONFIRMED_MILESTONE)) barren = 0;
    if (step.messages.length > 0 && told !== undefined) {
      told = undefined;
      writeLog('info', 'feed.connected', { upstream: current?.name });
    }
  }

  function end(): void {
    current?.abort.abort();
    current?.socket?.close();
    current = undefined;
  }

  async function open(): Promise<void> {
    const attempt: Attempt = { abort: new AbortController() };
    current = attempt;
    const isCurrent = () => current === attempt;
    const lose = (reason: string) => {
      if (!isCurrent()) return;
      tell(reason);
      end();
      connection.lost(clock());
    };
    try {
      const socket = await openFirst(options, barren, attempt, {
        received: (bytes) => {
          if (isCurrent()) follow(connection.received(bytes, clock()));
        },
        lost: (reason) => lose(`${attempt.name}: ${reason}`),
      });
      if (!isCurrent()) return socket.close();
      attempt.socket = socket;
      barren++;
      follow(connection.opened(clock()));
    } catch (error) {
      lose(error instanceof UpstreamFailure ? error.message : describeError(error));
    }
  }

  const timer = setInterval(() => follow(connection.tick(clock())), TICK_MS);
  follow(connection.tick(clock()));
  return {
    state: () => connection.state(clock()),
    stop() {
      clearInterval(timer);
      end();
      connection.lost(clock());
    },
  };
}

/** One connection, from when an upstream is looked for. */
interface Attempt {
  abort: AbortController;
  /** Name of the upstream that is queried or connected, for logs. */
  name?: string;
  /** Upstreams that were tried. */
  tried?: number;
  socket?: FeedSocket;
}

/**
 * The first upstream that has a feed and lets itself be connected, in the ranking's order from the
 * place `barren` on.
 */
async function openFirst(
  options: FeedOptions,
  barren: number,
  attempt: Attempt,
  events: SocketEvents,
): Promise<FeedSocket> {
  const { upstreams, ranking } = options;
  let failure: unknown;
  const order = ranking.order(upstreams.length);
  for (let i = 0; i < order.length; i++) {
    const place = order[(barren + i) % order.length]!;
    const url = upstreams[place]!;
    Object.assign(attempt, { name: upstreamName(upstreams, place), tried: i + 1 });
    try {
      const token = place === 0 ? options.token : undefined;
      const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
      if (!(await hasFeed(options.fetch, { url, headers }, attempt))) continue;
      const feed = { url: `${url}/api/${ROUTE}`, headers };
      const late = () => new UpstreamFailure(`${attempt.name} ${ROUTE}: no answer`);
      // not AbortSignal.timeout, which may fire later and end the connection
      return await withSignal(STEP_TIMEOUT_MS, late, (signal) =>
        options.openSocket(feed, events, AbortSignal.any([attempt.abort.signal, signal])),
      );
    } catch (error) {
      failure = error;
    }
    attempt.abort.signal.throwIfAborted();
  }
  throw failure ?? new UpstreamFailure(`no upstream has ${ROUTE}`);
}

const routesAnswer = v.object({ routes: v.array(v.string()) });

async function hasFeed(
  ask: typeof fetch,
  { url, headers }: FeedAddress,
  { abort, name }: Attempt,
): Promise<boolean> {
  const what = `${name} /api/routes`;
  const response = await ask(`${url}/api/routes`, {
    headers: { ...headers, accept: 'application/json' },
    redirect: 'manual',
    signal: AbortSignal.any([abort.signal, AbortSignal.timeout(STEP_TIMEOUT_MS)]),
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new UpstreamFailure(`${what}: status ${response.status}`);
  }
  const body = await readBody(response, MAX_ROUTES_BYTES, what);
  return parseAnswer(body, routesAnswer, what).routes.includes(ROUTE);
}
