/**
 * What a story is about at one moment: the network, the upstreams that serve it, the node that
 * follows, what clients saw, and what was wrong with it.
 */

import type { Database } from '../../src/ledger/core/database.ts';
import { sealRows } from '../support/ledger/seal-rows.ts';
import { type Life, newLife, takeStock } from '../support/network/accounts.ts';
import { lastIndex } from '../support/network/network-model.ts';
import {
  deltaSnapshot,
  type FullOptions,
  fullSnapshot,
} from '../support/network/network-snapshot.ts';
import { Random } from '../support/network/random.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';
import type { MadeTransaction } from '../support/network/transactions.ts';
import type { KeyPair } from '../support/payloads/keys.ts';
import type { Listener } from './checks/events.ts';
import { SimulatedNode } from './node.ts';
import type { MakeIsolate } from './platform/bundle.ts';
import { statementsOfObject } from './platform/limits.ts';
import { Simulation } from './platform/simulation.ts';
import type { Socket } from './platform/sockets.ts';
import type { Settings, Story } from './story.ts';
import { type Request, Truth } from './truth.ts';
import { UpstreamDouble } from './upstream.ts';

/** Something that must not be. `kind`: the invariant. */
export class Wrong extends Error {
  override readonly name = 'Wrong';
  readonly kind: Invariant;
  /** Milliseconds since the beginning of the story. */
  readonly at: number;

  constructor(kind: Invariant, message: string, at: number) {
    super(`${kind}: ${message}`);
    this.kind = kind;
    this.at = at;
  }
}

export type Invariant = 'safety' | 'liveness' | 'economy' | 'silence';

/** Fewer calls of D1 than an import has before it replaces the ledger. */
const SOON_CALLS = 10;

/** How many milestones before their target parameters are announced at most. */
export const MOST_AHEAD = 8;

/** How the files of a snapshot are made. */
interface Files extends Partial<Pick<FullOptions, 'ledger' | 'moreDiffs'>> {
  /** Changes the full snapshot. */
  change?: (chunks: Uint8Array[]) => Uint8Array[];
  /** Its milestone, from which a delta leads to the target; default: the target. */
  fullTarget?: number;
  /** Calls of D1 after which a first try is cut off; if these are few, it has other files. */
  cutAfter?: number | undefined;
}

/** Hosts that were first among the upstreams, and what says the tokens that were set for these. */
interface Access {
  firsts: Set<string>;
  tokens: Set<string>;
}

/** How honest upstreams come back where a liar was alone, until the ledger has caught up. */
interface Comeback {
  /** {@link Conduct.refusing} */
  refusing: number;
  /** Whether they were pruned up to the snapshot, and got by gossip what is before it. */
  isPruned: boolean;
}

/** A request that was not answered yet. */
interface Asked {
  path: string;
  at: number;
}

