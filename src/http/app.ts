/**
 * The border of the Worker (docs/contract.md): routing by itty-router, access, CORS, caching
 * headers, errors, the log and the count of requests.
 */
import type { IRequestStrict } from 'itty-router';
import { IttyRouter } from 'itty-router/IttyRouter';
import { isMissingTable, isTold } from '../ledger/core/head.ts';
import type { EdgeNode } from '../node/edge-node.ts';
import { nextTurn } from '../platform/clock.ts';
import { createLimitedLog, describeError, writeLimitedLog, writeLog } from '../platform/log.ts';
import type { Settings } from '../settings.ts';
import { checkRate, createWorkLimit, type Work } from './access/limits.ts';
import { createRouteGuard, isNamed, isPublic } from './access/route-access.ts';
import { type Answer, answerPreflight, toResponse } from './answer.ts';
import { errorAnswer, HttpError, UnknownHere } from './errors.ts';
import { cacheControlOf } from './freshness.ts';
import { noLedger } from './ledger-answer.ts';
import { createReadCache } from './read-cache.ts';
import { requireQuery } from './request.ts';
import { createRequestCounts } from './request-counts.ts';
import type { HttpPart, RequestNotes, Route } from './route.ts';
import { listRoutes } from './routes.ts';

export interface App {
  fetch(request: Request, ctx: ExecutionContext): Promise<Response>;
}

export interface AppParts {
  settings: Settings;
  node: EdgeNode;
  modules: readonly HttpPart[];
}

/** Routes that no reference has, so that nobody needs their queries read as Go reads them. */
const OWN_ROUTES = '/api/edge/';

/** Logged as `route` if no route matched. */
const NO_ROUTE = 'none';

interface Exchange {
  ctx: ExecutionContext;
  request: Request;
  path: string;
  /** The route's path as declared, for the log: bounded, and nothing of the client's. */
  route: string;
  /** Whether the route is known, public, and asks for a password. */
  isProtected: boolean;
  notes: RequestNotes;
}

/** Returns undefined where the next handler has the answer. */
type Handler = (
  matched: IRequestStrict,
  exchange: Exchange,
) => Answer | Promise<Answer> | undefined;

/** Tells nothing internal, except what to do. Without a ledger nothing is "not found". */
async function toHttpError(thrown: unknown, node: EdgeNode): Promise<HttpError> {
  if (thrown instanceof UnknownHere || isMissingTable(thrown)) {
    try {
      if ((await node.readGeneration()) === undefined) return noLedger();
    } catch (error) {
      return isMissingTable(error) ? noLedger() : new HttpError(500);
    }
  }
  if (thrown instanceof HttpError) return thrown;
  return new HttpError(500, isTold(thrown) ? thrown.message : undefined);
}

