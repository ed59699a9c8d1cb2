/**
 * Settings: bindings and vars, read and checked once (docs/operations.md). `vars` checks each var,
 * `settingsFromEnvironment` names and explains it. Faults are sentences that name the var.
 */
import * as v from 'valibot';
import { openLedgerBinding } from './ledger/open-ledger.ts';
import { baseTokenSchema, MAX_UINT32 } from './platform/json-schemas.ts';
import { toHexDigits } from './stardust/encoding/bytes.ts';
import type { MilestoneKey } from './stardust/milestone-keys.ts';

/**
 * The reference's below-max-depth, 15, and the 20 milestones that the design asks for beyond it.
 */
const MIN_RETENTION_MILESTONES = 35;

const KEY = /^(?:0[xX])?(?<digits>[0-9a-fA-F]{64})(?:@(?<first>\d{1,10})-(?<last>\d{1,10}))?$/;

/** A var as text. Absent and empty mean the same; wrangler hands over numbers as such. */
const text = v.pipe(
  v.optional(v.union([v.string(), v.number()], 'must be text'), ''),
  v.transform((value) => String(value).trim()),
);

/** A secret, as it is: not trimmed, and no message repeats it. Absent and empty mean the same. */
function secret(pattern: RegExp, message: string) {
  return v.pipe(
    v.optional(v.string('must be text'), ''),
    v.regex(pattern, message),
    v.transform((value) => (value === '' ? undefined : value)),
  );
}

/** RFC 6750, section 2.1. */
const bearerToken = secret(
  /^(?:[A-Za-z0-9._~+/-]+=*)?$/,
  'must be a token of letters, digits and -._~+/, with = at the end only',
);

const list = v.pipe(
  text,
  // of variables that are not set, for instance
  v.regex(/^$|[^,\s]/, 'must be more than commas'),
  v.transform((value) =>
    value
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== ''),
  ),
);

