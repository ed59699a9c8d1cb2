/**
 * Runs of the weather: a plan made from a seed, what comes of it, and the shortest plan that still
 * fails.
 */
import { ledgerStateHash } from '../../../src/ledger/read/ledger-state-hash.ts';
import { scrub } from '../../../src/ledger/write/scrub.ts';
import { followerState, ledgerIndex } from '../ledger/ledger-harness.ts';
import { lastIndex, stateHash } from '../network/network-model.ts';
import { Random } from '../network/random.ts';
import { loseOutput, verifyAtOnce } from './edge.ts';
import { type Setting, Sky } from './sky.ts';
import {
  askAndCheck,
  CALM,
  faults,
  HOSTILE,
  happens,
  type Kind,
  pickKind,
  proposal,
  type Weather,
  Wrong,
} from './steps.ts';
import { Turns } from './turns.ts';
import { someLies } from './upstreams.ts';

export interface Plan {
  seed: string;
  setting: Setting;
  /** `seed`: of the step's own numbers. */
  steps: readonly { kind: Kind; seed: number }[];
}

/** How often something came about, by what was noted of it. */
export type Counts = Map<string, number>;

export interface PlanOptions {
  /** Whether anybody is hostile: false leaves an honest network and processes that do not fail. */
  hostile?: boolean;
  /**
   * Kinds and hostile settings (`liar`, `counters`, `heap`) that do not come about; `stored`: it is
   * not required that the last proposal is answered by what is stored.
   */
  without?: readonly string[];
  planted?: Setting['planted'];
}

const MIN_STEPS = 10;
const MAX_STEPS = 60;

export function makePlan(seed: string, options: PlanOptions = {}): Plan {
  const { hostile = true, without = [] } = options;
  const random = new Random(`plan ${seed}`);
  const may = (what: string, chance: number) =>
    random.chance(chance) && hostile && !without.includes(what);
  const setting: Setting = {
    before: random.between(1, 5),
    counters: may('counters', 0.15)
      ? { [random.pick(['block', 'output'])]: nearTheEnd(random) }
      : {},
    ...(may('liar', 0.6) && { liar: { place: random.pick([0, 0, 1, 2]), lies: someLies(random) } }),
    ...(may('heap', 0.35) && { maxPoolHeapBytes: random.between(30, 90) * 1000 }),
    ...(may('faults', 0.4) && { faultEvery: random.between(5, 40) }),
    ...(may('forgetting', 0.4)
      ? { retention: random.between(3, 5), belowMaxDepth: 1 }
      : { retention: 1_000_000, belowMaxDepth: random.chance(0.2) ? 1 : 15 }),
    needsStored: !without.includes('stored'),
    ...(options.planted && { planted: options.planted }),
  };
  const kinds = (hostile ? [...CALM, ...HOSTILE] : CALM).filter((kind) => !without.includes(kind));
  // not every kind in every run: what is rare in one is frequent in another
  const chosen = kinds.filter((kind) => CALM.includes(kind) || random.chance(0.6));
  const lengths = [0, 0].map(() => random.between(MIN_STEPS, MAX_STEPS));
  const steps = Array.from({ length: Math.min(...lengths) }, (_, i) => ({
    kind: pickKind(chosen, random),
    seed: i,
  }));
  return { seed, setting, steps };
}

/** A number some way below or above 2^32 or 2^53. */
function nearTheEnd(random: Random): number {
  const end = random.pick([2 ** 32, 2 ** 32, 2 ** 53]);
  return end === 2 ** 53 ? end - random.between(1, 100) : end + random.between(-100, 3);
}

/** What came of a plan: what was noted of each step, and why it failed if it did. */
export interface Outcome {
  lines: string[];
  failure: Error | undefined;
}

const START = 1_800_000_000_000;

