/**
 * The border of the Worker (docs/contract.md): routing, who may ask for what, CORS, caching
 * headers, errors, the log and the count of requests.
 *
 * itty-router matches paths. Four things that it does by itself do not fit the contract. It
 * tolerates a slash at the end. It does not map HEAD to GET. It parses queries in quadratic time.
 * Its error handler tells the error's message to the client. So it is given paths that were checked
 * before, without their queries, and no error handler.
 */
import { IttyRouter } from 'itty-router/IttyRouter';
import { describeError, writeLog } from '../log.ts';
import { type EdgeNode, LedgerUnreadable } from '../node/edge-node.ts';
import type { Settings } from '../settings.ts';
import { nextTurn } from '../turns.ts';
import { checkRate, createScanLimit } from './access/limits.ts';
import { isNamed, isPublic } from './access/path-patterns.ts';
import { answerPreflight } from './access/preflight.ts';
import { createRouteGuard } from './access/protected-routes.ts';
import { type Answer, toResponse } from './answer.ts';
import { IMMUTABLE_FOR_A_DAY } from './content-negotiation.ts';
import { errorAnswer, HttpError } from './errors.ts';
import { forbidStoring } from './ledger-answer.ts';
import { createReadCache } from './read-cache.ts';
import { createRequestCounts } from './request-counts.ts';
import type { ResponseCache } from './response-cache.ts';
import type { RequestNotes, Route } from './route.ts';
import { chainLookupRoutes } from './routes/indexer/chain-lookup.ts';
import { nftLookupRoutes } from './routes/indexer/nft-lookup.ts';
import { healthRoutes } from './routes/node/health.ts';
import { listRoutes } from './routes.ts';

/** Whatever follows the prefix is judged as an ID: 400, not 404 (docs/contract.md#paths). */
const LOOKUPS = Object.values({ ...nftLookupRoutes, ...chainLookupRoutes }).map((route: Route) => {
  const [prefix, name] = route.path.split(':');
  return { route, prefix: prefix!, name: name! };
});
const { readHealth } = healthRoutes;

export interface App {
  fetch(request: Request, ctx: ExecutionContext): Promise<Response>;
}

export interface AppParts {
  settings: Settings;
  node: EdgeNode;
  cache: ResponseCache;
}

/** The route of a path that no route has, for the log. */
const NO_ROUTE = 'none';

/** One request on its way through. */
interface Exchange {
  request: Request;
  ctx: ExecutionContext;
  path: string;
  /** The route's path as declared, for the log: bounded, and nothing of the client's. */
  route: string;
  /** Whether the route is known, public, and asks for a password. */
  isProtected: boolean;
  notes: RequestNotes;
}

/** What went wrong inside is not told, but what an operator has to do. */
function toHttpError(thrown: unknown): HttpError {
  if (thrown instanceof HttpError) return thrown;
  return thrown instanceof LedgerUnreadable
    ? new HttpError(500, thrown.message)
    : new HttpError(500);
}

