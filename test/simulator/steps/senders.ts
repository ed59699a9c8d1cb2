/** Senders of blocks: what accounts do, and what can be sent for nothing. */
import { admissionFault } from '../../../src/stardust/admission.ts';
import { equalBytes, toHex } from '../../../src/stardust/encoding/bytes.ts';
import { type Address, AddressType, addressKey } from '../../../src/stardust/wire/address.ts';
import { parseBlock } from '../../../src/stardust/wire/block.ts';
import { type Feature, FeatureType } from '../../../src/stardust/wire/feature.ts';
import { ed25519AddressId, networkId } from '../../../src/stardust/wire/ids.ts';
import {
  basicTo,
  LEAST_AMOUNT,
  type Life,
  send,
  someone,
  take,
} from '../../support/network/accounts.ts';
import { blockAround, readMilestone } from '../../support/network/blocks.ts';
import { lastIndex, parametersAt } from '../../support/network/network-model.ts';
import type { Random } from '../../support/network/random.ts';
import { EVENTS } from '../../support/network/random-network.ts';
import type { SyntheticNetwork } from '../../support/network/synthetic-network.ts';
import { coin, type MadeTransaction, type Spend } from '../../support/network/transactions.ts';
import type { KeyPair } from '../../support/payloads/keys.ts';
import { basic, depositReturn, expiration, nft } from '../../support/payloads/outputs.ts';
import { referTo, type TransactionPlan } from '../../support/payloads/transactions.ts';
import { CLAIMS } from '../claims.ts';
import { judgedTransaction, tryTo } from '../reference/judged-transaction.ts';
import { wildPlan } from '../reference/wild-transactions.ts';
import type { World } from '../world.ts';
import { forgedMilestone, forgedTwin, randomMilestone } from './forge.ts';
import { type Step, type Steps, stepsOf } from './step.ts';

const sender = stepsOf('sender');
const hostile = stepsOf('sender', { isHostile: true });

/** The events of random networks, each as a step. */
const usual = Object.fromEntries(
  Object.entries(EVENTS).map(([name, [often, happen]]): [string, Step] => [
    name,
    sender(often, ({ life }) => {
      if (happen(life) === undefined) life.network.note();
    }),
  ]),
) as Record<keyof typeof EVENTS, Step>;

export const senderSteps = {
  ...usual,
  // the index of NFTs is about their changes
  moveNft: { ...usual.moveNft, often: 12 },
  burnNft: { ...usual.burnNft, often: 6 },
  // of some of which a ledger from the genesis forgets the IDs
  referToOld: { ...usual.referToOld, often: 6 },
  wild: sender(20, wild),
  mintMany: sender(2, ({ life }, random) => mintMany(life, random)),
  chain: sender(4, ({ life }, random) => chain(life, random)),
  spendWeakly: sender(2, ({ life }) => spendWeakly(life)),
  giveBack: sender(3, giveBack),
  largeConflicts: hostile(3, ({ life }, random) => largeConflicts(life, random)),
  ghost: hostile(4, ghost),
  hide: hostile(4, hide),
  reveal: hostile(4, reveal),
  spendGhosts: hostile(4, spendGhosts),
  tangle: hostile(4, tangle),
  side: sender(3, ({ life }, random) => side(life, random)),
  drift: sender(1, drift),
  adopt: sender(4, ({ life }, random) => adopt(life, random)),
  standOnOld: hostile(4, standOnOld),
  forgeAhead: hostile(3, (world, random) => forge(world, random, random.between(2, 1000))),
  forgeNext: hostile(3, (world, random) => forge(world, random, random.between(0, 1))),
  twin: hostile(3, twin),
  twins: hostile(2, (world, random) => {
    for (let i = random.between(3, 8); i > 0; i--) twin(world, random);
  }),
  forgeRandom: hostile(1, forgeRandom),
  flood: hostile(2, flood),
} satisfies Steps;

/** A drop of a collection: more NFTs than two parts of a milestone's changes hold. */
export function mintMany(life: Life, random: Random): void {
  const spend = take(life, life.coins);
  if (spend === undefined) return;
  const count = BigInt(random.between(50, 90));
  const rest = spend.coin.output.amount - count * LEAST_AMOUNT;
  if (rest < LEAST_AMOUNT) return;
  const owner = someone(life);
  const metadata = [...CLAIMS.keys()];
  const outputs = Array.from({ length: Number(count) }, () => {
    const data = new TextEncoder().encode(random.pick(metadata));
    const immutable: Feature[] = [
      { type: FeatureType.Issuer, address: spend.by.address },
      { type: FeatureType.Metadata, data },
    ];
    return nft(owner, { amount: LEAST_AMOUNT, immutable });
  });
  const made = life.network.transaction([spend], [...outputs, basic(spend.by, { amount: rest })]);
  life.network.attachTransaction(made);
}

