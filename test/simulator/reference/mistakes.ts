/**
 * What goes wrong in a transaction: each breaks one of the rules of docs/protocol.md, D, or is not
 * quite enough to break it.
 */
import type { Feature } from '../../../src/stardust/wire/feature.ts';
import { type Output, OutputType } from '../../../src/stardust/wire/output.ts';
import { UnlockType } from '../../../src/stardust/wire/unlock.ts';
import type { UnlockCondition } from '../../../src/stardust/wire/unlock-condition.ts';
import type { Random } from '../../support/network/random.ts';
import { issuer, metadata, sender, tag, timelock } from '../../support/payloads/outputs.ts';
import { byAlias, byNft, referTo } from '../../support/payloads/transactions.ts';
import { anyOwner, type Draft } from './wild-transactions.ts';

type Mistake = (draft: Draft) => void;

/** Changes one output, any or one that `fits`. */
const change =
  (
    make: (output: Output, draft: Draft) => object,
    fits: (output: Output) => boolean = () => true,
  ): Mistake =>
  (draft) => {
    const places = draft.outputs.flatMap((output, i) => (fits(output) ? [i] : []));
    if (places.length === 0) return;
    const place = draft.wallet.random.pick(places);
    const output = draft.outputs[place]!;
    draft.outputs[place] = { ...output, ...make(output, draft) } as Output;
  };

/** Changes one output of this type. */
const changeOf = <const T extends Output['type']>(
  type: T,
  make: (output: Extract<Output, { type: T }>, random: Random) => object,
): Mistake =>
  change(
    (output, { wallet }) => make(output as Extract<Output, { type: T }>, wallet.random),
    (output) => output.type === type,
  );

const { Alias, Basic, Foundry, Nft } = OutputType;
const isChain = ({ type }: Output) => type !== Basic;
const isPlain = ({ type, unlockConditions }: Output) =>
  type === Basic && unlockConditions.length === 1;
const byType = (a: { type: number }, b: { type: number }) => a.type - b.type;

function withFeature(output: Output, feature: Feature): object {
  return { features: added(output.features, feature) };
}

function withImmutable(output: Output, feature: Feature): object {
  return {
    immutableFeatures: added(
      'immutableFeatures' in output ? output.immutableFeatures : [],
      feature,
    ),
  };
}

function added(features: readonly Feature[], feature: Feature): Feature[] {
  return [...features.filter(({ type }) => type !== feature.type), feature].sort(byType);
}

const one = (random: Random) => random.pick([1, -1]);