export function createApp({ settings, node, modules }: AppParts): App {
  const guard = createRouteGuard(settings);
  const requestCounts = settings.oneIsolate ? createRequestCounts() : undefined;
  const limits = settings.oneIsolate && {
    proposal: createWorkLimit(Date.now, 'proposal'),
    scan: createWorkLimit(Date.now, 'scan'),
    explanation: createWorkLimit(Date.now, 'explanation'),
    gallery: createWorkLimit(Date.now, 'gallery'),
  };
  const readCache =
    limits && createReadCache(Date.now, node.readGeneration, undefined, limits.scan.hasten);
  const writeOfKind = createLimitedLog(Date.now);
  const router = IttyRouter<IRequestStrict, [Exchange]>();
  const routes = Object.values(listRoutes(modules));
  const isGreedy = ({ path }: Route) => path.endsWith('+');
  // whatever follows the prefix of a lookup is judged as an ID: 400, not 404 (docs/contract.md#paths)
  register(routes.filter(isGreedy));
  const [page, another] = modules.flatMap((each) => each.page ?? []);
  if (another !== undefined) throw new Error('two modules have a page, where one may');
  router.all('*', (matched, exchange) =>
    isOtherSpelling(exchange.path) ? refuseOrShow(matched, exchange) : undefined,
  );
  register(routes.filter((route) => !isGreedy(route)));
  router.all('*', refuseOrShow);

  /** A path that no route has: a view of the page, a page that says so, or 404. */
  function refuseOrShow(matched: IRequestStrict, exchange: Exchange) {
    if (!page?.isWanted(exchange.request, exchange.path)) throw new HttpError(404, 'no such route');
    const { route } = page;
    authorize(exchange);
    // who may see the page may see it at each of its paths that needs no password itself
    exchange.path = route.path;
    return admitting(route, () => answerRoute(route, matched, exchange))(matched, exchange);
  }

  function register(routes: readonly Route[]): void {
    for (const route of routes) {
      const answer = admitting(route, (matched, exchange) => answerRoute(route, matched, exchange));
      if (route.method === 'POST') router.post(route.path, answer);
      else router.get(route.path, answer).head(route.path, answer);
    }
    for (const route of routes) router.all(route.path, admitting(route, refuseMethod(route)));
  }

  /** 403, then 401, then what `answer` says. 404 was decided by the router. */
  function admitting(route: Route, answer: Handler): Handler {
    const { publicRoutes } = settings;
    const declared = route.path.replace(/\+$/, '');
    return (matched, exchange) => {
      // a lookup without an ID: its path ends with a slash
      if (Object.values(matched.params).includes('')) return undefined;
      const { path } = exchange;
      exchange.route = declared;
      if (route.mustBeNamed && !isNamed(path, publicRoutes))
        throw new HttpError(403, `PUBLIC_ROUTES must name ${path} itself`);
      if (!route.mustBeNamed && !isPublic(path, publicRoutes)) throw new HttpError(403);
      authorize(exchange);
      return answer(matched, exchange);
    };
  }

  function authorize(exchange: Exchange): void {
    if (!guard.isProtected(exchange.path)) return;
    exchange.isProtected = true;
    guard.authorize(exchange.request.headers);
  }

  async function answerRoute(
    route: Route,
    { params }: IRequestStrict,
    { ctx, request, notes }: Exchange,
  ): Promise<Answer> {
    await checkRate(settings[route.limit ?? 'readLimit'], request);
    if (route.path.startsWith(OWN_ROUTES))
      requireQuery(new URL(request.url).search, route.query ?? []);
    // it goes on though its client has gone, so that its place is free as soon as it ends
    function inPlace<T>(kind: Work, request: Request, work: () => Promise<T>): Promise<T> {
      if (!limits) return work();
      const running = limits[kind](request, work);
      ctx.waitUntil(running.catch(() => {}));
      return running;
    }
    const handle = async (request: Request): Promise<Answer> => ({
      ...(route.keep && { keep: route.keep }),
      ...(await route.handle({
        request,
        params,
        node,
        settings,
        modules,
        notes,
        requestCounts,
        inPlace: (kind, work) => inPlace(kind, request, work),
        defer: (work) => ctx.waitUntil(afterwards(work)),
      })),
    });
    const work = route.work ?? (route.limit === 'scanLimit' ? 'scan' : undefined);
    const handleInTurn = (request: Request) =>
      work && work !== 'later' ? inPlace(work, request, () => handle(request)) : handle(request);
    return readCache
      ? readCache.answer(route, request, notes, handleInTurn, (work) => ctx.waitUntil(work))
      : handleInTurn(request);
  }

  return {
    async fetch(request, ctx) {
      const started = performance.now();
      const path = new URL(request.url).pathname;
      const notes: RequestNotes = {};
      // without the query: itty-router takes quadratic time to parse it
      const matched = { method: request.method, url: `http://path${path}` } as IRequestStrict;
      const exchange = { ctx, request, path, route: NO_ROUTE, isProtected: false, notes };
      let answer: Answer;
      let error: unknown;
      try {
        answer =
          request.method === 'OPTIONS'
            ? answerPreflight(request.headers)
            : await router.fetch(matched, exchange);
      } catch (thrown) {
        const told = await toHttpError(thrown, node);
        error = told.detail === undefined ? thrown : told;
        answer = errorAnswer(told);
      }
      const ms = Math.max(0, performance.now() - started);
      report(request.method, exchange, answer, ms, error);
      const { ledgerIndex, keep = 'none', headers } = answer;
      const isFinal = ledgerIndex !== undefined && ledgerIndex === settings.finalMilestone;
      return toResponse(answer, request.method, {
        // a cache that kept a protected answer would give it to whoever asks
        'cache-control': exchange.isProtected
          ? 'private, no-store'
          : (headers?.['cache-control'] ?? cacheControlOf(keep, request, isFinal)),
        ...(isFinal && { 'x-final-milestone': String(ledgerIndex) }),
        ...(ledgerIndex !== undefined && { 'x-ledger-index': String(ledgerIndex) }),
        ...(settings.serverTiming && {
          'server-timing': describeTimings({ ...exchange.notes.stages, total: ms }),
        }),
      });
    },
  };

  function report(
    method: string,
    { route, notes }: Exchange,
    { status = 200, ledgerIndex }: Answer,
    ms: number,
    error: unknown,
  ): void {
    const isOfRead = isRoutine(method, route, status);
    if (settings.logReads || !isOfRead) {
      const write = isOfRead ? writeLog : writeOfKind.bind(undefined, [route, status].join());
      write(status === 500 ? 'error' : 'info', 'http.request', {
        method,
        route,
        status,
        ms: Math.round(ms),
        ledgerIndex,
        ...notes,
        ...(error instanceof HttpError && { detail: error.detail }),
        ...(error !== undefined &&
          !(error instanceof HttpError) && { error: describeError(error) }),
      });
    }
    requestCounts?.count(route, status, ms);
    settings.requests?.writeDataPoint({
      indexes: [route],
      blobs: [route, method, String(status), notes.source ?? '', notes.why ?? ''],
      doubles: [ms, notes.blocks ?? 0],
    });
  }
}

/** Whether nobody would act on a line of log: an answered read, cheaper than its line. */
const isRoutine = (method: string, route: string, status: number): boolean =>
  ['GET', 'HEAD'].includes(method) && route !== NO_ROUTE && [200, 304, 404].includes(status);

/** An answer that is ready goes out before anything that is begun in a later turn. */
async function afterwards(work: () => Promise<unknown>): Promise<void> {
  await nextTurn();
  await work();
}

function refuseMethod({ method }: Route): Handler {
  const allow = method === 'GET' ? 'GET, HEAD, OPTIONS' : `${method}, OPTIONS`;
  return () => {
    throw new HttpError(405, undefined, { allow });
  };
}

/** A path has one spelling (docs/contract.md). */
const isOtherSpelling = (path: string): boolean => path !== '/' && /\/\/|\/$|%/.test(path);

function describeTimings(stages: Record<string, number>): string {
  return Object.entries(stages)
    .map(([name, ms]) => `${name};dur=${ms.toFixed(1)}`)
    .join(', ');
}

/** The app while a setting is wrong: every answer is 500, and the log says what to fix. */
export function createMisconfiguredApp(problems: readonly string[]): App {
  return {
    async fetch(request) {
      writeLimitedLog('error', 'settings.invalid', { problems });
      return toResponse(errorAnswer(new HttpError(500)), request.method);
    },
  };
}
