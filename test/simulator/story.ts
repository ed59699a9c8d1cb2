/**
 * A story: settings, and a list of entries (time, actor, step, seed). A seed makes one. Each entry
 * takes its chance from numbers of its own, so a story from which entries were left out still makes
 * sense.
 */
import { Random } from '../support/network/random.ts';
import type { Ending } from './checks/endings.ts';
import { LEAST_RETENTION, LIMITS, type Limits, OLDEST_COPY_MS } from './platform/limits.ts';
import { STEPS, type StepName } from './steps/steps.ts';

export interface Settings {
  limits: Limits;
  isolates: number;
  /** How old copies of KV may be, milliseconds. */
  staleMs: number;
  /** How old what a replica of D1 has may be, milliseconds; 0 where there is none. */
  replicaMs: number;
  /** Milestones before that of the snapshot; 0: it is of the genesis. */
  before: number;
  /** Of the genesis; Unix seconds. */
  genesisIndex: number;
  genesisTimestamp: number;
  belowMaxDepth: number;
  upstreams: readonly { hasFeed: boolean; isLiar: boolean }[];
  /** Whether the upstreams are at one host, by different paths. */
  isOneHost: boolean;
  retention: number;
  keepsHistory: boolean;
  indexesAll: boolean;
  /** As `npm run serve` runs it: one isolate, caches in memory. */
  isServe: boolean;
  kind: Kind;
  /** What happens at the end, one after the other, when all else was right. */
  endings: readonly Ending[];
  /** The numbers of the first block and output. */
  numbersFrom: number;
  /** Only blocks with milestones have the proof of work that the network demands. */
  needsWork: boolean;
  /** Keys that the settings lack at first; the operator sets them during the story. */
  missingKeys: number;
}

/** The plainest ones, which a file of a story need not name. */
export const PLAIN: Omit<Settings, 'kind' | 'upstreams'> = {
  limits: 'usual',
  isolates: 1,
  staleMs: 0,
  replicaMs: 0,
  before: 1,
  genesisIndex: 0,
  genesisTimestamp: 1_700_000_000,
  belowMaxDepth: 15,
  isOneHost: false,
  retention: 17_280,
  numbersFrom: 1,
  needsWork: false,
  keepsHistory: false,
  indexesAll: false,
  isServe: false,
  endings: ['nothing'],
  missingKeys: 0,
};

export interface Entry {
  /** Milliseconds from the beginning. */
  at: number;
  step: StepName;
  seed: number;
}

export interface Story {
  seed: string;
  settings: Settings;
  entries: readonly Entry[];
}

const MILESTONE_MS = 5000;
const MIN_MILESTONES = 30;

/**
 * Milestones between orphans where little happens: packs stay where a block of theirs is never
 * referenced, while the IDs of the others are forgotten.
 */
const ORPHAN_EVERY = 5;

/** Kinds of stories, and how often: what is rare in one is frequent in another. */
const KINDS = [
  [12, 'hostile'],
  [1, 'calm'],
  [2, 'idle'],
  [5, 'damaged'],
] as const;

type Kind = (typeof KINDS)[number][1];

/** Usual ones, and some that pass the end of 32 bits, or come near that of whole numbers. */
const NUMBERS = [1, 1, 1, 2 ** 32 - 300, 2 ** 53 - 100_000];

/** Of a network that begins anew, of Shimmer and IOTA, and one that passes the end of 31 bits. */
const GENESES = [0, 0, 0, 0, 1087, 7_669_900, 2 ** 31 - 20];

/** Usual ones, one that passes the end of 31 bits, and one near that of 32. */
const TIMES = [1_700_000_000, 1_700_000_000, 2 ** 31 - 120, 2 ** 32 - 40_000];

/** Nobody stores tips then, so it is rare. */
const NEEDS_WORK = 0.07;

const ONE_HOST = 0.3;

