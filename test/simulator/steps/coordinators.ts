/** The coordinator: proposals, and the milestones that it issues. */

import { fromHex, toHex } from '../../../src/stardust/encoding/bytes.ts';
import type { MigratedFunds } from '../../../src/stardust/wire/milestone.ts';
import { decodeParameters } from '../../../src/stardust/wire/parameters.ts';
import { migratedOutputs } from '../../../src/stardust/wire/receipt.ts';
import { ACCOUNTS, LEAST_AMOUNT, take, takeStock } from '../../support/network/accounts.ts';
import { readMilestone } from '../../support/network/blocks.ts';
import {
  lastIndex,
  milestoneAt,
  type NetworkMilestone,
  parametersAt,
  ZERO_ID,
} from '../../support/network/network-model.ts';
import type { Random } from '../../support/network/random.ts';
import { coin, type MadeTransaction, type Spend } from '../../support/network/transactions.ts';
import type { KeyPair } from '../../support/payloads/keys.ts';
import { basic } from '../../support/payloads/outputs.ts';
import { answerableProposal, askRoots } from '../checks/white-flag.ts';
import type { Request } from '../truth.ts';
import { MOST_AHEAD, type World } from '../world.ts';
import { announcement, possibleBreaches, unsoundMilestone } from './forge.ts';
import { hasLiar, type Steps, stepsOf } from './step.ts';
import { twoVersions } from './weather.ts';

const coordinator = stepsOf('coordinator');
const hostile = stepsOf('coordinator', { isHostile: true });

export const coordinatorSteps = {
  milestone: coordinator(0, (world) => issue(world)),
  propose: coordinator(2, (world, random) => askRoots(world, proposal(world), random)),
  audit: coordinator(2, audit),
  milestoneSoon: hostile(1, (world) => issue(world)),
  issueUponOld: hostile(3, issueUponOld),
  issueUponStuck: hostile(2, issueUponStuck),
  issueUnsound: hostile(2, (world, random) => issueUnsound(world, random)),
  announce: coordinator(2, announce),
  migrate: coordinator(2, (world, random) => {
    migrate(world, random);
  }),
  // who is behind leaves a liar alone
  spendMigrated: hostile(2, spendMigrated, (settings) => !hasLiar(settings)),
  proposeAnything: hostile(4, proposeAnything),
  proposeTwin: hostile(1, proposeTwin),
  proposeAgain: hostile(2, proposeAgain),
  proposeAtOnce: coordinator(2, proposeAtOnce),
} satisfies Steps;

/** In which the past of an unsound milestone is stored, and no other milestone comes. */
const STAGED_MS = [1000, 4000] as const;

/** It stands until the next milestone takes its place, which may have a part of its past. */
export function issueUnsound(
  world: World,
  random: Random,
  breach = random.pick(possibleBreaches(world.network)),
): void {
  const { network, upstreams, settings, simulation } = world;
  network.random = random;
  const others = settings.needsWork ? [] : network.someParents();
  // nothing proves that they are new, so that they are stored for this milestone alone
  const old = random.pick(oldestBlocks(world));
  const unproven = random.chance(0.5) ? [1, 2].map(() => network.note([old], random.bytes(8))) : [];
  for (const id of unproven) network.setAside(id);
  const parents = [...new Set([network.milestoneBlock!, ...unproven, ...others])];
  if (unproven.length > 0)
    simulation.after(random.between(...STAGED_MS), () => {
      if (!world.isCalm) issue(world, [network.milestoneBlock!, unproven[0]!]);
    });
  const unsound = unsoundMilestone(network, parents, breach);
  world.unsoundParents.push(...parents);
  world.unsoundBlocks = Math.max(world.unsoundBlocks, network.propose({ parents }).cone.length);
  world.publishNews();
  for (const upstream of upstreams) upstream.issueUnsound(unsound);
  world.note('unsound', `${unsound.index} ${breach}`);
}

/** Seconds after the milestone before: around those at which time conditions end; 0 is too early. */
const DELAYS = [0, 1, 4, 5, 6, 9, 10, 11, 1000];

