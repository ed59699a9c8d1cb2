/** Reads of every kind, and whether each answer is true at the ledger index that it names. */
import { parseBech32Address } from '../../../src/stardust/bech32.ts';
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { optionToJson } from '../../../src/stardust/json/rest-json.ts';
import { addressKey } from '../../../src/stardust/wire/address.ts';
import { readMilestone as readPayload } from '../../support/network/blocks.ts';
import {
  coneOf,
  isUnspentAt,
  lastIndex,
  milestoneAt,
  type NetworkMilestone,
  type NetworkOutput,
  parametersAt,
  treasuryAt,
  ZERO_ID,
} from '../../support/network/network-model.ts';
import { isSmall, LEAST_RETENTION } from '../platform/limits.ts';
import {
  API_TOKEN,
  hidesTreasury,
  namesToken,
  OWN_TOKEN,
  protectsTreasury,
  type World,
} from '../world.ts';
import { UNKNOWN_MS } from './white-flag.ts';

/** The ledger index of an answer; undefined where it names none. */
function ledgerIndexOf(answer: Response): number | undefined {
  const text = answer.headers.get('x-ledger-index');
  return text === null ? undefined : Number(text);
}

export interface How {
  /** Default: GET with no headers. */
  init?: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> };
  /** Whether X-Min-Ledger-Index counts, or a parameter of the query in its place. */
  hasMin?: boolean | 'in query';
  /** Whether it says what there is of a kind: a row that damage hides may be missing there. */
  isListed?: boolean;
  /** Whether it is there in bytes as well. */
  hasForms?: boolean;
  /** What is wrong with a 404 at this index. */
  isMissing?: (index: number) => string | undefined;
  /** How the body is read; default: as JSON. */
  parse?: (answer: Response) => Promise<unknown>;
  /** What is wrong with a 404 that names no ledger index. */
  isGone?: () => Promise<string | undefined>;
  /** Whether there is an answer for sure, of a ledger that keeps milestones from `first` on. */
  isDue?: (first: number) => boolean;
  /** Whether it may be an error although nothing is wrong. */
  mayFail?: (index: number | undefined, answer: Response) => boolean | undefined;
}

const MIN_LEDGER_INDEX = 'x-min-ledger-index';

/** In which an NFT is looked up, though KV hangs. */
const LOOKED_UP_MS = 2500;

/** Answers about the present. */
const OF_THE_PRESENT = new Set(['NFT', 'list', 'info', 'treasury']);

/** What caches are told, of lookups and of what stays as it is (docs/contract.md#caching). */
const FIVE_SECONDS = 'public, max-age=5, stale-while-revalidate=10, stale-if-error=0';
const A_DAY = 'public, max-age=86400, immutable, stale-if-error=0';
const A_YEAR = 'public, max-age=31536000, immutable';
/** Whose answers are told so, unless they are of a ledger that is over. */
const TAGGED = new Set(['NFT', 'NFTs', 'NFT state', 'output', 'history', 'list', 'owners']);

/** How old an answer may be that asks for no index, milliseconds: a copy of KV is published, and kept. */
const mostAge = ({ settings }: World) =>
  settings.isServe ? 3000 : settings.staleMs + settings.replicaMs + 20_000;

/** Of a certificate with large blocks (docs/contract.md). */
const TOO_LONG = 'the certificate would have more than 50 KB';

/**
 * Asks, and looks at answers that are certain: what a 200 says, and at which index a 404 is true.
 * Now and then the ledger must have come to a milestone, or the client has an answer of before.
 */
