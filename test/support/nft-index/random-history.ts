/**
 * One random history of the index: milestones, imports, KV namespaces exchanged, publishers that
 * overlap, stall, fail and die at any call, and readers that get any copy. The code that publishes
 * and looks up is the real one, over models of D1 and KV.
 *
 * Checked: every answer is true at the ledger index it names, and D1 gave it whenever `recent` was
 * missing, malformed or old.
 */

import type { RecentCache } from '../../../src/nft-index/cached-reads.ts';
import { RememberedReads } from '../../../src/nft-index/cached-reads.ts';
import { entryKey, type IndexReader, readEntry } from '../../../src/nft-index/kv-values.ts';
import { lookUpNft, type NftAnswer, type NftSources } from '../../../src/nft-index/look-up-nft.ts';
import type { IndexLedger, IndexStore, NftRow } from '../../../src/nft-index/ports.ts';
import { publish } from '../../../src/nft-index/publish.ts';
import { RECENT_KEY, readRecent } from '../../../src/nft-index/recent-changes.ts';
import {
  MAX_CLOCK_SKEW_MS,
  MAX_COPY_AGE_MS,
  MAX_RECENT_AGE_MS,
  MAX_WRITE_AGE_MS,
  PUT_WITHIN_MS,
  REMEMBER_MS,
} from '../../../src/nft-index/timing-assumptions.ts';
import { type History, MemoryLedger } from './memory-ledger.ts';
import { ModelCache } from './model-cache.ts';
import { ModelKv } from './model-kv.ts';
import { Chance, Simulation } from './simulation.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

/** Two of them have the same prefix. */
const NFTS = ['11', '22', '33', '3344', '55'].map((digits) =>
  digits.padEnd(8, '0').padEnd(64, digits),
);
const NEVER_MINTED = '9'.repeat(64);

const MALFORMED = ['', '{', 'null', '[]', '"recent"', '{"generation":"g1"}', '{"from":1,"to":0}'];

const ACTIONS = 150;

/** How many lookups were answered for which reason (`why` in look-up-nft.ts), or by the cache. */
export type Counts = Map<string, number>;

/** Runs the seed's history. Rejects at the first answer that is not true. */
export async function runHistory(seed: number, counts: Counts): Promise<void> {
  await new RandomHistory(seed, counts).run();
}

/** A machine's clock is off by no more, so that two of them differ by less than the maximum. */
const CLOCK_ERROR_MS = MAX_CLOCK_SKEW_MS / 2 - 1;

class RandomHistory {
  readonly #seed: number;
  readonly #counts: Counts;
  readonly #chance: Chance;
  readonly #simulation = new Simulation(1_700_000_000_000);
  readonly #ledger = new MemoryLedger();
  /** Two namespaces, of which the last one is bound. */
  readonly #namespaces: ModelKv[];
  /** Of two data centres. */
  #caches: ModelCache[] = [];
  readonly #histories = new Map<string, History>();
  #imports = 0;
  /** How far each machine's clock is off, milliseconds. */
  readonly #clocks: number[];
  readonly #bounds: { states: number; changes: number };
  readonly #troubled: boolean;
  #failure: unknown;

  constructor(seed: number, counts: Counts) {
    this.#seed = seed;
    this.#counts = counts;
    const chance = new Chance(seed);
    this.#chance = chance;
    // For a reader, a late landing and an old copy are the same: their sum stays below the maximum
    // age of a copy, and so does what an isolate remembers.
    const landing = chance.pick([SECOND_MS, 2 * MINUTE_MS, MAX_WRITE_AGE_MS - PUT_WITHIN_MS]);
    const copyAge = MAX_COPY_AGE_MS - landing - 2 * REMEMBER_MS;
    const times = { landing, copyAge, mayExpire: this.#mayExpire };
    this.#namespaces = ['a', 'b'].map(
      (version) => new ModelKv(version, this.#simulation, chance, times),
    );
    this.#openCaches();
    this.#clocks = Array.from({ length: 3 }, () => chance.between(-CLOCK_ERROR_MS, CLOCK_ERROR_MS));
    this.#bounds = { states: chance.between(1, 6), changes: chance.between(0, 6) };
    this.#troubled = chance.happens(60);
  }

  /**
   * What a ledger that was replaced has put stays for long
   * (docs/nft-index.md#a-tombstone-expires). So does the tombstone of an NFT that came back: no
   * network has that, as an NFT's ID is a hash over the output that minted it.
   */
  readonly #mayExpire = (key: string, value: string): boolean => {
    const { history } = this.#ledger;
    const nft = NFTS.find((id) => entryKey(id) === key)!;
    const entry = readEntry(nft, value);
    return (
      entry.kind === 'value' &&
      entry.value.generation === history?.generation &&
      history!.outputAt(nft, history!.ledger) === null
    );
  };