/** Begun in turn, with a clock of their own and without a log. */
export async function runPlan(plan: Plan, counts: Counts = new Map()): Promise<Outcome> {
  const clock = { now: START };
  const turns = new Turns(new Random('start'));
  const unknown: string[] = [];
  const restore = standStill(clock, turns, (line) => unknown.push(line));
  const lines: string[] = [];
  let step = 'start';
  const note = (what: string) => {
    lines.push(`${step}: ${what}`);
    const kind = what.replace(/^[AB]\b:? /, '').split(/[:,\d]/)[0]!;
    const name = kind === 'asked' ? what.slice(0, 'asked, 200'.length) : kind.trim();
    counts.set(name, (counts.get(name) ?? 0) + 1);
  };
  try {
    const sky = await Sky.open(plan.seed, plan.setting, turns);
    const weather = (seed: string): Weather => {
      return { sky, random: new Random(`${plan.seed} ${seed}`), clock, note };
    };
    // the feed opens after the first pass
    for (const { follower } of sky.seats) await follower.pass().catch(unlessCounters(plan));
    for (const { kind, seed } of plan.steps) {
      step = `${seed} ${kind}`;
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
      clock.now += 1000;
      lines.push(step);
      turns.follow(new Random(`${plan.seed} turns ${seed}`));
      const { faultEvery } = plan.setting;
      if (faultEvery !== undefined)
        sky.fault = faults(new Random(`${plan.seed} faults ${seed}`), faultEvery);
      await happens(kind, weather(`${seed} ${kind}`));
      if (unknown.length > 0 && !canEnd(plan)) throw new Wrong(`logged: ${unknown[0]}`);
    }
    step = 'end';
    sky.fault = undefined;
    await settle(plan, weather('end'));
    return { lines, failure: undefined };
  } catch (error) {
    const failure = error as Error;
    lines.push(`${step}: FAILED: ${failure.message}`);
    return { lines, failure };
  } finally {
    restore();
  }
}

/** Whether numbers may come to their end. */
function canEnd({ setting: { counters } }: Plan): boolean {
  return Object.keys(counters).length > 0;
}

function unlessCounters(plan: Plan): (error: unknown) => undefined {
  return (error) => {
    if (!canEnd(plan)) throw error;
    return undefined;
  };
}

/** Time between passes at the end: more than a follower waits before it looks at all upstreams. */
const SETTLING_MS = 16_000;
const SETTLING_ROUNDS = 12;

/** Of a step at the end. */
const SCRUBBED_ROWS = 50;

/** No more faults: all that the network decided is applied, and what stands on it is answered. */
async function settle(plan: Plan, weather: Weather): Promise<void> {
  const { sky, clock } = weather;
  const { network, db } = sky;
  const last = lastIndex(network) + (sky.setting.planted === 'milestone' ? 1 : 0);
  const mayFail = canEnd(plan);
  for (const node of sky.nodes) node.recover();
  for (let round = 0; round < SETTLING_ROUNDS; round++) {
    clock.now += SETTLING_MS;
    for (const { follower } of sky.seats) await follower.pass().catch(unlessCounters(plan));
    if (round >= 1 && (await ledgerIndex(db)) === last && (await isAnswered(plan, weather))) break;
  }
  if (sky.setting.planted === 'output') await loseOutput(db);
  const ledger = await ledgerIndex(db);
  if (ledger < last && !mayFail)
    throw new Wrong(
      `milestone ${ledger + 1} of ${last} is not applied: ${JSON.stringify(await followerState(db))}`,
    );
  const state = await ledgerStateHash(db).catch(unlessCounters(plan));
  if (state !== undefined && state.toHex() !== stateHash(network, ledger))
    throw new Wrong(`another ledger state at milestone ${ledger}`);
  // the rest of the round that the followers began, and another
  for (let rounds = 0; rounds < 2; ) if (await scrub(db, SCRUBBED_ROWS)) rounds++;
  if (!(mayFail || (await isAnswered(plan, weather))))
    throw new Wrong('the proposal over the tips is not answered');
}

/** By what is stored where that must do, and where the follower brings blocks. */
async function isAnswered({ setting }: Plan, weather: Weather): Promise<boolean> {
  const { sky, random } = weather;
  const [seat] = sky.seats;
  // at a depth of one, blocks that honest ones here stand on are left to a request
  const needsStored = setting.needsStored && setting.belowMaxDepth > 1;
  for (const bringer of needsStored ? [undefined, seat] : [seat]) {
    const answer = await askAndCheck(weather, proposal(sky, random), { seat: bringer });
    if (!('appliedMerkleRoot' in answer)) return false;
  }
  return true;
}

