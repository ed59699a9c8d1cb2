/**
 * Answers to GET that are kept in memory where one isolate answers every request (`npm run serve`).
 * On Cloudflare, Workers Cache does this (docs/contract.md#caching).
 *
 * What an ID names never changes and is kept until it is evicted. What a milestone index names is
 * kept until an import replaces the ledger under the running node, which is looked up once a second.
 * Everything else is kept for as long as an NFT lookup keeps what it read from KV.
 */
import { hasPassed } from '../clock.ts';
import type { Answer } from './answer.ts';
import { IMMUTABLE } from './content-negotiation.ts';
import { MIN_LEDGER_INDEX, revalidate } from './ledger-answer.ts';
import { createLru } from './lru.ts';
import type { RequestNotes, Route } from './route.ts';

const MAX_AGE_MS = 1000;

/** Some 10,000 outputs as JSON. */
const MAX_BYTES = 16_000_000;

/** A key, an entry and its headers, without the key's and the body's characters. */
const OVERHEAD_BYTES = 600;

interface Entry {
  answer: Answer;
  ledgerIndex: number | undefined;
  /** That the ledger was of before it was read, where its route names an index. */
  generation: string | undefined;
  /** Milliseconds of the clock. */
  storedAt: number;
}

export interface ReadCache {
  /** Returns the answer from memory, else that of `handle`, which is kept if it is a 200 that may be. */
  answer(
    route: Route,
    request: Request,
    notes: RequestNotes,
    handle: (request: Request) => Promise<Answer>,
  ): Promise<Answer>;
  /** Bytes that are kept, estimated. */
  readonly bytes: number;
}

/**
 * @param clock Unix milliseconds
 * @param readGeneration names the import that the ledger grew from; undefined without a ledger
 * @param maxBytes of all keys and bodies, with some overhead for each
 */
export function createReadCache(
  clock: () => number,
  readGeneration: () => Promise<string | undefined>,
  maxBytes = MAX_BYTES,
): ReadCache {
  const entries = createLru<Entry>(
    maxBytes,
    (key, { answer }) => OVERHEAD_BYTES + key.length + (answer.body?.length ?? 0),
  );
  let read: { generation: Promise<string | undefined>; at: number } | undefined;

  /** As it was a second ago at most. */
  function generationNow(): Promise<string | undefined> {
    if (read === undefined || hasPassed(MAX_AGE_MS, read.at, clock())) {
      const generation = readGeneration();
      read = { generation, at: clock() };
      // the next request looks again
      generation.catch(() => {
        read = undefined;
      });
    }
    return read.generation;
  }

  async function isFresh(route: Route, entry: Entry): Promise<boolean> {
    const isImmutable = entry.answer.headers?.['cache-control'] === IMMUTABLE['cache-control'];
    if (isImmutable || !hasPassed(MAX_AGE_MS, entry.storedAt, clock())) return true;
    return (
      route.namesIndex === true &&
      entry.generation !== undefined &&
      entry.generation === (await generationNow())
    );
  }

  return {
    async answer(route, request, notes, handle) {
      // a client that requires a ledger index has seen a later ledger than an entry may have
      if (route.method !== 'GET' || request.headers.has(MIN_LEDGER_INDEX)) return handle(request);
      const { pathname, search } = new URL(request.url);
      const key = `${pathname}${search} ${request.headers.get('accept') ?? ''}`;
      let entry = entries.get(key);
      if (entry === undefined || !(await isFresh(route, entry))) {
        const storedAt = clock();
        const generation = route.namesIndex === true ? await generationNow() : undefined;
        const answer = await handle(withoutCondition(request));
        if (!mayBeKept(route, answer)) return revalidate(request, answer);
        entry = { answer, ledgerIndex: notes.ledgerIndex, generation, storedAt };
        entries.put(key, entry);
      } else {
        notes.ledgerIndex = entry.ledgerIndex;
        notes.source = 'cache';
      }
      return revalidate(request, entry.answer);
    },
    get bytes() {
      return entries.bytes;
    },
  };
}

function mayBeKept(route: Route, { status = 200, headers = {} }: Answer): boolean {
  if (status !== 200) return false;
  if (route.mayBeSecondOld === true || route.namesIndex === true) return true;
  return /^public\b/.test(headers['cache-control'] ?? '');
}

/** The same request, so that the answer to it has a body. */
function withoutCondition(request: Request): Request {
  if (!request.headers.has('if-none-match')) return request;
  const headers = new Headers(request.headers);
  headers.delete('if-none-match');
  return new Request(request, { headers });
}