export const MISTAKES: readonly Mistake[] = [
  // sums of base tokens
  change(({ amount }, { wallet }) => ({ amount: amount + BigInt(one(wallet.random)) })),
  // a plain output of the same amount in all: nothing is wrong
  ({ outputs, wallet }) => {
    const place = wallet.random.below(outputs.length);
    const [first] = outputs.splice(place, 1);
    outputs.push(first!);
  },
  // outputs missing or twice
  ({ outputs, wallet }) => {
    if (outputs.length > 1) outputs.splice(wallet.random.below(outputs.length), 1);
  },
  ({ outputs, wallet }) => {
    outputs.push(wallet.random.pick(outputs));
  },
  // the order of outputs: foundries count
  ({ outputs }) => {
    outputs.reverse();
  },
  // order of inputs: owners after what they own
  ({ inputs, wallet }) => {
    inputs.reverse();
    if (wallet.random.chance(0.5))
      inputs.splice(0, inputs.length, ...inputs.toSorted(() => wallet.random.below(3) - 1));
  },
  // tokens
  change(
    ({ nativeTokens }, { wallet }) => ({
      nativeTokens: nativeTokens.map((token) => ({
        ...token,
        amount: token.amount + wallet.random.pick([1n, -1n, 1n << 255n]),
      })),
    }),
    ({ nativeTokens }) => nativeTokens.length > 0,
  ),
  change((_, { wallet }) => {
    const held = wallet.coins.flatMap(({ output }) => output.nativeTokens);
    return held.length === 0 ? {} : { nativeTokens: [{ ...wallet.random.pick(held), amount: 1n }] };
  }),
  // chains
  changeOf(Alias, ({ stateIndex }, random) => ({ stateIndex: stateIndex + one(random) })),
  changeOf(Alias, ({ foundryCounter }, random) => ({
    foundryCounter: foundryCounter + one(random),
  })),
  changeOf(Alias, (_, random) => ({ stateMetadata: random.bytes(3) })),
  changeOf(Foundry, ({ tokenScheme }, random) => {
    const field = random.pick(['minted', 'melted', 'maximumSupply'] as const);
    const value = tokenScheme[field] + random.pick([1n, -1n, 7n]);
    return { tokenScheme: { ...tokenScheme, [field]: value } };
  }),
  changeOf(Foundry, ({ serialNumber }, random) => ({ serialNumber: serialNumber + one(random) })),
  changeOf(Nft, (_, random) => ({ nftId: random.bytes(32) })),
  changeOf(Alias, (_, random) => ({ aliasId: random.bytes(32) })),
  changeOf(Nft, () => ({ nftId: new Uint8Array(32) })),
  changeOf(Alias, ({ stateIndex }, random) => ({
    aliasId: new Uint8Array(32),
    stateIndex: random.pick([0, stateIndex]),
  })),
  change((output, { wallet }) => withImmutable(output, metadata(wallet.random.bytes(2))), isChain),
  change(
    (output, draft) => withImmutable(output, issuer(anyOwner(draft))),
    ({ type }) => type === Nft || type === Alias,
  ),
  // features and conditions
  change(
    (output, draft) => withFeature(output, sender(anyOwner(draft))),
    ({ type }) => type !== Foundry,
  ),
  change((output, { wallet }) => withFeature(output, wallet.random.pick([tag(1), metadata([0])]))),
  change(({ unlockConditions }, draft) => ({
    unlockConditions: unlockConditions.map((condition): UnlockCondition => {
      if (!draft.wallet.random.chance(0.5)) return condition;
      const owner = anyOwner(draft);
      const address = 'address' in owner ? owner.address : owner;
      if (condition.type === 6) return condition;
      return 'address' in condition ? { ...condition, address } : condition;
    }),
  })),
  // a return that is not plain, or too small
  change(
    ({ unlockConditions }, { wallet }) => ({
      unlockConditions: [...unlockConditions, timelock(wallet.now + 1)],
    }),
    isPlain,
  ),
  change(
    (output, { wallet }) => withFeature(output, wallet.random.pick([tag(1), metadata([1])])),
    isPlain,
  ),
  // the commitment, the network, what is signed
  ({ more, wallet }) => {
    more.commitment = wallet.random.bytes(32);
  },
  ({ more, wallet }) => {
    if (wallet.random.chance(0.2)) more.networkId = BigInt(wallet.random.u32());
  },
  ({ more, wallet }) => {
    more.signed = () => wallet.random.bytes(32);
  },
  ({ more, wallet }) => {
    more.payload = { type: 5, tag: wallet.random.bytes(4), data: wallet.random.bytes(9) };
  },
  // unlocks
  ({ unlockChanges, wallet }) => {
    unlockChanges.push((inputs) => {
      const input = wallet.random.pick(inputs);
      const place = wallet.random.below(inputs.length);
      input.unlock = wallet.random.pick([referTo(place), byAlias(place), byNft(place)]);
    });
  },
  ({ unlockChanges, wallet }) => {
    unlockChanges.push((inputs) => {
      wallet.random.pick(inputs).unlock = wallet.random.pick(wallet.accounts);
    });
  },
  ({ unlockChanges }) => {
    unlockChanges.push((inputs) => {
      // the same key signs once more, which C-39 forbids
      const first = inputs.find(({ unlock }) => 'secretKey' in unlock);
      const later = inputs.findLast(
        ({ unlock }) => 'type' in unlock && unlock.type === UnlockType.Reference,
      );
      if (first !== undefined && later !== undefined) later.unlock = first.unlock;
    });
  },
];
