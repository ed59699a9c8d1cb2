/** Lists and lookups of outputs by what they have, and NFTs with their owners. */
import { toBech32 } from '../../../src/stardust/bech32.ts';
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { outputToJson } from '../../../src/stardust/json/rest-json.ts';
import { type Address, addressKey } from '../../../src/stardust/wire/address.ts';
import { chainIdOf, decodeOutput } from '../../../src/stardust/wire/ids.ts';
import { type Output, OutputType } from '../../../src/stardust/wire/output.ts';
import { lastIndex, milestoneAt } from '../../support/network/network-model.ts';
import { ownerKey } from '../../support/network/nft-lives.ts';
import type { Random } from '../../support/network/random.ts';
import { type ListName, type PlainOutput, plainList } from '../../support/nft-list/plain-list.ts';
import { randomQuery, vocabularyOf } from '../../support/nft-list/random-queries.ts';
import { CLAIMS } from '../claims.ts';
import { prefixAt } from '../truth.ts';
import type { World } from '../world.ts';
import { differs, keyOf, metadataOf, read } from './reads.ts';

/** How many of the outputs a client knows that asks for lists. */
const KNOWN = 30;
/** How often a value of a query is odd. */
const ODD = 0.15;

/** Whether every kind is to be in lists: while the index is filled they are 500. */
const isIndexed = ({ node }: World) => node.vars.INDEX === 'all';

const nameOf = ({ network }: World, address: Address) =>
  toBech32(prefixAt(network, lastIndex(network)), address);

/** Pages that a client reads of a list at most. */
const PAGES = 4;

function someQuery({ truth, network }: World, random: Random): string {
  const prefix = prefixAt(network, lastIndex(network));
  const words = vocabularyOf(random.sample(truth.plainOutputs(), KNOWN), prefix);
  return random.chance(0.2)
    ? `${random.pick(['min', 'max'])}NativeTokenCount=${random.below(4)}`
    : randomQuery(random, words, random.pick([0, ODD]));
}

/** By the type of a condition that has a time. */
const BOUNDS: Readonly<Record<number, string>> = { 2: 'timelocked', 3: 'expires' };

/** Reads of lists in which this output just is, or just is not. */
export function readsAtBounds(
  world: World,
  { output, createdTime }: PlainOutput,
  random: Random,
): (() => void)[] {
  const { type, nativeTokens, unlockConditions } = output;
  if (type !== OutputType.Basic && type !== OutputType.Nft) return [];
  const times = unlockConditions.flatMap((each) =>
    'unixTime' in each ? [[BOUNDS[each.type], each.unixTime] as const] : [],
  );
  const queries = [['created', createdTime] as const, ...times].flatMap(([name, time]) => [
    `${name}Before=${time}`,
    `${name}After=${time}`,
  ]);
  const counts = ['min', 'max'].map((each) => `${each}NativeTokenCount=${nativeTokens.length}`);
  const list = type === OutputType.Nft ? 'nft' : 'basic';
  return [...queries, ...counts].map((query) => () => readList(world, list, random, query));
}

function nextQuery(search: string, cursor: string): string {
  const query = new URLSearchParams(search);
  query.set('cursor', cursor);
  return String(query);
}

/**
 * A list by a query at random, and the pages that follow: what the plain implementation finds, or
 * both refuse.
 */
export function readList(
  world: World,
  list: ListName,
  random: Random,
  query = someQuery(world, random),
  pages = PAGES,
): void {
  const { truth, network } = world;
  const path = `/api/indexer/v1/outputs${list === 'all' ? '' : `/${list}`}?${query}`;
  // what a client makes of it on the way
  const { search } = new URL(path, 'https://edge.test');
  const wasIndexed = isIndexed(world);
  read(
    world,
    `list ${list}`,
    path,
    (body: { cursor?: string }, index) => {
      if (body.cursor !== undefined && pages > 1)
        readList(world, list, random, nextQuery(search, body.cursor), pages - 1);
      const own = prefixAt(network, index);
      const plain = plainList(truth.plainOutputs(index), index, own, search.slice(1), list);
      return differs(body, plain.response);
    },
    {
      hasMin: true,
      isListed: true,
      isMissing: () =>
        list === 'nft' || (wasIndexed && isIndexed(world)) ? '404 of a list' : undefined,
      mayFail: () => list !== 'nft',
    },
  );
}