export function read(
  world: World,
  what: string,
  path: string,
  check: (body: never, index: number, answer: Response) => string | undefined,
  {
    init = {},
    isMissing,
    hasMin = false,
    isListed = false,
    parse = (answer) => answer.json(),
    isGone = async () => undefined,
    hasForms = false,
    isDue = () => false,
    mayFail = () => false,
  }: How = {},
): void {
  const { network, readers, kept, simulation } = world;
  const askedAt = simulation.now;
  const last = lastIndex(network);
  const headers: Record<string, string> = { ...init.headers };
  const min = hasMin && readers.chance(0.25) ? last - readers.below(3) + readers.below(2) : 0;
  const before = kept.get(path);
  const { FINAL_MILESTONE: final } = world.node.vars;
  const isInQuery = hasMin === 'in query' && min > 0 && readers.chance(0.5);
  const asked = isInQuery ? `${path}&minLedgerIndex=${min}` : path;
  if (min > 0 && !isInQuery) headers[MIN_LEDGER_INDEX] = String(min);
  const isConditional = min === 0 && before !== undefined && init.headers === undefined;
  if (isConditional)
    headers['if-none-match'] = readers.pick([before.etag, `"other", ${otherForm(before.etag)}`]);
  const { imports, seenIndex: seen } = world;
  const mayHide = world.mayHideRows;
  const look = async (answer: Response) => {
    world.note(`${what} ${answer.status}`, path);
    if ((mayHide || world.mayHideRows) && (isListed || answer.status === 404)) return undefined;
    if (answer.headers.get('x-error-detail') === TOO_LONG) return undefined;
    const took = simulation.now - askedAt;
    if (what === 'NFT' && took > LOOKED_UP_MS && !world.node.isSlowSince(askedAt))
      return `answered after ${took} ms`;
    const index = ledgerIndexOf(answer);
    const { restsFrom, mustAnswer, settings } = world;
    if (answer.status >= 500 && mustAnswer && !mayFail(index, answer))
      return `status ${answer.status}`;
    // a replica may not have it yet
    const isKept = restsFrom !== undefined && min + settings.replicaMs === 0 && isDue(restsFrom);
    if (isKept && ![200, 304].includes(answer.status))
      return `status ${answer.status}, and milestones are kept from ${restsFrom} on`;
    const oldest = OF_THE_PRESENT.has(what) ? world.appliedBefore(askedAt - mostAge(world)) : 0;
    const isOld = index !== undefined && index < oldest && imports + world.imports === 0;
    if (isOld && mustAnswer && !world.isDisturbed)
      return `at index ${index}, and the ledger was at ${oldest} long before`;
    if (index !== undefined && index > lastIndex(network))
      return `at index ${index}, which the network does not have`;
    if (answer.status === 200 && index !== undefined && index < min)
      return `at index ${index}, though ${min} was asked for`;
    // a replica may show the ledger before an import
    if (index !== undefined && imports === world.imports && index <= (await world.ledgerIndex()))
      world.seenIndex = Math.max(world.seenIndex, index);
    const isLate = index !== undefined && index < min && min <= seen && imports === world.imports;
    if (isLate && hasMin) return `at index ${index}, and somebody has seen ${seen}`;
    if (answer.status === 404 && index === undefined) return isGone();
    if (answer.status === 404) return index! >= min && isMissing?.(index!);
    const isAsked = headers[MIN_LEDGER_INDEX] !== undefined;
    const isSure = answer.status < 400 && final === world.node.vars.FINAL_MILESTONE;
    const fault = isSure ? headersFault(what, answer, { isAsked, final }) : undefined;
    if (fault !== undefined) return fault;
    if (answer.status === 304) {
      if (before === undefined || min > 0) return '304 to one who had nothing';
      return (
        namesAnother(before.body, index) ??
        check(before.body as never, index ?? before.index, answer)
      );
    }
    if (answer.status !== 200) return undefined;
    const body = await parse(answer);
    const isShared = answer.headers.get('cache-control')?.includes('public');
    if (isShared && isAsked) return 'caches keep what was asked for with a header';
    const vary = answer.headers.get('vary') ?? '';
    if ((hasForms || headers.accept !== undefined) && !/accept\b(?!-)/i.test(vary))
      return `caches give it to whoever accepts another type: Vary is "${vary}"`;
    if (isShared && index === undefined && !isKeptForGood(answer))
      return 'caches keep it, and it names no ledger index';
    const etag = answer.headers.get('etag');
    if (isConditional && etag === before.etag) return 'the answer that the client has, whole';
    const exposed = answer.headers.get('access-control-expose-headers') ?? '';
    if (etag !== null && !/X-Ledger-Index.*ETag/.test(exposed))
      return `scripts of pages may read ${exposed}`;
    if (etag !== null && min === 0) kept.set(path, { etag, body, index: index ?? -1 });
    keepForGood(answer, body);
    return namesAnother(body, index) ?? check(body as never, index ?? -1, answer);
  };
  const keepForGood = (answer: Response, body: unknown) => {
    if (answer.status === 200 && isKeptForGood(answer))
      world.immutable.set(path, () => check(body as never, ledgerIndexOf(answer) ?? -1, answer));
  };
  world.ask(
    asked,
    async (answer) => {
      const fault = await look(answer);
      if (fault) world.wrong('safety', `${asked} at index ${ledgerIndexOf(answer)}: ${fault}`);
    },
    { ...init, headers },
    async (answer) => {
      if (answer.status !== 200) return;
      const body = await parse(answer);
      keepForGood(answer, body);
      // of a ledger that is replaced: no tag of it may be one of the next ledger
      const etag = answer.headers.get('etag');
      if (etag !== null && min === 0)
        kept.set(path, { etag, body, index: ledgerIndexOf(answer) ?? -1 });
    },
  );
}