export function issue(world: World, parents?: readonly string[], timestamp?: number): void {
  const { network, life } = world;
  network.milestone({ ...(parents && { parents }), ...(timestamp && { timestamp }) });
  takeStock(life);
  world.note('milestone', String(network.nextIndex - 1));
  world.publishNews();
}

export function proposal({ network }: World): Request {
  return network.propose().request;
}

/** Blocks that count as old where a ledger began with the genesis. */
const OLDEST = 30;

/** Blocks whose IDs the ledger lacks, or forgets. */
const oldestBlocks = ({ network, ancient }: World): readonly string[] =>
  ancient.length > 0 ? ancient : [...network.blocks.keys()].slice(0, OLDEST);

/** Over blocks from before the snapshot, or later ones, or over what stands on these. */
function issueUponOld(world: World, random: Random): void {
  const { network } = world;
  const below = random.chance(0.7) ? oldestBlocks(world) : [...network.blocks.keys()];
  let above = random.sample(below, random.between(1, 2));
  for (let i = random.between(0, 4); i > 0; i--) above = [network.note(above, random.bytes(8))];
  if (random.chance(0.7))
    issue(
      world,
      [...new Set([network.milestoneBlock!, ...above, ...network.someParents()])].slice(0, 8),
    );
}

const MILESTONE_MS = 5000;
/** A coordinator proposes as soon as it has issued a milestone. */
const AT_ONCE_MS = 100;

/** In which a milestone comes, and what it brings is stored. */
const LATER_MS = 8000;
/** In which a follower that begins comes to listen. */
const OVERLAP_MS = 4000;

interface Stuck {
  /** Transactions whose outputs others consume that are known already. */
  hidden: readonly MadeTransaction[];
  /** Blocks of those others, on which nobody builds. */
  aside: readonly string[];
}

/**
 * A transaction that nobody can judge, as one of its inputs never comes to be, and one that is
 * judged late, as what makes its input comes late.
 */
export function attachStuck({ network, life }: World): Stuck | undefined {
  const [one, two, three] = [1, 2, 3].map(() => take(life, life.coins));
  if (one === undefined || two === undefined || three === undefined) return undefined;
  // a block with less is not admitted (C-17), nor what stands on it
  if (one.coin.output.amount < 2n * LEAST_AMOUNT) return undefined;
  const spend = (spends: Spend[], ...outputs: [KeyPair, bigint][]) =>
    network.transaction(
      spends,
      outputs.map(([by, amount]) => basic(by, { amount })),
    );
  const whole = (each: Spend) => spend([each], [each.by, each.coin.output.amount]);
  const ground = [network.milestoneBlock!];
  const { amount } = one.coin.output;
  const winner = network.attachTransaction(whole(one), ground);
  const loser = spend([one], [two.by, amount / 2n], [one.by, amount - amount / 2n]);
  network.attachTransaction(loser, [winner]);
  const hidden = [spend([two], ...inParts(two)), whole(three)] as const;
  const inputs = [loser.coins[0]!, ...hidden[0].coins].map((coin) => ({ coin, by: two.by }));
  const sum = inputs.reduce((total, { coin: { output } }) => total + output.amount, 0n);
  const last = { coin: hidden[1].coins[0]!, by: three.by };
  // many inputs are a step of their own
  const aside = [spend(inputs, [two.by, sum]), whole(last)].map((each) =>
    network.attachTransaction(each, ground),
  );
  for (const id of aside) network.setAside(id);
  return { hidden, aside };
}

