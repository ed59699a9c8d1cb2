/**
 * Fetching blocks that D1 does not have, and checking each: its hash is the ID asked for, it parses, and it is one that a node stores.
 */

import { BeyondBudget, type BlockSource, ReferencedBefore, UnknownBlock } from '../ledger/gather.ts';
import { breaksNonceRule } from '../stardust/admission.ts';
import { type ParsedBlock, parseBlock } from '../stardust/block.ts';
import { toHexDigits } from '../stardust/bytes.ts';
import type { BlockMemory } from './block-memory.ts';
import { askInTurn, type Upstream, UpstreamFailure } from './upstream.ts';

export interface FetchLimits {
  /** Blocks in all. */
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
  const fetchOne = async (id: string) => {
    const block = fetched.get(id) ?? (await fetchBlock(upstreams, id));
    fetched.set(id, block);
    return block;
  };
  return { fetch: limited(limits, fetchOne), recall: (id) => fetched.get(id) };
}

/**
 * Fetches blocks that no root will vouch for. A block that an earlier milestone references and that we do not know, pruned here or older than our snapshot,
 * looks like an open one: so the upstream is asked about each (design §3, the trap), if it has come as far as the milestone before.
 *
 * @param index the milestone asked for
 */
export function openSource(
  upstreams: readonly Upstream[],
  index: number,
  limits: FetchLimits,
  fetched: Pick<BlockMemory, 'get' | 'set'>,
): BlockSource {
  const confirmed = new Map<Upstream, Promise<void>>();
  const readReference = (id: string) =>
    askInTurn(upstreams, async (upstream) => {
      const reached = confirmed.get(upstream) ?? requireConfirmed(upstream, index - 1);
      confirmed.set(upstream, reached);
      await reached;
      return upstream.readReference(id);
    });
  const fetchOne = async (id: string) => {
    const known = fetched.get(id);
    if (known !== undefined) return known;
    const [block, reference] = await Promise.all([fetchBlock(upstreams, id), readReference(id)]);
    if (reference === undefined) throw new UnknownBlock(`block 0x${id} is not known upstream`);
    if (reference !== null && reference < index) {
      throw new ReferencedBefore(`block 0x${id} is referenced by milestone ${reference}, and its data is not here`);
    }
    fetched.set(id, block);
    return block;
  };
  return { fetch: limited(limits, fetchOne), recall: (id) => fetched.get(id) };
}

/** An upstream that has not confirmed a milestone calls blocks open that it references. */
async function requireConfirmed(upstream: Upstream, index: number): Promise<void> {
  const { confirmed } = await upstream.readHeads();
  if (confirmed < index) throw new UpstreamFailure(`${upstream.name} is at milestone ${confirmed}, behind ${index}`);
}

function limited(
  { maxBlocks, deadline }: FetchLimits,
  fetchOne: (id: string) => Promise<ParsedBlock>,
): BlockSource['fetch'] {
  let fetched = 0;
  return async (ids) => {
    fetched += ids.length;
    if (fetched > maxBlocks) throw new BeyondBudget(`more than ${maxBlocks} blocks of the cone are not here`);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      const failure = new UpstreamFailure('upstream did not give the cone in time');
      timer = setTimeout(() => reject(failure), deadline - Date.now());
    });
    try {
      return await Promise.race([Promise.all(ids.map(fetchOne)), late]);
    } finally {
      clearTimeout(timer);
    }
  };
}

export async function fetchBlock(upstreams: readonly Upstream[], id: string): Promise<ParsedBlock> {
  const parsed = await askInTurn(upstreams, async (upstream) => {
    const bytes = await upstream.readBlock(id);
    return bytes && checkBlock(bytes, id, upstream);
  });
  if (parsed === undefined) throw new UnknownBlock(`block 0x${id} is not known upstream`);
  return parsed;
}

function checkBlock(bytes: Uint8Array, id: string, upstream: Upstream): ParsedBlock {
  const result = parseBlock(bytes);
  if (!result.ok) throw new UpstreamFailure(`${upstream.name}: block 0x${id} breaks ${result.reason}`);
  const { parsed } = result;
  if (toHexDigits(parsed.id) !== id) throw new UpstreamFailure(`${upstream.name}: other bytes for block 0x${id}`);
  if (breaksNonceRule(parsed.block)) throw new UpstreamFailure(`${upstream.name}: block 0x${id} breaks C-5`);
  return parsed;
}