/** What is wrong with what a 200 says to caches, and of a ledger that is over. */
function headersFault(
  what: string,
  { headers }: Response,
  { isAsked, final }: { isAsked: boolean; final: string | undefined },
): string | undefined {
  const caching = headers.get('cache-control') ?? '';
  const index = headers.get('x-ledger-index');
  const isFinal = final !== undefined && index === final;
  if (headers.get('x-final-milestone') !== (isFinal ? final : null))
    return `the last ledger is ${headers.get('x-final-milestone')}`;
  const isKnown = [FIVE_SECONDS, A_DAY, A_YEAR].includes(caching) || !caching.includes('public');
  const due = isAsked ? 'no-store' : isFinal ? A_DAY : FIVE_SECONDS;
  if (!isKnown || (TAGGED.has(what) && caching !== due)) return `caches are told ${caching}`;
  const isVaried = /x-min-ledger-index/i.test(headers.get('vary') ?? '');
  return caching === FIVE_SECONDS && !isVaried ? 'caches give it to who asks for more' : undefined;
}

/** Whether the body, which a cache keeps over a 304, is of another ledger index than its headers. */
function namesAnother(body: unknown, index: number | undefined): string | undefined {
  const { ledgerIndex = index } = (body ?? {}) as { ledgerIndex?: number };
  return index === undefined || ledgerIndex === index
    ? undefined
    : `the body names ${ledgerIndex}, the header ${index}`;
}

/** The same tag, weak or not: a proxy may change that. */
const otherForm = (etag: string) => (etag.startsWith('W/') ? etag.slice(2) : `W/${etag}`);

function isKeptForGood(answer: Response): boolean {
  return answer.headers.get('cache-control')?.includes('immutable') === true;
}

/** Caches do not ask again: what was said for good is true once all is right, whoever said it. */
export function checkImmutable(world: World): void {
  for (const [path, findFault] of world.immutable) {
    const fault = findFault();
    if (fault) world.wrong('safety', `${path}, which caches keep: ${fault}`);
  }
}

export function differs(said: unknown, truth: unknown): string | undefined {
  const [one, other] = [JSON.stringify(said), JSON.stringify(truth)];
  if (one === other) return undefined;
  if (!Array.isArray(said) || !Array.isArray(truth) || said.length !== truth.length)
    return `${one}, the truth is ${other}`;
  const place = said.findIndex((each, i) => JSON.stringify(each) !== JSON.stringify(truth[i]));
  return `[${place}] is ${JSON.stringify(said[place])}, the truth is ${JSON.stringify(truth[place])}`;
}

const SPENT = 1;
const NOT_FOUND = 3;

/**
 * An output that was spent before the import, or whose record is pruned, is not found, as in HORNET;
 * nor is one whose row damage hides, and that decides first.
 */
export function reasonOf(world: World, reason: number | undefined): number | undefined {
  if (world.isRowFlipped && reason !== undefined) return NOT_FOUND;
  const isForgotten = world.imports > 0 || world.settings.retention < 1000 || world.isShortened;
  return reason === SPENT && isForgotten ? NOT_FOUND : reason;
}

