/**
 * An upstream node over HORNET's REST API v2, as raw bytes wherever it has them
 * (docs/protocol.md#what-is-requested-of-an-upstream). Every answer is checked: status, type, and
 * size while it is read. Redirects are not followed: a token goes to no other host.
 */
import * as v from 'valibot';
import { hasPassed, pause, withSignal } from '../platform/clock.ts';
import {
  type ConcurrencyLimit,
  createSharedLimit,
  MAX_CONNECTIONS,
  type Urgency,
} from '../platform/concurrency.ts';
import { baseTokenSchema, digitsOf, hex, uint32 } from '../platform/json-schemas.ts';
import { readBounded } from '../platform/read-bounded.ts';
import type { Settings } from '../settings.ts';
import { MAX_BLOCK_LENGTH } from '../stardust/wire/block.ts';
import { type Upstream, UpstreamFailure } from './upstream.ts';

export interface Patience {
  /** Milliseconds for one answer, the wait for a connection and its body included. */
  timeout: number;
  /** Tries of one question before it counts as failed; 1: also where the upstream is busy. */
  attempts: number;
  urgency?: Urgency;
}

export interface RestOptions extends Patience {
  fetch: typeof fetch;
  /** Absent: the upstream shares connections with no other. */
  limit?: ConcurrencyLimit;
  /** Shown by logs and metrics. Absent: its host. */
  name?: string;
  /** Sent as a Bearer token with each request. */
  token?: string | undefined;
}

const RAW = 'application/vnd.iota.serializer-v1';

/** Milliseconds for the heads, with which every pass begins; they are requested once. */
const HEADS_TIMEOUT_MS = 3000;

/** The longest JSON that is read, of 1,000 tips: as objects, 20 times as much. */
const MAX_JSON_BYTES = 1 << 17;

/** Milliseconds before the second try; doubled with each. */
const BACKOFF_MS = 100;

/** Milliseconds for which a busy upstream is asked again; what is late took longer. */
const MAX_REFUSED_MS = 1000;

/** The most tips that one answer may name. */
const MAX_TIPS = 1000;

const id = v.pipe(hex(64), v.transform(digitsOf));

const info = v.object({
  status: v.object({
    latestMilestone: v.object({
      index: uint32,
      timestamp: v.optional(uint32, 0),
      milestoneId: v.optional(id, `0x${'0'.repeat(64)}`),
    }),
    confirmedMilestone: v.object({ index: uint32 }),
  }),
  protocol: v.optional(v.looseObject({ networkName: v.pipe(v.string(), v.maxLength(255)) })),
  // what is none is no reason not to follow
  baseToken: v.fallback(v.optional(baseTokenSchema), undefined),
});

/** Reads undefined where a node says less than HORNET does. */
const protocol = v.fallback(
  v.optional(
    v.object({
      version: uint32,
      networkName: v.string(),
      bech32Hrp: v.string(),
      minPowScore: uint32,
      belowMaxDepth: uint32,
      rentStructure: v.object({
        vByteCost: uint32,
        vByteFactorData: uint32,
        vByteFactorKey: uint32,
      }),
      tokenSupply: v.pipe(v.string(), v.regex(/^\d{1,20}$/), v.toBigint()),
    }),
  ),
  undefined,
);

/**
 * A block without a milestone index, or with 0, is unreferenced. Then the answer must have nothing
 * that only a milestone gives a block. If it is not solid either, nothing is said: a node that was
 * pruned may have got again, by gossip, what it knew as referenced.
 */
const metadata = v.pipe(
  v.object({
    blockId: id,
    isSolid: v.boolean(),
    referencedByMilestoneIndex: v.optional(uint32, 0),
    ledgerInclusionState: v.optional(v.unknown()),
    conflictReason: v.optional(v.unknown()),
    whiteFlagIndex: v.optional(v.unknown()),
  }),
  v.check(
    ({
      referencedByMilestoneIndex: index,
      ledgerInclusionState: state,
      conflictReason: reason,
      whiteFlagIndex: place,
    }) => index !== 0 || [state, reason, place].every((value) => value === undefined),
    'a block that no milestone references has a place in one',
  ),
);

const tips = v.object({ tips: v.pipe(v.array(id), v.maxLength(MAX_TIPS)) });

