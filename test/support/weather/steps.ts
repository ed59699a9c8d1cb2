/**
 * What can happen in a run, and how often. Each step takes its chance from numbers of its own, so
 * that a run from which steps were left out still makes sense.
 */

import type { WantedOfFollower } from '../../../src/ledger/intake/block-source.ts';
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { forgedMilestone, forgedTwin, randomMilestone } from '../../simulator/steps/forge.ts';
import { readMilestone } from '../network/blocks.ts';
import {
  lastIndex,
  milestoneAt,
  type NetworkMilestone,
  type WhiteFlagCase,
} from '../network/network-model.ts';
import type { Random } from '../network/random.ts';
import { coin, type Spend } from '../network/transactions.ts';
import { basic } from '../payloads/outputs.ts';
import { Crash, type DisturbedDatabase, type Fault } from './disturbed-database.ts';
import { type Answer, answerOf, type Follower, importLedger, isKnownError } from './edge.ts';
import { COINS, type Message, type Seat, type Sky } from './sky.ts';
import { someLies, unknownId } from './upstreams.ts';

/** What a step works with. */
export interface Weather {
  sky: Sky;
  random: Random;
  /** Unix milliseconds, which `Date.now` answers. */
  clock: { now: number };
  /** What happened, for people, and by its first words for counts. */
  note(what: string): void;
}

/** Something that must not be. */
export class Wrong extends Error {
  override readonly name = 'Wrong';
}

/** Less than this no output has: below it, a block is not admitted. */
const LEAST_AMOUNT = 1_000_000n;

type Happen = (weather: Weather) => void | Promise<void>;

/** By kind: how often, and what happens. */
const CALM_STEPS = {
  note: [6, ({ sky, random }) => notes(sky, random, random.between(1, 3))],
  pay: [6, ({ sky, random }) => pay(sky, random)],
  chain: [2, ({ sky, random }) => chain(sky, random, random.between(2, 5))],
  childFirst: [2, ({ sky, random }) => childFirst(sky, random)],
  milestone: [9, ({ sky, random }) => issue(sky, random)],
  halt: [2, halt],
  push: [10, push],
  pass: [8, (weather) => act(weather, anyone(weather), 'pass')],
  catchUp: [4, (weather) => act(weather, anyone(weather), 'catchUp')],
  store: [3, (weather) => act(weather, anyone(weather), 'store')],
  restart: [2, restart],
  wait: [2, wait],
  lag: [2, lag],
  propose: [9, propose],
  audit: [4, audit],
} satisfies Record<string, [number, Happen]>;

const HOSTILE_STEPS = {
  doubleSpend: [4, ({ sky, random }) => doubleSpend(sky, random)],
  large: [2, ({ sky, random }) => large(sky, random)],
  storm: [2, storm],
  ghost: [3, ({ sky, random }) => ghost(sky, random)],
  spoilt: [2, ({ sky, random }) => spoiltTransaction(sky, random)],
  reattach: [2, ({ sky, random }) => reattach(sky, random)],
  forgeAhead: [3, (weather) => forge(weather, weather.random.between(2, 1000))],
  forgeNext: [3, (weather) => forge(weather, weather.random.between(0, 1))],
  forgeTwin: [3, twin],
  forgeRandom: [1, forgeRandom],
  issueBehindTwin: [2, issueBehindTwin],
  issueUponOld: [2, ({ sky, random }) => issueUponOld(sky, random)],
  side: [3, ({ sky, random }) => side(sky, random)],
  old: [4, ({ sky, random }) => old(sky, random)],
  pushBadly: [8, pushBadly],
  pushLies: [2, pushLies],
  crash: [3, crash],
  lateParent: [3, lateParent],
  spread: [12, spread],
  atOnce: [18, atOnce],
  importAgain: [1, importAgain],
  quiet: [4, quiet],
  lie: [5, lie],
  outage: [2, outage],
  proposeAnything: [6, proposeAnything],
  auditLate: [5, auditLate],
  proposeOld: [3, proposeOld],
  proposeTwin: [2, proposeTwin],
} satisfies Record<string, [number, Happen]>;