/** For so long a key of KV may tell of the ledger before (docs/nft-index.md). */
export const RECENT_MS = 135_000;

export function readNft(world: World, nftId: string): void {
  const { truth, simulation, settings, wasDamagedAt } = world;
  if (!settings.isServe && simulation.now - wasDamagedAt < RECENT_MS) return;
  read(
    world,
    'NFT',
    `/api/indexer/v1/outputs/nft/0x${nftId}`,
    ({ items, ledgerIndex }: { items: string[]; ledgerIndex: number }, index) => {
      const output = truth.nftOutput(nftId, index);
      return differs({ items, ledgerIndex }, { items: [`0x${output}`], ledgerIndex: index });
    },
    {
      hasMin: true,
      isMissing(index) {
        const output = truth.nftOutput(nftId, index);
        return output === undefined ? undefined : `404, and it is in output ${output}`;
      },
      isGone: async () => '404 that names no ledger index',
    },
  );
}

export function readOutput(world: World, outputId: string): void {
  const output = () => world.network.outputs.get(outputId);
  read(
    world,
    'output',
    `/api/core/v2/outputs/${outputId}/metadata`,
    (body: Record<string, unknown>, index) => {
      const truth = output();
      if (truth === undefined || truth.bookedIndex > index) return 'there is no such output';
      return differs(body, metadataOf(truth, index, !isUnspentAt(truth, index)));
    },
    {
      hasMin: true,
      isMissing(index) {
        const truth = output();
        return truth && isUnspentAt(truth, index) ? '404, and it is unspent' : undefined;
      },
      isDue: (first) => (output()?.spent?.index ?? first + 1) > first,
    },
  );
}

export function metadataOf(
  { outputId, blockId, spent, ...booked }: NetworkOutput,
  ledgerIndex: number,
  isSpent: boolean,
) {
  return {
    blockId: toHex(blockId),
    transactionId: toHex(outputId.subarray(0, 32)),
    outputIndex: outputId[32]! + 256 * outputId[33]!,
    isSpent,
    ...(isSpent &&
      spent && {
        milestoneIndexSpent: spent.index,
        milestoneTimestampSpent: spent.timestamp,
        transactionIdSpent: toHex(spent.transactionId),
      }),
    milestoneIndexBooked: booked.bookedIndex,
    milestoneTimestampBooked: booked.bookedTimestamp,
    ledgerIndex,
  };
}

/** Milestones for which a ledger keeps blocks at least, whatever it is told, but for a margin. */
const SURELY_KEPT = LEAST_RETENTION - 2;
/** Milestones for which IDs are kept at least: later a liar who is alone is believed about a block. */
const IDS_SURELY_KEPT = 2 * LEAST_RETENTION - 2;

/** What is wrong with a 404 of a block that is there, where no upstream can have denied it. */
export function guessFault(world: World, blockId: string): string | undefined {
  const { upstreams, hasKeys, network, tally, simulation, imports, isDamaged } = world;
  const isMute = upstreams.every(({ answeredAt }) => answeredAt < simulation.now - UNKNOWN_MS);
  const isOpen = network.blocks.get(blockId)?.referenced === undefined;
  const mayAsk = hasKeys && imports === 0 && !isDamaged && !tally.has('unfollow');
  return isMute && isOpen && mayAsk ? '404, and no upstream has answered' : undefined;
}

