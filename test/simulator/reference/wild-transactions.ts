/**
 * Transactions of every kind, right ones and almost right ones, over outputs of every kind: chains
 * that own each other, foundries and tokens, returns, locks that end in that very second. Nobody
 * knows their verdicts beforehand: the product's judge decides, and then the reference does
 * (tools/judge).
 */
import { equalBytes, isZero } from '../../../src/stardust/encoding/bytes.ts';
import { minimumDeposit } from '../../../src/stardust/output.ts';
import { type Address, AddressType, addressKey } from '../../../src/stardust/wire/address.ts';
import { type Feature, FeatureType } from '../../../src/stardust/wire/feature.ts';
import { aliasIdOf, foundryId, nftIdOf } from '../../../src/stardust/wire/ids.ts';
import {
  type AliasOutput,
  type FoundryOutput,
  type NativeToken,
  type NftOutput,
  type Output,
  OutputType,
} from '../../../src/stardust/wire/output.ts';
import {
  addressIn,
  findCondition,
  type UnlockCondition,
  UnlockConditionType,
} from '../../../src/stardust/wire/unlock-condition.ts';
import type { Random } from '../../support/network/random.ts';
import type { Coin } from '../../support/network/transactions.ts';
import type { KeyPair } from '../../support/payloads/keys.ts';
import {
  alias,
  aliasAddress,
  basic,
  depositReturn,
  expiration,
  foundry,
  issuer,
  metadata,
  nft,
  nftAddress,
  type Owner,
  sender,
  tag,
  timelock,
} from '../../support/payloads/outputs.ts';
import {
  byAlias,
  byNft,
  type PlannedInput,
  referTo,
  type TransactionPlan,
} from '../../support/payloads/transactions.ts';
import { MAX_UINT256 } from './edge-outputs.ts';
import { MISTAKES } from './mistakes.ts';

/** What a maker of transactions knows. */
export interface Wallet {
  random: Random;
  accounts: readonly KeyPair[];
  /** Outputs that are, or that may come to be. */
  coins: readonly Coin[];
  /** The timestamp that the next milestone will have. */
  now: number;
  rent: Parameters<typeof minimumDeposit>[1];
}

/** A transaction in the making. */
export interface Draft {
  wallet: Wallet;
  inputs: Coin[];
  outputs: Output[];
  /** Addresses that the inputs unlock. */
  unlocked: Address[];
  /** What else a plan may say. */
  more: Partial<TransactionPlan>;
  /** Changes of unlocks, once they are there. */
  unlockChanges: ((inputs: PlannedInput[]) => void)[];
}

const MAX_INPUTS = 20;

/** Undefined if there is nothing to spend. */
export function wildPlan(wallet: Wallet): TransactionPlan | undefined {
  const { random, coins } = wallet;
  if (coins.length === 0) return undefined;
  const draft: Draft = {
    wallet,
    inputs: [],
    outputs: [],
    unlocked: [],
    more: {},
    unlockChanges: [],
  };
  for (let count = random.between(1, 3); count > 0; count--) {
    // rare kinds as often as others
    const kinds = [...Map.groupBy(coins, ({ output }) => output.type).values()];
    consume(draft, random.pick(random.chance(0.5) ? random.pick(kinds) : coins), 0);
  }
  if (draft.inputs.length === 0) return undefined;
  if (random.chance(0.35)) foundryOf(draft);
  const due = goOn(draft);
  makeNew(draft);
  balance(draft, due);
  if (random.chance(0.4)) {
    for (let count = random.pick([1, 1, 1, 2]); count > 0; count--) random.pick(MISTAKES)(draft);
  }
  return signed(draft);
}

/** What a chain is called: the address that it unlocks, or a foundry's ID. */
function chainAddress({ id, output }: Coin): Address | undefined {
  if (output.type === OutputType.Alias) return aliasAddress(aliasIdOf(output, id));
  if (output.type === OutputType.Nft) return nftAddress(nftIdOf(output, id));
  return undefined;
}