export class World {
  readonly settings: Settings;
  readonly simulation: Simulation;
  readonly network: SyntheticNetwork;
  readonly life: Life;
  readonly truth: Truth;
  readonly upstreams: UpstreamDouble[];
  readonly liar: UpstreamDouble | undefined;
  readonly access: Access;
  /** Upstreams that are honest and up in the calm at the end. */
  reliable: readonly UpstreamDouble[] = [];
  readonly node: SimulatedNode;
  /** Unix milliseconds of the beginning. */
  readonly start: number;
  /** Blocks that the snapshot's milestone references, not all of which the snapshot names. */
  readonly ancient: string[];
  /** A chain of which it names the first one; nobody stands on it but by a liar's word. */
  readonly unnamed: readonly string[];
  /** Blocks around forged milestones with the ID of a real one. */
  readonly twins: { id: string; index: number }[] = [];
  /** Parents of the milestones that were signed, and are none. */
  readonly unsoundParents: string[] = [];
  /** Blocks of the largest past cone of a milestone that was signed, and is none. */
  unsoundBlocks = 0;
  /** Transactions that others spend from, and that no block carries yet. */
  readonly hidden: MadeTransaction[] = [];
  /** Chance of what clients ask beside the path. */
  readonly readers: Random;
  /** Answers that clients keep, by their paths. */
  readonly kept = new Map<string, { etag: string; body: unknown; index: number }>();
  /** Answers that caches keep for good, by their paths: what is wrong with each by now. */
  readonly immutable = new Map<string, () => string | undefined>();
  /** Sums over all outputs that the node told, by ledger index. */
  readonly fingerprints = new Map<number, string>();
  /** What happened, for people and for hashes. */
  readonly notes: string[] = [];
  /** How often, by what. */
  readonly tally = new Map<string, number>();
  readonly failures: Wrong[] = [];
  /** Clients of events that are connected. */
  readonly listeners = new Set<Listener>();
  /** White-flag requests, in the order in which they were made. */
  readonly proposals: Request[] = [];
  /** A snapshot with wrong outputs is or was imported, which no node can tell. */
  isDamaged = false;
  /** In it NFTs are elsewhere. */
  hasMovedNfts = false;
  /** Hex IDs without 0x of NFTs that are nowhere else. */
  readonly phantoms = new Set<string>();
  /** When the right one took the place of one like that. */
  wasDamagedAt = Number.NEGATIVE_INFINITY;
  /** A byte changed in D1 or KV: errors are right now, as long as no answer is wrong. */
  isFlipped = false;
  /** It was one of D1. */
  isRowFlipped = false;
  /** Hex IDs without 0x that damaged rows named. */
  readonly suspects = new Set<string>();
  /** Two rounds of the scrub ended since. */
  isScrubbed = false;
  /** KV failed, or reads were overtaken, at the end of a story in which nothing had failed. */
  isDisturbedLate = false;
  isImporting = false;
  /** What nobody builds on took all the room for blocks. */
  isFilled = false;
  /** Once nothing moves any more, the oldest milestone that is kept: what came later is due. */
  restsFrom: number | undefined;
  /** Whether the settings have all keys of the coordinator: else milestones are none for the node. */
  hasKeys: boolean;
  comeback: (Comeback & { since: number }) | undefined;
  /** A block upon blocks from before the snapshot that a liar, who was alone, called unreferenced. */
  believed: string | undefined;
  /** What was counted, at the end of each window; below an import nothing is fetched. */
  readonly economy: {
    at: number;
    d1Calls: number;
    requests: number;
    denied: number;
    lines: number;
    blocks: number;
    /** Of the blocks those that milestones of the ledger reference. */
    applied: number;
  }[] = [];
  /** When something was put into KV lately. */
  readonly puts: number[] = [];
  /** Entries of NFTs that were put into KV, and when. */
  readonly entries: { id: string; generation: string; ledgerIndex: number; at: number }[] = [];
  /** Whether something was put by a clock that was wrong: times in KV are, from then on. */
  wasPutAstray = false;
  /** Lines of the log that were looked at. */
  linesRead = 0;
  /** The database as it was during the story. */
  backup: Uint8Array | undefined;
  /** Ledgers that were replaced. */
  imports = 0;
  /** When the latest one began or ended. */
  importedAt = 0;
  /** Milestone of the latest snapshot. */
  importedTo = 0;
  /** The latest ledger index that a client has seen, of this ledger. */
  seenIndex = 0;
  /** Runs until it is called: an overlapping version. */
  endOverlap: (() => void) | undefined;
  /** When it began. */
  overlapAt = Number.NEGATIVE_INFINITY;
  /** The network's last milestone, and when upstreams learnt of it. */
  latest = { index: 0, at: 0 };
  readonly #asked = new Set<Asked>();
  readonly #applied: { seen: number; all: { at: number; index: number }[] } = { seen: 0, all: [] };
  #blocksSeen = 0;

  private constructor(
    { seed, settings }: Story,
    {
      simulation,
      network,
      ancient,
      unnamed,
      access,
    }: ReturnType<typeof beginNetwork> & { simulation: Simulation; access: Access },
    upstreams: UpstreamDouble[],
    node: SimulatedNode,
  ) {
    this.settings = settings;
    this.simulation = simulation;
    this.network = network;
    this.life = newLife(network);
    this.truth = new Truth(network);
    this.upstreams = upstreams;
    this.access = access;
    this.liar = upstreams[settings.upstreams.findIndex(({ isLiar }) => isLiar)];
    this.node = node;
    this.start = simulation.now;
    this.ancient = ancient;
    this.unnamed = unnamed;
    this.hasKeys = settings.missingKeys === 0;
    this.readers = new Random(`readers ${seed}`);
  }