export type Kind = keyof typeof CALM_STEPS | keyof typeof HOSTILE_STEPS;

export const CALM: readonly Kind[] = Object.keys(CALM_STEPS) as Kind[];
export const HOSTILE: readonly Kind[] = Object.keys(HOSTILE_STEPS) as Kind[];

const STEPS: Record<Kind, [number, Happen]> = { ...CALM_STEPS, ...HOSTILE_STEPS };

export function happens(kind: Kind, weather: Weather): void | Promise<void> {
  return STEPS[kind][1](weather);
}

/** One of these kinds, those with more weight more often. */
export function pickKind(kinds: readonly Kind[], random: Random): Kind {
  return random.pickWeighted(kinds.map((kind) => [STEPS[kind][0], kind] as const));
}

// blocks

function notes(sky: Sky, random: Random, count: number): void {
  for (let i = 0; i < count; i++) sky.came(sky.network.note(sky.parents(random), random.bytes(8)));
}

function someone(sky: Sky, random: Random) {
  return sky.network.account(random.below(COINS));
}

function takeCoin(sky: Sky, random: Random): Spend | undefined {
  if (sky.coins.length === 0) return undefined;
  const [taken] = sky.coins.splice(random.below(sky.coins.length), 1);
  sky.spent.push(taken!);
  return taken;
}

/** Of one input or more: the outputs share what they have. */
function transfer(sky: Sky, random: Random, spends: Spend | readonly Spend[], count = 1) {
  const inputs = [spends].flat();
  const owners = Array.from({ length: count }, () => someone(sky, random));
  const amount = inputs.reduce((sum, { coin }) => sum + coin.output.amount, 0n);
  const share = amount / BigInt(count);
  const outputs = owners.map((owner, i) =>
    basic(owner, { amount: i === 0 ? amount - share * BigInt(count - 1) : share }),
  );
  return { made: sky.network.transaction(inputs, outputs), owners };
}

const notes1 = (sky: Sky, random: Random) => notes(sky, random, 1);
const chain3 = (sky: Sky, random: Random) => chain(sky, random, random.between(2, 3));

function pay(sky: Sky, random: Random) {
  const spend = takeCoin(sky, random);
  if (spend === undefined) return notes(sky, random, 1);
  const other = random.chance(0.4) ? takeCoin(sky, random) : undefined;
  const spends = other === undefined ? spend : [spend, other];
  const { made, owners } = transfer(sky, random, spends, random.between(1, 3));
  sky.attachTransaction(made, owners, sky.parents(random));
  for (const [i, each] of made.coins.entries()) sky.coins.push({ coin: each, by: owners[i]! });
}

/** Each spends what the one before made, and mostly stands on it. */
function chain(sky: Sky, random: Random, length: number) {
  let spend = takeCoin(sky, random);
  if (spend === undefined) return notes(sky, random, 1);
  let before: string[] = [];
  for (let i = 0; i < length; i++) {
    const { made, owners } = transfer(sky, random, spend);
    const parents = [...new Set([...before, ...sky.parents(random)])];
    const id = sky.attachTransaction(made, owners, parents);
    before = random.chance(0.8) ? [id] : [];
    spend = { coin: made.coins[0]!, by: owners[0]! };
  }
  sky.coins.push(spend);
}

/** The block that spends comes before the block that makes. */
function childFirst(sky: Sky, random: Random) {
  const spend = takeCoin(sky, random);
  if (spend === undefined) return notes(sky, random, 1);
  const first = transfer(sky, random, spend);
  const second = transfer(sky, random, { coin: first.made.coins[0]!, by: first.owners[0]! });
  sky.attachTransaction(second.made, second.owners, sky.parents(random));
  if (random.chance(0.5)) notes(sky, random, 1);
  sky.attachTransaction(first.made, first.owners, sky.parents(random));
}

function doubleSpend(sky: Sky, random: Random) {
  if (sky.spent.length === 0) return notes(sky, random, 1);
  let spend = random.pick(sky.spent);
  for (let i = random.between(1, 3); i > 0; i--) {
    const { made, owners } = transfer(sky, random, spend);
    const id = sky.attachTransaction(made, owners, sky.parents(random), whereOf(random));
    // spends what it makes, or what was spent
    const goesOn = random.chance(0.5);
    spend = goesOn ? { coin: made.coins[0]!, by: owners[0]! } : random.pick(sky.spent);
    if (goesOn && random.chance(0.5)) sky.came(sky.network.note([id]));
  }
}