export function createApp({ settings, node, cache }: AppParts): App {
  const guard = createRouteGuard(settings);
  const router = IttyRouter();
  router.all('*', refuseOtherSpellings);
  const requestCounts = settings.oneIsolate ? createRequestCounts() : undefined;
  const readCache = settings.oneIsolate
    ? createReadCache(Date.now, node.readGeneration)
    : undefined;
  const limitScans = settings.oneIsolate ? createScanLimit(Date.now) : undefined;
  for (const each of Object.values(listRoutes())) {
    router.all(each.path, ({ params }, exchange: Exchange) => dispatch(each, params, exchange));
  }
  router.all('*', () => {
    throw new HttpError(404, 'no such route');
  });

  async function route(exchange: Exchange): Promise<Answer> {
    const { path, request } = exchange;
    for (const { route, prefix, name } of LOOKUPS) {
      if (path.startsWith(prefix) && path.length > prefix.length)
        return dispatch(route, { [name]: path.slice(prefix.length) }, exchange);
    }
    return router.fetch({ method: request.method, url: `http://path.invalid${path}` }, exchange);
  }

  /** 403, then 401, then 405, then what the route says. 404 was decided by the router. */
  async function dispatch(
    route: Route,
    params: Record<string, string>,
    exchange: Exchange,
  ): Promise<Answer> {
    const { request, ctx, notes, path } = exchange;
    exchange.route = route.path;
    if (route.mustBeNamed && !isNamed(path, settings.publicRoutes))
      throw new HttpError(403, `PUBLIC_ROUTES must name ${path} itself`);
    if (!route.mustBeNamed && !isPublic(path, settings.publicRoutes)) throw new HttpError(403);
    if (guard.isProtected(path)) {
      exchange.isProtected = true;
      guard.authorize(request.headers);
    }
    const allowed = route.method === 'GET' ? ['GET', 'HEAD'] : [route.method];
    if (!allowed.includes(request.method))
      throw new HttpError(405, undefined, { allow: [...allowed, 'OPTIONS'].join(', ') });
    if (route.limit !== undefined) await checkRate(settings[route.limit], request);
    const handle = (request: Request) =>
      route.handle({
        request,
        params,
        node,
        cache,
        staticFiles: settings.staticFiles,
        notes,
        requestCounts,
        defer: (work) => ctx.waitUntil(afterwards(work)),
      });
    const handleInTurn = (request: Request) =>
      route.limit === 'scanLimit' && limitScans !== undefined
        ? limitScans(() => handle(request))
        : handle(request);
    return readCache === undefined
      ? handleInTurn(request)
      : readCache.answer(route, request, notes, handleInTurn, (work) => ctx.waitUntil(work));
  }

  return {
    async fetch(request, ctx) {
      const started = performance.now();
      const path = new URL(request.url).pathname;
      const exchange: Exchange = {
        request,
        ctx,
        path,
        route: NO_ROUTE,
        isProtected: false,
        notes: {},
      };
      let answer: Answer;
      let error: unknown;
      try {
        answer =
          request.method === 'OPTIONS'
            ? answerPreflight(request.headers)
            : forbidStoring(request, await route(exchange));
      } catch (thrown) {
        error = thrown;
        answer = errorAnswer(toHttpError(thrown));
      }
      const ms = performance.now() - started;
      report(exchange, answer.status ?? 200, ms, error);
      const { ledgerIndex, stages } = exchange.notes;
      const isFinal = ledgerIndex !== undefined && ledgerIndex === settings.finalMilestone;
      const extraHeaders = {
        ...(isFinal && {
          ...finalHeaders(exchange, answer),
          'x-final-milestone': String(ledgerIndex),
        }),
        // a cache that kept the answer would give it to whoever asks
        ...(exchange.isProtected && { 'cache-control': 'private, no-store' }),
        ...(ledgerIndex !== undefined && { 'x-ledger-index': String(ledgerIndex) }),
        ...(settings.serverTiming && {
          'server-timing': describeTimings({ ...stages, total: ms }),
        }),
      };
      return toResponse(answer, request.method, extraHeaders);
    },
  };

  function report(
    { request, route, notes }: Exchange,
    status: number,
    ms: number,
    error: unknown,
  ): void {
    if (settings.logReads || !isRoutine(request.method, route, status)) {
      writeLog(status === 500 ? 'error' : 'info', 'http.request', {
        method: request.method,
        route,
        status,
        ms: Math.round(ms),
        ...notes,
        ...(error instanceof HttpError && { detail: error.detail }),
        ...(error !== undefined &&
          !(error instanceof HttpError) && { error: describeError(error) }),
      });
    }
    requestCounts?.count(route, status, ms);
    settings.requests?.writeDataPoint({
      indexes: [route],
      blobs: [route, request.method, String(status), notes.source ?? '', notes.why ?? ''],
      doubles: [ms, notes.blocks ?? 0],
    });
  }
}

/**
 * Whether nobody would act on a line of log: a read that was answered. There are so many that the
 * lines would cost more than the reads.
 */
function isRoutine(method: string, route: string, status: number): boolean {
  return ['GET', 'HEAD'].includes(method) && route !== NO_ROUTE && [200, 304, 404].includes(status);
}

/**
 * A ledger that is over never changes, so caches may keep what is said of it for long. Answers that
 * say something of their own to caches, and errors, are left as they are.
 */
function finalHeaders(
  { request, route }: Exchange,
  { status = 200, headers = {} }: Answer,
): Record<string, string> {
  const own = headers['cache-control'] ?? '';
  const isKept = route !== readHealth.path && ['GET', 'HEAD'].includes(request.method);
  if (!isKept || ![200, 304].includes(status) || /no-store|immutable/.test(own)) return {};
  return IMMUTABLE_FOR_A_DAY;
}

/** An answer that is ready goes out before anything that is begun in a later turn. */
async function afterwards(work: () => Promise<unknown>): Promise<void> {
  await nextTurn();
  await work();
}

/** A path has one spelling (docs/contract.md). */
function refuseOtherSpellings(_routed: unknown, { path }: Exchange): void {
  if (path !== '/' && /\/\/|\/$|%/.test(path)) throw new HttpError(404, 'no such route');
}

function describeTimings(stages: Record<string, number>): string {
  return Object.entries(stages)
    .map(([name, ms]) => `${name};dur=${ms.toFixed(1)}`)
    .join(', ');
}

/** The app while a setting is wrong: every answer is 500, and the log says what to fix. */
export function createMisconfiguredApp(problems: readonly string[]): App {
  return {
    async fetch(request) {
      writeLog('error', 'settings.invalid', { problems });
      return toResponse(errorAnswer(new HttpError(500)), request.method);
    },
  };
}