/** The output of an alias or a foundry. */
export function readChain(world: World, { output, outputId }: PlainOutput): void {
  const { truth } = world;
  const kind = output.type === OutputType.Alias ? 'alias' : 'foundry';
  const id = idOf({ output, outputId })!;
  const holder = (index: number) =>
    truth.plainOutputs(index).find((each) => each.output.type === output.type && idOf(each) === id);
  const wasIndexed = isIndexed(world);
  read(
    world,
    kind,
    `/api/indexer/v1/outputs/${kind}/${id}`,
    ({ items }: { items: string[] }, index) => differs(items, [`0x${holder(index)?.outputId}`]),
    {
      hasMin: true,
      isMissing: (index) =>
        wasIndexed && isIndexed(world) && holder(index) ? '404, and it is there' : undefined,
      mayFail: () => true,
    },
  );
}

function idOf({ output, outputId }: Pick<PlainOutput, 'output' | 'outputId'>): string | undefined {
  const id = chainIdOf(output, Uint8Array.fromHex(outputId));
  return id && toHex(id);
}

interface NftJson {
  nftId: string;
  outputId: string;
  owner: object;
  issuer?: string;
  claims?: object;
  metadata: object;
  output: unknown;
}

/** Several NFTs at one ledger index, some of which never were. */
export function readNftBatch(world: World, ids: readonly string[]): void {
  read(
    world,
    'NFTs',
    `/api/edge/v1/nfts?ids=${ids.map((id) => `0x${id}`)}`,
    ({ nfts }: { nfts: (NftJson | null)[] }, index) =>
      differs(
        nfts.map((nft) => nft && pickNft(nft)),
        // damage may hide some
        ids.map((id, i) => (nfts[i] || !world.mayHideRows ? nftTruth(world, id, index) : null)),
      ),
    { hasMin: true, isDue: () => true },
  );
}

export function readNftState(world: World, id: string): void {
  const { truth } = world;
  read(
    world,
    'NFT state',
    `/api/edge/v1/nfts/0x${id}`,
    (nft: NftJson, index) => differs(pickNft(nft), nftTruth(world, id, index)),
    {
      hasMin: true,
      isMissing: (index) =>
        truth.nftOutput(id, index) === undefined ? undefined : '404, and it is there',
    },
  );
}

const pickNft = ({ nftId, outputId, owner, issuer, claims, metadata, output }: NftJson) => ({
  nftId,
  outputId,
  owner,
  issuer: issuer && keyOf(issuer),
  claims,
  metadata,
  output,
});

/** Who can unlock it at that time, and from when on somebody else can (TIP-18). */
function ownerTruth({ unlockConditions }: Output, time: number, nameOf: (to: Address) => string) {
  const find = (type: number) =>
    unlockConditions.find((each) => each.type === type) as
      | { address: Address; returnAddress: Address; unixTime: number }
      | undefined;
  const { address } = find(0)!;
  const { unixTime: timelockedUntil = 0 } = find(2) ?? {};
  const { returnAddress: to = address, unixTime = 0 } = find(3) ?? {};
  const isOther = addressKey(to) !== addressKey(address);
  return {
    address: nameOf(unixTime > time ? address : to),
    canUnlock: timelockedUntil <= time,
    ...(timelockedUntil > time && { timelockedUntil }),
    ...(unixTime > time && isOther && { passesTo: { address: nameOf(to), unixTime } }),
  };
}

const isIssuedBy =
  (key: string) =>
  ({ output }: PlainOutput) =>
    output.type === OutputType.Nft &&
    output.immutableFeatures.some((each) => each.type === 1 && addressKey(each.address) === key);

/** Its output and its owner at the time of a milestone. */
function nftTruth({ network, truth }: World, id: string, index: number) {
  const outputId = truth.nftOutput(id, index);
  if (outputId === undefined) return null;
  const known = network.outputs.get(`0x${outputId}`)!;
  const output = decodeOutput(known.bytes);
  const { timestamp } = milestoneAt(network, index) ?? network.genesis;
  const features = output.type === OutputType.Nft ? output.immutableFeatures : [];
  const issuer = features.find((each) => each.type === 1)?.address;
  const metadata = features.find((each) => each.type === 2);
  return {
    nftId: `0x${id}`,
    outputId: `0x${outputId}`,
    owner: ownerTruth(output, timestamp, (to) => toBech32(prefixAt(network, index), to)),
    issuer: issuer && addressKey(issuer),
    claims: metadata && CLAIMS.get(Buffer.from(metadata.data).toString()),
    metadata: metadataOf(known, index, false),
    output: outputToJson(output),
  };
}