/** Over transactions that are judged late or never, perhaps with those that they wait for. */
function issueUponStuck(world: World, random: Random): void {
  const { network, simulation } = world;
  const stuck = attachStuck(world);
  if (stuck === undefined) return;
  const { hidden, aside } = stuck;
  const isAtOnce = random.chance(0.5);
  // of two followers each makes the verdicts
  if (isAtOnce && random.chance(0.7))
    simulation.after(LATER_MS - OVERLAP_MS, () => {
      if (!world.isCalm) twoVersions(world, random, 2 * OVERLAP_MS);
    });
  simulation.after(LATER_MS, () => {
    if (world.isCalm) return;
    const below = network.milestoneBlock!;
    const made = hidden.map((each) => network.attachTransaction(each, [below]));
    const parents = [below, ...made, ...aside];
    if (isAtOnce) issue(world, parents);
    world.publishNews();
    // before all verdicts are made, and while they are
    const { request } = isAtOnce ? { request: proposal(world) } : network.propose({ parents });
    for (let i = 0; i < ASKED_TIMES; i++)
      simulation.after(i * AT_ONCE_MS, () => askRoots(world, request));
  });
  simulation.after(2 * LATER_MS, () => {
    if (world.isCalm || isAtOnce) return;
    issue(world, [network.milestoneBlock!, ...aside]);
  });
}

const ASKED_TIMES = 8;
const PARTS = 8;

/** The coin in some parts of its owner's, if it is large enough. */
function inParts({ coin: { output }, by }: Spend): [KeyPair, bigint][] {
  const count = Math.max(1, Math.min(PARTS, Number(output.amount / LEAST_AMOUNT)));
  const rest = output.amount - BigInt(count - 1) * LEAST_AMOUNT;
  return Array.from({ length: count }, (_, i) => [by, i === 0 ? rest : LEAST_AMOUNT]);
}

/** Addresses begin with one of them. */
const PREFIXES = ['tst', 'tst', 'odd'];

/** Bytes with which a coordinator may say anything. */
const MAX_METADATA = 8192;

/** What a network may be called, at first and later. */
const NAMES = ['synthetic', 'renamed'];

/** Other protocol parameters from a milestone to come on. */
export function announce(world: World, random: Random): void {
  const { network, life } = world;
  const index = network.nextIndex;
  const { parameters, pending, since } = parametersAt(network, index - 1);
  const last = pending.at(-1);
  const before = last === undefined ? parameters : decodeParameters(last.parameters);
  // in force with the milestone that says so, at the soonest
  const first = Math.max(index, (last?.targetMilestoneIndex ?? since) + 1);
  const target = random.between(first, index + MOST_AHEAD);
  if (target < first) return;
  const { rentStructure, tokenSupply } = before;
  // a snapshot lacks former parameters: what was admitted by dearer ones is admitted
  const vByteCost = random.between(1, rentStructure.vByteCost);
  const isOther = random.chance(0.3) && !world.isDamaged && !world.isImporting;
  if (isOther) world.note('renamed', String(target));
  const changed = {
    ...before,
    belowMaxDepth: random.pick([1, 5, 15, 30, 255]),
    bech32Hrp: random.pick(PREFIXES),
    rentStructure: { ...rentStructure, vByteCost },
    ...(isOther && {
      networkName: random.pick(NAMES),
      tokenSupply: tokenSupply + BigInt(random.below(2)),
    }),
  };
  network.milestone({
    announce: announcement(changed, target),
    metadata: random.bytes(random.pick([0, MAX_METADATA])),
    ...(random.chance(0.5) && { migrate: someFunds(world, random) }),
  });
  takeStock(life);
  world.note('announced', `${target} ${changed.networkName} ${changed.bech32Hrp}`);
}

/** Funds of the network before. */
function someFunds({ life }: World, random: Random): MigratedFunds[] {
  const funds = Array.from({ length: random.between(1, 4) }, () => ({
    tailTransactionHash: random.bytes(49),
    address: random.pick([...life.accounts.values()]).address,
    deposit: 1_000_000n + BigInt(random.below(1_000_000)),
  }));
  return funds.sort((a, b) => Buffer.compare(a.tailTransactionHash, b.tailTransactionHash));
}

/** A receipt: funds come out of the treasury. */
function migrate(world: World, random: Random): NetworkMilestone {
  const milestone = world.network.milestone({ migrate: someFunds(world, random) });
  takeStock(world.life);
  return milestone;
}