/** Double spends with many outputs: as heavy as blocks can be made for nothing. */
function large(sky: Sky, random: Random, under = () => sky.parents(random)) {
  const spend = sky.spent.length > 0 ? random.pick(sky.spent) : takeCoin(sky, random);
  if (spend === undefined) return notes(sky, random, 1);
  const count = random.between(20, 40);
  if (spend.coin.output.amount < BigInt(count) * LEAST_AMOUNT) return notes(sky, random, 1);
  for (let i = random.between(1, 4); i > 0; i--) {
    const { made, owners } = transfer(sky, random, spend, count);
    sky.attachTransaction(made, owners, under(), whereOf(random));
  }
}

/** Large transactions that all stand on a forged milestone. */
function storm(weather: Weather): void {
  const { sky, random } = weather;
  forge(weather, random.between(0, 100), 'main');
  const newest = () => [sky.main.at(-1)!];
  for (let i = random.between(1, 3); i > 0; i--) large(sky, random, newest);
}

/** Inputs that never were. */
function ghost(sky: Sky, random: Random): void {
  const by = someone(sky, random);
  const inputs = Array.from({ length: random.between(1, 20) }, () => {
    const id = random.bytes(34);
    id.set([random.below(128), 0], 32);
    return { coin: coin(id, basic(by, { amount: LEAST_AMOUNT })), by };
  });
  const made = sky.network.transaction(inputs, [
    basic(by, { amount: LEAST_AMOUNT * BigInt(inputs.length) }),
  ]);
  sky.attachTransaction(made, [by], sky.parents(random), whereOf(random));
}

function spoiltTransaction(sky: Sky, random: Random) {
  if (sky.coins.length === 0) return notes(sky, random, 1);
  const spend = random.pick(sky.coins);
  const outputs = [basic(spend.by, { amount: spend.coin.output.amount })];
  const defect = random.pick(['signature', 'commitment'] as const);
  const made = sky.network.transaction([spend], outputs, defect);
  sky.attachTransaction(made, [spend.by], sky.parents(random), whereOf(random));
}

function reattach(sky: Sky, random: Random) {
  if (sky.transactions.length === 0) return notes(sky, random, 1);
  const made = random.pick(sky.transactions);
  const inputs = new Set(made.inputs);
  const before = sky.transactions.find(({ coins }) =>
    coins.some(({ id }) => inputs.has(toHex(id))),
  );
  const where = whereOf(random);
  let parents = sky.parents(random);
  for (const each of before !== undefined && random.chance(0.6) ? [before, made] : [made])
    parents = [sky.came(sky.network.attachTransaction(each, parents), where)];
}

const whereOf = (random: Random) => (random.chance(0.75) ? 'main' : 'side');

/** Blocks that honest nodes never build on. */
function side(sky: Sky, random: Random): void {
  for (let i = random.between(1, 3); i > 0; i--) {
    const under = [...sky.side.slice(-4), ...sky.window.slice(-2)];
    const parents = random.sample(under, random.between(1, 3));
    const spend = random.chance(0.4) && sky.coins.length > 0 ? random.pick(sky.coins) : undefined;
    if (spend === undefined) sky.came(sky.network.note(parents, random.bytes(8)), 'side');
    else {
      const { made, owners } = transfer(sky, random, spend);
      sky.attachTransaction(made, owners, parents, 'side');
    }
  }
}

/** On a block of any age, before the snapshot too. */
function old(sky: Sky, random: Random): void {
  const ids = random.chance(0.6) ? sky.ancient : [...sky.network.blocks.keys()];
  const parents = random.sample(ids, random.between(1, 2));
  if (random.chance(0.5)) parents.push(sky.network.milestoneBlock!);
  if (parents.length === 0) return;
  sky.old.push(sky.came(sky.network.note([...new Set(parents)], random.bytes(8)), 'side'));
}