/** What pages before told, and the ledger index of each. */
interface Pages<T> {
  cursor?: string;
  told: readonly T[];
  indexes: readonly number[];
}

const NONE: Pages<never> = { told: [], indexes: [] };

/** Whether nothing moved between the pages. */
const isOfOne = ({ indexes }: Pages<unknown>) => new Set(indexes).size === 1;

/**
 * The NFTs that an address holds by its address condition, or those that it issued: all pages, one
 * after the other.
 */
export function readGallery(
  world: World,
  address: Address,
  by: 'address' | 'issuer',
  before: Pages<string> = NONE,
): void {
  const { truth } = world;
  const key = addressKey(address);
  const isOwned = ({ output }: PlainOutput) =>
    output.type === OutputType.Nft &&
    output.unlockConditions.some((each) => each.type === 0 && addressKey(each.address) === key);
  const isHeld = by === 'issuer' ? isIssuedBy(key) : isOwned;
  const size = world.readers.pick(['', '&pageSize=1', '&pageSize=9']);
  const page = before.cursor === undefined ? size : `&cursor=${before.cursor}`;
  read(
    world,
    'gallery',
    `/api/edge/v1/nfts?${by}=${nameOf(world, address)}${page}`,
    ({ nfts, cursor }: { nfts: NftJson[]; cursor?: string }, index) => {
      const all = truth.plainOutputs(index).filter(isHeld);
      const ids = all.map(({ outputId }) => `0x${outputId}`).sort();
      const here = nfts.map(({ outputId }) => outputId);
      const fault = differs(
        nfts.map(pickNft),
        nfts.map(({ nftId }) => nftTruth(world, nftId.slice(2), index)),
      );
      if (fault !== undefined) return fault;
      const pages = {
        told: [...before.told, ...here],
        indexes: [...before.indexes, index],
      };
      if (cursor !== undefined) readGallery(world, address, by, { ...pages, cursor });
      const isWhole = cursor === undefined && isOfOne(pages) && !world.mayHideRows;
      const said = isWhole ? pages.told : here;
      return differs(said.toSorted(), isWhole ? ids : ids.filter((id) => here.includes(id)));
    },
    { hasMin: true, isDue: () => true },
  );
}

interface OwnersJson {
  nftCount: number;
  ownerCount: number;
  cursor?: string;
  owners: { address: string; nftCount: number }[];
}

/** How many NFTs of an issuer's collection each address owns: all pages, one after the other. */
export function readOwners(
  world: World,
  issuer: Address,
  before: Pages<readonly [owner: string, count: number]> = NONE,
): void {
  const { truth, network } = world;
  const key = addressKey(issuer);
  const size = world.readers.pick(['', '?pageSize=1']);
  const page = before.cursor === undefined ? size : `?cursor=${before.cursor}`;
  read(
    world,
    'owners',
    `/api/edge/v1/collections/${nameOf(world, issuer)}/owners${page}`,
    ({ nftCount, ownerCount, cursor, owners }: OwnersJson, index) => {
      const nfts = truth.plainOutputs(index).filter(isIssuedBy(key));
      const { timestamp } = milestoneAt(network, index) ?? network.genesis;
      const counts = new Map<string, number>();
      for (const { output } of nfts) {
        const owner = ownerKey(output, timestamp);
        counts.set(owner, (counts.get(owner) ?? 0) + 1);
      }
      const here = owners.map((each) => [keyOf(each.address), each.nftCount] as const);
      const pages = { told: [...before.told, ...here], indexes: [...before.indexes, index] };
      if (cursor !== undefined) readOwners(world, issuer, { ...pages, cursor });
      const sorted = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
      const isWhole = cursor === undefined && isOfOne(pages);
      const ours = sorted.filter(([owner]) => here.some(([each]) => each === owner));
      return differs(
        [nftCount, ownerCount, isWhole ? pages.told : here],
        [nfts.length, counts.size, isWhole ? sorted : ours],
      );
    },
    { hasMin: true, isListed: true, isDue: () => true },
  );
}
