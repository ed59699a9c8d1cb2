/** Clients: wallets, marketplaces, explorers, strangers; each read is checked. */
import { OutputType } from '../../../src/stardust/wire/output.ts';
import { lastIndex } from '../../support/network/network-model.ts';
import type { Random } from '../../support/network/random.ts';
import {
  readBlockBody,
  readIncluded,
  readMilestoneBody,
  readNode,
  readOutputBatch,
  readOutputBody,
  readReceipts,
  readTips,
} from '../checks/contents.ts';
import { crowd } from '../checks/crowd.ts';
import { listen } from '../checks/events.ts';
import {
  readChain,
  readGallery,
  readList,
  readNftBatch,
  readNftState,
  readOwners,
} from '../checks/lists.ts';
import { explainProposal, readCertificate, readInclusion } from '../checks/proofs.ts';
import {
  readBlockMetadata,
  readChangesOfMilestone,
  readExplanation,
  readHistory,
  readInfo,
  readNft,
  readNftChanges,
  readNftList,
  readOutput,
  readTreasury,
} from '../checks/reads.ts';
import { ANSWERED_MS } from '../checks/white-flag.ts';
import { isSmall } from '../platform/limits.ts';
import { API_PASSWORD, API_TOKEN, API_USER, PROTECTED_PATH, type World } from '../world.ts';
import { proposal } from './coordinators.ts';
import { type Steps, stepsOf } from './step.ts';

const client = stepsOf('client');
const hostile = stepsOf('client', { isHostile: true });

/** One of the last milestones, mostly. */
function someIndex({ network }: World, random: Random): number {
  const [first, last] = [network.genesis.index + 1, lastIndex(network)];
  return random.chance(0.7) ? Math.max(first, last - random.below(5)) : random.between(first, last);
}

/** Mostly newer ones. */
function recent<T>(all: readonly T[], random: Random): T | undefined {
  if (all.length === 0) return undefined;
  return random.pick(random.chance(0.6) ? all.slice(-40) : all);
}

const LISTS = ['nft', 'nft', 'nft', 'basic', 'alias', 'foundry', 'all'] as const;

/** What operators and their monitoring ask, and `/` for the explorer. */
const NODE_PATHS = ['/health', '/metrics', '/', '/nft/0x12', '/openapi.json', '/robots.txt'];

const NOBODY = 'ab'.repeat(32);

const basic = (text: string) => ({ authorization: `Basic ${btoa(text)}` });

const idsOf = (count: number) =>
  Array.from({ length: count }, (_, i) => `0x${`${i}`.padStart(64, '0')}`);

/** A proposal that is refused for what is odd in it, and else for a milestone that is far ahead. */
const oddProposal = (odd: object) => {
  const far = { index: 2 ** 32 - 1, timestamp: 2 ** 32 - 1, previousMilestoneId: idsOf(2)[1] };
  const body = JSON.stringify({ ...far, parents: idsOf(8), ...odd });
  return ['/api/core/v2/whiteflag', { method: 'POST', body }] as const;
};

const proposalOf5 = (text: string) => {
  const [path, init] = oddProposal({ timestamp: 5 });
  return [path, { ...init, body: init.body.replace(/(?<="timestamp":)5/, text) }] as const;
};