  get #kv(): ModelKv {
    return this.#namespaces.at(-1)!;
  }

  /** They belong to a version of the Worker. */
  #openCaches(): void {
    this.#caches = Array.from({ length: 2 }, () => new ModelCache(this.#chance));
  }

  async run(): Promise<void> {
    const chance = this.#chance;
    this.#import();
    const step = chance.pick([2 * SECOND_MS, 20 * SECOND_MS, 2 * MINUTE_MS, 6 * MINUTE_MS]);
    let time = this.#simulation.now;
    for (let i = 0; i < ACTIONS; i++) {
      time += chance.happens(3) ? chance.between(0, 60 * MINUTE_MS) : chance.between(0, 2 * step);
      this.#simulation.at(time, this.#pickAction());
    }
    await this.#simulation.run();
    if (this.#failure !== undefined) throw this.#failure;
  }

  #pickAction(): () => void {
    const dice = this.#chance.between(1, 1_000);
    if (dice <= 500) return () => this.#spawn(this.#publish());
    if (dice <= 620) return () => this.#ledger.apply(this.#someChanges(30));
    if (dice <= 990) return () => this.#readState();
    if (dice <= 993) return () => this.#reindex();
    if (dice <= 996) return () => this.#exchangeNamespaces();
    return () => this.#import();
  }

  /** Notes the first failure, with which the history then ends. */
  #spawn(work: Promise<void>): void {
    work.catch((error: unknown) => {
      this.#failure ??= error;
    });
  }

  /** Replaces the ledger. The publisher fills the index afterwards. */
  #import(): void {
    const last = this.#ledger.history?.ledger ?? 100;
    const start = Math.max(1, last + this.#chance.between(-20, 20));
    const generation = `g${this.#imports++}`;
    this.#ledger.import(generation, start, this.#someChanges(60));
    this.#histories.set(generation, this.#ledger.history!);
  }

  /** What `stardust-edge reindex` does. */
  #reindex(): void {
    this.#ledger.row = undefined;
  }

  /**
   * Binds the other namespace, by a deployment: publishers of the version before are ended. Often it
   * was a mistake, and is soon undone.
   */
  #exchangeNamespaces(): void {
    this.#namespaces.reverse();
    this.#openCaches();
    this.#count('namespaces exchanged');
    if (!this.#chance.happens(50)) return;
    const back = this.#simulation.now + this.#chance.between(0, 40 * MINUTE_MS);
    this.#simulation.at(back, () => this.#exchangeNamespaces());
  }

  #someChanges(percent: number): NftRow[] {
    return NFTS.filter(() => this.#chance.happens(percent)).map((nft) => ({
      nft,
      output: this.#chance.happens(25)
        ? null
        : Array.from({ length: 17 }, () => this.#chance.between(0x1000, 0xffff).toString(16)).join(
            '',
          ),
    }));
  }

  async #publish(): Promise<void> {
    const chance = this.#chance;
    const skew = chance.pick(this.#clocks);
    const kv = this.#kv;
    const trouble = new Trouble(
      this.#simulation,
      chance,
      this.#troubled && chance.happens(40),
      () => this.#kv !== kv,
    );
    const budget = { operations: chance.between(4, 12), statements: chance.between(20, 60) };
    try {
      await publish(
        trouble.wrapLedger(this.#ledger),
        trouble.wrapStore(kv),
        () => this.#simulation.now + skew,
        budget,
        kv.version,
        this.#bounds,
      );
      if (chance.happens(50)) this.#ledger.prune();
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
    }
  }

  /**
   * One lookup, or two within the second for which an isolate remembers. A publisher often begins
   * shortly before; otherwise most copies of `recent` would be old.
   */
  #readState(): void {
    const chance = this.#chance;
    if (chance.happens(70)) this.#spawn(this.#publish());
    const cache = chance.happens(60) ? chance.pick(this.#caches) : undefined;
    const reader = new Reader(this.#kv, cache, chance);
    const nft = chance.pick([...NFTS, NEVER_MINTED]);
    const skew = chance.pick(this.#clocks);
    const sources = {
      ledger: this.#ledger,
      index: reader,
      openCache: () => cache && reader,
      remembered: new RememberedReads(),
      clock: () => this.#simulation.now + skew,
    };
    const first = this.#simulation.now + chance.between(0, 10 * SECOND_MS);
    for (const time of chance.happens(20)
      ? [first, first + chance.between(0, REMEMBER_MS)]
      : [first]) {
      this.#simulation.at(time, () => this.#spawn(this.#lookOnce(nft, sources, reader)));
    }
  }

  async #lookOnce(nft: string, sources: NftSources, reader: Reader): Promise<void> {
    const min = this.#chance.happens(80)
      ? 0
      : (this.#ledger.history?.ledger ?? 0) - this.#chance.between(-1, 5);
    const answer = await lookUpNft(sources, nft, min, {
      url: 'https://edge.example/',
      defer: (work) => this.#defer(work),
    });
    this.#check(nft, min, answer, reader.recent, sources.clock());
    if (answer?.source === 'kv' && reader.isCached) this.#count('recent was cached');
    if (answer?.why === 'age' && reader.hasExpired) this.#count('tombstone had expired');
  }

  /** Work that is deferred is done at some time, or never. */
  #defer(work: () => Promise<unknown>): void {
    const time = this.#simulation.now + this.#chance.between(0, SECOND_MS);
    if (this.#chance.happens(95))
      this.#simulation.at(time, () => this.#spawn(work().then(() => {})));
  }

  #count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  #check(
    nft: string,
    min: number,
    answer: NftAnswer | undefined,
    recentText: string | null,
    now: number,
  ): void {
    const { history } = this.#ledger;
    const asked = `${nft.slice(0, 8)} at least at ${min}`;
    const what = `history ${this.#seed}: ${asked}: ${JSON.stringify(answer)}`;
    if (answer === undefined) throw new Error(`${what}, though there is a ledger`);
    this.#count(answer.why);
    const source = answer.source === 'd1' ? history! : this.#findSource(recentText, now, what);
    const { ledgerIndex, outputId } = answer;
    const truth = source.outputAt(nft, ledgerIndex) ?? undefined;
    if (ledgerIndex < source.start || ledgerIndex > source.ledger)
      throw new Error(`${what}, not a state that was`);
    if (ledgerIndex < min && history!.ledger >= min) throw new Error(`${what}, though D1 has it`);
    if (truth !== outputId) throw new Error(`${what}, truth ${truth}`);
  }

  /** The ledger that `recent` describes, which may have been replaced since. */
  #findSource(recentText: string | null, now: number, what: string): History {
    const recent = readRecent(recentText);
    if (recent.kind !== 'value') throw new Error(`${what}, though recent was ${recent.kind}`);
    if (now - recent.value.publishedAt > MAX_RECENT_AGE_MS)
      throw new Error(`${what}, though recent was old`);
    return this.#histories.get(recent.value.generation)!;
  }
}