  static async open(story: Story, makeIsolate: MakeIsolate): Promise<World> {
    const { seed, settings } = story;
    const before = beginNetwork(settings);
    const { network } = before;
    const start = 1000 * network.milestones.at(-1)!.timestamp;
    const simulation = new Simulation(seed, start);
    const upstreams = settings.upstreams.map(
      ({ hasFeed }, i) =>
        new UpstreamDouble(simulation, network, addressOf(i, settings.isOneHost), { hasFeed }),
    );
    const access = {
      firsts: new Set([upstreams[0]!.address]),
      tokens: new Set([`Bearer ${UPSTREAM_TOKEN}`]),
    };
    const node = await SimulatedNode.open({
      simulation,
      makeIsolate,
      isolateCount: settings.isolates,
      mostOfObject: statementsOfObject(settings.limits),
      staleMs: settings.staleMs,
      vars: varsOf(settings, network, upstreams),
      fetch: (url, init) => {
        const upstream = upstreams.find(({ address }) => url.startsWith(`http://${address}/`))!;
        const { address } = upstream;
        const said = new Headers(init?.headers).get('authorization');
        if (init?.redirect !== 'manual')
          return Promise.reject(new RangeError(`${address}: may lead elsewhere`));
        const { firsts, tokens } = access;
        // one that was not always the first may have none
        const isDue = firsts.has(address) && (firsts.size === 1 || said !== null);
        if (isDue ? !tokens.has(said ?? '') : said !== null)
          return Promise.reject(new RangeError(`${address}: a token where none is due, or none`));
        return upstream.fetch(url, init);
      },
    });
    const world = new World(story, { simulation, ...before, access }, upstreams, node);
    const { UPSTREAM_URL = '' } = node.vars;
    node.deploy({ UPSTREAM_URL: '' });
    for (const path of WITHOUT_LEDGER)
      world.ask(path, ({ status }) => {
        if (status < 500) world.wrong('safety', `${path} without a ledger: status ${status}`);
      });
    await simulation.pass(ASKED_MS);
    node.deploy({ UPSTREAM_URL });
    await world.complete(world.importSnapshot(world.snapshotIndex, node.sqlite));
    if (settings.numbersFrom > 1) await world.complete(world.raiseNumbers());
    world.publishNews();
    takeStock(world.life);
    node.disturbances.replicaMs = settings.replicaMs;
    node.start();
    return world;
  }

  /** Keys that may not sign milestones: any more, or yet. */
  get strangers(): readonly KeyPair[] {
    const { network } = this;
    return strangersOf(network)[lastIndex(network) % 2]!.signers;
  }

  /** The milestone that the story's snapshot is of. */
  get snapshotIndex(): number {
    return this.network.genesis.index + this.settings.before;
  }

  /** A snapshot replaces the ledger, as the operator's command does it. */
  async importSnapshot(
    target: number,
    db: Database,
    {
      change = (chunks) => chunks,
      fullTarget = target,
      moreDiffs = 0,
      cutAfter,
      ...more
    }: Files = {},
  ): Promise<void> {
    const { network, node } = this;
    this.importedTo = Math.max(this.importedTo, target);
    for (const upstream of this.upstreams) upstream.snapshotIndex = this.importedTo;
    const options = {
      target: fullTarget,
      stoodOn: [...network.window, ...this.unnamed.slice(0, 1)],
      // a file lacks no announcement: the reference's reach back further than any is made ahead
      moreDiffs: MOST_AHEAD + moreDiffs,
      ...more,
    };
    const full = change([...fullSnapshot(network, options)]);
    const isDelta = fullTarget < target;
    const delta = isDelta ? [...deltaSnapshot(network, fullTarget, target)] : undefined;
    const load = (into: Database, file = full) =>
      node.product.loadSnapshot(into, asFile(file), delta && asFile(delta));
    if (cutAfter === undefined) return void (await load(db));
    const first = { ...options, target: network.genesis.index + 1 };
    const tried = cutAfter < SOON_CALLS ? [...fullSnapshot(network, first)] : full;
    const begun = await load(node.operatorsDatabase(cutAfter), tried).then(
      () => 'done',
      () => 'cut off',
    );
    this.note(`import ${begun}`, String(target));
    if (begun !== 'done') await load(db);
  }

  /** As if so many blocks and outputs had been stored before. */
  async raiseNumbers(): Promise<void> {
    const { sqlite } = this.node;
    const sql = 'UPDATE head SET next_block = ?1, next_output = ?1';
    await sqlite.prepare(sql).bind(this.settings.numbersFrom).run();
    await sealRows(sqlite, 'head');
  }