export function tellStory(seed: string): Story {
  const random = new Random(`story ${seed}`);
  const kind = random.pickWeighted(KINDS);
  const numbersFrom = new Random(`numbers ${seed}`).pick(NUMBERS);
  const needsWork = kind === 'hostile' && new Random(`work ${seed}`).chance(NEEDS_WORK);
  const genesisIndex = new Random(`genesis ${seed}`).pick(GENESES);
  const genesisTimestamp = new Random(`time ${seed}`).pick(TIMES);
  const isOneHost = new Random(`host ${seed}`).chance(ONE_HOST);
  const own = { genesisIndex, genesisTimestamp, numbersFrom, needsWork, isOneHost };
  const settings = { ...chooseSettings(random, kind), ...own };
  const enabled = chooseSteps(random, kind, settings);
  const entries: Entry[] = [];
  let number = 0;
  const add = (at: number, step: StepName) =>
    entries.push({ at: Math.round(at), step, seed: number++ });
  const isIdle = kind === 'idle';
  const milestones = random.between(MIN_MILESTONES, MIN_MILESTONES + 10);
  const density = isIdle ? 1 : random.pick([4, 8, 8, 14]);
  const choices = enabled
    .filter((step) => !STEPS[step].isDamage)
    .map((step) => [STEPS[step].often, step] as const);
  const subject = chooseSubject(seed, kind, settings);
  if (subject !== undefined) choices.push([SUBJECT_OFTEN, subject]);
  // an upstream and a replica that are both behind agree about what is wrong
  const isBalanced = new Random(`balanced ${seed}`).chance(BALANCED);
  if (kind === 'hostile' && settings.replicaMs > 0 && isBalanced)
    choices.push(
      [SUBJECT_OFTEN, 'balance'],
      [SUBJECT_OFTEN, 'readAsReferenced'],
      [2, 'proposeAtOnce'],
    );
  const reads = enabled.filter((step) => STEPS[step].actor === 'client');
  const damages = enabled.filter((step) => STEPS[step].isDamage);
  const hasHearsay = kind === 'hostile' && STEPS.hearsay.needs(settings);
  // late, as the liar is gone then
  const hearsayAt = hasHearsay
    ? new Random(`hearsay ${seed}`).between(milestones >> 1, milestones - 6)
    : -1;
  // early, as what stands on old blocks is too old later
  const contradictedAt = hasHearsay ? new Random(`contradict ${seed}`).between(1, 6) : -1;
  const damagedAt = kind === 'damaged' ? random.between(8, milestones - 4) : -1;
  for (let i = 0; i < milestones; i++) {
    const from = i * MILESTONE_MS;
    const own: [number, StepName][] = [];
    for (let n = random.between(1, density); n > 0; n--)
      own.push([from + random.below(4400), random.pickWeighted(choices)]);
    for (let n = isIdle ? 1 : random.between(2, 4); n > 0; n--)
      own.push([from + random.below(4900), random.pick(reads)]);
    if (!isIdle) own.push([from + 4500, 'propose']);
    else if (i % ORPHAN_EVERY === 0) own.push([from + random.below(4400), 'side']);
    if (i === damagedAt) own.push([from + random.below(4900), random.pick(damages)]);
    if (i === hearsayAt) own.push([from + 2500, 'hearsay']);
    const contradictedFor = contradictedAt < 0 ? -1 : i - contradictedAt;
    if (contradictedFor === 0 || contradictedFor === 2) own.push([from, 'contradict']);
    own.sort(([a], [b]) => a - b);
    const isContradicted = contradictedFor >= 0 && contradictedFor < 4;
    const isIn = (step: StepName) => !isContradicted || STEPS[step].actor !== 'upstream';
    for (const [at, step] of own) if (step === 'contradict' || isIn(step)) add(at, step);
    add(from + MILESTONE_MS, 'milestone');
  }
  return { seed, settings, entries };
}

function chooseSettings(random: Random, kind: Kind): Settings {
  const isHostile = kind === 'hostile';
  const upstreams = Array.from({ length: random.pick([1, 2, 2, 3]) }, () => ({
    hasFeed: random.chance(0.6),
    isLiar: false,
  }));
  if (isHostile && upstreams.length > 1 && random.chance(0.5))
    upstreams[random.below(upstreams.length)]!.isLiar = true;
  const isServe = random.chance(kind === 'damaged' ? 0.5 : 0.3);
  const limits = random.pickWeighted(kind === 'idle' ? IDLE_LIMITS : LIMITS_OFTEN);
  const retentions =
    limits === 'usual' ? [35, USUAL_RETENTION] : [LEAST_RETENTION, USUAL_RETENTION];
  return {
    ...PLAIN,
    isServe,
    limits,
    isolates: isServe ? 1 : random.pick([1, 1, 3]),
    staleMs: isServe ? 0 : random.pick([0, 1000, limits === 'usual' ? 30_000 : OLDEST_COPY_MS]),
    replicaMs: isServe ? 0 : random.pick([0, 0, 3000, 20_000]),
    before: kind === 'idle' && random.chance(0.5) ? 0 : random.between(0, 5),
    belowMaxDepth: random.pick([1, 15, 15]),
    upstreams,
    retention: kind === 'idle' ? retentions[0]! : random.pick(retentions),
    keepsHistory: random.chance(0.3),
    indexesAll: random.chance(0.3),
    kind,
    endings: kind === 'damaged' ? [] : chooseEndings(random),
    missingKeys: isHostile && random.chance(0.15) ? random.between(1, 2) : 0,
  };
}

