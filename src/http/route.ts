/** A route, and the context of its handler. */
import type { EdgeNode } from '../node/edge-node.ts';
import type { Settings } from '../settings.ts';
import type { Work } from './access/limits.ts';
import type { Answer } from './answer.ts';
import type { Keep } from './freshness.ts';
import type { RequestCounts } from './request-counts.ts';
import type { MetricFamily } from './routes/node/prometheus.ts';

/** Notes for the log and the count of requests beyond method, route, status and ledger index. */
export interface RequestNotes {
  /** The white-flag request, as it can be sent again. */
  proposal?: Record<string, unknown>;
  blocks?: number;
  source?: 'kv' | 'd1' | 'cache';
  why?: string;
  /** Milliseconds by stage. */
  stages?: Record<string, number>;
  detail?: string;
}

export interface RouteContext {
  request: Request;
  /** Parameters of the path, as spelled. */
  params: Readonly<Record<string, string | undefined>>;
  node: EdgeNode;
  settings: Settings;
  modules: readonly HttpPart[];
  notes: RequestNotes;
  /** Counts of all requests, where this isolate answers them all. */
  requestCounts: RequestCounts | undefined;
  /** Runs work of a kind as soon as there is a place for it. */
  inPlace<T>(kind: Work, work: () => Promise<T>): Promise<T>;
  /** Runs work once the answer is out. */
  defer(work: () => Promise<unknown>): void;
}

export type LimitName = 'whiteFlagLimit' | 'fetchLimit' | 'scanLimit' | 'eventsLimit' | 'readLimit';

export interface Route {
  /** GET stands for HEAD too. */
  method: 'GET' | 'POST';
  /** A path in itty-router's notation. */
  path: string;
  /** Names of its query parameters; of a route of `/api/edge`, what else is there is a 400. */
  query?: readonly string[];
  /** Whether it is public only where PUBLIC_ROUTES has its path as such. */
  mustBeNamed?: true;
  /** How long its 200s may be kept, unless the answer says otherwise. Absent: `none`. */
  keep?: Keep;
  /** The rate limit before the handler looks at the request. Absent: `readLimit`. */
  limit?: LimitName;
  /**
   * Kind of work, if it keeps the thread for long. Absent: that with the rate limit of scans is one.
   * `later`: the handler has its place in time, as it waits for the follower first.
   */
  work?: Work | 'later';
  /** Whether GET /api/routes names its API. Absent: it does. */
  isOffered?(settings: Settings): boolean;
  handle(context: RouteContext): Promise<Answer>;
}

/** A route that reads many rows of the ledger, and answers at its index. */
export const LEDGER_SCAN = { method: 'GET', keep: 'ledger', limit: 'scanLimit' } as const;

/** Routes by their operation IDs. itty-router tries them in this order. */
export type RouteTable = Readonly<Record<string, Route>>;

/** The part of a module at the border (src/modules/README.md). */
export interface HttpPart {
  routes?: RouteTable;
  /** Reads its families for GET /metrics. */
  readMetrics?(settings: Settings): Promise<MetricFamily[]>;
  /** Answers at paths that no route has. */
  page?: {
    route: Route;
    /** Whether the path or the client wants a page, also one that says 404. */
    isWanted(request: Request, path: string): boolean;
  };
}
