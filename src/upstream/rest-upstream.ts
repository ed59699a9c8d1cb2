/**
 * An upstream node over HORNET's REST API v2 (formats-and-clients.md §2), raw bytes wherever it has them.
 *
 * Every answer is checked: status, size while it is being read, type. Redirects are not followed.
 */
import * as v from 'valibot';
import { MAX_BLOCK_LENGTH } from '../stardust/block.ts';
import { CONNECTIONS, createConcurrencyLimit, type Gate } from './concurrency-limit.ts';
import { type Upstream, UpstreamFailure } from './upstream.ts';

interface Patience {
  /** Milliseconds for one answer, its body included. */
  timeout: number;
  /** Tries of one question before it counts as failed, 1 or more. */
  attempts: number;
}

export interface RestOptions extends Patience {
  fetch: typeof fetch;
  /** Lets so many questions go out at once. */
  gate?: Gate;
}

const RAW = 'application/vnd.iota.serializer-v1';

/** Milliseconds for the heads, which are asked for once: they are what every pass begins with, and whoever is slow with them is not the upstream to wait for. */
const HEADS_TIME = 3000;

/** Bytes of the longest JSON that we ask for. */
const MAX_JSON_LENGTH = 1 << 20;

/** Milliseconds before the second try; it doubles with each. */
const BACKOFF = 100;

const u32 = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(0xffff_ffff));

const hexId = v.pipe(
  v.string(),
  v.regex(/^0[xX][0-9a-fA-F]{64}$/),
  v.transform((text) => text.slice(2).toLowerCase()),
);

const info = v.object({
  status: v.object({
    latestMilestone: v.object({
      index: u32,
      timestamp: v.optional(u32, 0),
      milestoneId: v.optional(hexId, `0x${'0'.repeat(64)}`),
    }),
    confirmedMilestone: v.object({ index: u32 }),
  }),
});

/** No milestone is 0: left out and 0 mean that none references the block. Then there is nothing either that only a milestone gives it. */
const metadata = v.pipe(
  v.object({
    blockId: hexId,
    referencedByMilestoneIndex: v.optional(u32, 0),
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

const tips = v.object({ tips: v.pipe(v.array(hexId), v.maxLength(1000)) });

/** @param url base URL without a slash at the end */
export function restUpstream(url: string, options: RestOptions): Upstream {
  const gate = options.gate ?? createConcurrencyLimit(CONNECTIONS);
  const name = new URL(url).host;

  /** The body of a 200, undefined for a 404. */
  async function ask(
    path: string,
    accept: string,
    maxLength: number,
    { timeout, attempts }: Patience = options,
  ): Promise<Uint8Array | undefined> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await gate(() => askOnce(path, accept, maxLength, timeout));
      } catch (error) {
        const failure =
          error instanceof UpstreamFailure
            ? error
            : new UpstreamFailure(`${name} ${path}: ${reasonOf(error)}`);
        if (attempt >= attempts) throw failure;
        await new Promise((resolve) => setTimeout(resolve, BACKOFF * 2 ** (attempt - 1)));
      }
    }
  }

  async function askOnce(
    path: string,
    accept: string,
    maxLength: number,
    timeout: number,
  ): Promise<Uint8Array | undefined> {
    const signal = AbortSignal.timeout(timeout);
    const response = await options.fetch(`${url}/api/core/v2/${path}`, {
      headers: { accept },
      redirect: 'manual',
      signal,
    });
    if (response.status !== 200) await response.body?.cancel();
    if (response.status === 404) return undefined;
    if (response.status !== 200)
      throw new UpstreamFailure(`${name} ${path}: status ${response.status}`);
    const type = response.headers.get('content-type') ?? 'none';
    if (!type.startsWith(accept)) {
      await response.body?.cancel();
      throw new UpstreamFailure(`${name} ${path}: content type ${type}`);
    }
    return readBody(response, maxLength, `${name} ${path}`);
  }

  async function askJson<T>(
    path: string,
    schema: v.GenericSchema<unknown, T>,
    patience?: Patience,
  ): Promise<T | undefined> {
    const body = await ask(path, 'application/json', MAX_JSON_LENGTH, patience);
    if (body === undefined) return undefined;
    let json: unknown;
    try {
      json = JSON.parse(new TextDecoder().decode(body));
    } catch {
      throw new UpstreamFailure(`${name} ${path}: no JSON`);
    }
    const result = v.safeParse(schema, json);
    if (!result.success)
      throw new UpstreamFailure(
        `${name} ${path}: ${v.getDotPath(result.issues[0]) ?? ''} ${result.issues[0].message}`,
      );
    return result.output;
  }

  return {
    name,
    async readHeads() {
      const answer = await askJson('info', info, {
        timeout: Math.min(options.timeout, HEADS_TIME),
        attempts: 1,
      });
      if (answer === undefined) throw new UpstreamFailure(`${name} has no info`);
      return {
        confirmed: answer.status.confirmedMilestone.index,
        latest: answer.status.latestMilestone,
      };
    },
    readMilestone: (index) => ask(`milestones/by-index/${index}`, RAW, MAX_BLOCK_LENGTH),
    readBlock: (id) => ask(`blocks/0x${id}`, RAW, MAX_BLOCK_LENGTH),
    async readReference(id) {
      const answer = await askJson(`blocks/0x${id}/metadata`, metadata);
      if (answer === undefined) return undefined;
      if (answer.blockId !== id)
        throw new UpstreamFailure(`${name}: metadata of block ${answer.blockId}, not ${id}`);
      return answer.referencedByMilestoneIndex || null;
    },
    async readTips() {
      return (await askJson('tips', tips))?.tips ?? [];
    },
  };
}

/** Reads a body of at most `maxLength` bytes; what is longer is not read to its end. */
async function readBody(response: Response, maxLength: number, what: string): Promise<Uint8Array> {
  const declared = Number(response.headers.get('content-length') ?? 0);
  if (declared > maxLength) {
    await response.body?.cancel();
    throw new UpstreamFailure(`${what}: ${declared} bytes`);
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > maxLength) throw new UpstreamFailure(`${what}: more than ${maxLength} bytes`);
    chunks.push(chunk);
  }
  const body = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    body.set(chunk, offset);
    offset += chunk.length;
  }
  return body;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? `${error.name} ${error.message}` : String(error);
}
