/**
 * Fetching blocks that D1 does not have, and checking each: its hash is the ID asked for, it parses, and it is one that a node stores.
 */

import { type BlockSource, ConeUnavailable } from '../ledger/block-source.ts';
import { breaksNonceRule } from '../stardust/admission.ts';
import { type ParsedBlock, parseBlock } from '../stardust/block.ts';
import { toHexDigits } from '../stardust/bytes.ts';
import { askInTurn, createRanking, type Ranking } from './ask-in-turn.ts';
import { CONNECTIONS } from './concurrency-limit.ts';
import type { BlockMemory } from './open-block-cache.ts';
import { type Upstream, UpstreamFailure } from './upstream.ts';

export interface FetchLimits {
  /** Blocks fetched in all; those remembered cost nothing. */
  maxBlocks: number;
  /** Unix milliseconds. */
  deadline: number;
}

/** Fetches blocks of a milestone's cone: if one too many or a false one comes, the milestone's roots tell. */
export function milestoneSource(
  upstreams: readonly Upstream[],
  limits: FetchLimits,
  fetched: Pick<BlockMemory, 'get' | 'set'>,
): BlockSource {
  const recall = (id: string) => fetched.get(id);
  const fetchOne = async (id: string) => {
    const block = await fetchBlock(upstreams, id);
    fetched.set(id, block);
    return block;
  };
  return { fetch: limited(limits, CONNECTIONS, recall, fetchOne), recall };
}

/**
 * Fetches blocks that no root will vouch for. A block that an earlier milestone references and that we do not know, pruned here or older than our snapshot,
 * looks like an open one: so the upstream is asked about each (design §3, the trap), if it has come as far as the milestone before.
 *
 * @param index the milestone asked for
 * @param ranking remembers which upstream answers, beyond this source if it is given
 */
export function openSource(
  upstreams: readonly Upstream[],
  index: number,
  limits: FetchLimits,
  fetched: Pick<BlockMemory, 'get' | 'set'>,
  ranking: Ranking = createRanking(Date.now),
): BlockSource {
  const confirmed = new Map<Upstream, Promise<void>>();
  const readReference = (id: string) => {
    const ask = async (upstream: Upstream) => {
      const reached = confirmed.get(upstream) ?? requireConfirmed(upstream, index - 1);
      confirmed.set(upstream, reached);
      await reached;
      return upstream.readReference(id);
    };
    return askInTurn(upstreams, ask, ranking);
  };
  const recall = (id: string) => fetched.get(id);
  const fetchOne = async (id: string) => {
    const [block, reference] = await Promise.all([
      fetchBlock(upstreams, id, ranking),
      readReference(id),
    ]);
    if (reference === undefined)
      throw new ConeUnavailable('unknown-block', `block 0x${id} is not known upstream`);
    if (reference !== null && reference < index) {
      throw new ConeUnavailable(
        'referenced-before',
        `block 0x${id} is referenced by milestone ${reference}, and its data is not here`,
      );
    }
    fetched.set(id, block);
    return block;
  };
  // one connection is left for the heads: where an upstream hangs, all that is asked of it at first hangs at once, and nothing waits in line behind it
  return { fetch: limited(limits, CONNECTIONS - 1, recall, fetchOne), recall };
}

/** An upstream that has not confirmed a milestone calls blocks open that it references. */
async function requireConfirmed(upstream: Upstream, index: number): Promise<void> {
  const { confirmed } = await upstream.readHeads();
  if (confirmed < index)
    throw new UpstreamFailure(`${upstream.name} is at milestone ${confirmed}, behind ${index}`);
}

/** So many at once, until one fails or the limits are reached: then nothing more is asked, but what was under way may still come. */
function limited(
  { maxBlocks, deadline }: FetchLimits,
  atOnce: number,
  recall: (id: string) => ParsedBlock | undefined,
  fetchOne: (id: string) => Promise<ParsedBlock>,
): BlockSource['fetch'] {
  let left = maxBlocks;
  const fetchWithin = (id: string) => {
    if (left-- <= 0)
      throw new ConeUnavailable(
        'over-budget',
        `more than ${maxBlocks} blocks of the cone are not here`,
      );
    return fetchOne(id);
  };
  return async (ids) => {
    const blocks: ParsedBlock[] = [];
    const waiting = ids.entries();
    let over = false;
    const work = async () => {
      for (const [i, id] of waiting) {
        if (over) return;
        blocks[i] = recall(id) ?? (await fetchWithin(id));
      }
    };
    const late = Promise.withResolvers<never>();
    const failure = new UpstreamFailure('upstream did not give the cone in time');
    const timer = setTimeout(() => late.reject(failure), deadline - Date.now());
    try {
      await Promise.race([Promise.all(Array.from({ length: atOnce }, work)), late.promise]);
      return blocks;
    } finally {
      over = true;
      clearTimeout(timer);
    }
  };
}

export async function fetchBlock(
  upstreams: readonly Upstream[],
  id: string,
  ranking?: Ranking,
): Promise<ParsedBlock> {
  const ask = async (upstream: Upstream) => {
    const bytes = await upstream.readBlock(id);
    return bytes && checkBlock(bytes, id, upstream);
  };
  const parsed = await askInTurn(upstreams, ask, ranking);
  if (parsed === undefined)
    throw new ConeUnavailable('unknown-block', `block 0x${id} is not known upstream`);
  return parsed;
}

function checkBlock(bytes: Uint8Array, id: string, upstream: Upstream): ParsedBlock {
  const result = parseBlock(bytes);
  if (!result.ok)
    throw new UpstreamFailure(`${upstream.name}: block 0x${id} breaks ${result.reason}`);
  const { parsed } = result;
  if (toHexDigits(parsed.id) !== id)
    throw new UpstreamFailure(`${upstream.name}: other bytes for block 0x${id}`);
  if (breaksNonceRule(parsed.block))
    throw new UpstreamFailure(`${upstream.name}: block 0x${id} breaks C-5`);
  return parsed;
}
