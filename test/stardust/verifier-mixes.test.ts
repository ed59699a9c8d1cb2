/**
 * Every mix of two to seven nodes, by a clock of its own: who answers what is known, so what the
 * verifier must say is too. One node that is honest and current refutes all others, wherever it
 * stands among them, and no node delays another.
 */
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { verifySignature } from '../../src/platform/verify-signature.ts';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import type { VerifySignature } from '../../src/stardust/milestone-keys.ts';
import {
  createVerifier,
  type FetchedAnswer,
  Refuted,
  Unproven,
  type VerifiedNft,
} from '../../src/stardust/verifier.ts';
import { certificatePath, frozenAt } from '../support/lies/nft-liars.ts';
import { milestoneAt } from '../support/network/network-model.ts';
import { nftLives } from '../support/network/nft-lives.ts';
import { heldAt, holdersOf } from '../support/network/nft-places.ts';

const KINDS = ['honest', 'slow', 'stale', 'lying', 'disputing', 'silent', 'dead'] as const;
type Kind = (typeof KINDS)[number];

const NEWEST = 80;
const DEADLINE_SECONDS = 10;
const SLOW_SECONDS = 9;

const network = nftLives('every mix', NEWEST);
const { timestamp } = milestoneAt(network, NEWEST)!;

let nftId = '';
/** What holds it now, and what held it before. */
let [now, then]: (string | undefined)[] = [];
/** Answers to the certificate's path. */
const certificates = new Map<Kind, Uint8Array>();

beforeAll(async () => {
  // moved once and then not for ten milestones, which are more than 30 seconds
  const [found, own] = [...holdersOf(network)].find(([, each]) => {
    const [before, last] = each.toSorted((a, b) => a.bookedIndex - b.bookedIndex).slice(-2);
    return (
      last !== undefined &&
      last.spent === undefined &&
      before!.bookedIndex > 0 &&
      before!.bookedIndex < last.bookedIndex &&
      last.bookedIndex <= NEWEST - 10
    );
  })!;
  nftId = found;
  const moved = Math.max(...own.map(({ bookedIndex }) => bookedIndex));
  [now, then] = [NEWEST, moved - 1].map((index) => heldAt(own, index));
  expect(now).not.toBe(then);
  const before = own.find(({ outputId }) => toHex(outputId) === then)!.bookedIndex;
  const [current, old] = await Promise.all([
    frozenAt(network, NEWEST),
    frozenAt(network, moved - 1),
  ]);
  const read = async (node: typeof current, query = '') =>
    new Uint8Array(await (await node(certificatePath(nftId, query))).arrayBuffer());
  certificates.set('honest', await read(current));
  certificates.set('slow', certificates.get('honest')!);
  certificates.set('stale', await read(old));
  certificates.set('lying', await read(current, `?milestone=${before}`));
  // all signatures are verified before the clock of the mixes runs: WebCrypto takes time of its own
  await verifierOf(['honest', 'stale', 'lying'])
    .nft(nftId)
    .catch(() => undefined);
});

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
afterEach(() => void vi.useRealTimers());

const known = new Map<string, Promise<boolean>>();
/** Each signature is verified once, as thousands of mixes have the same. */
const verify: VerifySignature = (...signed) => {
  const key = signed.map(toHex).join();
  const verdict = known.get(key) ?? verifySignature(...signed);
  known.set(key, verdict);
  return verdict;
};

const after = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

function answer(status: number, bytes?: Uint8Array): FetchedAnswer {
  const parts = bytes === undefined ? [] : [bytes];
  const read = async () => ({ done: parts.length === 0, value: parts.shift() });
  const headers = { get: () => String(NEWEST) };
  return { status, headers, body: { getReader: () => ({ read, cancel: async () => undefined }) } };
}

async function answerOf(kind: Kind): Promise<FetchedAnswer> {
  if (kind === 'dead') throw new Error('nobody listens');
  if (kind === 'silent') return new Promise(() => undefined);
  if (kind === 'slow') await after(SLOW_SECONDS);
  // 404 for the word, too: it says that there is no such NFT
  return kind === 'disputing' ? answer(404) : answer(200, certificates.get(kind));
}

const verifierOf = (kinds: readonly Kind[], check = verify) =>
  createVerifier({
    ...network.keys,
    networkName: network.genesis.parameters.networkName,
    nodes: kinds.map((_, i) => `http://node-${i}.test`),
    timeoutSeconds: DEADLINE_SECONDS,
    now: () => timestamp + 7,
    verify: check,
    fetch: (url) => answerOf(kinds[Number(/node-(\d+)/.exec(url)![1])]!),
  });

/** What came of asking, and after how many seconds. */
async function outcomeOf(kinds: readonly Kind[], check = verify) {
  const start = Date.now();
  let end: number | undefined;
  const asking = verifierOf(kinds, check)
    .nft(nftId)
    .catch((error: unknown) => error)
    .finally(() => {
      end = Date.now();
    });
  while (end === undefined) await vi.advanceTimersToNextTimerAsync();
  return { came: (await asking) as VerifiedNft | Error, seconds: (end - start) / 1000 };
}

