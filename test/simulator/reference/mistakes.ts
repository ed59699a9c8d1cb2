/**
 * What goes wrong in a transaction: each breaks one of the rules of docs/protocol.md, D, or is not
 * quite enough to break it.
 */
import { FeatureType } from '../../../src/stardust/wire/feature.ts';
import { type Output, OutputType } from '../../../src/stardust/wire/output.ts';
import { UnlockType } from '../../../src/stardust/wire/unlock.ts';
import type { UnlockCondition } from '../../../src/stardust/wire/unlock-condition.ts';
import { issuer, metadata, sender, tag, timelock } from '../../support/payloads/outputs.ts';
import { byAlias, byNft, referTo } from '../../support/payloads/transactions.ts';
import { anyOwner, type Draft } from './wild-transactions.ts';

type Mistake = (draft: Draft) => void;

/** Changes one output, any or one that `fits`. */
function change(
  draft: Draft,
  make: (output: Output) => Output,
  fits: (output: Output) => boolean = () => true,
): void {
  const places = draft.outputs.flatMap((output, i) => (fits(output) ? [i] : []));
  if (places.length === 0) return;
  const place = draft.wallet.random.pick(places);
  draft.outputs[place] = make(draft.outputs[place]!);
}

const isChain = ({ type }: Output) => type !== OutputType.Basic;
const byType = (a: { type: number }, b: { type: number }) => a.type - b.type;

function withFeature(
  output: Output,
  feature: Output['features'][number],
  list: 'features' | 'immutableFeatures' = 'features',
): Output {
  const old =
    list in output ? (output as Extract<Output, { immutableFeatures: unknown }>)[list] : [];
  const features = [...old.filter(({ type }) => type !== feature.type), feature].sort(byType);
  return { ...output, [list]: features } as Output;
}

export const MISTAKES: readonly Mistake[] = [
  // sums of base tokens
  (draft) =>
    change(draft, (output) => ({
      ...output,
      amount: output.amount + draft.wallet.random.pick([1n, -1n]),
    })),
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
  (draft) =>
    change(
      draft,
      (output) => ({
        ...output,
        nativeTokens: output.nativeTokens.map((token) => ({
          ...token,
          amount: token.amount + draft.wallet.random.pick([1n, -1n, 1n << 255n]),
        })),
      }),
      ({ nativeTokens }) => nativeTokens.length > 0,
    ),
  (draft) => {
    const held = draft.wallet.coins.flatMap(({ output }) => output.nativeTokens);
    if (held.length === 0) return;
    const token = { ...draft.wallet.random.pick(held), amount: 1n };
    change(draft, (output) => ({ ...output, nativeTokens: [token] }));
  },
  // chains
  (draft) =>
    change(
      draft,
      (output) =>
        output.type === OutputType.Alias
          ? { ...output, stateIndex: output.stateIndex + draft.wallet.random.pick([1, -1]) }
          : output,
      ({ type }) => type === OutputType.Alias,
    ),
  (draft) =>
    change(
      draft,
      (output) =>
        output.type === OutputType.Alias
          ? { ...output, foundryCounter: output.foundryCounter + draft.wallet.random.pick([1, -1]) }
          : output,
      ({ type }) => type === OutputType.Alias,
    ),
  (draft) =>
    change(
      draft,
      (output) =>
        output.type === OutputType.Alias
          ? { ...output, stateMetadata: draft.wallet.random.bytes(3) }
          : output,
      ({ type }) => type === OutputType.Alias,
    ),
  (draft) =>
    change(
      draft,
      (output) => {
        if (output.type !== OutputType.Foundry) return output;
        const { random } = draft.wallet;
        const field = random.pick(['minted', 'melted', 'maximumSupply'] as const);
        const value = output.tokenScheme[field] + random.pick([1n, -1n, 7n]);
        return { ...output, tokenScheme: { ...output.tokenScheme, [field]: value } };
      },
      ({ type }) => type === OutputType.Foundry,
    ),
  (draft) =>
    change(
      draft,
      (output) =>
        output.type === OutputType.Foundry
          ? { ...output, serialNumber: output.serialNumber + draft.wallet.random.pick([1, -1]) }
          : output,
      ({ type }) => type === OutputType.Foundry,
    ),
  (draft) => {
    const { random } = draft.wallet;
    const id = random.bytes(32);
    change(
      draft,
      (output) => {
        if (output.type === OutputType.Nft) return { ...output, nftId: id };
        if (output.type === OutputType.Alias) return { ...output, aliasId: id };
        return output;
      },
      isChain,
    );
  },
  (draft) => {
    const { random } = draft.wallet;
    const zero = new Uint8Array(32);
    change(
      draft,
      (output) => {
        if (output.type === OutputType.Nft) return { ...output, nftId: zero };
        if (output.type === OutputType.Alias)
          return { ...output, aliasId: zero, stateIndex: random.pick([0, output.stateIndex]) };
        return output;
      },
      isChain,
    );
  },
  (draft) =>
    change(
      draft,
      (output) => withFeature(output, metadata(draft.wallet.random.bytes(2)), 'immutableFeatures'),
      isChain,
    ),
  (draft) =>
    change(
      draft,
      (output) => withFeature(output, issuer(anyOwner(draft)), 'immutableFeatures'),
      (output) => output.type === OutputType.Nft || output.type === OutputType.Alias,
    ),
  // features and conditions
  (draft) =>
    change(
      draft,
      (output) => withFeature(output, sender(anyOwner(draft))),
      ({ type }) => type !== OutputType.Foundry,
    ),
  (draft) =>
    change(draft, (output) =>
      withFeature(
        output,
        draft.wallet.random.pick([tag(1), { type: FeatureType.Metadata, data: new Uint8Array(1) }]),
      ),
    ),
  (draft) =>
    change(draft, (output) => {
      const conditions = output.unlockConditions.map((condition): UnlockCondition => {
        if (!draft.wallet.random.chance(0.5)) return condition;
        const owner = anyOwner(draft);
        const address = 'address' in owner ? owner.address : owner;
        if (condition.type === 6) return condition;
        return 'address' in condition ? { ...condition, address } : condition;
      });
      return { ...output, unlockConditions: conditions };
    }),
  // a return that is not plain, or too small
  (draft) =>
    change(
      draft,
      (output) => ({
        ...output,
        unlockConditions: [...output.unlockConditions, timelock(draft.wallet.now + 1)],
      }),
      ({ type, unlockConditions }) => type === OutputType.Basic && unlockConditions.length === 1,
    ),
  (draft) =>
    change(
      draft,
      (output) => withFeature(output, draft.wallet.random.pick([tag(1), metadata([1])])),
      ({ type, unlockConditions }) => type === OutputType.Basic && unlockConditions.length === 1,
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