/** What one isolate reads: of KV, and of its data centre's cache where it has one. */
class Reader implements IndexReader, RecentCache {
  /** What was read last as `recent`, and whether that came out of the cache. */
  recent: string | null = null;
  isCached = false;
  /** Whether the entry had expired when it was read last. */
  hasExpired = false;
  readonly #kv: ModelKv;
  readonly #cache: ModelCache | undefined;
  readonly #chance: Chance;

  constructor(kv: ModelKv, cache: ModelCache | undefined, chance: Chance) {
    this.#kv = kv;
    this.#cache = cache;
    this.#chance = chance;
  }

  async match(): Promise<string | undefined> {
    const text = await this.#cache?.match();
    if (text !== undefined) this.#keepRecent(text, true);
    return text;
  }

  async put(text: string): Promise<void> {
    await this.#cache?.put(text);
  }

  async get(key: string): Promise<string | null> {
    const text = this.#read(key);
    if (key === RECENT_KEY) this.#keepRecent(text, false);
    return text;
  }

  #keepRecent(text: string | null, isCached: boolean): void {
    this.recent = text;
    this.isCached = isCached;
  }

  #read(key: string): string | null {
    const text = this.#kv.read(key);
    if (key !== RECENT_KEY) this.hasExpired = this.#kv.hasExpired;
    if (this.#chance.happens(94)) return text;
    // An entry may be malformed but never lost: that would be a copy older than the maximum.
    if (key !== RECENT_KEY) return `${text}}`;
    return this.#chance.pick([null, text?.slice(1) ?? '', ...MALFORMED]);
  }
}