export function readBlockMetadata(world: World, blockId: string): void {
  const { imports, settings } = world;
  const asked = world.ledgerIndex();
  // an import brings no blocks
  const isGone = async () => {
    const guess = guessFault(world, blockId);
    if (guess !== undefined) return guess;
    const { index = 0 } = world.network.blocks.get(blockId)?.referenced ?? {};
    const isOfLedger = imports + world.imports === 0 && index > world.snapshotIndex;
    // what nobody had is unknown for some seconds more, where a replica does not have it
    const isServed = world.wasServed && !world.tally.has('unfollow');
    if (settings.replicaMs > 0 && !isServed) return undefined;
    const now = await world.ledgerIndex();
    // what an upstream has is there in any case, before a milestone references it and afterwards
    const isThere = index <= (world.wasServed ? now : await asked);
    const isKept = isThere && index > now - SURELY_KEPT;
    return isOfLedger && isKept ? `404, and milestone ${index} references it` : undefined;
  };
  read(
    world,
    'block',
    `/api/core/v2/blocks/${blockId}/metadata`,
    (body: Record<string, unknown> & { conflictReason?: number }, index) => {
      const block = world.network.blocks.get(blockId);
      if (block === undefined) return 'there is no such block';
      const { referenced } = block;
      const isReferenced = referenced !== undefined && referenced.index <= index;
      const {
        referencedByMilestoneIndex,
        ledgerInclusionState,
        conflictReason,
        whiteFlagIndex,
        parents,
        milestoneIndex,
        ...others
      } = body;
      const deniable = Math.max(world.importedTo, index - IDS_SURELY_KEPT);
      const isDenied = world.wasLiarAlone && (referenced?.index ?? 0) <= deniable;
      if (
        (world.mayHideReferences || isDenied) &&
        isReferenced &&
        referencedByMilestoneIndex === undefined
      )
        return undefined;
      // one that is not stored is not solid
      const isSolid = isReferenced || others.isSolid === true;
      const fault = differs(others, { blockId, isSolid });
      if (fault !== undefined) return fault;
      return differs(
        {
          parents,
          milestoneIndex,
          referencedByMilestoneIndex,
          ledgerInclusionState,
          conflictReason: reasonOf(world, conflictReason),
          whiteFlagIndex,
        },
        {
          parents: block.parents,
          // which blocks carry one is said by the keys
          milestoneIndex:
            world.hasKeys || milestoneIndex !== undefined ? block.milestoneIndex : undefined,
          ...(isReferenced && {
            referencedByMilestoneIndex: referenced.index,
            ledgerInclusionState: referenced.state,
            ...(referenced.state === 'conflicting' && {
              conflictReason: reasonOf(world, referenced.conflict),
            }),
            whiteFlagIndex: referenced.whiteFlagIndex,
          }),
        },
      );
    },
    // so many requests may wait for blocks that are not stored
    { isGone, isDue: isReferencedAfter(world, blockId), mayFail: () => true },
  );
}

/** Whether a milestone that is kept references the block. */
export function isReferencedAfter({ network }: World, blockId: string): (first: number) => boolean {
  return (first) => (network.blocks.get(blockId)?.referenced?.index ?? 0) > first;
}

export function readChangesOfMilestone(world: World, milestoneIndex: number): void {
  const { id } = milestoneAt(world.network, milestoneIndex)!;
  const name = world.readers.chance(0.5) ? id : `by-index/${milestoneIndex}`;
  read(
    world,
    'utxo-changes',
    `/api/core/v2/milestones/${name}/utxo-changes`,
    (body: { index: number; createdOutputs: string[]; consumedOutputs: string[] }) => {
      const outputs = [...world.network.outputs];
      const ids = (those: typeof outputs) => those.map(([id]) => id).sort();
      return differs(
        { index: body.index, created: body.createdOutputs, consumed: body.consumedOutputs },
        {
          index: milestoneIndex,
          created: ids(outputs.filter(([, { bookedIndex }]) => bookedIndex === milestoneIndex)),
          consumed: ids(outputs.filter(([, { spent }]) => spent?.index === milestoneIndex)),
        },
      );
    },
    { isDue: (first) => milestoneIndex > first },
  );
}

interface Change {
  milestoneIndex: number;
  milestoneTimestamp: number;
  transactionId: string;
  blockId: string;
  outputId: string | null;
  kind: string;
  owner: { address: string } | null;
}

/** As addressKey has it. */
export const keyOf = (bech32: string) => addressKey(parseBech32Address(bech32)!.address);

/**
 * All of its pages, one after the other.
 *
 * @param before where the page before ended, and what was then left to tell
 */
