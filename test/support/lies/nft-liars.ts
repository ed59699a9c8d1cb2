/**
 * Nodes of one network that stand at several of its milestones and answer about NFTs by their real
 * routes, and a node that lies about an NFT in every way that tests know.
 */
import { toBase64 } from '../../../src/stardust/encoding/base64.ts';
import { recordedNode } from '../http/recorded-node.ts';
import { fetchFrom } from '../http/stub-node.ts';
import { milestoneAt, type Network, type NetworkOutput } from '../network/network-model.ts';
import type { Random } from '../network/random.ts';
import { changeField } from '../stardust/changed-json.ts';

/** What answers a path. */
export type Answering = (path: string) => Response | Promise<Response>;

/** A node that stands still at this milestone. Each answer is made once. */
export async function frozenAt(network: Network, index: number): Promise<Answering> {
  const fetch = fetchFrom({ node: await recordedNode(network, index) });
  const known = new Map<string, Promise<{ status: number; headers: Headers; text: string }>>();
  return async (path) => {
    const made =
      known.get(path) ??
      fetch(path).then(async (each) => {
        const { status, headers } = each;
        return { status, headers, text: await each.text() };
      });
    known.set(path, made);
    const { status, headers, text } = await made;
    return new Response(text, { status, headers });
  };
}

export const certificatePath = (nftId: string, query = '') =>
  `/api/edge/v1/nfts/${nftId}/certificate${query}`;

interface Truth {
  network: Network;
  /** By NFT. */
  holders: ReadonlyMap<string, readonly NetworkOutput[]>;
  /** At the newest milestone, and at an earlier one. */
  current: Answering;
  old: Answering;
  newest: number;
}

type Json = Record<string, unknown>;

const json = (body: unknown) => new Response(JSON.stringify(body));

/** Certificates of a node; undefined where it has none. */
async function certificateOf(
  node: Answering,
  nftId: string,
  query = '',
): Promise<Json | undefined> {
  const answer = await node(certificatePath(nftId, query));
  return answer.ok ? ((await answer.json()) as Json) : undefined;
}

const withoutEnd = () =>
  new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(10_000)),
  });

type Lie = (nftId: string, truth: Truth, random: Random) => Promise<Response>;

const forged: Lie = async (nftId, { current, old }, random) => {
  const own = await certificateOf(random.pick([current, old]), nftId);
  if (own !== undefined) changeField(own, random);
  return json(own ?? { nftId });
};

/** A certificate of an earlier state of the NFT, beside the newest milestone or its own. */
const replay =
  (isBesideNewest: boolean): Lie =>
  async (nftId, truth, random) => {
    const { network, holders, current, newest } = truth;
    const changes = holders.get(nftId)!.map(({ bookedIndex }) => bookedIndex);
    const query = `?milestone=${random.pick(changes)}`;
    const earlier = await certificateOf(current, nftId, query);
    if (earlier === undefined) return forged(nftId, truth, random);
    if (isBesideNewest) return json(earlier);
    const { index, payload } = milestoneAt(network, random.between(1, newest))!;
    return json({ ...earlier, ledgerIndex: index, head: toBase64(payload) });
  };

const ofAnotherNft: Lie = async (nftId, { holders, current }, random) => {
  const other = await certificateOf(current, random.pick([...holders.keys()]));
  return json({ ...other, nftId });
};

const padded: Lie = async (nftId, { old }) => {
  const own = await certificateOf(old, nftId);
  return new Response(`${JSON.stringify(own ?? null)}${' '.repeat(60_000)}`);
};

export interface Liar {
  answering: Answering;
  /** It has no certificate, so it is asked for its word, which may be another one. */
  disputes: boolean;
}

/** @param foreign certificates of another network */
export function liarAbout(
  nftId: string,
  truth: Truth,
  foreign: readonly unknown[],
  random: Random,
): Liar {
  const lies: readonly [weight: number, lie: Lie][] = [
    [6, forged],
    [6, replay(true)],
    [3, replay(false)],
    [3, ofAnotherNft],
    [3, async () => json({ ...(random.pick(foreign) as Json), nftId })],
    [1, padded],
    [1, async () => new Response(withoutEnd())],
    [1, async () => new Response('{"nftId":')],
    [1, async () => new Response('['.repeat(10_000))],
    [1, async () => Promise.reject(new TypeError('fetch failed'))],
  ];
  const disputes = random.chance(0.1);
  const lie: Lie = disputes
    ? async () => new Response(null, { status: random.pick([302, 404, 500]) })
    : random.pickWeighted(lies);
  const other = random.pick([...truth.holders.keys()]);
  return {
    disputes,
    answering: (path) => {
      if (path === certificatePath(nftId)) return lie(nftId, truth, random);
      const node = random.pick([truth.current, truth.old]);
      return node(disputes ? path.replace(nftId, random.pick([other, nftId])) : path);
    },
  };
}