class Fault extends Error {}

/**
 * What may happen to a publisher at any call: the call takes long, it fails, or the publisher dies.
 * The call may have had its effect or not.
 */
class Trouble {
  readonly #simulation: Simulation;
  readonly #chance: Chance;
  /** Calls until it happens. */
  #left: number;
  readonly #hasEnded: () => boolean;

  /** @param hasEnded whether the publisher's version of the Worker runs no more */
  constructor(simulation: Simulation, chance: Chance, strikes: boolean, hasEnded: () => boolean) {
    this.#simulation = simulation;
    this.#chance = chance;
    this.#hasEnded = hasEnded;
    this.#left = strikes ? chance.between(1, 12) : Number.POSITIVE_INFINITY;
  }

  wrapLedger(ledger: IndexLedger): IndexLedger {
    const wrap =
      <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
      (...args: A): Promise<R> =>
        this.#call(() => call.apply(ledger, args));
    return {
      readState: wrap(ledger.readState),
      swap: wrap(ledger.swap),
      readChanges: wrap(ledger.readChanges),
      readNfts: wrap(ledger.readNfts),
      readWindow: wrap(ledger.readWindow),
    };
  }

  wrapStore(kv: ModelKv): IndexStore {
    return {
      get: (key) => this.#call(async () => kv.read(key)),
      put: (...pair) => this.#put(kv, ...pair),
    };
  }

  /** Time passes before the effect and after it. */
  async #call<R>(effect: () => Promise<R>): Promise<R> {
    const fate = this.#pickFate();
    await this.#pass();
    if (this.#hasEnded()) return this.#end();
    if (fate === 'nothing happens') return this.#end();
    const result = await effect();
    if (fate === 'it happens unnoticed') return this.#end();
    await this.#pass();
    return result;
  }

  async #put(kv: ModelKv, ...pair: Parameters<IndexStore['put']>): Promise<void> {
    const fate = this.#pickFate();
    if (this.#hasEnded() || fate === 'nothing happens') return this.#end();
    const acknowledged = kv.put(...pair);
    if (fate === 'it happens unnoticed') return this.#end();
    await this.#waitUntil(acknowledged);
    await this.#pass();
  }

  #pickFate(): 'as it should' | 'nothing happens' | 'it happens unnoticed' {
    this.#left--;
    if (this.#left > 0) return 'as it should';
    return this.#chance.pick(['nothing happens', 'it happens unnoticed']);
  }

  /** The call fails, or never returns. */
  #end(): Promise<never> {
    if (this.#chance.happens(50)) throw new Fault('D1 or KV failed');
    return new Promise(() => {});
  }

  #pass(): Promise<void> {
    const long = this.#chance.happens(5)
      ? this.#chance.pick([PUT_WITHIN_MS, 20 * MINUTE_MS, 60 * MINUTE_MS])
      : 100;
    return this.#waitUntil(this.#simulation.now + this.#chance.between(1, long));
  }

  #waitUntil(time: number): Promise<void> {
    return new Promise((resume) => this.#simulation.at(time, resume));
  }
}