export function readHistory(
  world: World,
  nftId: string,
  before?: { cursor: string; left: { milestoneIndex: number }[] },
): void {
  const { readers } = world;
  const pageSize = readers.chance(0.3) ? `?pageSize=${readers.pick([1, 2])}` : '';
  read(
    world,
    'history',
    `/api/edge/v1/nfts/0x${nftId}/history${before ? `?cursor=${before.cursor}` : pageSize}`,
    (body: { since: number; complete: boolean; changes: Change[]; cursor?: string }, index) => {
      const all =
        before?.left ??
        world.truth.history(nftId, index).map((event) => ({
          kind: event.kind,
          milestoneIndex: event.index,
          milestoneTimestamp: event.timestamp,
          transactionId: `0x${event.transactionId}`,
          blockId: `0x${event.blockId}`,
          outputId: event.outputId === undefined ? null : `0x${event.outputId}`,
          owner: event.owner ?? null,
        }));
      const said = body.changes.map(({ owner, ...change }: Change) => ({
        kind: change.kind,
        milestoneIndex: change.milestoneIndex,
        milestoneTimestamp: change.milestoneTimestamp,
        transactionId: change.transactionId,
        blockId: change.blockId,
        outputId: change.outputId,
        owner: owner && keyOf(owner.address),
      }));
      const { settings, imports, tally, isFlipped } = world;
      const isWhole = settings.keepsHistory && imports === 0 && !tally.has('switchHistory');
      if (isWhole && !isFlipped && body.since > world.snapshotIndex + 1)
        return `since ${body.since}`;
      // a genesis that holds the NFT has no block
      const mayLack = all.filter(({ milestoneIndex }) => milestoneIndex < body.since).length;
      if (body.cursor === undefined && said.length < all.length - mayLack)
        return `${said.length} changes since ${body.since}, the truth is ${JSON.stringify(all)}`;
      if (body.complete && body.cursor === undefined && said.length < all.length)
        return `${said.length} changes are called all ${all.length}`;
      if (body.cursor !== undefined)
        readHistory(world, nftId, { cursor: body.cursor, left: all.slice(said.length) });
      return differs(said, all.slice(0, said.length));
    },
    {
      hasMin: true,
      isDue: () => world.truth.nftOutput(nftId, lastIndex(world.network)) !== undefined,
    },
  );
}

export function readNftChanges(world: World, after: number): void {
  read(
    world,
    'changes',
    `/api/edge/v1/changes/nfts?after=${after}`,
    (
      body: { from: number; to: number; changes: { nftId: string; outputId: string | null }[] },
      index,
    ) => {
      const { truth } = world;
      const changes = truth.changedNfts(body.from, body.to).map((id) => {
        const output = truth.nftOutput(id, index);
        return { nftId: `0x${id}`, outputId: output === undefined ? null : `0x${output}` };
      });
      return body.from === after ? differs(body.changes, changes) : `from ${body.from}`;
    },
    {
      hasMin: 'in query',
      isListed: true,
      // of more changes than a page has none is told
      isDue: (first) => after >= first && !isSmall(world.settings.limits),
    },
  );
}

export function readNftList(world: World): void {
  read(
    world,
    'list',
    '/api/indexer/v1/outputs/nft?pageSize=1000',
    (body: { items: string[]; cursor?: string }, index) => {
      const { truth } = world;
      const ids = truth.nftIds.flatMap((id) => {
        const output = truth.nftOutput(id, index);
        return output === undefined ? [] : [`0x${output}`];
      });
      return body.cursor === undefined ? differs([...body.items].sort(), ids.sort()) : undefined;
    },
    { hasMin: true, isListed: true, isDue: () => true },
  );
}

export function readTreasury(world: World): void {
  const isHidden = hidesTreasury(world.settings);
  const isProtected = protectsTreasury(world.settings);
  if (isHidden || (isProtected && world.readers.chance(0.5))) {
    world.ask('/api/core/v2/treasury', ({ status }) => {
      if (status !== (isHidden ? 403 : 401))
        world.wrong('safety', `a route that is not public: status ${status}`);
    });
    return;
  }
  read(
    world,
    'treasury',
    '/api/core/v2/treasury',
    (body: { amount: string; milestoneId: string }, index, answer) => {
      const caching = answer.headers.get('cache-control');
      if (isProtected && caching !== 'private, no-store') return `caches are told ${caching}`;
      const { amount, milestoneId } = treasuryAt(world.network, index);
      return differs([body.amount, body.milestoneId], [String(amount), toHex(milestoneId)]);
    },
    {
      isDue: () => true,
      ...(isProtected && { init: { headers: { authorization: `Bearer ${API_TOKEN}` } } }),
    },
  );
}