/** A milestone that leads to blocks from before the snapshot, or to later ones. */
function issueUponOld(sky: Sky, random: Random): void {
  const isReferenced = (id: string) => sky.network.blocks.get(id)!.referenced !== undefined;
  const below = [...sky.ancient, ...random.sample(sky.main.filter(isReferenced), 3)];
  let above = random.sample(below, random.between(1, 2));
  if (above.length === 0) return;
  const hasOther = random.chance(0.5);
  for (let i = random.between(1, 4); i > 0; i--) {
    const parents = hasOther && i === 1 ? [...above, sky.network.milestoneBlock!] : above;
    above = [sky.came(sky.network.note([...new Set(parents)], random.bytes(8)), 'side')];
  }
  sky.old.push(...above);
  if (random.chance(0.7)) sky.milestone([...above, ...sky.tips.slice(0, random.below(4))]);
}

// forged milestones

/** With an index so far beyond the last one. */
function forge(
  { sky, random, note }: Weather,
  ahead: number,
  where: 'main' | 'side' = whereOf(random),
): void {
  const parents = sky.parents(random);
  const index = lastIndex(sky.network) + ahead;
  const payload = forgedMilestone(lastOf(sky), { index, parents }, signersOf(sky, random), random);
  const own = random.chance(0.8) ? parents : sky.parents(random);
  sky.attachForged(payload, own, where);
  note(`forged milestone ${index} on the ${where} chain`);
}

/** One key that may sign, but not enough of them; or strangers. */
function signersOf(sky: Sky, random: Random) {
  return random.chance(0.3) ? sky.network.signers.slice(0, 1) : sky.strangers;
}

function lastOf(sky: Sky): NetworkMilestone {
  return sky.network.milestones.at(-1)!;
}

function twin({ sky, random, note }: Weather): void {
  const last = lastOf(sky);
  const own = readMilestone(last.payload).parents.map(toHex);
  const parents = random.chance(0.6) ? own : sky.parents(random);
  const where = whereOf(random);
  const id = sky.attachForged(forgedTwin(last, random), parents, where);
  sky.twins.push({ id, index: last.index });
  note(`twin of milestone ${last.index} on the ${where} chain`);
}

function forgeRandom({ sky, random, note }: Weather): void {
  const where = whereOf(random);
  sky.attachForged(randomMilestone(lastOf(sky), sky.strangers, random), sky.parents(random), where);
  note(`random milestone on the ${where} chain`);
}

/** The feed tells of the twin first. */
function issueBehindTwin(weather: Weather): void {
  const { sky } = weather;
  const before = sky.feed.length;
  issue(sky, weather.random);
  const real = sky.feed.splice(before);
  twin(weather);
  sky.feed.push(...real);
}

function issue(sky: Sky, random: Random): void {
  const { tips } = sky;
  const others = sky.window.filter((id) => !tips.includes(id));
  const chosen = random.chance(0.5) ? tips.slice(0, 7) : random.sample(tips, random.between(1, 7));
  sky.milestone([...chosen, ...random.sample(others, random.below(2))].slice(0, 7));
}

// what reaches the followers

function anyone({ sky, random }: Weather): Seat {
  return random.pick(sky.seats);
}

type Act = 'pass' | 'catchUp' | 'store' | 'take';

/** Whatever a follower does may fail, as long as it fails by an error that is known. */
async function act(weather: Weather, seat: Seat, what: Act): Promise<void> {
  try {
    await WORK[what](seat.follower);
    weather.note(`${seat.name} ${what}`);
  } catch (error) {
    const isExpected = isKnownError(error) || error instanceof Crash;
    if (!isExpected && !mayFail(weather.sky)) throw error;
    weather.note(`${seat.name} ${what} failed: ${(error as Error).message}`);
  }
}

/** As answer-once-caught-up.ts takes what the follower's object says, or its failure. */
async function bring(
  weather: Weather,
  db: DisturbedDatabase,
  { seat: { name, follower }, wanted }: { seat: Seat; wanted: WantedOfFollower },
) {
  const { sky, note } = weather;
  const notBrought = await follower.bring(wanted, sky.upstreams).catch((error: Error) => {
    const isExpected = isKnownError(error) || error instanceof Crash;
    if (!isExpected && !mayFail(sky)) throw error;
    return { fault: 'upstream-failed' as const, detail: error.message };
  });
  note(`${name} brought what a request lacks: ${notBrought?.detail}`);
  return { db, notBrought };
}