/** The owner first, if it is a chain: it unlocks what it owns. */
function consume(draft: Draft, coin: Coin, depth: number): void {
  const { inputs, wallet } = draft;
  if (inputs.length >= MAX_INPUTS || inputs.some(({ id }) => equalBytes(id, coin.id))) return;
  const owner = ownerOf(coin, wallet.now, true);
  if (owner.type !== AddressType.Ed25519 && depth < 4) {
    const chain = wallet.coins.findLast((each) => {
      const own = chainAddress(each);
      return own !== undefined && addressKey(own) === addressKey(owner);
    });
    // an owner that is not there is a mistake, which is made now and then
    if (chain === undefined && !wallet.random.chance(0.1)) return;
    if (chain !== undefined) consume(draft, chain, depth + 1);
  }
  inputs.push(coin);
  draft.unlocked.push(owner);
  const own = chainAddress(coin);
  if (own !== undefined) draft.unlocked.push(own);
}

/** Who unlocks the output at this time; `moves`: the alias's state changes. */
function ownerOf({ output }: Coin, now: number, moves: boolean): Address {
  const expires = findCondition(output, UnlockConditionType.Expiration);
  if (expires !== undefined && expires.unixTime <= now) return expires.returnAddress;
  switch (output.type) {
    case OutputType.Alias:
      return addressIn(
        output,
        moves ? UnlockConditionType.StateController : UnlockConditionType.Governor,
      );
    case OutputType.Foundry:
      return addressIn(output, UnlockConditionType.ImmutableAlias);
    default:
      return addressIn(output, UnlockConditionType.Address);
  }
}

/** Consumes a foundry of an alias that is consumed. */
function foundryOf(draft: Draft): void {
  const { inputs, wallet } = draft;
  const aliases = inputs.flatMap(({ id, output }) =>
    output.type === OutputType.Alias ? [addressKey(aliasAddress(aliasIdOf(output, id)))] : [],
  );
  const found = wallet.coins.filter(
    ({ output }) =>
      output.type === OutputType.Foundry &&
      aliases.includes(addressKey(addressIn(output, UnlockConditionType.ImmutableAlias))),
  );
  if (found.length > 0) consume(draft, wallet.random.pick(found), 0);
}

/** Tokens that outputs have to hold, by the ID of their foundry in hex. */
type Tokens = Map<string, bigint>;

interface Due {
  tokens: Tokens;
}

/** The next states of the chains that are consumed, and returns of deposits. */
function goOn(draft: Draft): Due {
  const { inputs, outputs, wallet } = draft;
  const { random, now } = wallet;
  const tokens: Tokens = new Map();
  const add = (id: Uint8Array, amount: bigint) =>
    tokens.set(id.toHex(), (tokens.get(id.toHex()) ?? 0n) + amount);
  for (const { output } of inputs) {
    for (const { id, amount } of output.nativeTokens) add(id, amount);
    const due = findCondition(output, UnlockConditionType.StorageDepositReturn);
    const expires = findCondition(output, UnlockConditionType.Expiration);
    const isReturned = due && !(expires && expires.unixTime <= now);
    if (due && (isReturned || random.chance(0.1)))
      outputs.push(basic(due.returnAddress, { amount: due.amount }));
  }
  const hasFoundry = inputs.some(({ output }) => output.type === OutputType.Foundry);
  for (const coin of inputs) {
    const { id, output } = coin;
    if (output.type === OutputType.Nft) goOnWithNft(draft, id, output);
    else if (output.type === OutputType.Alias) goOnWithAlias(draft, id, output, hasFoundry, add);
    else if (output.type === OutputType.Foundry) goOnWithFoundry(draft, output, add, tokens);
  }
  return { tokens };
}

function goOnWithNft(draft: Draft, id: Uint8Array, output: NftOutput): void {
  const { random } = draft.wallet;
  if (random.chance(0.2)) return;
  draft.outputs.push({
    ...nft(anyOwner(draft), { nftId: nftIdOf(output, id), ...someConditions(draft, 0.6) }),
    immutableFeatures: output.immutableFeatures,
  });
}

type Add = (id: Uint8Array, amount: bigint) => void;

