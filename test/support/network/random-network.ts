/**
 * Random networks: payments, NFTs and aliases from creation to destruction, conflicts of every
 * reason that transactions.ts can make, reattachments, transactions that arrive before those they
 * spend from, time conditions at the exact second, and odd milestone blocks.
 */
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { nftIdOf } from '../../../src/stardust/wire/ids.ts';
import { OutputType } from '../../../src/stardust/wire/output.ts';
import { UnlockConditionType } from '../../../src/stardust/wire/unlock-condition.ts';
import type { KeyPair } from '../payloads/keys.ts';
import { alias, basic, expiration, metadata, nft, timelock } from '../payloads/outputs.ts';
import {
  ACCOUNTS,
  basicTo,
  fund,
  LEAST_AMOUNT,
  type Life,
  newLife,
  send,
  someone,
  take,
  takeStock,
} from './accounts.ts';
import { readMilestone } from './blocks.ts';
import { extraSignature, fewerSignatures, forgedSignature } from './milestones.ts';
import { SyntheticNetwork, type SyntheticOptions } from './synthetic-network.ts';
import { aliasIdOf, type Coin, coin } from './transactions.ts';

export interface RandomNetworkOptions extends SyntheticOptions {
  /** Default: 12. */
  milestones?: number;
  /** Events before each milestone, most of them one block. Default: 30. */
  events?: number;
}

export function randomNetwork(options: RandomNetworkOptions = {}): SyntheticNetwork {
  const { milestones = 12, events = 30 } = options;
  const network = new SyntheticNetwork(options);
  const life = newLife(network);
  network.milestone();
  for (let i = 1; i < milestones; i++) {
    takeStock(life);
    for (let done = 0; done < events; done++) somethingHappens(life);
    network.milestone();
  }
  return network;
}

/**
 * What can happen, and how often. An event that is not possible becomes a block with tagged data.
 */
export const EVENTS = {
  note: [20, ({ network }) => network.note()],
  noPayload: [2, ({ network }) => network.attach(undefined)],
  pay: [25, pay],
  mint: [6, mint],
  moveNft: [5, moveNft],
  burnNft: [3, burnNft],
  createAlias: [4, createAlias],
  stepAlias: [5, stepAlias],
  governAlias: [3, governAlias],
  destroyAlias: [2, destroyAlias],
  spendTwice: [5, spendTwice],
  spoil: [6, spoil],
  unbalance: [2, unbalance],
  useUnknown: [2, useUnknown],
  breakChain: [4, breakChain],
  reattach: [3, reattach],
  childFirst: [3, childFirst],
  setTime: [8, setTime],
  useTimed: [8, useTimed],
  referToOld: [2, referToOld],
  repeatMilestone: [4, repeatMilestone],
} satisfies Record<string, readonly [often: number, (life: Life) => unknown]>;

const ANY: readonly (readonly [often: number, (life: Life) => unknown])[] = Object.values(EVENTS);

/** One event, mostly one block. */
export function somethingHappens(life: Life): void {
  if (life.random.pickWeighted(ANY)(life) === undefined) life.network.note();
}

function pay(life: Life) {
  const spends = Array.from({ length: life.random.between(1, 3) }, () =>
    take(life, life.coins),
  ).filter((spend) => spend !== undefined);
  if (spends.length === 0) return undefined;
  life.spent.push(...spends);
  const total = spends.reduce((sum, { coin }) => sum + coin.output.amount, 0n);
  const count = BigInt(life.random.between(1, 3));
  if (total < count * LEAST_AMOUNT) return send(life, spends, [basicTo(someone(life), total)]);
  const share = total / count;
  const outputs = Array.from({ length: Number(count) }, (_, i) =>
    basicTo(someone(life), i === 0 ? total - share * (count - 1n) : share),
  );
  return send(life, spends, outputs);
}

function mint(life: Life) {
  const owner = someone(life);
  // longer than a row of D1 has them
  const length = life.random.chance(0.5) ? 12 : 700;
  const immutable = life.random.chance(0.5) ? [metadata(life.random.bytes(length))] : [];
  const made = fund(life, (amount) => nft(owner, { amount, immutable }));
  if (made !== undefined) life.nfts.push({ coin: made.coins[0]!, by: owner });
  return made;
}

