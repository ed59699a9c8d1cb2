/**
 * Answers to GET that are kept in memory where one isolate answers every request (`npm run serve`).
 * On Cloudflare, Workers Cache does this (docs/contract.md#caching). Content named by an ID is kept
 * until it is evicted; by a milestone index until an import replaces the ledger, which is looked up
 * once a second; everything else as long as an NFT lookup keeps what it read from KV. A client that
 * requires a ledger index gets a kept answer of that index or later.
 *
 * Equal scans at the same moment are one scan: after each milestone every client of
 * docs/developers.md#events sends the same request.
 */
import * as v from 'valibot';
import { createBoundedMap } from '../platform/bounded-map.ts';
import { hasPassed, within } from '../platform/clock.ts';
import { siteOf } from './access/limits.ts';
import type { Answer } from './answer.ts';
import type { HttpError } from './errors.ts';
import { FRESHNESS, type Keep, MIN_LEDGER_INDEX } from './freshness.ts';
import { revalidate } from './ledger-answer.ts';
import { MilestoneIndex } from './request.ts';
import type { RequestNotes, Route } from './route.ts';

const MAX_AGE_MS = 1000;

/** Some 10,000 outputs as JSON. */
const MAX_BYTES = 16_000_000;

/** A scan takes less. Its request may have been dropped, so nobody waits for it longer. */
const MAX_SHARED_MS = 5000;

/** A key, an entry and its headers, without the key's and the body's characters. */
const OVERHEAD_BYTES = 600;

interface Entry {
  answer: Answer;
  keep: Keep;
  /** Generation of the ledger before it was read, where an import ends the answer. */
  generation: string | undefined;
  /** Milliseconds of the clock. */
  storedAt: number;
}

type Outlive = (work: Promise<unknown>) => void;

/**
 * @param readClock Unix milliseconds
 * @param readGeneration names the import that the ledger grew from; undefined without a ledger
 * @param maxBytes of all keys and bodies, with some overhead for each
 * @param hasten has a scan that waits take the turn of another request too
 */
export function createReadCache(
  readClock: () => number,
  readGeneration: () => Promise<string | undefined>,
  maxBytes = MAX_BYTES,
  hasten: (waiting: Request, by: Request) => void = () => {},
) {
  const entries = createBoundedMap<Entry>(
    maxBytes,
    (key, { answer }) => OVERHEAD_BYTES + key.length + (answer.body?.length ?? 0),
  );
  let read: { generation: string | undefined; at: number } | undefined;
  let last = 0;

  function clock(): number {
    const at = readClock();
    // one that was set back will be at their times again
    if (last - at > MAX_AGE_MS) entries.clear();
    last = at;
    return at;
  }

  /** Returns the generation as it was a second ago at most; undefined also where that failed. */
  async function generationNow(): Promise<string | undefined> {
    const at = clock();
    // not by another request's promise: workerd ends by 500 what waits for nothing of its own
    if (read === undefined || hasPassed(MAX_AGE_MS, read.at, at))
      read = { generation: await readGeneration().catch(() => undefined), at };
    return read.generation;
  }

  async function isFresh({ keep, storedAt, generation }: Entry): Promise<boolean> {
    const { inMemory } = FRESHNESS[keep];
    if (inMemory === 'evicted' || !hasPassed(MAX_AGE_MS, storedAt, clock())) return true;
    if (inMemory !== 'import' || generation === undefined) return false;
    return generation === (await generationNow());
  }

  const scans = new Map<string, { request: Request; answer: Promise<Answer> }>();

  /**
   * Joins the scan under way that has this name, or begins it.
   *
   * @param waits for how many scans of others it has waited in vain
   */
  async function share(
    name: string,
    request: Request,
    scan: () => Promise<Answer>,
    outlive: Outlive,
    waits = 0,
  ): Promise<Answer> {
    const joined = scans.get(name);
    if (joined === undefined) {
      const begun = { request, answer: scan() };
      scans.set(name, begun);
      const end = () => {
        if (scans.get(name) === begun) scans.delete(name);
      };
      outlive(begun.answer.then(end, end));
      return begun.answer;
    }
    // a refusal is of its own site; and the ledger may have come to the index that both require
    hasten(joined.request, request);
    const isOwn = siteOf(joined.request) === siteOf(request);
    const shared = joined.answer.catch((error: Partial<HttpError>) => {
      if (error.status === 429 ? waits > 0 && isOwn : waits > 0 || error.status !== 404)
        throw error;
      return undefined;
    });
    const answer = await within(MAX_SHARED_MS, shared, () => 'late' as const);
    if (typeof answer === 'object') return answer;
    if (scans.get(name) === joined) scans.delete(name);
    // refusals of ever more sites must not keep it for ever
    const isAlone = waits > 1 || (waits > 0 && answer === 'late');
    return isAlone ? scan() : share(name, request, scan, outlive, waits + 1);
  }

  return {
    /**
     * Returns the answer from memory, else that of `handle`, which is kept if it is a 200 that may
     * be.
     *
     * @param outlive has work go on though the client of this request goes away
     */
    async answer(
      route: Route,
      request: Request,
      notes: RequestNotes,
      handle: (request: Request) => Promise<Answer>,
      outlive: Outlive,
    ): Promise<Answer> {
      const asked = v.safeParse(MilestoneIndex, request.headers.get(MIN_LEDGER_INDEX) ?? '0');
      if (route.method !== 'GET' || !asked.success) return handle(request);
      const minimum = asked.output;
      // with the origin, which the page's answer contains
      const key = `${request.url} ${request.headers.get('accept') ?? ''}`;
      const entry = entries.get(key);
      const isLate = minimum > 0 && (entry?.answer.ledgerIndex ?? -1) < minimum;
      if (entry !== undefined && !isLate && (await isFresh(entry))) {
        notes.source = 'cache';
        return revalidate(request, entry.answer);
      }
      const passed = withoutCondition(request);
      const isOfImport = FRESHNESS[route.keep ?? 'none'].inMemory === 'import';
      // before a scan is shared: whoever joins it hastens what waits already
      const generation = isOfImport ? await generationNow() : undefined;
      const read = async () => {
        const storedAt = clock();
        const answer = await handle(passed);
        const keep = answer.keep ?? route.keep ?? 'none';
        const [now, kept = 0] = [clock(), entries.get(key)?.storedAt];
        // one that began later may have ended before, and the clock may have been set back
        const isNewest = storedAt - now <= MAX_AGE_MS && !(kept > storedAt && kept <= now);
        if ((answer.status ?? 200) === 200 && FRESHNESS[keep].inMemory !== 'no' && isNewest)
          entries.set(key, { answer, keep, generation, storedAt });
        return answer;
      };
      const isScan = route.limit === 'scanLimit';
      const answer = await (isScan ? share(`${minimum} ${key}`, passed, read, outlive) : read());
      return revalidate(request, answer);
    },
  };
}

/** Returns the request without a condition, so that its answer has a body. */
function withoutCondition(request: Request): Request {
  if (!request.headers.has('if-none-match')) return request;
  const headers = new Headers(request.headers);
  headers.delete('if-none-match');
  return new Request(request, { headers });
}