/** What strangers send, and the status that each is answered with, whatever the weather. */
export const ODD_REQUESTS: readonly (readonly [
  status: number,
  path: string,
  init?: RequestInit,
])[] = [
  [400, '/api/core/v2/blocks/0x12'],
  [400, '/api/core/v2/outputs/0xzz/metadata'],
  [400, '/api/core/v2/milestones/by-index/-1'],
  [400, `/api/edge/v1/nfts?ids=0x${NOBODY}&nonsense=1`],
  [400, `/api/edge/v1/nfts/0x${NOBODY}/history?cursor=0`],
  [400, '/api/edge/v1/changes/nfts?after=x'],
  [400, '/api/core/v2/whiteflag', { method: 'POST', body: '{"index":' }],
  ...[
    { index: 0 },
    { index: 2 ** 32 },
    { index: 1.5 },
    { timestamp: -1 },
    { timestamp: 2 ** 32 },
    { parents: [] },
    { parents: idsOf(9) },
    { parents: ['0x12'] },
    { previousMilestoneId: '0x12' },
    { previousMilestoneId: null },
  ].map((odd) => [400, ...oddProposal(odd)] as const),
  // Go reads no integer of these
  ...['5.0', '5e0', '-0'].map((text) => [400, ...proposalOf5(text)] as const),
  [404, ...proposalOf5('5')],
  [404, ...oddProposal({})],
  [404, ...oddProposal({ parents: [...idsOf(8), ...idsOf(8)] })],
  [404, '/api/core/v2/nothing'],
  [404, '/api/core/v2//info'],
  // of a network that goes on
  ...['', `/outputs/0x${NOBODY}0000`, `/nfts/0x${NOBODY}`].map(
    (path) => [404, `/api/edge/v1/final${path}`] as const,
  ),
  [405, '/api/core/v2/info', { method: 'POST' }],
  [405, '/api/core/v2/whiteflag'],
  [405, '/api/core/v2/whiteflag', { method: 'HEAD' }],
  [200, '/api/core/v2/info', { method: 'HEAD' }],
  [204, '/api/core/v2/info', { method: 'OPTIONS' }],
  [
    204,
    '/api/core/v2/whiteflag',
    { method: 'OPTIONS', headers: { 'access-control-request-headers': 'x-odd' } },
  ],
  [400, `/api/edge/v1/nfts?ids=${Array.from({ length: 101 }, () => `0x${NOBODY}`)}`],
  [400, '/api/mqtt/v1'],
  [401, PROTECTED_PATH, { method: 'HEAD' }],
  [429, '/api/core/v2/info', { headers: { 'cf-connecting-ip': '203.0.113.9' } }],
  [429, '/api/core/v2/tips', { headers: { 'cf-connecting-ip': '::FFFF:203.0.113.9' } }],
  [429, '/api/core/v2/tips', { headers: { 'cf-connecting-ip': '2001:DB8:1:2::5' } }],
  [429, '/api/core/v2/tips', { headers: { 'cf-connecting-ip': '2001:db8:2:10::5' } }],
  [200, '/api/core/v2/info', { headers: { 'cf-connecting-ip': '203.0.113.10' } }],
  [
    429,
    '/api/core/v2/whiteflag',
    { method: 'POST', body: '{}', headers: { 'cf-connecting-ip': '203.0.113.10' } },
  ],
  ...[API_USER, `${API_USER}:`, `${API_USER}:${API_PASSWORD}0`, `:${API_PASSWORD}`].map(
    (text) => [401, PROTECTED_PATH, { headers: basic(text) }] as const,
  ),
  [200, PROTECTED_PATH, { headers: basic(`${API_USER}:${API_PASSWORD}`) }],
  [401, PROTECTED_PATH],
  [401, PROTECTED_PATH, { headers: { authorization: `Bearer ${API_TOKEN}0` } }],
  [200, PROTECTED_PATH, { headers: { authorization: `Bearer ${API_TOKEN}` } }],
  [200, PROTECTED_PATH, { headers: { authorization: `bearer ${API_TOKEN}` } }],
];

/** By status, what an error says in a header (docs/contract.md#errors): seconds, methods, schemes. */
const DUE_HEADERS: Readonly<Record<number, readonly [name: string, value: RegExp]>> = {
  401: ['www-authenticate', /^(?=.*Bearer ).*Basic /],
  405: ['allow', /^(GET, HEAD|POST), OPTIONS$/],
  429: ['retry-after', /^[1-9]\d?$/],
};

function headersFault({ status, headers }: Response, init: RequestInit = {}): string | undefined {
  const [name, value] = DUE_HEADERS[status] ?? [];
  const said = name && (headers.get(name) ?? '');
  const isRefused = status === 405 && said?.includes(init.method ?? 'GET');
  if (value?.test(said!) === false || isRefused)
    return `status ${status}, and ${name} is "${said}"`;
  const asked = new Headers(init.headers).get('access-control-request-headers');
  const allowed = headers.get('access-control-allow-headers') ?? '';
  const methods = headers.get('access-control-allow-methods') ?? '';
  if (status === 204 && !/^GET, HEAD, POST\b/.test(methods)) return `a page may do ${methods}`;
  if (asked !== null && !allowed.includes(asked)) return `a page may send ${allowed}, not ${asked}`;
  return undefined;
}