/** The NFT's next state, owned by somebody else. */
function movedNft(owner: KeyPair, { id, output }: Coin) {
  if (output.type !== OutputType.Nft) throw new Error('not an NFT');
  return {
    ...nft(owner, { amount: output.amount, nftId: nftIdOf(output, id) }),
    immutableFeatures: output.immutableFeatures,
  };
}

function moveNft(life: Life) {
  const spend = take(life, life.nfts);
  if (spend === undefined) return undefined;
  const owner = someone(life);
  const made = send(life, [spend], [[movedNft(owner, spend.coin), owner]]);
  life.nfts.push({ coin: made.coins[0]!, by: owner });
  return made;
}

function burnNft(life: Life) {
  const spend = take(life, life.nfts);
  return spend && send(life, [spend], [basicTo(spend.by, spend.coin.output.amount)]);
}

function createAlias(life: Life) {
  const [controller, governor] = [someone(life), someone(life)];
  const made = fund(life, (amount) => alias(controller, governor, { amount }));
  if (made !== undefined) life.aliases.push({ coin: made.coins[0]!, controller, governor });
  return made;
}

/** The alias output with its ID written out. */
function sameAlias({ id, output }: Coin) {
  if (output.type !== OutputType.Alias) throw new Error('not an alias');
  return { ...output, aliasId: aliasIdOf(output, id) };
}

function stepAlias(life: Life) {
  const owned = take(life, life.aliases);
  if (owned === undefined) return undefined;
  const now = sameAlias(owned.coin);
  const next = {
    ...now,
    stateIndex: now.stateIndex + 1,
    stateMetadata: life.random.bytes(life.random.below(20)),
  };
  const made = send(life, [{ coin: owned.coin, by: owned.controller }], [[next, owned.controller]]);
  life.aliases.push({ ...owned, coin: made.coins[0]! });
  return made;
}

function governAlias(life: Life) {
  const owned = take(life, life.aliases);
  if (owned === undefined) return undefined;
  const governor = someone(life);
  const now = sameAlias(owned.coin);
  const unlockConditions = now.unlockConditions.map((condition) =>
    condition.type === UnlockConditionType.Governor
      ? { ...condition, address: governor.address }
      : condition,
  );
  const made = send(
    life,
    [{ coin: owned.coin, by: owned.governor }],
    [[{ ...now, unlockConditions }, governor]],
  );
  life.aliases.push({ ...owned, governor, coin: made.coins[0]! });
  return made;
}

function destroyAlias(life: Life) {
  const owned = take(life, life.aliases);
  if (owned === undefined) return undefined;
  const { coin: spent, governor } = owned;
  return send(life, [{ coin: spent, by: governor }], [basicTo(governor, spent.output.amount)]);
}

/** In the same milestone or a later one; it applies after all if the first attempt did not. */
function spendTwice(life: Life) {
  if (life.spent.length === 0) return undefined;
  const spend = life.random.pick(life.spent);
  return send(life, [spend], [basicTo(someone(life), spend.coin.output.amount)]);
}

function spoil(life: Life) {
  if (life.coins.length === 0) return undefined;
  const spend = life.random.pick(life.coins);
  const outputs = [basicTo(someone(life), spend.coin.output.amount)];
  const defect = life.random.pick(['signature', 'commitment', undefined] as const);
  return send(
    life,
    [defect === undefined ? { ...spend, by: life.network.account(ACCOUNTS) } : spend],
    outputs,
    defect,
  );
}

function unbalance(life: Life) {
  if (life.coins.length === 0) return undefined;
  const spend = life.random.pick(life.coins);
  const { amount } = spend.coin.output;
  return send(
    life,
    [spend],
    [basicTo(someone(life), life.random.chance(0.5) ? amount + 1n : amount - 1n)],
  );
}

