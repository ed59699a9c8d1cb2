/**
 * One random history of the index: milestones, imports, publishers that overlap, stall, fail and die at any call, and readers that meet any copy. The code that
 * publishes and looks up is the real one, over the models of D1 and KV.
 *
 * Held to: every answer is true at the ledger index it names, and whenever `recent` is missing, malformed or old, D1 gave it.
 */
import { entryKey, writeEntry } from '../../../src/nft-index/kv-entry.ts';
import { lookUpIn, type NftAnswer } from '../../../src/nft-index/look-up-nft.ts';
import type { IndexLedger, IndexReader, IndexStore, NftRow } from '../../../src/nft-index/ports.ts';
import { publishTo } from '../../../src/nft-index/publish.ts';
import { RECENT_KEY, readRecent } from '../../../src/nft-index/recent-changes.ts';
import { Memory } from '../../../src/nft-index/remembered-reads.ts';
import {
  CLOCKS,
  COPY_AGE,
  PUT_WITHIN,
  RECENT_AGE,
  REMEMBERED,
  WRITE_AGE,
} from '../../../src/nft-index/timing-assumptions.ts';
import { type History, MemoryLedger } from './memory-ledger.ts';
import { ModelKv } from './model-kv.ts';
import { Chance, Simulation } from './simulation.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Two with the same name among the others, and one that is never minted. */
const NFTS = ['11', '22', '33', '3344', '55'].map((digits) =>
  digits.padEnd(8, '0').padEnd(64, digits),
);
const NEVER_MINTED = '9'.repeat(64);

const MALFORMED = ['', '{', 'null', '[]', '"recent"', '{"generation":"g1"}', '{"from":1,"to":0}'];

const ACTIONS = 150;

/** How many lookups were answered by what. */
export type Counts = Map<string, number>;

/** Runs the history that the seed stands for; fails at the first answer that is not true. */
export async function runHistory(seed: number, counts: Counts): Promise<void> {
  await new RandomHistory(seed, counts).run();
}

/** A machine's clock is off by less than this; two of them together by less than {@link CLOCKS}. */
const SKEW = CLOCKS / 2 - 1;

class RandomHistory {
  readonly #seed: number;
  readonly #counts: Counts;
  readonly #chance: Chance;
  readonly #simulation = new Simulation(1_700_000_000_000);
  readonly #ledger = new MemoryLedger();
  readonly #kv: ModelKv;
  readonly #histories = new Map<string, History>();
  #imports = 0;
  /** How far each machine's clock is off. */
  readonly #clocks: number[];
  readonly #bounds: { answers: number; others: number };
  readonly #troubled: boolean;
  #failure: unknown;