/** For some seconds upstreams have what spends funds of a receipt, and not yet its milestone. */
function spendMigrated(world: World, random: Random): void {
  const { network, upstreams, simulation } = world;
  const below = network.milestoneBlock!;
  const { index, id, receipt } = migrate(world, random);
  const [first] = migratedOutputs(receipt!, fromHex(id));
  const made = network.transfer(coin(first!.id, first!.output), random.below(ACCOUNTS));
  network.blocks.get(network.attachTransaction(made, [below]))!.visibleFrom = index - 1;
  const lags = upstreams.map(({ conduct }) => conduct.lag);
  for (const { conduct } of upstreams) conduct.lag = 1;
  simulation.after(LATER_MS, () => {
    if (!world.isCalm) for (const [i, { conduct }] of upstreams.entries()) conduct.lag = lags[i]!;
    world.publishNews();
  });
}

export function requestAt(
  { network }: World,
  random: Random,
  index: number,
  parents: readonly string[],
): Request {
  const before = milestoneAt(network, index - 1);
  return {
    index,
    timestamp: (before ?? network.genesis).timestamp + random.pick(DELAYS),
    parents: [...new Set(parents)].slice(0, 8),
    previousMilestoneId: before?.id ?? ZERO_ID,
  };
}

function audit(world: World, random: Random): void {
  askRoots(world, proposalOf(random.pick(world.network.milestones)));
}

/** The request by which a milestone would have been proposed. */
export function proposalOf({ payload }: NetworkMilestone): Request {
  const { index, timestamp, parents, previousMilestoneId } = readMilestone(payload);
  return {
    index,
    timestamp,
    parents: parents.map(toHex),
    previousMilestoneId: toHex(previousMilestoneId),
  };
}

/** Blocks of any kind, known or not, about any milestone. */
function proposeAnything(world: World, random: Random): void {
  const { network, ancient, twins } = world;
  const unknown = fromHex(`0xffff${random.bytes(30).toHex()}`);
  const pools = [
    network.window,
    network.window,
    [...network.blocks.keys()],
    ancient,
    twins.map(({ id }) => id),
    [toHex(unknown)],
  ];
  const parents = Array.from({ length: random.between(1, 4) }, () => {
    const pool = random.pick(pools);
    return pool.length === 0 ? [] : [random.pick(pool)];
  }).flat();
  const last = network.nextIndex - 1;
  const index = random.chance(0.7) ? last + 1 : random.between(network.genesis.index + 2, last + 1);
  const before = [...network.blocks.values()].filter((each) => each.milestoneIndex === index - 1);
  if (random.chance(0.85) && before.length > 0) parents.push(random.pick(before).id);
  if (parents.length > 0) askRoots(world, requestAt(world, random, index, parents), random);
}

/** A block that has the milestone's ID and is none of its blocks, in place of one. */
function proposeTwin(world: World, random: Random): void {
  if (world.twins.length === 0) return;
  const { id, index } = random.pick(world.twins);
  askRoots(
    world,
    requestAt(world, random, index + 1, [
      id,
      ...world.network.someParents().slice(0, random.below(2)),
    ]),
  );
}

/** Over the milestone that comes next, a moment after it has come. */
function proposeAtOnce(world: World): void {
  const { simulation, upstreams, network, node } = world;
  const due = simulation.now + MILESTONE_MS - (world.elapsed % MILESTONE_MS) + AT_ONCE_MS;
  // a catch-up ends once its queries are spent, and a large milestone takes more
  const isLarge = ({ text }: { text: string }) =>
    text.includes(`"event":"follower.large-milestone","index":${lastIndex(network)},`);
  const isKnown = () =>
    upstreams.every(({ conduct }) => conduct.isUp && conduct.lag === 0) &&
    !node.lines.some(isLarge);
  simulation.atForWorld(due, async () => {
    if (!world.isCalm && isKnown())
      askRoots(world, await answerableProposal(world), undefined, isKnown);
  });
}

/** A request in the same words as one before. */
function proposeAgain(world: World, random: Random): void {
  if (world.proposals.length > 0) askRoots(world, random.pick(world.proposals.slice(-24)));
}