/** Each spends what the one before made. */
function chain(life: Life, random: Random): void {
  let spend = take(life, life.coins);
  for (let length = random.between(2, 5); length > 0 && spend !== undefined; length--) {
    const owner = someone(life);
    const made = send(life, [spend], [basicTo(owner, spend.coin.output.amount)]);
    life.coins = life.coins.filter((each) => each.coin !== made.coins[0]);
    spend = { coin: made.coins[0]!, by: owner };
  }
  if (spend !== undefined) life.coins.push(spend);
}

/** A key of order 8, for which this signature is valid of every message: by ZIP-215 alone. */
const WEAK_KEY = 'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a';
const WEAK_SIGNATURE = `01${'00'.repeat(63)}`;

/** To an account that signs as no library does, and from there. */
function spendWeakly(life: Life): void {
  const spend = take(life, life.coins);
  if (spend === undefined) return;
  const publicKey = Uint8Array.fromHex(WEAK_KEY);
  const weak: KeyPair = {
    secretKey: new Uint8Array(32),
    publicKey,
    address: { type: AddressType.Ed25519, id: ed25519AddressId(publicKey) },
    sign: () => Uint8Array.fromHex(WEAK_SIGNATURE),
  };
  const { amount } = spend.coin.output;
  const made = life.network.transaction([spend], [basic(weak, { amount })]);
  life.network.attachTransaction(made);
  send(life, [{ coin: made.coins[0]!, by: weak }], [basicTo(someone(life), amount)]);
}

/** Seconds from the next milestone's time on, before and after which what was lent is the lender's. */
const LAPSES = [-20, 10] as const;

/**
 * Two deposits due to one address are given back together: whole, or a token is missing. Each may
 * have lapsed, at a time of its own: then it is the lender's, and nothing is due.
 */
function giveBack({ life, network }: World, random: Random): void {
  const spend = take(life, life.coins);
  const whole = spend?.coin.output.amount ?? 0n;
  if (spend === undefined || whole < 4n * LEAST_AMOUNT) return;
  const [owner, lender] = [someone(life), someone(life)];
  const lapses = random.chance(0.7);
  const lent = [whole / 2n, whole - whole / 2n].map((amount) => {
    const until = network.nextTimestamp + random.between(...LAPSES);
    const conditions = [
      depositReturn(lender, LEAST_AMOUNT),
      ...(lapses ? [expiration(lender, until)] : []),
    ];
    return basic(owner, { amount, conditions });
  });
  const made = attachJudged(network, {
    inputs: [{ ...spend.coin, unlock: spend.by }],
    outputs: lent,
  });
  const both = lapses && random.chance(0.5) ? lender : owner;
  const [first, second] = lapses && random.chance(0.3) ? [owner, lender] : [both, both];
  const taken = [first, second].filter((by) => by === owner).length;
  const due = LEAST_AMOUNT * BigInt(taken) - BigInt(random.below(2));
  const outputs =
    taken === 0
      ? [basic(lender, { amount: whole })]
      : [basic(lender, { amount: due }), basic(owner, { amount: whole - due })];
  const unlocks = [first, second === first ? referTo(0) : second] as const;
  const inputs = made?.coins.map((each, i) => ({ ...each, unlock: unlocks[i]! }));
  if (inputs !== undefined) attachJudged(network, { inputs, outputs });
}

/** Double spends with many outputs: as heavy as blocks can be made for nothing. */
function largeConflicts(life: Life, random: Random): void {
  const spend = life.spent.length > 0 ? random.pick(life.spent) : undefined;
  const count = random.between(20, 40);
  if (spend === undefined || spend.coin.output.amount < BigInt(count) * LEAST_AMOUNT) return;
  for (let i = random.between(1, 4); i > 0; i--) {
    const share = spend.coin.output.amount / BigInt(count);
    const rest = spend.coin.output.amount - share * BigInt(count - 1);
    const outputs = Array.from({ length: count }, (_, n) =>
      basicTo(someone(life), n === 0 ? rest : share),
    );
    const made = life.network.transaction(
      [spend],
      outputs.map(([output]) => output),
    );
    life.network.attachTransaction(made);
  }
}

/** Inputs that never were, and outputs that others may spend from. */
function ghost(world: World, random: Random): void {
  const { life, network } = world;
  const by = someone(life);
  const spends = Array.from({ length: random.between(1, 4) }, () => {
    const id = random.bytes(34);
    id.set([random.below(128), 0], 32);
    return { coin: coin(id, basic(by, { amount: 4n * LEAST_AMOUNT })), by };
  });
  const total = 4n * LEAST_AMOUNT * BigInt(spends.length);
  const count = BigInt(random.between(1, 4));
  const made = network.transaction(
    spends,
    Array.from({ length: Number(count) }, (_, i) =>
      basic(by, { amount: i === 0 ? total - LEAST_AMOUNT * (count - 1n) : LEAST_AMOUNT }),
    ),
  );
  const block = network.attachTransaction(made);
  if (random.chance(0.3)) network.setAside(block);
  life.transactions.push(made);
}