const LIMITS_OFTEN = LIMITS.map((limits) => [limits.startsWith('mixed') ? 1 : 3, limits] as const);

/** One pack has much of such a story only where packs may be large. */
const IDLE_LIMITS = [
  [2, 'brief'],
  [1, 'small'],
  [1, 'tiny'],
] as const;

/** Of the kinds of steps, those that a story has: senders', and all others. */
const SHARES: readonly (readonly [number, number])[] = [
  [0.7, 0.4],
  [0.7, 0.15],
  [0.3, 0.3],
  [0.15, 0.15],
];

/** One of these: some of them leave a ledger that does not go on. */
const ENDINGS_OFTEN: readonly (readonly [number, Ending])[] = [
  [3, 'nothing'],
  [4, 'damage'],
  [2, 'overtake'],
  [2, 'restore'],
  [1, 'dispute'],
];
const ENDS: ReadonlySet<Ending> = new Set(['damage', 'dispute']);

function chooseEndings(random: Random): Ending[] {
  const one = random.pickWeighted(ENDINGS_OFTEN);
  const before = (['shortage', 'chain'] as const).filter(() => random.chance(0.3));
  return [...before, one, ...(!ENDS.has(one) && random.chance(0.4) ? (['final'] as const) : [])];
}

const USUAL_RETENTION = 17_280;

/** Steps that show little unless other steps, many of them, come between. */
const SUBJECTS: readonly StepName[] = [
  'issueUponStuck',
  'issueUponOld',
  'issueUnsound',
  'spendMigrated',
  'pretend',
  'withhold',
  'starve',
  'balance',
  'restDown',
  'hinder',
  'blocksGone',
  'twoVersions',
  'importDamaged',
  'importAgain',
  'exchangeKv',
  'kvFull',
  'kvSlow',
  'switchIndex',
];
const SUBJECT_OFTEN = 6;

/** Of hostile stories with a replica of D1, those whose upstreams are several nodes each. */
const BALANCED = 0.4;

/** A step that a hostile story has for sure, and often. */
function chooseSubject(seed: string, kind: Kind, settings: Settings): StepName | undefined {
  if (kind !== 'hostile') return undefined;
  const possible = SUBJECTS.filter((name) => STEPS[name].needs(settings));
  return new Random(`subject ${seed}`).pick(possible);
}

/** Swarm testing: each story leaves kinds of steps out; the fewer there are, the oftener each is. */
function chooseSteps(random: Random, kind: Kind, settings: Settings): StepName[] {
  const names = Object.keys(STEPS) as StepName[];
  const isPossible = (name: StepName) => {
    const { needs, isHostile, isDamage } = STEPS[name];
    if (isHostile && kind !== 'hostile') return false;
    if (isDamage && kind !== 'damaged') return false;
    return needs(settings);
  };
  const possible = names.filter((name) => STEPS[name].often > 0 && isPossible(name));
  const [ofSenders, ofOthers] = kind === 'calm' ? [1, 1] : random.pick(SHARES);
  const chosen = possible.filter((name) => {
    const { actor, isDamage } = STEPS[name];
    if (actor === 'client' || isDamage) return true;
    return random.chance(actor === 'sender' ? ofSenders : ofOthers);
  });
  const { missingKeys, endings, keepsHistory, upstreams } = settings;
  const due: StepName[] = [
    'note',
    // copies of a milestone are many where nobody applies it
    ...(missingKeys > 0 ? (['setKeys', 'twins'] as const) : []),
    ...(upstreams.some(({ isLiar }) => isLiar) ? (['lie', 'makeUp'] as const) : []),
    // only what lasts long forgets IDs
    ...(kind === 'idle' ? (['referToOld'] as const) : []),
    ...(endings.includes('restore') ? (['backUp', 'mintMany'] as const) : []),
    ...(kind === 'hostile' && keepsHistory ? (['twoVersions'] as const) : []),
  ];
  return [...new Set([...chosen, ...due])];
}

/** A story as a person reads it. */
export function printStory({ seed, settings, entries }: Story): string {
  const lines = entries.map(({ at, step, seed: own }) => {
    const { actor } = STEPS[step];
    return `${(at / 1000).toFixed(1).padStart(7)} s  ${actor.padEnd(11)} ${step} (${own})`;
  });
  return [`story ${seed}`, `settings ${JSON.stringify(settings)}`, ...lines].join('\n');
}
