/**
 * Fetches blocks that D1 does not have. Each is checked: its hash is the ID, it parses, and it
 * keeps the one rule that the parser leaves out (C-5). Signatures are no reason to refuse a block;
 * they are verified for the verdict while other blocks are on their way.
 */
import { ConeUnavailable } from '../ledger/intake/block-source.ts';
import { within } from '../platform/clock.ts';
import { startWorkers } from '../platform/concurrency.ts';
import { verifySignature } from '../platform/verify-signature.ts';
import { breaksNonceRule } from '../stardust/admission.ts';
import { toHexDigits } from '../stardust/encoding/bytes.ts';
import { verifySignatures } from '../stardust/semantics/signatures.ts';
import { type ParsedBlock, parseBlock } from '../stardust/wire/block.ts';
import { askInTurn, type Ranking } from './ask-in-turn.ts';
import type { BlockPool } from './block-pool.ts';
import { type Upstream, UpstreamFailure } from './upstream.ts';

/** Blocks by hex ID, all of them. */
export type FetchBlocks = (ids: readonly string[]) => Promise<ParsedBlock[]>;

export interface ConeFetcherOptions {
  pool: BlockPool;
  /** Absent: nothing is fetched. */
  upstream?: Upstream | undefined;
  /** Blocks that may be fetched; those of the pool do not count. It is counted down. */
  budget: { fetchesLeft: number };
  deadline: number;
}

/**
 * Creates a fetcher of a milestone's past cone, from the pool and the upstream. Nobody vouches for
 * the blocks: the signed roots tell. Throws a ConeUnavailable, or an UpstreamFailure.
 */
export function createConeFetcher({
  pool,
  upstream,
  budget,
  deadline,
}: ConeFetcherOptions): FetchBlocks {
  const fetchOne = async (id: string): Promise<ParsedBlock> => {
    const held = pool.get(id);
    if (held !== undefined) return held;
    if (upstream === undefined)
      throw new ConeUnavailable('over-budget', `block 0x${id} was not pushed yet`);
    if (budget.fetchesLeft <= 0)
      throw new ConeUnavailable('over-budget', 'more blocks are missing than one pass may fetch');
    budget.fetchesLeft--;
    return fetchIntoPool(pool, [upstream], id);
  };
  return (ids) => doAllWithin(deadline, ids, fetchOne);
}

/** Fetches as {@link fetchBlock} does; keeps the block in the pool, its signatures verified. */
export async function fetchIntoPool(
  pool: BlockPool,
  upstreams: readonly Upstream[],
  id: string,
  ranking?: Ranking,
): Promise<ParsedBlock> {
  const block = await fetchBlock(upstreams, id, ranking);
  // verifySignature remembers the outcome for the verdict
  if (block.transaction) await verifySignatures(block.transaction, verifySignature);
  pool.set(id, block);
  return block;
}

/**
 * Asks about each block, some at once, until one fails or the deadline is reached. Then nothing
 * more is asked; answers may still come.
 */
async function doAllWithin<T>(
  deadline: number,
  ids: readonly string[],
  ask: (id: string) => Promise<T>,
): Promise<T[]> {
  const answers: T[] = [];
  let over = false;
  const workers = startWorkers(ids.entries(), async ([i, id]) => {
    if (!over) answers[i] = await ask(id);
  });
  try {
    await within(deadline - Date.now(), Promise.all(workers), () => {
      throw new UpstreamFailure('upstream did not give the cone in time');
    });
    return answers;
  } finally {
    over = true;
  }
}

/**
 * Fetches a block by its hex digits from the first upstream that has it; signatures are not
 * verified. Throws a ConeUnavailable if no upstream knows it, an UpstreamFailure if one fails.
 */
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