/** What must come of it, by the kinds alone. */
function dueOf(kinds: readonly Kind[]) {
  const count = (...those: Kind[]) => kinds.filter((each) => those.includes(each)).length;
  const [honest, lying, old] = [count('honest', 'slow'), count('lying'), count('lying', 'stale')];
  const disputing = count('disputing');
  const truth = honest > 0 ? now : old > 0 ? then : undefined;
  const agreeing = honest > 0 ? honest : lying;
  const standing: Record<Kind, string> = {
    honest: 'agrees',
    slow: 'agrees',
    stale: 'behind',
    lying: honest > 0 ? 'refuted' : 'agrees',
    disputing: truth === undefined ? 'claims' : 'disputes',
    silent: 'failed',
    dead: 'failed',
  };
  const name =
    agreeing >= 2 && disputing === 0 ? 'shown' : honest > 0 && lying > 0 ? 'Refuted' : 'Unproven';
  const shown = truth === undefined ? (disputing > 0 ? 'claimed' : undefined) : 'created';
  return {
    name,
    guarantee: name === 'shown' ? 'unrefuted' : shown,
    outputId: truth,
    asked: kinds.map((each) => standing[each]),
    refutes: kinds.map((each) => honest > 0 && lying > 0 && /honest|slow/.test(each)),
    seconds: count('silent') > 0 ? DEADLINE_SECONDS : count('slow') > 0 ? SLOW_SECONDS : 0,
  };
}

async function expectDue(kinds: readonly Kind[]): Promise<string> {
  const due = dueOf(kinds);
  const { came, seconds } = await outcomeOf(kinds);
  const shown = came instanceof Unproven ? came.shown : came instanceof Error ? undefined : came;
  if (came instanceof Error && !(came instanceof Unproven || came instanceof Refuted)) throw came;
  expect({
    name: came instanceof Error ? came.name : 'shown',
    guarantee: came instanceof Refuted ? due.guarantee : shown?.guarantee,
    outputId: came instanceof Refuted ? came.by.state.held?.outputId : shown?.outputId,
    asked: came.asked.map(({ standing }) => standing),
    refutes: came.asked.map(({ refutes }) => refutes),
    seconds,
  }).toEqual(due);
  expect(came.asked.map(({ node }) => node)).toEqual(kinds.map((_, i) => `http://node-${i}.test`));
  if (came instanceof Refuted) expect(came.refuted.state.held?.outputId).toBe(then);
  return due.name;
}

/** All multisets of so many nodes, each in one order. */
function mixesOf(count: number, kinds: readonly Kind[] = KINDS): Kind[][] {
  if (count === 0) return [[]];
  return kinds.flatMap((kind, i) =>
    mixesOf(count - 1, kinds.slice(i)).map((rest) => [kind, ...rest]),
  );
}

const ordersOf = (mix: readonly Kind[]): Kind[][] =>
  mix.length === 0
    ? [[]]
    : [...new Set(mix)].flatMap((first) =>
        ordersOf(mix.toSpliced(mix.indexOf(first), 1)).map((rest) => [first, ...rest]),
      );

/** Mixes of more nodes are many, and hold those of fewer. */
const COUNTS = process.env.SLOW ? [2, 3, 4, 5, 6, 7] : [2, 3, 4];

describe.each(COUNTS)('%i nodes', (count) => {
  it('of every mix: what their kinds say, once each had its time', {
    timeout: 600_000,
  }, async () => {
    const mixes = mixesOf(count);
    const outcomes = new Set<string>();
    // forwards and backwards in turn; of few nodes in every order
    for (const [i, mix] of mixes.entries())
      for (const order of count <= 3 ? ordersOf(mix) : [i % 2 === 0 ? mix : mix.toReversed()])
        outcomes.add(await expectDue(order));
    expect(outcomes).toEqual(new Set(['shown', 'Refuted', 'Unproven']));
  });
});

it('one that is honest refutes six that lie, wherever it stands', async () => {
  for (const honest of ['honest', 'slow'] as const)
    for (let at = 0; at < 7; at++)
      expect(await expectDue(Array<Kind>(6).fill('lying').toSpliced(at, 0, honest))).toBe(
        'Refuted',
      );
});

it('a certificate that takes long to judge takes no time from other nodes', async () => {
  const heavy: VerifySignature = (...signed) => {
    // nothing else runs meanwhile, and each timer is due
    vi.advanceTimersByTime(DEADLINE_SECONDS * 1000);
    return verify(...signed);
  };
  const { came } = await outcomeOf(['lying', 'slow', 'honest'], heavy);
  expect((came as VerifiedNft).asked.map(({ standing }) => standing)).toEqual([
    'refuted',
    'agrees',
    'agrees',
  ]);
});