/** Where the numbers come to their end, any error will do. */
function mayFail({ setting }: Sky): boolean {
  return setting.counters.block !== undefined || setting.counters.output !== undefined;
}

const WORK: Record<Act, (follower: Follower) => Promise<void>> = {
  pass: (follower) => follower.pass(),
  catchUp: (follower) => follower.pass(true),
  store: (follower) => follower.store(),
  take: (follower) => follower.takeMilestones(),
};

/** Blocks go on, milestones do not. */
async function halt(weather: Weather): Promise<void> {
  const { sky, random, clock } = weather;
  for (let i = random.between(3, 8); i > 0; i--) {
    if (random.chance(0.5)) notes(sky, random, 1);
    else pay(sky, random);
    clock.now += 1000;
    if (random.chance(0.5)) await push(weather);
    else await act(weather, anyone(weather), 'pass');
  }
}

/** What a follower was not sent yet, or the first part of it. */
function unsent({ sky, random }: Weather, seat: Seat): Message[] {
  const waiting = sky.feed.slice(seat.sent);
  const messages = random.chance(0.7)
    ? waiting
    : waiting.slice(0, random.below(waiting.length + 1));
  seat.sent += messages.length;
  return messages;
}

async function deliver(weather: Weather, seat: Seat, messages: readonly Message[]): Promise<void> {
  const { random } = weather;
  seat.follower.fed = true;
  for (const { topic, payload } of messages) seat.follower.push(topic, payload);
  weather.note(`${seat.name} was pushed ${messages.length} messages`);
  for (const what of random.sample(['store', 'take', 'store'] as const, random.between(0, 3)))
    await act(weather, seat, what);
}

/** What spends is stored before what makes is, and perhaps the verdict is not made then. */
async function lateParent(weather: Weather): Promise<void> {
  const { sky, random } = weather;
  const seat = anyone(weather);
  childFirst(sky, random);
  const [last] = sky.feed.splice(-1);
  hold(weather, seat);
  await act(weather, seat, 'store');
  sky.feed.push(last!);
  seat.fault = random.chance(0.4) ? faults(random, 3) : undefined;
  hold(weather, seat);
  await act(weather, seat, 'store');
  seat.fault = undefined;
  // a milestone references what makes, and not yet what spends
  if (random.chance(0.5)) sky.milestone([sky.main.at(-1)!]);
}

/** Some of it is lost: what a request needs then it has to fetch. */
async function spread(weather: Weather): Promise<void> {
  const { random } = weather;
  const seat = anyone(weather);
  const lost = random.pick([0, 0.3, 0.6]);
  const messages = unsent(weather, seat).filter(() => !random.chance(lost));
  for (const { topic, payload } of messages) seat.follower.push(topic, payload);
  await act(weather, seat, 'store');
}

/** Milestones one after the other, with next to nothing in them: what is old is forgotten. */
async function quiet(weather: Weather): Promise<void> {
  const { sky, random, clock } = weather;
  const seat = anyone(weather);
  for (let i = random.between(3, 3 * Math.min(sky.setting.retention, 5)); i > 0; i--) {
    if (random.chance(0.3)) notes(sky, random, 1);
    issue(sky, random);
    clock.now += 5000;
    if (random.chance(0.7)) hold(weather, seat);
    for (const what of ['store', 'pass'] as const) await act(weather, seat, what);
  }
}

async function push(weather: Weather): Promise<void> {
  const seat = anyone(weather);
  await deliver(weather, seat, unsent(weather, seat));
}

