/**
 * Fetching blocks that D1 does not have. Each is checked: its hash is the ID asked for, it parses,
 * and it keeps the one rule that the parser leaves out (C-5). Signatures, which are not a reason to
 * refuse a block, are verified for the verdict while other blocks are on their way, where there
 * will be one.
 */
import { type BlockSource, ConeUnavailable } from '../ledger/intake/block-source.ts';
import { breaksNonceRule } from '../stardust/admission.ts';
import { toHexDigits } from '../stardust/encoding/bytes.ts';
import { verifySignatures } from '../stardust/semantics/signatures.ts';
import { type ParsedBlock, parseBlock } from '../stardust/wire/block.ts';
import { verifySignature } from '../verify-signature.ts';
import { askInTurn } from './ask-in-turn.ts';
import type { BlockPool } from './block-pool.ts';
import { MAX_CONNECTIONS } from './concurrency-limit.ts';
import type { Ranking } from './ranking.ts';
import { type Upstream, UpstreamFailure } from './upstream.ts';

export interface FetchLimits {
  /** Blocks fetched in all; cached ones do not count. */
  maxBlocks: number;
  /** Unix milliseconds after which nothing more is waited for. */
  deadline: number;
}

/** What a source looks into before it fetches; what it fetches is kept there. */
type FetchedBlocks = Pick<BlockPool, 'get' | 'set'>;

/**
 * Fetches blocks of a milestone's past cone. It asks nothing about them: if an upstream sends a
 * block too many or a false one, the milestone's signed roots tell.
 */
export function createMilestoneSource(
  upstreams: readonly Upstream[],
  limits: FetchLimits,
  fetched: FetchedBlocks,
): BlockSource {
  const recall = (id: string) => fetched.get(id);
  const fetchOne = async (id: string) => {
    const block = await fetchBlock(upstreams, id);
    await verifyAhead(block);
    fetched.set(id, block);
    return block;
  };
  return { fetch: fetchAllWithin(limits, MAX_CONNECTIONS, recall, fetchOne), recall };
}

/** Fetches blocks until one fails or a limit is reached. */
function fetchAllWithin(
  limits: FetchLimits,
  atOnce: number,
  recall: (id: string) => ParsedBlock | undefined,
  fetchOne: (id: string) => Promise<ParsedBlock>,
): BlockSource['fetch'] {
  const { maxBlocks } = limits;
  let left = maxBlocks;
  const fetchWithinBudget = (id: string) => {
    if (left-- <= 0)
      throw new ConeUnavailable(
        'over-budget',
        `more than ${maxBlocks} blocks of the cone are not here`,
      );
    return fetchOne(id);
  };
  return (ids) =>
    doAllWithin(limits, atOnce, ids, async (id) => recall(id) ?? fetchWithinBudget(id));
}

/**
 * Puts a question about each block, so many at once, until one fails or the deadline is reached.
 * Then nothing more is asked; what is under way may still come.
 */
async function doAllWithin<T>(
  { deadline }: FetchLimits,
  atOnce: number,
  ids: readonly string[],
  ask: (id: string) => Promise<T>,
): Promise<T[]> {
  const answers: T[] = [];
  const waiting = ids.entries();
  let over = false;
  const work = async () => {
    for (const [i, id] of waiting) {
      if (over) return;
      answers[i] = await ask(id);
    }
  };
  const late = Promise.withResolvers<never>();
  const failure = new UpstreamFailure('upstream did not give the cone in time');
  const timer = setTimeout(() => late.reject(failure), deadline - Date.now());
  try {
    await Promise.race([Promise.all(Array.from({ length: atOnce }, work)), late.promise]);
    return answers;
  } finally {
    over = true;
    clearTimeout(timer);
  }
}

/**
 * A block by its hex digits, from the first upstream that has it; its signatures are not verified.
 * Throws a ConeUnavailable where
 * every upstream says that it does not know the block, an UpstreamFailure where one fails.
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

/** Verifies signatures before the verdict needs them: verifySignature remembers the outcome. */
export async function verifyAhead({ transaction }: ParsedBlock): Promise<void> {
  if (transaction) await verifySignatures(transaction, verifySignature);
}