export function askOddly(world: World, [status, path, init]: (typeof ODD_REQUESTS)[number]): void {
  world.ask(
    path,
    (answer) => {
      const about = `${path} ${JSON.stringify(init ?? {})}`;
      // the first milestone alone has none before it, and the ledger tells which that is
      const needsLedger = status === 200 || status === 404 || /MilestoneId\\":null/.test(about);
      // what is there may be lost on the way, and who has left keeps a place for some seconds
      const isLost = answer.status >= 500 ? needsLedger : answer.status === 429 && status !== 200;
      if (answer.status !== status && !(isLost && !world.mustAnswer))
        world.wrong('safety', `${about}: status ${answer.status}, not ${status}`);
      const fault = headersFault(answer, init);
      if (fault !== undefined) world.wrong('safety', `${about}: ${fault}`);
      const isShared = !/no-store/.test(answer.headers.get('cache-control') ?? '');
      if (path === PROTECTED_PATH && isShared) world.wrong('safety', `caches keep ${path}`);
    },
    init,
  );
}

/** A right request that is too long to be read. */
function sendTooMuch(world: World): void {
  const body = `${JSON.stringify(proposal(world))}${' '.repeat(70_000)}`;
  const judge = ({ status }: Response) => {
    const isBusy = status === 429 && !world.mustAnswer;
    if (status !== 400 && !isBusy) world.wrong('safety', `a long body: status ${status}`);
  };
  world.ask('/api/core/v2/whiteflag', judge, { method: 'POST', body });
}

/** Readers of the same, so that some share an answer. */
const AT_ONCE = 6;

/** Asks for much that takes long, and is gone before it is answered. */
function leave(world: World, random: Random): void {
  const body = JSON.stringify(proposal(world));
  const [path, init] = random.pick([
    ['/api/edge/v1/whiteflag', { method: 'POST', body }],
    ['/api/indexer/v1/outputs?pageSize=1000', {}],
  ] as const);
  const headers = { 'cf-connecting-ip': '192.0.2.2' };
  for (let i = random.between(100, 300); i > 0; i--)
    world.ask(path, () => {}, { ...init, headers }, undefined, random.below(20));
}

const AHEAD_MS = 3000;
const AHEAD_EACH_MS = 40;
/** Five catch-ups a second, and passes, and walks of other clients. */
const MOST_HEADS = 60;

/** Asks about a milestone that does not come, again and again. */
function askAhead(world: World, random: Random): void {
  const { simulation, upstreams, node, network } = world;
  const request = { ...proposal(world), previousMilestoneId: `0x${random.bytes(32).toHex()}` };
  request.index++;
  const body = JSON.stringify(request);
  const before = upstreams.map(({ heads }) => heads);
  const { starts } = node.follower;
  const last = network.milestones.length;
  const judgeFrom = (from: number) => () => {
    const took = simulation.now - from;
    if (took > ANSWERED_MS && !node.isSlowSince(from))
      world.wrong('liveness', `who asks ahead is answered after ${took} ms`);
  };
  for (let ms = 0; ms < AHEAD_MS; ms += AHEAD_EACH_MS)
    simulation.after(ms, () =>
      world.ask('/api/core/v2/whiteflag', judgeFrom(simulation.now), { method: 'POST', body }),
    );
  simulation.after(AHEAD_MS, () => {
    if (starts !== node.follower.starts || network.milestones.length !== last) return;
    const most = Math.max(...upstreams.map(({ heads }, i) => heads - before[i]!));
    if (most > MOST_HEADS) world.wrong('economy', `an upstream is asked ${most} times where it is`);
  });
}

const MILESTONE_MS = 5000;
/** Before the milestone, a block comes that nobody has stored until then. */
const BEFORE_MS = 40;
const READS = 25;

/** Asks what became of a block again and again, while a milestone comes that references it. */
function readAsReferenced(world: World, random: Random): void {
  const { simulation, network } = world;
  const due = simulation.now + MILESTONE_MS - (world.elapsed % MILESTONE_MS) - BEFORE_MS;
  simulation.atForWorld(due, () => {
    if (world.isCalm) return;
    network.random = random;
    const id = network.note(network.someParents(), random.bytes(8));
    world.publishNews();
    for (let i = 0; i < READS; i++)
      simulation.atForWorld(due + i * BEFORE_MS, () =>
        (i % 5 === 4 ? readInclusion : readBlockMetadata)(world, id),
      );
  });
}