export const infoOf = ({
  index,
  timestamp,
  id,
}: Pick<NetworkMilestone, 'index' | 'timestamp' | 'id'>) => ({
  index,
  timestamp,
  milestoneId: id,
});

interface InfoJson {
  status: {
    confirmedMilestone: object;
    latestMilestone: { index: number; timestamp?: number; milestoneId?: string };
    pruningIndex: number;
  };
  protocol: object;
  pendingProtocolParameters: unknown[];
  baseToken: { tickerSymbol: string };
  metrics: { referencedBlocksPerSecond: number };
}

/** What upstreams say, and what a node says that knows none. */
const OTHER_TOKENS = ['TEST', 'units'];

export function readInfo(world: World): void {
  read(
    world,
    'info',
    '/api/core/v2/info',
    ({ status, protocol, pendingProtocolParameters, baseToken, metrics }: InfoJson, index) => {
      const { network, settings } = world;
      const token = baseToken.tickerSymbol;
      const isOwn = differs(baseToken, OWN_TOKEN) === undefined;
      if (namesToken(settings) ? !isOwn : !OTHER_TOKENS.includes(token)) return `a token ${token}`;
      const { parameters, pending } = parametersAt(network, index);
      const confirmed = infoOf(milestoneAt(network, index) ?? { ...network.genesis, id: ZERO_ID });
      const { confirmedMilestone, latestMilestone } = status;
      // an upstream may name it by its index alone; what the follower keeps of that has no sum
      const later = milestoneAt(network, latestMilestone.index);
      const named = later === undefined ? { index: latestMilestone.index } : infoOf(later);
      const latest = latestMilestone.index === index ? confirmed : named;
      const { restsFrom } = world;
      if (restsFrom !== undefined && status.pruningIndex > Math.max(restsFrom - 1, 0))
        return `pruned up to ${status.pruningIndex}, and ${restsFrom} is kept`;
      const { timestamp = 0 } = milestoneAt(network, index) ?? {};
      const seconds = timestamp - (milestoneAt(network, index - 1)?.timestamp ?? timestamp);
      const rate = coneOf(network, index).length / seconds;
      // the milestone before may be pruned, or not have been imported
      if (![0, rate].includes(metrics.referencedBlocksPerSecond))
        return `${metrics.referencedBlocksPerSecond} blocks a second, the truth is ${rate}`;
      return differs(
        [
          confirmedMilestone,
          world.isRowFlipped ? latest : { ...latest, ...latestMilestone },
          protocol,
          pendingProtocolParameters,
        ],
        [
          confirmed,
          latest,
          { ...parameters, tokenSupply: String(parameters.tokenSupply) },
          pending.map(optionToJson),
        ],
      );
    },
    { isDue: () => true },
  );
}

export function readExplanation(world: World, milestoneIndex: number): void {
  read(
    world,
    'explanation',
    `/api/edge/v1/whiteflag/${milestoneIndex}`,
    (body: {
      blocks: { blockId: string; ledgerInclusionState: string; conflictReason?: number }[];
      inclusionMerkleRoot: string;
      appliedMerkleRoot: string;
    }) => {
      const { payload } = milestoneAt(world.network, milestoneIndex)!;
      const signed = readPayload(payload);
      const fault = differs(
        [body.inclusionMerkleRoot, body.appliedMerkleRoot],
        [toHex(signed.inclusionMerkleRoot), toHex(signed.appliedMerkleRoot)],
      );
      if (fault !== undefined) return fault;
      return differs(
        body.blocks.map(({ blockId, ledgerInclusionState, conflictReason = 0 }) => [
          blockId,
          ledgerInclusionState,
          reasonOf(world, conflictReason),
        ]),
        coneOf(world.network, milestoneIndex).map(({ id, referenced }) => [
          id,
          referenced!.state,
          reasonOf(world, referenced!.conflict),
        ]),
      );
    },
    { isDue: (first) => milestoneIndex > first },
  );
}