function goOnWithAlias(
  draft: Draft,
  id: Uint8Array,
  output: AliasOutput,
  hasFoundry: boolean,
  add: Add,
): void {
  const { random } = draft.wallet;
  const aliasId = aliasIdOf(output, id);
  const same = { ...output, aliasId, nativeTokens: [] };
  const kind = hasFoundry ? 0 : random.below(10);
  if (kind >= 8) return;
  if (kind >= 6) {
    const [state, governor] = [anyOwner(draft), anyOwner(draft)];
    const { unlockConditions } = alias(state, governor);
    draft.outputs.push({ ...same, unlockConditions, features: someFeatures(draft, [0, 2], 0.3) });
    return;
  }
  const founded = random.pick([0, 1, 2, 3]);
  draft.outputs.push({
    ...same,
    stateIndex: (output.stateIndex + 1) >>> 0,
    stateMetadata: random.bytes(random.below(12)),
    foundryCounter: (output.foundryCounter + founded) >>> 0,
    features: someFeatures(draft, [0, 2], 0.3),
  });
  for (let i = 1; i <= founded; i++) {
    const serialNumber = (output.foundryCounter + i) >>> 0;
    const minted = BigInt(random.pick([0, 1, 500, 1000]));
    const immutable = random.chance(0.3) ? [metadata(random.bytes(4))] : [];
    const made = foundry(aliasId, { serialNumber, minted, maximumSupply: 1000n, immutable });
    add(foundryId(made), minted);
    draft.outputs.push(made);
  }
}

function goOnWithFoundry(draft: Draft, output: FoundryOutput, add: Add, tokens: Tokens): void {
  const { random } = draft.wallet;
  const { minted, melted, maximumSupply } = output.tokenScheme;
  const id = foundryId(output);
  const held = tokens.get(id.toHex()) ?? 0n;
  const kind = random.below(10);
  if (kind === 9) {
    add(id, -held);
    return;
  }
  const room = maximumSupply - minted + melted;
  const mint = kind < 4 ? (room * BigInt(random.between(0, 4))) / 4n : 0n;
  const melt = kind >= 4 && kind < 8 ? (held * BigInt(random.between(0, 4))) / 4n : 0n;
  add(id, mint - melt);
  const tokenScheme = { ...output.tokenScheme, minted: minted + mint, melted: melted + melt };
  const features = random.chance(0.3) ? [metadata(random.bytes(6))] : [];
  draft.outputs.push({ ...output, nativeTokens: [], tokenScheme, features });
}

/** Outputs that begin something. */
function makeNew(draft: Draft): void {
  const { outputs, wallet } = draft;
  const { random } = wallet;
  if (random.chance(0.3))
    outputs.push(nft(anyOwner(draft), { ...someConditions(draft), immutable: immutable(draft) }));
  if (random.chance(0.2)) {
    outputs.push(
      alias(anyOwner(draft), anyOwner(draft), {
        stateMetadata: random.bytes(random.below(9)),
        features: someFeatures(draft, [0, 2], 0.3),
        immutable: immutable(draft),
      }),
    );
  }
  if (random.chance(0.5)) outputs.push(basic(anyOwner(draft), someConditions(draft)));
}

/** An account, or a chain that is known. */
export function anyOwner({ wallet, inputs }: Draft): Owner {
  const { random, accounts, coins } = wallet;
  if (random.chance(0.6)) return random.pick(accounts);
  const chain = chainAddress(random.pick(random.chance(0.3) ? inputs : coins));
  return chain ?? random.pick(accounts);
}

/** Mostly an address that is unlocked. */
function anyAuthor(draft: Draft): Owner {
  const { random } = draft.wallet;
  return random.chance(0.85) ? random.pick(draft.unlocked) : anyOwner(draft);
}

function immutable(draft: Draft): Feature[] {
  const { random } = draft.wallet;
  const features: Feature[] = [];
  if (random.chance(0.4)) features.push(issuer(anyAuthor(draft)));
  if (random.chance(0.4)) features.push(metadata(random.bytes(random.between(1, 40))));
  return features;
}

function someFeatures(draft: Draft, types: readonly number[], chance = 0.2): Feature[] {
  const { random } = draft.wallet;
  const features: Feature[] = [];
  const wants = (type: number) => types.includes(type) && random.chance(chance);
  if (wants(FeatureType.Sender)) features.push(sender(anyAuthor(draft)));
  if (wants(FeatureType.Metadata)) features.push(metadata(random.bytes(random.between(1, 60))));
  if (wants(FeatureType.Tag)) features.push(tag(...random.bytes(random.between(1, 8))));
  return features;
}