type Read<T> = (world: World, what: T) => void;
type Run = (world: World, random: Random) => void;

const ofNft =
  (read: Read<string>): Run =>
  (world, random) =>
    read(world, recent(world.truth.nftIds, random) ?? NOBODY);

/** Of what the network has by IDs. */
const ofSome =
  (what: 'outputs' | 'blocks' | 'transactions', read: Read<string>): Run =>
  (world, random) => {
    const id = recent([...world.network[what].keys()], random);
    if (id !== undefined) read(world, id);
  };

const ofIndex =
  (read: Read<number>): Run =>
  (world, random) =>
    read(world, someIndex(world, random));

export const clientSteps = {
  readNft: client(8, ofNft(readNft)),
  readNfts: client(4, (world, random) => {
    for (const id of random.sample(world.truth.nftIds, 5)) readNft(world, id);
  }),
  readOutput: client(4, ofSome('outputs', readOutput)),
  readBlock: client(4, ofSome('blocks', readBlockMetadata)),
  readAsReferenced: client(4, readAsReferenced),
  readOldBlocks: client(4, (world, random) => {
    for (const id of random.sample([...world.network.blocks.keys()], 3))
      readBlockMetadata(world, id);
  }),
  readUtxoChanges: client(2, ofIndex(readChangesOfMilestone)),
  readHistory: client(4, ofNft(readHistory)),
  readNftChanges: client(3, ofIndex(readNftChanges)),
  readNftList: client(2, readNftList),
  readTreasury: client(1, readTreasury),
  readInfo: client(2, readInfo),
  readExplanation: client(2, ofIndex(readExplanation)),
  readOutputBody: client(2, ofSome('outputs', readOutputBody)),
  readBlockBody: client(2, ofSome('blocks', readBlockBody)),
  readIncluded: client(2, ofSome('transactions', readIncluded)),
  readMilestoneBody: client(3, (world, random) =>
    readMilestoneBody(world, recent(world.network.milestones, random)!),
  ),
  readReceipts: client(1, (world, random) =>
    readReceipts(world, random.chance(0.5) ? someIndex(world, random) : undefined),
  ),
  readNode: client(1, (world, random) => readNode(world, random.pick(NODE_PATHS))),
  readTips: client(1, readTips),
  readList: client(3, (world, random) => readList(world, random.pick(LISTS), random)),
  readChain: client(1, (world, random) => {
    const chains = world.truth
      .plainOutputs()
      .filter(
        ({ output }) => output.type === OutputType.Alias || output.type === OutputType.Foundry,
      );
    const some = recent(chains, random);
    if (some !== undefined) readChain(world, some);
  }),
  readOutputBatch: client(1, (world, random) =>
    readOutputBatch(world, random.sample([...world.network.outputs.keys()], 5)),
  ),
  readNftBatch: client(2, (world, random) =>
    readNftBatch(world, [...random.sample(world.truth.nftIds, 3), NOBODY]),
  ),
  readNftState: client(2, ofNft(readNftState)),
  readGallery: client(1, (world, random) =>
    readGallery(
      world,
      random.pick([...world.life.accounts.values()]).address,
      random.pick(['address', 'issuer']),
    ),
  ),
  readTogether: client(1, (world, random) => {
    const after = someIndex(world, random);
    for (let i = 0; i < AT_ONCE; i++) {
      readNftList(world);
      readNftChanges(world, after);
    }
  }),
  readOwners: client(1, (world, random) =>
    readOwners(world, random.pick([...world.life.accounts.values()]).address),
  ),
  readCertificate: client(2, ofNft(readCertificate)),
  readInclusion: client(2, ofSome('blocks', readInclusion)),
  explainProposal: client(1, (world) => explainProposal(world, proposal(world))),
  askOddly: client(1, (world, random) => askOddly(world, random.pick(ODD_REQUESTS))),
  sendTooMuch: client(1, sendTooMuch),
  listen: client(3, (world, random) => listen(world, random)),
  crowd: hostile(2, crowd, ({ limits }) => isSmall(limits)),
  leave: hostile(1, leave),
  askAhead: hostile(2, askAhead),
} satisfies Steps;