/** A transaction that spends what no block has made yet. */
function hide({ life, network, hidden }: World): void {
  const spend = take(life, life.coins);
  if (spend === undefined) return;
  const owner = someone(life);
  const first = network.transaction([spend], [basic(owner, { amount: spend.coin.output.amount })]);
  hidden.push(first);
  send(
    life,
    [{ coin: first.coins[0]!, by: owner }],
    [basicTo(someone(life), spend.coin.output.amount)],
  );
}

function reveal({ life, network, hidden }: World): void {
  const made = take({ ...life }, hidden);
  if (made === undefined) return;
  network.attachTransaction(made);
  life.transactions.push(made);
}

/** Spends from transactions that conflict or will, hidden ones among them. */
function spendGhosts({ life, network, hidden }: World, random: Random): void {
  const unsure = [...hidden, ...life.transactions.slice(-12)];
  const spends: Spend[] = [];
  for (const { coins } of random.sample(unsure, random.between(1, 3)))
    for (const each of random.sample(coins, random.between(1, 2))) {
      // the same transaction may have been made twice, and none has an input twice (C-10)
      if (spends.some(({ coin: { id } }) => equalBytes(id, each.id))) continue;
      const condition = each.output.unlockConditions[0];
      if (each.output.unlockConditions.length > 1 || condition === undefined) continue;
      const by = 'address' in condition ? ownerOf(life, condition.address) : undefined;
      if (by !== undefined && each.output.type === 3) spends.push({ coin: each, by });
    }
  if (spends.length === 0) return;
  const amount = spends.reduce((sum, { coin: { output } }) => sum + output.amount, 0n);
  const made = network.transaction(spends, [basic(someone(life), { amount })]);
  network.attachTransaction(made, network.someParents());
  life.transactions.push(made);
}

/** Outputs that a maker of wild transactions looks at: the newest ones. */
const WILD_OUTPUTS = 60;

/** Outputs, conditions and features of every kind, right or almost right: our judge decides. */
function wild({ life, network, truth }: World, random: Random): void {
  const { parameters } = parametersAt(network, lastIndex(network));
  for (let i = random.between(1, 3); i > 0; i--) {
    const plan = wildPlan({
      random,
      accounts: [...life.accounts.values()],
      coins: truth
        .plainOutputs(lastIndex(network))
        .slice(-WILD_OUTPUTS)
        .map(({ outputId, output }) => coin(Uint8Array.fromHex(outputId), output)),
      now: network.nextTimestamp,
      rent: parameters.rentStructure,
    });
    if (plan !== undefined) attachJudged(network, plan);
  }
}

/** Undefined where no node takes a block of it. */
function attachJudged(
  network: SyntheticNetwork,
  plan: TransactionPlan,
): MadeTransaction | undefined {
  const { parameters } = parametersAt(network, lastIndex(network));
  const ownNetwork = networkId(parameters.networkName);
  const made = tryTo(() => judgedTransaction({ networkId: ownNetwork, ...plan }));
  if (made === undefined) return undefined;
  const parsed = parseBlock(blockAround(network.someParents(), made.payload));
  if (!parsed.ok || admissionFault(parsed.parsed, parameters) !== undefined) return undefined;
  network.attachTransaction(made);
  return made;
}

/** Whose outputs a tangle spends: they come later, never, or conflict. */
const FATES = ['hidden', 'conflicting', 'sent'] as const;

/**
 * Transactions that spend each other's outputs at random, with conflicting ones among them and ones
 * that come later; many of their blocks are built on later, or never.
 */