  constructor(seed: number, counts: Counts) {
    this.#seed = seed;
    this.#counts = counts;
    const chance = new Chance(seed);
    this.#chance = chance;
    // late in landing and old as a copy come to the same for a reader: together they stay below W, less the second that an isolate remembers
    const landing = chance.pick([SECOND, 2 * MINUTE, WRITE_AGE - PUT_WITHIN]);
    this.#kv = new ModelKv(this.#simulation, chance, {
      landing,
      copyAge: COPY_AGE - landing - 2 * REMEMBERED,
    });
    this.#clocks = Array.from({ length: 3 }, () => chance.between(-SKEW, SKEW));
    this.#bounds = { answers: chance.between(1, 6), others: chance.between(0, 6) };
    this.#troubled = chance.happens(60);
  }

  async run(): Promise<void> {
    const chance = this.#chance;
    this.#import();
    const step = chance.pick([2 * SECOND, 20 * SECOND, 2 * MINUTE, 6 * MINUTE]);
    let time = this.#simulation.now;
    for (let i = 0; i < ACTIONS; i++) {
      time += chance.happens(3) ? chance.between(0, 60 * MINUTE) : chance.between(0, 2 * step);
      this.#simulation.at(time, this.#pickAction());
    }
    await this.#simulation.run();
    if (this.#failure !== undefined) throw this.#failure;
  }

  #pickAction(): () => void {
    const dice = this.#chance.between(1, 1_000);
    if (dice <= 500) return () => this.#spawn(this.#publish());
    if (dice <= 620) return () => this.#ledger.apply(this.#someChanges(30));
    if (dice <= 990) return () => this.#look();
    if (dice <= 995) return () => this.#rebuild();
    return () => this.#import();
  }

  /** What fails beside the code under test is noted, so that the history ends with it. */
  #spawn(work: Promise<void>): void {
    work.catch((error: unknown) => {
      this.#failure ??= error;
    });
  }

  /** With the publisher to fill the index, or in bulk before the new ledger is there: that takes its time, and the old one goes on. */
  #import(): void {
    const chance = this.#chance;
    const last = this.#ledger.history?.ledger ?? 100;
    const start = Math.max(1, last + chance.between(-20, 20));
    const generation = `g${this.#imports++}`;
    const nfts = this.#someChanges(60);
    const end = () => {
      this.#ledger.import(generation, start, nfts);
      this.#histories.set(generation, this.#ledger.history!);
    };
    if (this.#ledger.history === undefined || chance.happens(60)) end();
    else this.#putInBulk(generation, start, nfts, end);
  }

  #putInBulk(generation: string, start: number, nfts: readonly NftRow[], end: () => void): void {
    const seal = `seal:${generation}`;
    const pairs = nfts.map(({ nft, output }): [string, string] => [
      entryKey(nft),
      writeEntry({ generation, ledgerIndex: start, outputId: output }),
    ]);
    const putNext = () => {
      const [key, value] = pairs.shift() ?? [seal, generation];
      const next = () => {
        if (key !== seal) return putNext();
        end();
        this.#ledger.adopt(generation, start, seal, this.#simulation.now);
      };
      this.#simulation.at(this.#kv.put(key, value) + this.#chance.between(0, 5 * MINUTE), next);
    };
    putNext();
  }

  /** What the SQL of src/nft-index/seed-index.ts does. */
  #rebuild(): void {
    this.#ledger.row = undefined;
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
    const trouble = new Trouble(this.#simulation, chance, this.#troubled && chance.happens(40));
    const budget = { operations: chance.between(4, 12), statements: chance.between(20, 60) };
    try {
      await publishTo(
        trouble.wrapLedger(this.#ledger),
        trouble.wrapStore(this.#kv),
        () => this.#simulation.now + skew,
        budget,
        this.#bounds,
      );
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
    }
  }

  /** Lookups come one by one or two within the second that an isolate remembers, and often soon after a publisher began: else all copies of `recent` are old. */
  #look(): void {
    const chance = this.#chance;
    if (chance.happens(70)) this.#spawn(this.#publish());
    const memory = new Memory();
    const reader = new Reader(this.#kv, chance);
    const nft = chance.pick([...NFTS, NEVER_MINTED]);
    const skew = chance.pick(this.#clocks);
    const first = this.#simulation.now + chance.between(0, 10 * SECOND);
    for (const time of chance.happens(20)
      ? [first, first + chance.between(0, REMEMBERED)]
      : [first]) {
      this.#simulation.at(time, () => this.#spawn(this.#lookOnce(nft, memory, reader, skew)));
    }
  }

  async #lookOnce(nft: string, memory: Memory, reader: Reader, skew: number): Promise<void> {
    const min = this.#chance.happens(80)
      ? 0
      : (this.#ledger.history?.ledger ?? 0) - this.#chance.between(-1, 5);
    const clock = () => this.#simulation.now + skew;
    const answer = await lookUpIn(this.#ledger, reader, memory, nft, min, clock);
    this.#check(nft, min, answer, reader.recent, clock());
  }

  #check(
    nft: string,
    min: number,
    answer: NftAnswer | undefined,
    recentText: string | null,
    now: number,
  ): void {
    const { history } = this.#ledger;
    const what = `history ${this.#seed}: ${nft.slice(0, 8)} at least at ${min}: ${JSON.stringify(answer)}`;
    if (answer === undefined) throw new Error(`${what}, though there is a ledger`);
    this.#counts.set(answer.why, (this.#counts.get(answer.why) ?? 0) + 1);
    const source = answer.source === 'd1' ? history! : this.#findSource(recentText, now, what);
    const { ledgerIndex, outputId } = answer;
    const truth = source.outputAt(nft, ledgerIndex) ?? undefined;
    if (ledgerIndex < source.start || ledgerIndex > source.ledger)
      throw new Error(`${what}, not a state that was`);
    if (ledgerIndex < min && history!.ledger >= min) throw new Error(`${what}, though D1 has it`);
    if (truth !== outputId) throw new Error(`${what}, truth ${truth}`);
  }

  /** An answer out of KV is one of the ledger that its `recent` tells of, which may have been replaced since. */
  #findSource(recentText: string | null, now: number, what: string): History {
    const recent = readRecent(recentText);
    if (recent.kind !== 'value') throw new Error(`${what}, though recent was ${recent.kind}`);
    if (now - recent.value.publishedAt > RECENT_AGE)
      throw new Error(`${what}, though recent was old`);
    return this.#histories.get(recent.value.generation)!;
  }
}

/** What a lookup reads, and what it was given last as `recent`. */
class Reader implements IndexReader {
  recent: string | null = null;
  readonly #kv: ModelKv;
  readonly #chance: Chance;

  constructor(kv: ModelKv, chance: Chance) {
    this.#kv = kv;
    this.#chance = chance;
  }

  async get(keys: string[]): Promise<Map<string, string | null>> {
    const texts = new Map(keys.map((key) => [key, this.#read(key)]));
    if (texts.has(RECENT_KEY)) this.recent = texts.get(RECENT_KEY) ?? null;
    return texts;
  }

  #read(key: string): string | null {
    const text = this.#kv.read(key);
    if (this.#chance.happens(94)) return text;
    // an entry that is lost is no copy younger than W: only what is read as rubbish counts here
    if (key !== RECENT_KEY) return `${text}}`;
    return this.#chance.pick([null, text?.slice(1) ?? '', ...MALFORMED]);
  }
}

class Fault extends Error {}

/** What may happen to a publisher at any call: it takes long, it fails, or the publisher is gone; the call's effect may be there or not. */
class Trouble {
  readonly #simulation: Simulation;
  readonly #chance: Chance;
  /** Calls until it strikes. */
  #left: number;

  constructor(simulation: Simulation, chance: Chance, strikes: boolean) {
    this.#simulation = simulation;
    this.#chance = chance;
    this.#left = strikes ? chance.between(1, 12) : Number.POSITIVE_INFINITY;
  }

  wrapLedger(ledger: IndexLedger): IndexLedger {
    const wrap =
      <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
      (...args: A): Promise<R> =>
        this.#call(() => call.apply(ledger, args));
    return {
      look: wrap(ledger.look),
      swap: wrap(ledger.swap),
      readChanges: wrap(ledger.readChanges),
      readNfts: wrap(ledger.readNfts),
      readWindow: wrap(ledger.readWindow),
    };
  }

  wrapStore(kv: ModelKv): IndexStore {
    return {
      get: (keys) => this.#call(async () => new Map(keys.map((key) => [key, kv.read(key)]))),
      put: (key, value) => this.#put(kv, key, value),
    };
  }

  /** Time passes before the effect and after it. */
  async #call<R>(effect: () => Promise<R>): Promise<R> {
    const fate = this.#pickFate();
    await this.#pass();
    if (fate === 'nothing happens') return this.#end();
    const result = await effect();
    if (fate === 'it happens unnoticed') return this.#end();
    await this.#pass();
    return result;
  }

  async #put(kv: ModelKv, key: string, value: string): Promise<void> {
    const fate = this.#pickFate();
    if (fate === 'nothing happens') return this.#end();
    const acknowledged = kv.put(key, value);
    if (fate === 'it happens unnoticed') return this.#end();
    await this.#waitUntil(acknowledged);
    await this.#pass();
  }

  #pickFate(): 'as it should' | 'nothing happens' | 'it happens unnoticed' {
    this.#left--;
    if (this.#left > 0) return 'as it should';
    return this.#chance.pick(['nothing happens', 'it happens unnoticed']);
  }

  /** The call fails, or nobody ever hears of it again. */
  #end(): Promise<never> {
    if (this.#chance.happens(50)) throw new Fault('D1 or KV failed');
    return new Promise(() => {});
  }

  #pass(): Promise<void> {
    const long = this.#chance.happens(5)
      ? this.#chance.pick([PUT_WITHIN, 20 * MINUTE, 60 * MINUTE])
      : 100;
    return this.#waitUntil(this.#simulation.now + this.#chance.between(1, long));
  }

  #waitUntil(time: number): Promise<void> {
    return new Promise((resume) => this.#simulation.at(time, resume));
  }
}