function useUnknown(life: Life) {
  const by = someone(life);
  const id = life.random.bytes(34);
  id.set([life.random.below(128), 0], 32);
  return send(
    life,
    [{ coin: coin(id, basic(by, { amount: LEAST_AMOUNT })), by }],
    [basicTo(by, LEAST_AMOUNT)],
  );
}

function breakChain(life: Life) {
  const { random } = life;
  const owned = life.nfts.length > 0 ? random.pick(life.nfts) : undefined;
  const led = life.aliases.length > 0 ? random.pick(life.aliases) : undefined;
  if (owned !== undefined && random.chance(0.3)) {
    const changed = {
      ...movedNft(owned.by, owned.coin),
      immutableFeatures: [{ type: 2 as const, data: random.bytes(5) }],
    };
    return send(life, [owned], [[changed, owned.by]], 'chain');
  }
  if (led !== undefined && random.chance(0.5)) {
    const now = sameAlias(led.coin);
    const jumped = { ...now, stateIndex: now.stateIndex + 2 };
    return send(
      life,
      [{ coin: led.coin, by: led.controller }],
      [[jumped, led.controller]],
      'chain',
    );
  }
  if (life.coins.length === 0) return undefined;
  const spend = random.pick(life.coins);
  const { amount } = spend.coin.output;
  const stranger = random.chance(0.5)
    ? nft(spend.by, { amount, nftId: random.bytes(32) })
    : alias(spend.by, spend.by, { amount, aliasId: random.bytes(32) });
  return send(life, [spend], [[stranger, spend.by]], 'chain');
}

function reattach(life: Life) {
  if (life.transactions.length === 0) return undefined;
  return life.network.attachTransaction(life.random.pick(life.transactions));
}

/** The consumer arrives before the producer, and need not have it in its past. */
function childFirst(life: Life) {
  const spend = take(life, life.coins);
  if (spend === undefined) return undefined;
  const [first, second] = [someone(life), someone(life)];
  const { amount } = spend.coin.output;
  const producer = life.network.transaction([spend], [basic(first, { amount })]);
  send(life, [{ coin: producer.coins[0]!, by: first }], [basicTo(second, amount)]);
  life.transactions.push(producer);
  return life.network.attachTransaction(producer);
}

/** A second before, at, or after one of the next two milestones. */
function setTime(life: Life) {
  const { network, random } = life;
  const [owner, other] = [someone(life), someone(life)];
  const time = network.nextTimestamp + random.pick([0, 5]) + random.between(-1, 1);
  const condition = random.chance(0.5) ? timelock(time) : expiration(other, time);
  const spend = take(life, life.coins);
  if (spend === undefined) return undefined;
  const { amount } = spend.coin.output;
  const made = network.transaction([spend], [basic(owner, { amount, conditions: [condition] })]);
  life.timed.push({ coin: made.coins[0]!, owners: [owner, other] });
  return network.attachTransaction(made);
}

function useTimed(life: Life) {
  if (life.timed.length === 0) return undefined;
  const { coin, owners } = life.random.pick(life.timed.slice(-4));
  return send(
    life,
    [{ coin, by: life.random.pick(owners) }],
    [basicTo(owners[0]!, coin.output.amount)],
  );
}

/** A block whose parents were referenced long ago, or never will be. */
function referToOld({ network, random }: Life) {
  return network.note(random.sample([...network.blocks.keys()], random.between(1, 3)));
}

/**
 * Another block around the last milestone: with fewer signatures or parents it counts as its block,
 * with bad signatures as any block.
 */
function repeatMilestone({ network, random }: Life) {
  const { payload } = network.milestones.at(-1)!;
  const parents = readMilestone(payload).parents.map(toHex);
  switch (random.below(4)) {
    case 0:
      return network.attachMilestone(fewerSignatures(payload, network.keys.threshold));
    case 1:
      return network.attachMilestone(forgedSignature(payload));
    case 2:
      return network.attachMilestone(extraSignature(payload, random.bytes(32)));
    default:
      return network.attachMilestone(payload, parents.slice(0, random.between(1, parents.length)));
  }
}