function isUpstreamUrl(entry: string): boolean {
  const url = URL.parse(entry);
  // fetch refuses a URL with a user in it, at every request
  if (url === null || url.username + url.password !== '') return false;
  return /^https?:$/.test(url.protocol) && !/[?#]/.test(entry);
}

const pathPatterns = v.pipe(
  list,
  v.checkItems(
    (entry) => /^[/*][\x21-\x7e]*$/.test(entry),
    'must be patterns of paths that begin with / or *, separated by commas',
  ),
);

function parseKey(entry: string): MilestoneKey | undefined {
  const groups = KEY.exec(entry)?.groups;
  if (groups?.digits === undefined) return undefined;
  const first = Number(groups.first ?? 0);
  const last = Number(groups.last ?? 0);
  if (first > MAX_UINT32 || last > MAX_UINT32 || (last !== 0 && last < first)) return undefined;
  return { publicKey: Uint8Array.fromHex(groups.digits), first, last };
}

/** An integer of at least `min`; undefined where the var is not set. */
function integer(min: number) {
  return v.pipe(
    text,
    v.check(
      (value) =>
        value === '' ||
        (/^\d{1,10}$/.test(value) && Number(value) >= min && Number(value) <= MAX_UINT32),
      `must be an integer from ${min} to ${MAX_UINT32}`,
    ),
    v.transform((value) => (value === '' ? undefined : Number(value))),
  );
}

const flag = v.pipe(text, v.picklist(['', 'true', 'false'], 'must be true or false'));

function binding<T extends object>(kind: string) {
  return v.custom<T>(
    (value) => typeof value === 'object' && value !== null,
    `must be bound to ${kind}`,
  );
}

const bindings = {
  LEDGER: binding<D1Database>('a D1 database'),
  NFT_INDEX: binding<KVNamespace>('a KV namespace'),
  FOLLOWER: binding<Env['FOLLOWER']>('the Durable Object class Follower'),
  EVENTS: v.optional(binding<NonNullable<Env['EVENTS']>>('the Durable Object class EventBroker')),
  ASSETS: binding<Pick<Fetcher, 'fetch'>>('the static files'),
  WHITE_FLAG_LIMIT: v.optional(binding<RateLimit>('a rate limit')),
  FETCH_LIMIT: v.optional(binding<RateLimit>('a rate limit')),
  SCAN_LIMIT: v.optional(binding<RateLimit>('a rate limit')),
  EVENTS_LIMIT: v.optional(binding<RateLimit>('a rate limit')),
  READ_LIMIT: v.optional(binding<RateLimit>('a rate limit')),
  VERSION: binding<WorkerVersionMetadata>('version metadata'),
  REQUESTS: v.optional(binding<AnalyticsEngineDataset>('an Analytics Engine dataset')),
  ONE_ISOLATE: v.optional(v.literal('true', 'must be bound by stardust-edge serve only')),
};

const vars = {
  UPSTREAM_URL: v.pipe(
    list,
    v.checkItems(
      isUpstreamUrl,
      'must be http or https URLs without user, query and fragment, separated by commas',
    ),
    v.mapItems((entry) => entry.replace(/([^/])\/+$/, '$1')),
    v.check((urls) => new Set(urls).size === urls.length, 'must be URLs of different nodes'),
  ),
  MILESTONE_PUBLIC_KEYS: v.pipe(
    list,
    v.checkItems(
      (entry) => parseKey(entry) !== undefined,
      'must be keys of 64 hex digits, each as such or with its milestones as key@first-last, separated by commas',
    ),
    v.transform((entries): readonly MilestoneKey[] =>
      entries.flatMap((entry) => parseKey(entry) ?? []),
    ),
  ),
  MILESTONE_THRESHOLD: integer(1),
  PUBLIC_ROUTES: pathPatterns,
  PROTECTED_ROUTES: pathPatterns,
  API_USER: secret(/^[^:\p{Cc}]*$/u, 'must be text without a colon and control characters'),
  API_PASSWORD: secret(/^\P{Cc}*$/u, 'must be text without control characters'),
  API_TOKEN: bearerToken,
  UPSTREAM_TOKEN: bearerToken,
  FINAL_MILESTONE: integer(1),
  HISTORY: v.pipe(text, v.picklist(['', 'retention', 'all'], 'must be retention, all or empty')),
  INDEX: v.pipe(text, v.picklist(['', 'all'], 'must be all or empty')),
  BASE_TOKEN: v.pipe(
    text,
    v.transform((value) => value || 'null'),
    v.parseJson(undefined, 'must be JSON'),
    v.nullable(baseTokenSchema),
  ),
  RETENTION_MILESTONES: integer(MIN_RETENTION_MILESTONES),
  SERVER_TIMING: flag,
  LOG_READS: flag,
};

export const VAR_NAMES: readonly string[] = Object.keys(vars);

const environment = v.object({ ...bindings, ...vars }, 'must be bound');

const settingsFromEnvironment = v.pipe(
  environment,
  v.forward(
    v.check(
      ({ MILESTONE_PUBLIC_KEYS: keys, MILESTONE_THRESHOLD: threshold = 0 }) =>
        keys.length === 0 ||
        threshold <= new Set(keys.map(({ publicKey }) => toHexDigits(publicKey))).size,
      'must not be greater than the number of keys in MILESTONE_PUBLIC_KEYS',
    ),
    ['MILESTONE_THRESHOLD'],
  ),
  v.forward(
    v.check(
      ({ API_USER: user, API_PASSWORD: password }) =>
        (user === undefined) === (password === undefined),
      'must be set together with API_USER, and not without it',
    ),
    ['API_PASSWORD'],
  ),
  v.forward(
    v.check(
      ({ PROTECTED_ROUTES: patterns, API_PASSWORD: password, API_TOKEN: token }) =>
        patterns.length === 0 || password !== undefined || token !== undefined,
      'must be empty while neither API_USER and API_PASSWORD nor API_TOKEN are set',
    ),
    ['PROTECTED_ROUTES'],
  ),
  v.transform(({ API_USER: name, API_PASSWORD: password, ...env }) => ({
    ledger: openLedgerBinding(env),
    nftIndex: env.NFT_INDEX,
    follower: env.FOLLOWER,
    /** The broker of events; where it is not bound there are none. */
    events: env.EVENTS,
    /** The files of dist/explorer, by their paths. */
    staticFiles: env.ASSETS,
    /** Limits white-flag requests where it is bound. */
    whiteFlagLimit: env.WHITE_FLAG_LIMIT,
    /** Limits reads that may fetch from the upstreams where it is bound. */
    fetchLimit: env.FETCH_LIMIT,
    /** Limits reads that scan where it is bound: lists, explanations, proofs. */
    scanLimit: env.SCAN_LIMIT,
    /** Limits connections to the broker of events where it is bound. */
    eventsLimit: env.EVENTS_LIMIT,
    /** Limits all other requests where it is bound. */
    readLimit: env.READ_LIMIT,
    /** Counts requests where it is bound. */
    requests: env.REQUESTS,
    /** Whether this is the only isolate (`npm run serve`): its counters are complete. */
    oneIsolate: env.ONE_ISOLATE === 'true',
    /** ID of the deployed version. Where it has none, nothing is put into the Cache API. */
    versionId: env.VERSION.id || undefined,
    /** Base URLs of upstream nodes, without a slash at the end; none: no following, no fetching. */
    upstreams: env.UPSTREAM_URL,
    /** Sent to the first upstream as its Bearer token, and to no other. */
    upstreamToken: env.UPSTREAM_TOKEN,
    /** Keys that may sign milestones; undefined unless keys and threshold are set. */
    milestoneKeys:
      env.MILESTONE_PUBLIC_KEYS.length > 0 && env.MILESTONE_THRESHOLD !== undefined
        ? { keys: env.MILESTONE_PUBLIC_KEYS, threshold: env.MILESTONE_THRESHOLD }
        : undefined,
    /** Patterns of public paths; none: every route is public. */
    publicRoutes: env.PUBLIC_ROUTES,
    /** Patterns of paths that ask for a password or a token; none: no route does. */
    protectedRoutes: env.PROTECTED_ROUTES,
    /** User of HTTP Basic. */
    apiUser: name !== undefined && password !== undefined ? { name, password } : undefined,
    /** Token of Bearer. */
    apiToken: env.API_TOKEN,
    /** The milestone at which the network ended; undefined while it goes on. */
    finalMilestone: env.FINAL_MILESTONE,
    /** Whether lists have every kind of output; else NFTs alone, until the network has ended. */
    indexAll: env.INDEX === 'all',
    /** The network's token, which no ledger holds; null: a known network's, or the upstream's. */
    baseToken: env.BASE_TOKEN,
    /** Whether all changes of NFTs are kept; else those of the milestones that are kept. */
    keepsHistory: env.HISTORY === 'all',
    /** Milestones for which spent outputs and the bytes of referenced blocks are kept. */
    retentionMilestones: env.RETENTION_MILESTONES ?? 17_280,
    serverTiming: env.SERVER_TIMING === 'true',
    /** Whether reads that were answered write a line of log. */
    logReads: env.LOG_READS === 'true',
  })),
);

export type Settings = Readonly<v.InferOutput<typeof settingsFromEnvironment>>;

export type SettingsResult = { ok: true; settings: Settings } | { ok: false; problems: string[] };

export function readSettings(env: unknown): SettingsResult {
  const result = v.safeParse(settingsFromEnvironment, env);
  if (result.success) return { ok: true, settings: result.output };
  const problems = result.issues.map(
    (issue) => `${issue.path?.[0]?.key ?? 'the environment'} ${issue.message}`,
  );
  return { ok: false, problems: [...new Set(problems)] };
}