/** @param url base URL without a slash at the end */
export function restUpstream(url: string, options: RestOptions): Upstream {
  const limit = options.limit ?? createSharedLimit(MAX_CONNECTIONS)(MAX_CONNECTIONS);
  const { name = new URL(url).host } = options;
  const authorization = options.token !== undefined && { authorization: `Bearer ${options.token}` };

  async function ask(
    path: string,
    accept: string,
    maxBytes: number,
    { timeout, attempts, urgency }: Patience = options,
  ): Promise<Uint8Array | undefined> {
    const asked = Date.now();
    const late = () => new UpstreamFailure(`${name} ${path}: no answer in time`, true);
    for (let attempt = 1; ; attempt++) {
      try {
        return await withSignal(timeout, late, (signal) =>
          // a liar says what it is, and may hold all else
          limit(() => askOnce(path, accept, maxBytes, signal), signal, urgency, path === 'info'),
        );
      } catch (error) {
        const failure =
          error instanceof UpstreamFailure
            ? error
            : new UpstreamFailure(`${name} ${path}: no answer (${error})`);
        const isLate = hasPassed(MAX_REFUSED_MS, asked, Date.now());
        if (attempts === 1 || (failure.isBusy ? isLate : attempt >= attempts)) throw failure;
        await pause(BACKOFF_MS * 2 ** (attempt - 1));
      }
    }
  }

  async function askOnce(path: string, accept: string, maxBytes: number, signal: AbortSignal) {
    const request = { headers: { accept, ...authorization }, redirect: 'manual', signal } as const;
    const response = await options.fetch(`${url}/api/core/v2/${path}`, request);
    const { status } = response;
    const isNotSynced = status === 503 && (await saysNotSynced(response));
    if (status !== 200 && status !== 503) await response.body?.cancel();
    if (status === 404) return undefined;
    const type = response.headers.get('content-type') ?? 'none';
    // too many requests, which proxies call 503, in JSON too, or late by a proxy's word
    const isBusy = [429, 503, 504].includes(status) && !isNotSynced;
    if (status !== 200) throw new UpstreamFailure(`${name} ${path}: status ${status}`, isBusy);
    if (!type.startsWith(accept)) {
      await response.body?.cancel();
      throw new UpstreamFailure(`${name} ${path}: content type ${type}`);
    }
    return readBody(response, maxBytes, `${name} ${path}`);
  }

  async function askJson<T>(
    path: string,
    schema: v.GenericSchema<unknown, T>,
    patience?: Patience,
  ): Promise<T | undefined> {
    const body = await ask(path, 'application/json', MAX_JSON_BYTES, patience);
    return body && parseAnswer(body, schema, `${name} ${path}`);
  }

  return {
    name,
    async readHeads() {
      const answer = await askJson('info', info, {
        timeout: Math.min(options.timeout, HEADS_TIMEOUT_MS),
        attempts: 1,
        // a pass begins with it, and waits behind no blocks or requests where an upstream hangs
        urgency: options.urgency ?? 'first',
      });
      if (answer === undefined)
        throw new UpstreamFailure(`${name} has no info: is it the REST API of a HORNET?`);
      return {
        confirmed: answer.status.confirmedMilestone.index,
        latest: answer.status.latestMilestone,
        networkName: answer.protocol?.networkName,
        parameters: v.parse(protocol, answer.protocol),
        baseToken: answer.baseToken,
      };
    },
    readMilestone: (index) => ask(`milestones/by-index/${index}`, RAW, MAX_BLOCK_LENGTH),
    readBlock: (id) => ask(`blocks/0x${id}`, RAW, MAX_BLOCK_LENGTH),
    async readReference(id) {
      const answer = await askJson(`blocks/0x${id}/metadata`, metadata);
      if (answer === undefined) return undefined;
      if (answer.blockId !== id)
        throw new UpstreamFailure(`${name}: metadata of block ${answer.blockId}, not ${id}`);
      return answer.referencedByMilestoneIndex || (answer.isSolid ? null : undefined);
    },
    readTips: async () => (await askJson('tips', tips))?.tips ?? [],
  };
}

/** Connections of the platform's six that are left to D1: all upstreams may hang. */
const LEFT_TO_DATABASE = 2;
const PLACES = MAX_CONNECTIONS - LEFT_TO_DATABASE;

/** Leaves one to others beside an upstream that is late with some answers; strangers one more. */
export const connectionsToEach = ({ length }: readonly unknown[], urgency?: Urgency): number =>
  PLACES - Number(length > 1) - Number(urgency === 'stranger');

/** Returns a host, and its place where one before has it: a path may be a secret. */
export function upstreamName(urls: readonly string[], place: number): string {
  const hosts = urls.map((url) => new URL(url).host);
  const host = hosts[place]!;
  return hosts.indexOf(host) === place ? host : `${host} (${place})`;
}

/** Returns what opens upstreams for a use: all share places, and the first alone sees the token. */
export function createUpstreams() {
  const createLimit = createSharedLimit(PLACES);
  const limits = new Map<string, ConcurrencyLimit>();
  return ({ upstreams, upstreamToken }: Settings, patience: Patience): readonly Upstream[] =>
    upstreams.map((url, place) => {
      const limit = limits.get(url) ?? createLimit(connectionsToEach(upstreams));
      limits.set(url, limit);
      const token = place === 0 ? upstreamToken : undefined;
      const send: typeof fetch = (...request) => fetch(...request);
      const name = upstreamName(upstreams, place);
      return restUpstream(url, { ...patience, name, fetch: send, limit, token });
    });
}

/** Throws an UpstreamFailure, which says of what, unless the body is JSON of the schema. */
export function parseAnswer<T>(
  body: Uint8Array,
  schema: v.GenericSchema<unknown, T>,
  what: string,
): T {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder().decode(body));
  } catch {
    throw new UpstreamFailure(`${what}: no JSON`);
  }
  // each fault is an object, and there may be half a million
  const result = v.safeParse(schema, json, { abortEarly: true });
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw new UpstreamFailure(`${what}: ${v.getDotPath(issue) ?? ''} ${issue.message}`);
}

/** Whether a 503 is of HORNET itself, which has heard no milestone since it started. */
async function saysNotSynced(response: Response): Promise<boolean> {
  // one that cannot be read is not
  const body = await readBody(response, MAX_JSON_BYTES, 'status 503').catch(() => undefined);
  return new TextDecoder().decode(body).includes('node is not synced');
}

/** Throws an UpstreamFailure, which says of what, where there are more than `maxBytes`. */
export async function readBody(
  response: Response,
  maxBytes: number,
  what: string,
): Promise<Uint8Array> {
  const header = response.headers.get('content-length');
  const declared = header !== null && /^\d+$/.test(header) ? Number(header) : undefined;
  if (declared !== undefined && declared > maxBytes) {
    await response.body?.cancel();
    throw new UpstreamFailure(`${what}: ${declared} bytes`);
  }
  if (response.body === null) return new Uint8Array(0);
  const bytes = await readBounded(response.body, maxBytes, declared);
  if (bytes === undefined) throw new UpstreamFailure(`${what}: more than ${maxBytes} bytes`);
  return bytes;
}