  /** The operator sets all keys. */
  setKeys(): void {
    const { keys, threshold } = this.network.keys;
    this.node.deploy({
      MILESTONE_PUBLIC_KEYS: withFormer(keys, this.network),
      MILESTONE_THRESHOLD: String(threshold),
    });
    this.hasKeys = true;
  }

  /** Begins an import beside all else. */
  startImport(target: number, files?: Files): void {
    this.isImporting = true;
    const done = (result: string) => {
      this.isImporting = false;
      this.noteImport();
      this.note(`import ${result}`, String(target));
    };
    this.importSnapshot(target, this.node.operatorsDatabase(), files).then(
      () => done('done'),
      (error: Error) => {
        done('failed');
        // what is changed may be a milestone
        if (files?.change === undefined) this.wrong('liveness', `an import fails: ${error.stack}`);
      },
    );
    this.noteImport();
  }

  /** Another ledger takes the place, which may be behind. */
  noteImport(): void {
    this.imports++;
    this.importedAt = this.simulation.now;
    this.seenIndex = 0;
    this.economy.length = 0;
  }

  /** The right snapshot takes the place of the damaged one, perhaps an earlier one. */
  repair(target = lastIndex(this.network), onRepaired = () => {}): void {
    const { simulation } = this;
    if (this.isImporting) {
      simulation.after(1000, () => this.repair(target, onRepaired));
      return;
    }
    this.startImport(target);
    const wait = () => {
      if (this.isImporting) return simulation.after(100, wait);
      this.node.catchUp();
      this.isDamaged = false;
      if (this.hasMovedNfts) this.wasDamagedAt = simulation.now;
      onRepaired();
    };
    wait();
  }