function someConditions(draft: Draft, chance = 1) {
  const { random, now, rent } = draft.wallet;
  const time = () => now + random.pick([-1, 0, 0, 1, 4, 5, 6]);
  const conditions: UnlockCondition[] = [];
  const wants = () => random.chance(0.15 * chance);
  if (wants()) {
    const least = minimumDeposit(basic(random.pick(draft.wallet.accounts)), rent);
    conditions.push(depositReturn(anyOwner(draft), least + BigInt(random.below(1000))));
  }
  if (wants()) conditions.push(timelock(time()));
  if (wants()) conditions.push(expiration(anyOwner(draft), time()));
  return { conditions, features: someFeatures(draft, [0, 2, 3]) };
}

/** Amounts: at least the deposits, and the rest to an account. */
function balance(draft: Draft, { tokens }: Due): void {
  const { inputs, wallet } = draft;
  const { random, rent, accounts } = wallet;
  const rest = restOf(tokens, random);
  const last = basic(random.pick(accounts), { tokens: rest });
  draft.outputs = draft.outputs.map((output) => atLeast(output, rent, random));
  const due = () => sumOf(draft.outputs) + minimumDeposit(last, rent);
  const free = wallet.coins.filter(
    ({ output }) =>
      output.type === OutputType.Basic &&
      output.unlockConditions.length === 1 &&
      output.nativeTokens.length === 0 &&
      addressIn(output, UnlockConditionType.Address).type === AddressType.Ed25519,
  );
  while (sumOf(inputs.map(({ output }) => output)) < due() && free.length > 0) {
    const [found] = free.splice(random.below(free.length), 1);
    consume(draft, found!, 0);
    if (inputs.length >= MAX_INPUTS) break;
  }
  const amount = sumOf(inputs.map(({ output }) => output)) - sumOf(draft.outputs);
  // too little: refused before there is a verdict, which is compared as well
  draft.outputs.push({ ...last, amount: amount > 0n ? amount : 1n });
}

function restOf(tokens: Tokens, random: Random): NativeToken[] {
  return [...tokens].flatMap(([id, amount]) => {
    // some are burned
    const kept = random.chance(0.1) ? amount / 2n : amount;
    const left = kept > MAX_UINT256 ? MAX_UINT256 : kept;
    return left > 0n ? [{ id: Uint8Array.fromHex(id), amount: left }] : [];
  });
}

function atLeast(output: Output, rent: Wallet['rent'], random: Random): Output {
  const least = minimumDeposit(output, rent);
  const given = findCondition(output, UnlockConditionType.StorageDepositReturn)?.amount ?? 0n;
  // a deposit that is returned is of a given amount
  const isReturn = output.type === OutputType.Basic && output.amount !== 1_000_000n;
  if (isReturn && output.amount >= least) return output;
  const floor = given > least ? given : least;
  return { ...output, amount: floor + BigInt(random.pick([0, 0, 1, random.below(100_000)])) };
}

function sumOf(outputs: readonly Output[]): bigint {
  return outputs.reduce((sum, { amount }) => sum + amount, 0n);
}

/** As an honest wallet unlocks; then what a mistake changes. */
function signed({ wallet, inputs, outputs, more, unlockChanges }: Draft): TransactionPlan {
  const places = new Map<string, number>();
  const planned = inputs.map((coin, i): PlannedInput => {
    const owner = ownerOf(coin, wallet.now, movesOf(coin, outputs));
    const place = places.get(addressKey(owner));
    const unlock = () => {
      if (owner.type === AddressType.Alias) return byAlias(place ?? 0);
      if (owner.type === AddressType.Nft) return byNft(place ?? 0);
      if (place !== undefined) return referTo(place);
      places.set(addressKey(owner), i);
      return (
        wallet.accounts.find(({ address }) => equalBytes(address.id, owner.id)) ??
        wallet.accounts[0]!
      );
    };
    const input = { id: coin.id, output: coin.output, unlock: unlock() };
    const own = chainAddress(coin);
    if (own !== undefined) places.set(addressKey(own), i);
    return input;
  });
  for (const change of unlockChanges) change(planned);
  return { inputs: planned, outputs, ...more };
}

function movesOf({ id, output }: Coin, outputs: readonly Output[]): boolean {
  if (output.type !== OutputType.Alias) return false;
  const own = aliasIdOf(output, id);
  const next = outputs.find(
    (each): each is AliasOutput =>
      each.type === OutputType.Alias && !isZero(each.aliasId) && equalBytes(each.aliasId, own),
  );
  return next !== undefined && next.stateIndex !== output.stateIndex;
}