/** Messages out of order, doubled, lost, spoilt; milestones first, last, or not at all. */
async function pushBadly(weather: Weather): Promise<void> {
  const { random } = weather;
  const seat = anyone(weather);
  let messages = unsent(weather, seat);
  const isBlock = ({ topic }: Message) => topic === 'blocks';
  switch (random.below(3)) {
    case 0:
      messages = random.sample(messages, messages.length);
      break;
    case 1:
      messages = messages.toSorted((a, b) => Number(isBlock(a)) - Number(isBlock(b)));
      break;
    default:
      messages = random.chance(0.5) ? messages.filter(isBlock) : messages.toReversed();
  }
  messages = messages.flatMap((message) => {
    if (random.chance(0.15)) return [];
    if (random.chance(0.15)) return [message, message];
    return random.chance(0.15) ? [spoil(message, random)] : [message];
  });
  await deliver(weather, seat, messages);
}

function spoil({ topic, payload }: Message, random: Random): Message {
  if (payload.length === 0 || random.chance(0.2))
    return { topic, payload: payload.slice(0, random.below(payload.length + 1)) };
  const copy = payload.slice();
  copy[random.below(copy.length)]! ^= 1 << random.below(8);
  return { topic, payload: copy };
}

/** Milestones that are none, and word of ones that are not there. */
async function pushLies(weather: Weather): Promise<void> {
  const { sky, random } = weather;
  const index = lastIndex(sky.network) + random.between(0, 3);
  const at = { index, parents: sky.parents(random) };
  const forged = forgedMilestone(lastOf(sky), at, sky.strangers, random);
  const confirmed = new TextEncoder().encode(
    JSON.stringify({ index: random.pick([index, 0, 0xffff_ffff]) }),
  );
  await deliver(weather, anyone(weather), [
    { topic: 'milestones', payload: forged },
    { topic: 'milestones', payload: forgedTwin(lastOf(sky), random) },
    { topic: 'milestone-info/confirmed', payload: confirmed },
  ]);
}

function restart(weather: Weather): void {
  const { sky } = weather;
  const seat = anyone(weather);
  sky.restart(seat);
  weather.note(`${seat.name} starts again`);
}

const ACTS: readonly Act[] = ['pass', 'pass', 'catchUp', 'store', 'take'];

/** Some calls of a database fail; at the first one, perhaps, the process ends. */
export function faults(random: Random, every = random.between(2, 25)): () => Fault | undefined {
  const lasting = random.chance(0.4);
  return () =>
    random.chance(1 / every)
      ? { when: random.pick(['before', 'after'] as const), lasting }
      : undefined;
}

async function crash(weather: Weather): Promise<void> {
  const { random } = weather;
  const seat = anyone(weather);
  seat.fault = faults(random);
  weather.note(`${seat.name}: the database fails`);
  await act(weather, seat, random.pick(ACTS));
  seat.fault = undefined;
}

/** What several do at once, followers and requests and whoever imports, while the network goes on. */
const TASKS: readonly [number, (weather: Weather) => Promise<void>][] = [
  [5, (weather) => act(weather, anyone(weather), weather.random.pick(ACTS))],
  [3, (weather) => act(weather, anyone(weather), 'store')],
  [5, propose],
  [2, audit],
  [2, proposeAnything],
  [1, proposeOld],
  [2, goOn],
  [1, importAgain],
];

/** Between any two calls of one there are calls of others, and any of them may fail. */
async function atOnce(weather: Weather): Promise<void> {
  const { sky, random } = weather;
  // so that all have something to do, mostly about the ledger's next milestone
  if (random.chance(0.5)) await act(weather, anyone(weather), 'catchUp');
  for (let i = random.between(1, 5); i > 0; i--)
    random.pick([notes1, pay, chain3, childFirst, doubleSpend, doubleSpend])(sky, random);
  if (random.chance(0.2)) issue(sky, random);
  const lost = random.pick([0.2, 0.5, 0.8]);
  for (const seat of sky.seats) {
    for (const { topic, payload } of unsent(weather, seat))
      if (!random.chance(lost)) seat.follower.push(topic, payload);
    seat.fault = random.chance(0.35) ? faults(random) : undefined;
  }
  const tasks = Array.from({ length: random.between(2, 5) }, () => random.pickWeighted(TASKS));
  const ended = await Promise.allSettled(tasks.map((task) => task(weather)));
  for (const seat of sky.seats) seat.fault = undefined;
  for (const each of ended) if (each.status === 'rejected') throw each.reason;
}