/** Errors that the product's parts tell each other of, and those that the run made. */
const KNOWN_ERRORS = /^(UpstreamFailure|LedgerMoved|ConeUnavailable|Divergence|Crash)\b/;

/**
 * Until `restore` is called the clock is the run's, short waits take no time, and nothing is logged;
 * lines about errors that must not be are told of.
 */
function standStill(
  clock: { now: number },
  turns: Turns,
  tell: (line: string) => void,
): () => void {
  const { now } = Date;
  const { setTimeout, clearTimeout } = globalThis;
  const { info, warn, error } = console;
  const verifyAsBefore = verifyAtOnce();
  Date.now = () => clock.now;
  const soon = (work: () => void, ms = 0) =>
    ms < 1000 ? turns.later(ms, work) : setTimeout(work, ms);
  globalThis.setTimeout = Object.assign(soon, setTimeout) as typeof setTimeout;
  globalThis.clearTimeout = ((timer?: number) => {
    if (!turns.cancel(timer)) clearTimeout(timer);
  }) as typeof clearTimeout;
  console.info =
    console.warn =
    console.error =
      (line: string) => {
        const { error } = JSON.parse(line) as { error?: string };
        if (error !== undefined && !KNOWN_ERRORS.test(error)) tell(line);
      };
  return () => {
    verifyAsBefore();
    Date.now = now;
    Object.assign(globalThis, { setTimeout, clearTimeout });
    Object.assign(console, { info, warn, error });
  };
}

/** The same kind of failure, by the beginning of what it says. */
function kindOf({ message }: Error): string {
  return message.replace(/[\d].*$/s, '').slice(0, 60);
}

/** Leaves out whatever the failure does not need. */
async function shrink(plan: Plan, failure: Error): Promise<Plan> {
  let smallest = plan;
  const stillFails = async (smaller: Plan): Promise<boolean> => {
    const outcome = await runPlan(smaller);
    const same = outcome.failure !== undefined && kindOf(outcome.failure) === kindOf(failure);
    if (same) smallest = smaller;
    return same;
  };
  for (let size = plan.steps.length; size >= 1; size = Math.floor(size / 2)) {
    for (let from = smallest.steps.length - size; from >= -size + 1; from -= size) {
      const steps = smallest.steps.toSpliced(Math.max(from, 0), size + Math.min(from, 0));
      await stillFails({ ...smallest, steps });
    }
  }
  for (const name of ['liar', 'maxPoolHeapBytes', 'faultEvery'] as const) {
    const { [name]: _, ...setting } = smallest.setting;
    await stillFails({ ...smallest, setting });
  }
  const plain = [{ counters: {} }, { before: 1 }, { belowMaxDepth: 15, retention: 1_000_000 }];
  for (const usual of plain)
    await stillFails({ ...smallest, setting: { ...smallest.setting, ...usual } });
  return smallest;
}

/** Throws an Error that names the seed and lists the steps that lead to the failure. */
export async function runSeed(
  seed: number,
  counts: Counts,
  options: PlanOptions = {},
): Promise<void> {
  const plan = makePlan(String(seed), options);
  const { failure } = await runPlan(plan, counts);
  if (failure === undefined) return;
  throw new Error(await describe(plan, failure), { cause: failure });
}

async function describe(plan: Plan, failure: Error): Promise<string> {
  const smallest = await shrink(plan, failure);
  const { lines } = await runPlan(smallest);
  return [
    `run ${plan.seed} of ${plan.steps.length} steps fails: ${failure.message}`,
    `again: node tools/run.js test/slow/weather.ts 1 ${plan.seed}`,
    `setting: ${JSON.stringify(smallest.setting)}`,
    `enough of it, ${smallest.steps.length} steps:`,
    ...lines,
  ].join('\n');
}