  /** Lets time pass until the work is done. */
  async complete<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    done.catch(() => {});
    while (!isDone) {
      await this.simulation.pass(10);
      await Promise.resolve();
    }
    return done;
  }

  /** Lets time pass until it is so, at most so long; what was read last. */
  async until<T>(
    read: () => T | Promise<T>,
    ms: number,
    isSo: (now: T) => boolean = Boolean,
    lookMs = 2000,
  ): Promise<T> {
    const { simulation } = this;
    const end = simulation.now + ms;
    let now = await read();
    while (!isSo(now) && simulation.now < end) {
      await simulation.pass(lookMs);
      now = await read();
    }
    return now;
  }

  /** Nobody disturbs any more: the story is over. */
  get isCalm(): boolean {
    return this.reliable.length > 0;
  }

  /** Whether anything failed, was hostile or was replaced so far: errors may be right then. */
  get isDisturbed(): boolean {
    const { node, imports, hasKeys, settings, isDisturbedLate } = this;
    const isFailing = node.faults > 0 || isDisturbedLate;
    return settings.kind === 'hostile' || isFailing || imports > 0 || !hasKeys;
  }

  /** Whether less is kept, or was, than the settings say. */
  get isShortened(): boolean {
    return SHORTENED.some((step) => this.tally.has(step));
  }

  /** Whether a liar may have been believed about blocks from before the import (SECURITY.md). */
  get wasLiarAlone(): boolean {
    const isSilent = ({ wasSilent, forgotten }: UpstreamDouble) => wasSilent || forgotten > 0;
    const { liar, upstreams, believed } = this;
    const wasAlone = upstreams.every((each) => each === liar || isSilent(each));
    return liar !== undefined && (wasAlone || believed !== undefined);
  }

  /** Whether upstreams had all blocks at any time, and said so. */
  get wasServed(): boolean {
    const isServing = ({ wasSilent, denied }: UpstreamDouble) => !wasSilent && denied === 0;
    return this.liar === undefined && this.upstreams.every(isServing);
  }

  /** The liar is gone for good, and the others are back. */
  comeBack({ refusing, isPruned }: Comeback, upstreams: readonly UpstreamDouble[]): void {
    this.comeback = { refusing, isPruned, since: lastIndex(this.network) };
    this.liar?.leave();
    for (const upstream of upstreams) {
      upstream.recover();
      upstream.conduct.refusing = refusing;
      if (isPruned) upstream.prune(this.snapshotIndex, true);
    }
  }

  /** Until the scrub has found it, a damaged key may hide a row (docs/storage.md#the-scrub). */
  get mayHideRows(): boolean {
    return this.isRowFlipped && !this.isScrubbed;
  }

  /** Until then a damaged ID hides that a milestone references its block. */
  get mayHideReferences(): boolean {
    return this.mayHideRows && this.notes.some((note) => / flipped id_/.test(note));
  }

  /** Whether nothing is a reason for an error. */
  get mustAnswer(): boolean {
    const { isFlipped, isDamaged, isDisturbed, restsFrom } = this;
    return !isFlipped && !isDamaged && (restsFrom !== undefined || !isDisturbed);
  }

  /** Milliseconds since the beginning. */
  get elapsed(): number {
    return this.simulation.now - this.start;
  }

  note(what: string, detail = ''): void {
    this.tally.set(what, (this.tally.get(what) ?? 0) + 1);
    this.notes.push(`${this.elapsed} ${what} ${detail}`);
  }

  wrong(kind: Invariant, message: string): void {
    this.note(`WRONG ${kind}`, message);
    this.failures.push(new Wrong(kind, message, this.elapsed));
  }

  /** Upstreams learn of new blocks, and push what they have come to know. */
  publishNews(): void {
    const { blocks } = this.network;
    const ids = blocks.size === this.#blocksSeen ? [] : [...blocks.keys()].slice(this.#blocksSeen);
    this.#blocksSeen = blocks.size;
    for (const upstream of this.upstreams) upstream.came(ids);
    const index = lastIndex(this.network);
    if (index !== this.latest.index) this.latest = { index, at: this.simulation.now };
  }

  /**
   * What a client asks; it looks at the answer, unless none comes.
   *
   * @param lookLater at an answer of a ledger that a damaged snapshot made
   * @param leavesAfter milliseconds after which it waits no longer
   */
  ask(
    path: string,
    look: (answer: Response) => void | Promise<void>,
    init?: RequestInit,
    lookLater: (answer: Response) => void | Promise<void> = hangUp,
    leavesAfter?: number,
  ): void {
    const asked = { path, at: this.simulation.now };
    const { isDamaged } = this;
    const mayBeRaw = new Headers(init?.headers).has('accept');
    this.#asked.add(asked);
    const onAnswer = async (answer: Response) => {
      const detail = answer.headers.get('x-error-detail') ?? '';
      const named = this.upstreams.find(({ host }) => detail.includes(host));
      const said = JSON.stringify([...answer.headers]);
      if (SECRETS.some((each) => said.includes(each)))
        this.wrong('safety', `${path} tells a secret`);
      if (NO_VALUE.test(said)) this.wrong('silence', `${path} lacks a value: ${said}`);
      if (answer.headers.get('access-control-allow-origin') !== '*')
        this.wrong(
          'safety',
          `${path}: pages of other origins may not read status ${answer.status}`,
        );
      if (answer.status >= 400 && answer.headers.get('cache-control')?.includes('public'))
        this.wrong('safety', `${path}: caches keep status ${answer.status}`);
      if (named !== undefined) this.wrong('safety', `${path} names an upstream: ${detail}`);
      void formFault(path, answer, mayBeRaw).then((fault) => {
        if (fault !== undefined)
          this.wrong('safety', `${path}: status ${answer.status}, and ${fault}`);
      });
      if (answer.status >= 500 && this.node.vars.RETENTION_MILESTONES === NO_RETENTION) return;
      if (!isDamaged && !this.isDamaged) return look(answer);
      this.note(`damaged ${answer.status}`, path);
      return lookLater(answer);
    };
    this.node
      .ask(path, init, leavesAfter)
      .then(
        (answer) =>
          // a body that nobody can read
          onAnswer(answer).catch((error: Error) => this.wrong('safety', `${path}: ${error.stack}`)),
        (error: Error) => this.note('no answer', `${path} ${error.message}`),
      )
      .finally(() => this.#asked.delete(asked));
  }

  /** Requests that were not answered within so long. */
  unanswered(ms: number): Asked[] {
    return [...this.#asked].filter(({ at }) => this.simulation.now - at > ms);
  }

  /** The last milestone that was applied before a time, by the log. */
  appliedBefore(at: number): number {
    const { lines } = this.node;
    for (; this.#applied.seen < lines.length; this.#applied.seen++) {
      const line = lines[this.#applied.seen]!;
      const [, index] = /"follower.milestone-applied","index":(\d+)/.exec(line.text) ?? [];
      if (index !== undefined) this.#applied.all.push({ at: line.at, index: Number(index) });
    }
    return this.#applied.all.findLast((each) => each.at <= at)?.index ?? 0;
  }

  async hasFollowed(): Promise<boolean> {
    return (await this.ledgerIndex()) >= lastIndex(this.network);
  }

  /** Where the ledger is, by its database. */
  async ledgerIndex(): Promise<number> {
    const row = await this.node.sqlite.prepare('SELECT ledger FROM head').first('ledger');
    return Number(row ?? -1);
  }
}

/** What is asked before anything was imported, when nothing may be called absent. */
const WITHOUT_LEDGER = [
  '/health',
  '/api/core/v2/info',
  `/api/core/v2/outputs/0x${'ab'.repeat(34)}`,
  `/api/indexer/v1/outputs/nft/0x${'ab'.repeat(32)}`,
  '/api/indexer/v1/outputs/nft',
  `/api/edge/v1/nfts/0x${'ab'.repeat(32)}/history`,
  '/api/edge/v1/changes/nfts?after=1',
];
const ASKED_MS = 500;

/** Types of bodies where they are of an API. */
const TYPES = ['application/json', 'application/vnd.iota.serializer-v1'];

/** What is wrong with the form of an answer, whatever was asked (docs/contract.md#errors). */
async function formFault(
  path: string,
  answer: Response,
  mayBeRaw: boolean,
): Promise<string | undefined> {
  const { status, headers, body } = answer;
  const isError = status >= 400;
  if (path === '/health' && status === 503 && !headers.get('x-error-detail'))
    return 'nobody is told why';
  const type = headers.get('content-type') ?? '';
  const types = TYPES.slice(0, mayBeRaw && !isError ? 2 : 1);
  if (!path.startsWith('/api/') || (status !== 200 && !isError)) return undefined;
  if (!types.includes(type)) return `a body of type "${type}"`;
  if (!isError || body === null) return undefined;
  const text = await answer.clone().text();
  return text.startsWith(`{"error":{"code":${status},"message":"`) ? undefined : text;
}

const SHORTENED = ['nearlyFull', 'fullDisk', 'setRetention'];

function asFile(chunks: readonly Uint8Array[]) {
  const stream = async function* () {
    yield* chunks;
  };
  return { size: chunks.reduce((sum, { length }) => sum + length, 0), chunks: stream() };
}

/** What asks for a token, and the one that opens it. */
export const PROTECTED_PATH = '/api/routes';
export const API_TOKEN = 'token-of-the-simulated-node';
export const API_USER = 'operator';
export const API_PASSWORD = 'password-of-the-simulated-node';
/** A mistake of the operator, by which every answer is an error. */
export const NO_RETENTION = 'many';
/** The first upstream asks for it. */
export const UPSTREAM_TOKEN = 'token-of-the-first-upstream';
export const SECRETS = [API_TOKEN, API_PASSWORD, UPSTREAM_TOKEN];

/** What code says of a value that it lacks; no sentence has it, but of what a check received. */
export const NO_VALUE = /(?<!but received )\b(?:undefined|NaN)\b|\[object /;

/** A WebSocket that nobody takes would stay, and count, for ever. */
function hangUp(answer: Response): void {
  (answer as { webSocket?: Socket | null }).webSocket?.close(1006);
}

/** Whether a route is not public: in some stories. */
export const hidesTreasury = ({ keepsHistory }: Settings): boolean => keepsHistory;

/** Whether it asks for a token where it is public: in some stories. */
export const protectsTreasury = ({ indexesAll }: Settings): boolean => indexesAll;

/** Whether the operator says which token the network has: in some stories. */
export const namesToken = ({ indexesAll }: Settings): boolean => indexesAll;

/** As no upstream has it. */
export const OWN_TOKEN = {
  name: 'Own',
  tickerSymbol: 'OWN',
  unit: 'OWN',
  decimals: 3,
  useMetricPrefix: true,
};

/** All other routes. */
const WITHOUT_TREASURY = [
  '/',
  '/nft/*',
  '/robots.txt',
  '/health',
  '/metrics',
  '/api/routes',
  '/api/mqtt/v1',
  '/api/poi/*',
  '/api/indexer/*',
  '/api/edge/*',
  ...['/', 'nothing', 'info', 'whiteflag', 'tips'].map((name) => `/api/core/v2/${name}`),
  ...['blocks', 'outputs', 'milestones', 'transactions', 'receipts'].map(
    (name) => `/api/core/v2/${name}*`,
  ),
];

const addressOf = (place: number, isOneHost: boolean): string =>
  isOneHost ? `nodes.test/${place}` : `upstream-${place}.test`;

export const urlOf = (upstreams: readonly UpstreamDouble[]): string =>
  upstreams.map(({ address }) => `http://${address}`).join();

function varsOf(
  settings: Settings,
  network: SyntheticNetwork,
  upstreams: readonly UpstreamDouble[],
): Record<string, string> {
  const { keys, threshold } = network.keys;
  const known = settings.missingKeys > 0 ? keys.slice(settings.missingKeys) : keys;
  return {
    UPSTREAM_URL: urlOf(upstreams),
    UPSTREAM_TOKEN,
    MILESTONE_PUBLIC_KEYS: withFormer(known, network),
    MILESTONE_THRESHOLD: String(Math.min(threshold, known.length)),
    PUBLIC_ROUTES: hidesTreasury(settings) ? WITHOUT_TREASURY.join() : '/*,/metrics,/api/mqtt/v1',
    // in any case
    PROTECTED_ROUTES: [
      PROTECTED_PATH.replace('routes', 'Routes'),
      ...(protectsTreasury(settings) ? ['/api/*/treasury'] : []),
    ].join(),
    API_TOKEN,
    API_USER,
    API_PASSWORD,
    RETENTION_MILESTONES: String(settings.retention),
    ...(settings.isServe && { ONE_ISOLATE: 'true' }),
    HISTORY: settings.keepsHistory ? 'all' : '',
    INDEX: settings.indexesAll ? 'all' : '',
    BASE_TOKEN: namesToken(settings) ? JSON.stringify(OWN_TOKEN) : '',
  };
}

/** Keys that could sign the first milestone, and those that may sign once a story is over. */
function strangersOf(network: SyntheticNetwork): { signers: KeyPair[]; range: string }[] {
  const first = network.genesis.index + 1;
  const signersOf = (...accounts: number[]) => accounts.map((each) => network.account(each));
  return [
    { signers: signersOf(100, 101), range: `${first}-${first}` },
    { signers: signersOf(102, 103), range: `${first + BEYOND}-0` },
  ];
}

/** Milestones that no story has. */
const BEYOND = 10_000;

/** Keys as a setting, and those of strangers. */
function withFormer(keys: readonly { publicKey: Uint8Array }[], network: SyntheticNetwork): string {
  const others = strangersOf(network).flatMap(({ signers, range }) =>
    signers.map(({ publicKey }) => `${publicKey.toHex()}@${range}`),
  );
  return [...keys.map(({ publicKey }) => publicKey.toHex()), ...others].join();
}

const TREASURY = 1_000_000_000_000n;

/** A score that no block has by chance. */
const WORK = 1_000_000;

/** Blocks of another chain, where somebody lies: a snapshot names the last ones, with the newest. */
const UNNAMED = 12;

/**
 * The network before the story: milestones over chains of blocks, of which a snapshot names the
 * first and the last, and not those between. A first milestone is there in any case.
 */
function beginNetwork({
  before,
  genesisIndex,
  genesisTimestamp,
  belowMaxDepth,
  upstreams,
  needsWork,
}: Settings) {
  // the same keys in all stories: what was verified once need not be again
  const network = new SyntheticNetwork({
    seed: 'simulated',
    genesisIndex,
    genesisTimestamp,
    parameters: { belowMaxDepth, minPowScore: needsWork ? WORK : 0 },
    treasury: TREASURY,
  });
  network.random = new Random('before');
  network.milestone();
  const hasLiar = upstreams.some(({ isLiar }) => isLiar);
  const chainOf = (length: number) => {
    const chain = [network.milestoneBlock!];
    for (let i = 0; i < length; i++) chain.push(network.note([chain.at(-1)!]));
    return chain;
  };
  let ancient: string[] = [];
  let unnamed: string[] = [];
  for (let i = 1; i < before; i++) {
    const others = hasLiar ? chainOf(UNNAMED) : [];
    const chain = chainOf(3);
    network.milestone({
      parents: [network.milestoneBlock!, chain.at(-1)!, ...others.slice(-1)],
    });
    ancient = chain;
    unnamed = others.slice(0, 1 + (UNNAMED >> 1));
  }
  return { network, ancient, unnamed };
}