/** The follower holds what it was not sent yet. */
function hold(weather: Weather, seat: Seat): void {
  for (const { topic, payload } of unsent(weather, seat)) seat.follower.push(topic, payload);
}

async function goOn(weather: Weather): Promise<void> {
  const { sky, random } = weather;
  for (let i = random.between(1, 6); i > 0; i--) {
    await sky.turns.take();
    random.pick([notes1, pay, chain3, childFirst, doubleSpend, reattach, issue])(sky, random);
    if (random.chance(0.5)) hold(weather, anyone(weather));
  }
}

/** A snapshot of one of the last milestones replaces the ledger. */
async function importAgain({ sky, random, note }: Weather): Promise<void> {
  if (sky.isImporting) return;
  const last = lastIndex(sky.network);
  const index = random.between(Math.max(1, last - 4), last);
  sky.isImporting = true;
  try {
    const db = sky.disturbed(random.chance(0.3) ? faults(random) : undefined);
    await importLedger(db, sky.network, { target: index, stoodOn: sky.window });
    note(`import of milestone ${index}`);
  } catch (error) {
    if (!(error instanceof Crash || isKnownError(error))) throw error;
    note(`import of milestone ${index} failed: ${(error as Error).message}`);
  } finally {
    sky.isImporting = false;
  }
}

// upstreams

function lie({ sky, random, note }: Weather): void {
  if (sky.liar === undefined) return;
  sky.liar.lies = new Set(someLies(random));
  note(`the liar ${[...sky.liar.lies].join(', ') || 'is honest'}`);
}

/**
 * An honest upstream is some milestones behind, while the other one is up: where none is up and not
 * behind, a liar decides alone what is unreferenced (SECURITY.md).
 */
function lag({ sky, random }: Weather): void {
  const [first, second] = sky.honest;
  const lag = random.below(3);
  second!.lag = first!.up ? lag : 0;
}

function wait({ clock, random }: Weather): void {
  clock.now += random.between(5, 40) * 1000;
}

/** One honest upstream does not answer, or answers again; the other one does. */
function outage({ sky, random, note }: Weather): void {
  const down = random.pick([undefined, ...sky.honest]);
  for (const node of sky.honest) node.up = node !== down;
  if (down === sky.honest[0]) sky.honest[1]!.lag = 0;
  note(`${down?.upstream.name ?? 'no'} upstream is down`);
}

// questions

type Request = WhiteFlagCase['request'];

/** Seconds after the milestone before. */
const DELAYS = [1, 5, 10];

function requestAt(sky: Sky, random: Random, index: number, parents: readonly string[]): Request {
  const before = milestoneAt(sky.network, index - 1)!;
  return {
    index,
    timestamp: before.timestamp + random.pick(DELAYS),
    parents: [...new Set(parents)].slice(0, 8),
    previousMilestoneId: before.id,
  };
}

/** What a coordinator asks before it issues a milestone. */
export function proposal(sky: Sky, random: Random): Request {
  const parents = [sky.network.milestoneBlock!, ...sky.tips.slice(0, 7)];
  return requestAt(sky, random, sky.network.nextIndex, parents);
}

async function propose(weather: Weather): Promise<void> {
  await ask(weather, proposal(weather.sky, weather.random));
}

async function audit(weather: Weather): Promise<void> {
  const { sky, random } = weather;
  const { payload } = random.pick(sky.network.milestones.slice(1).concat(lastOf(sky)));
  const { index, timestamp, parents, previousMilestoneId } = readMilestone(payload);
  await ask(weather, {
    index,
    timestamp,
    parents: parents.map(toHex),
    previousMilestoneId: toHex(previousMilestoneId),
  });
}

/** About one of the last milestones, from blocks that came after it. */
async function auditLate(weather: Weather): Promise<void> {
  const { sky, random } = weather;
  if (random.chance(0.4)) {
    reattach(sky, random);
    await spread(weather);
  }
  const index = Math.max(2, lastIndex(sky.network) - random.below(3));
  const parents = random.sample(
    [...sky.main.slice(-3), ...sky.side.slice(-3)],
    random.between(1, 2),
  );
  await ask(weather, requestAt(sky, random, index, parents));
}