function tangle(world: World, random: Random): void {
  const { life, network, hidden } = world;
  const spends: Spend[] = [];
  for (let i = random.between(2, 4); i > 0; i--) {
    const fate = random.pick(FATES);
    const isSpent = fate === 'conflicting' && life.spent.length > 0;
    const from = isSpent ? random.pick(life.spent) : take(life, life.coins);
    if (from === undefined) continue;
    const by = someone(life);
    const wanted = BigInt(random.between(1, 4));
    // less in each would not be admitted (C-17)
    const count = from.coin.output.amount < wanted * LEAST_AMOUNT ? 1n : wanted;
    const share = from.coin.output.amount / count;
    const amounts = Array.from({ length: Number(count) }, (_, n) =>
      n === 0 ? from.coin.output.amount - share * (count - 1n) : share,
    );
    const made = network.transaction(
      [from],
      amounts.map((amount) => basic(by, { amount })),
    );
    if (fate === 'hidden') hidden.push(made);
    else network.attachTransaction(made);
    // the same transaction may have been made before, and its outputs are spent once
    const isNew = ({ id }: Spend['coin']) =>
      !spends.some(({ coin: { id: known } }) => equalBytes(known, id));
    spends.push(...made.coins.filter(isNew).map((each) => ({ coin: each, by })));
  }
  for (let i = random.between(2, 5); i > 0 && spends.length > 0; i--) {
    const some = random.sample(spends, random.between(1, 4));
    const amount = some.reduce((sum, { coin: { output } }) => sum + output.amount, 0n);
    const made = network.transaction(some, [basic(someone(life), { amount })]);
    const block = network.attachTransaction(made, network.someParents());
    if (random.chance(0.5)) network.setAside(block);
    life.transactions.push(made);
  }
}

function ownerOf({ accounts }: Life, address: Address) {
  return accounts.get(addressKey(address));
}

/** Blocks that honest nodes never build on. */
function side({ network }: Life, random: Random): void {
  let parents = network.someParents();
  for (let i = random.between(1, 3); i > 0; i--) {
    const id = network.note([...new Set(parents)], random.bytes(8));
    network.setAside(id);
    parents = [id, ...network.someParents()].slice(0, random.between(1, 3));
  }
}

const DRIFTING_MS = 4000;

/** A chain that only its sender builds on: it grows for longer than its first block can be referenced. */
function drift(world: World, random: Random): void {
  const { network, simulation } = world;
  const blocks = Array.from({ length: random.between(5, 30) }, () => random.bytes(8));
  let parents = network.someParents();
  for (const [i, data] of blocks.entries())
    simulation.after(i * DRIFTING_MS, () => {
      const id = network.note(parents, data);
      network.setAside(id);
      parents = [id];
      world.publishNews();
    });
}

/** How many of the newest blocks somebody looks at for one that nobody built on. */
const LOOKED_AT = 60;

/** On a block that nobody has built on yet. */
function adopt({ network }: Life, random: Random): void {
  const newest = [...network.blocks.values()].slice(-LOOKED_AT);
  const open = newest.filter(({ referenced }) => referenced === undefined).map(({ id }) => id);
  if (open.length > 0)
    network.note([...new Set([...random.sample(open, 2), ...network.someParents()])].slice(0, 8));
}

/** On blocks of any age, also from before the snapshot. */
function standOnOld({ network, ancient }: World, random: Random): void {
  const ids = random.chance(0.6) && ancient.length > 0 ? ancient : [...network.blocks.keys()];
  let above = random.sample(ids, random.between(1, 2));
  for (let i = random.between(1, 5); i > 0; i--) {
    const beside = random.chance(0.5) ? [network.milestoneBlock!] : [];
    const width = random.between(1, 4);
    above = Array.from({ length: width }, () =>
      network.note([...new Set([...above.slice(0, 6), ...beside])], random.bytes(8)),
    );
  }
  if (random.chance(0.4)) for (const id of above) network.setAside(id);
}

function forge(world: World, random: Random, ahead: number): void {
  const { network, liar, strangers } = world;
  const parents = network.someParents();
  const last = network.milestones.at(-1)!;
  const signers = random.chance(0.3) ? network.signers.slice(0, 1) : strangers;
  // strangers could sign the first one
  const index = Math.max(lastIndex(network) + ahead, network.genesis.index + 2);
  const payload = forgedMilestone(last, { index, parents }, signers, random);
  const id = network.attachMilestone(payload, random.chance(0.8) ? parents : network.someParents());
  liar?.forged.push(payload);
  if (random.chance(0.25)) network.setAside(id);
}

/** The last milestone with signatures that are none. */
export function twin({ network, twins, liar }: World, random: Random): void {
  const last = network.milestones.at(-1)!;
  const payload = forgedTwin(last, random);
  const own = readMilestone(payload).parents.map(toHex);
  const id = network.attachMilestone(payload, random.chance(0.6) ? own : network.someParents());
  liar?.forged.push(payload);
  twins.push({ id, index: last.index });
  if (random.chance(0.25)) network.setAside(id);
}

function forgeRandom({ network, strangers }: World, random: Random): void {
  const payload = randomMilestone(network.milestones.at(-1)!, strangers, random);
  const id = network.attachMilestone(payload, network.someParents());
  if (random.chance(0.25)) network.setAside(id);
}

/** Many small blocks at once. */
function flood({ network }: World, random: Random): void {
  const isAside = random.chance(0.5);
  for (let i = random.between(40, 160); i > 0; i--) {
    const id = network.note(network.someParents(), random.bytes(8));
    if (isAside) network.setAside(id);
  }
}