/** Blocks of any kind, known or not, about any milestone. */
async function proposeAnything(weather: Weather): Promise<void> {
  const { sky, random } = weather;
  const { network } = sky;
  const pools = [
    sky.tips,
    sky.window,
    sky.side,
    sky.forged,
    sky.old,
    [...network.blocks.keys()],
    [unknownId(random)],
  ];
  const parents = Array.from({ length: random.between(1, 4) }, () => {
    const pool = random.pick(random.chance(0.6) ? pools.slice(0, 6) : pools);
    return pool.length === 0 ? [] : [random.pick(pool)];
  }).flat();
  const last = lastIndex(network);
  const index = random.chance(0.7) ? last + 1 : random.between(2, last + 1);
  const before = [...network.blocks.values()].filter((each) => each.milestoneIndex === index - 1);
  if (random.chance(0.85) && before.length > 0) parents.push(random.pick(before).id);
  if (parents.length > 0) await ask(weather, requestAt(sky, random, index, parents));
}

/** A block that stands on an old one, and the last milestone's. */
async function proposeOld(weather: Weather): Promise<void> {
  const { sky, random } = weather;
  if (sky.old.length === 0) old(sky, random);
  if (sky.old.length === 0) return;
  const parents = [random.pick(sky.old), sky.network.milestoneBlock!];
  await ask(weather, requestAt(sky, random, sky.network.nextIndex, parents));
}

/** A block that has the milestone's ID and is none of its blocks, in place of one. */
async function proposeTwin(weather: Weather): Promise<void> {
  const { sky, random } = weather;
  if (sky.twins.length === 0) twin(weather);
  const { id, index } = random.pick(sky.twins);
  const parents = [id, ...random.sample(sky.side, random.below(2))];
  await ask(weather, requestAt(sky, random, index + 1, parents));
}

async function ask(weather: Weather, request: Request): Promise<void> {
  const { random } = weather;
  const seat = random.chance(0.8) ? anyone(weather) : undefined;
  const fault = random.chance(0.05) ? faults(random) : undefined;
  await askAndCheck(weather, request, { seat, fault });
}

interface Asked {
  /** Of the follower that brings what is not stored; without one nothing is brought. */
  seat?: Seat | undefined;
  /** Of the database. */
  fault?: (() => Fault | undefined) | undefined;
}

/** The answer, once it was found to be right. */
export async function askAndCheck(
  weather: Weather,
  request: Request,
  { seat, fault }: Asked,
): Promise<Answer | Error> {
  const { sky, note } = weather;
  const db = sky.disturbed(fault);
  const bringer = seat && ((wanted: WantedOfFollower) => bring(weather, db, { seat, wanted }));
  const answer = await answerOf(db, request, sky.network.keys, bringer)
    .then((right) => (sky.setting.planted === 'root' ? withWrongRoot(right) : right))
    .catch((error: Error) => {
      if (!isKnownError(error) && !(error instanceof Crash) && !mayFail(sky)) throw error;
      return error;
    });
  const truth = await sky.oracle.truth(request);
  const said = answer instanceof Error ? `error ${answer.message}` : JSON.stringify(answer);
  const about = `milestone ${request.index} from ${request.parents.map((id) => id.slice(0, 8))}`;
  if (answer instanceof Error) {
    note(`asked, 500: ${about}: ${said}`);
    return answer;
  }
  if ('status' in answer) {
    if (answer.status === 400 && truth !== 'impossible')
      throw new Wrong(`${about}: ${said}, and the truth is ${JSON.stringify(truth)}`);
    note(`asked, ${answer.status}: ${about}: ${answer.detail}`);
    return answer;
  }
  if (JSON.stringify(answer) !== JSON.stringify(truth))
    throw new Wrong(`wrong 200: ${about}: ${said}, and the truth is ${JSON.stringify(truth)}`);
  note(`asked, 200: ${about}`);
  return answer;
}

function withWrongRoot(answer: Answer): Answer {
  return 'status' in answer ? answer : { ...answer, appliedMerkleRoot: answer.inclusionMerkleRoot };
}
