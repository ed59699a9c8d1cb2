/**
 * docs/protocol.md, H.1, H-14 to H-32: outputs. Where bytes are refused, the test names the rule
 * that they break.
 */
import { describe, expect, it } from 'vitest';
import { README_PARAMETERS as parameters } from '../../../cli/conformance/parameters.ts';
import { depositForLength } from '../../../src/stardust/admission.ts';
import { ConflictReason } from '../../../src/stardust/semantics/verdict.ts';
import type { Feature } from '../../../src/stardust/wire/feature.ts';
import { outputBytes } from '../../../src/stardust/wire/ids.ts';
import {
  type UnlockCondition,
  UnlockConditionType,
} from '../../../src/stardust/wire/unlock-condition.ts';
import { brokenRule } from '../../support/payloads/blocks.ts';
import {
  alias,
  aliasAddress,
  basic,
  depositReturn,
  expiration,
  type FoundryFields,
  foundry,
  idOf,
  issuer,
  metadata,
  nft,
  nftAddress,
  sender,
  tag,
  timelock,
  tokens,
} from '../../support/payloads/outputs.ts';
import {
  admitted,
  aliasId,
  alice,
  blockOf,
  bob,
  expectVerdicts,
  nftId,
  OK,
  SUPPLY,
  withOutputs,
} from '../../support/stardust/syntactic.ts';

describe('H.1 amounts', () => {
  it('H-14 an amount is over 0, and all of them at most the supply', () => {
    expect(withOutputs(basic(alice, { amount: 0n }))).toBe('C-14');
    expect(admitted([basic(alice, { amount: SUPPLY })])).toBe(OK);
    expect(admitted([basic(alice, { amount: SUPPLY + 1n })])).toBe('C-15');
    const rest = basic(alice, { amount: 1_000_000n });
    expect(admitted([basic(alice, { amount: SUPPLY - 1_000_000n }), rest])).toBe(OK);
    expect(admitted([basic(alice, { amount: SUPPLY - 999_999n }), rest])).toBe('C-16');
  });

  it('H-15 outputs may be alike', () => {
    const output = basic(alice);
    expect(withOutputs(output, output)).toBe(OK);
    expect(admitted([output, output])).toBe(OK);
  });

  it('H-16 an output deposits what its bytes cost, to the token', () => {
    const { rentStructure } = parameters;
    for (const output of [
      basic(alice),
      alias(alice, bob, { features: [metadata([1, 2, 3])] }),
      foundry(aliasId),
      nft(alice, { immutable: [metadata([1])], tokens: [tokens(aliasId, 5n)] }),
    ]) {
      const due = depositForLength(rentStructure, outputBytes(output).length);
      expect(admitted([{ ...output, amount: due }])).toBe(OK);
      expect(admitted([{ ...output, amount: due - 1n }])).toBe('C-17');
    }
    // B.14
    const plain = outputBytes(basic(alice)).length;
    expect(depositForLength({ ...rentStructure, vByteCost: 100 }, plain)).toBe(42600n);
    expect(depositForLength({ ...rentStructure, vByteCost: 250 }, plain)).toBe(106500n);
  });

  it('H-17 a storage deposit return lies between a plain output’s deposit and the amount', () => {
    const returning = (amount: bigint) =>
      admitted([basic(alice, { conditions: [depositReturn(bob, amount)] })]);
    expect(returning(1_000_000n)).toBe(OK);
    expect(returning(1_000_001n)).toBe('C-19');
    expect(returning(213_000n)).toBe(OK);
    expect(returning(212_999n)).toBe('C-18');
  });

  it('H-18 where bytes cost nothing, a return may be 0, and still takes an output', () => {
    const lent = basic(alice, { conditions: [depositReturn(bob, 0n)] });
    const free = { rentStructure: { vByteCost: 0, vByteFactorData: 1, vByteFactorKey: 10 } };
    expect(admitted([lent], free)).toBe(OK);
    const inputs = [{ output: lent, unlock: alice }];
    const outputs = [basic(alice, { amount: 999_999n }), basic(bob, { amount: 1n })];
    expectVerdicts([ConflictReason.ReturnAmountNotFulfilled, { inputs, outputs: [basic(alice)] }]);
    expectVerdicts([ConflictReason.None, { inputs, outputs }]);
  });
});

describe('H.1 unlock conditions and features', () => {
  const withConditions = (...unlockConditions: UnlockCondition[]) =>
    withOutputs({ ...basic(alice), unlockConditions });
  const owner: UnlockCondition = { type: UnlockConditionType.Address, address: alice.address };
  const controller: UnlockCondition = {
    type: UnlockConditionType.StateController,
    address: alice.address,
  };
  const governor: UnlockCondition = { type: UnlockConditionType.Governor, address: alice.address };

  it('H-19 no timelock until 0, no expiration at 0', () => {
    expect(withConditions(owner, timelock(1))).toBe(OK);
    expect(withConditions(owner, timelock(0))).toBe('C-21');
    expect(withConditions(owner, expiration(bob, 1))).toBe(OK);
    expect(withConditions(owner, expiration(bob, 0))).toBe('C-20');
  });

  it('H-20 conditions ascend, one of a type', () => {
    expect(withConditions(timelock(1), owner)).toBe('C-33');
    expect(withConditions(owner, timelock(1), timelock(2))).toBe('C-33');
  });

  it('H-21 a basic output has an owner, and no state controller', () => {
    expect(withConditions(timelock(1))).toBe('C-33');
    expect(withConditions()).toBe('C-33');
    expect(withConditions(owner, controller)).toBe('C-33');
  });

  it('H-22 an alias has both controllers, a foundry an alias', () => {
    const withControllers = (...unlockConditions: UnlockCondition[]) =>
      withOutputs({ ...alias(alice, bob), unlockConditions });
    expect(withControllers(controller, governor)).toBe(OK);
    expect(withControllers(governor)).toBe('C-33');
    expect(withControllers(controller)).toBe('C-33');
    const bytes = blockOf({ outputs: [foundry(aliasId)] });
    const at = Buffer.from(bytes).indexOf(
      Uint8Array.of(UnlockConditionType.ImmutableAlias, 8, ...aliasId),
    );
    bytes[at + 1] = 0;
    expect(brokenRule(bytes)).toBe('A.4');
  });

  it('H-23 issuers are immutable, senders are not, and an alias has no tag', () => {
    expect(withOutputs(nft(alice, { immutable: [issuer(alice)] }))).toBe(OK);
    expect(withOutputs(nft(alice, { features: [issuer(alice)] }))).toBe('C-34');
    expect(withOutputs(nft(alice, { immutable: [sender(alice)] }))).toBe('C-34');
    expect(withOutputs(alias(alice, bob, { features: [tag(1)] }))).toBe('C-34');
    expect(withOutputs(nft(alice, { features: [tag(1)] }))).toBe(OK);
  });

  it('H-24 metadata has 1 to 8192 bytes, a tag 1 to 64, state metadata up to 8192', () => {
    const withFeature = (feature: Feature) => withOutputs(basic(alice, { features: [feature] }));
    const each = (lengths: number[], rule: (bytes: Uint8Array) => string | undefined) =>
      lengths.map((length) => rule(new Uint8Array(length)));
    const data = each([0, 1, 8192, 8193], (bytes) => withFeature(metadata(bytes)));
    expect(data).toEqual(['C-35', OK, OK, 'C-35']);
    const tags = each([0, 1, 64, 65], (bytes) => withFeature(tag(...bytes)));
    expect(tags).toEqual(['C-35', OK, OK, 'C-35']);
    const withState = (stateMetadata: Uint8Array) =>
      withOutputs(alias(alice, bob, { stateMetadata }));
    expect(each([0, 8192, 8193], withState)).toEqual([OK, OK, 'C-35']);
  });
});

describe('H.1 native tokens and foundries', () => {
  const some = (count: number, from = 1) =>
    Array.from({ length: count }, (_, i) => tokens(aliasId, 1n, from + i));

  it('H-25 there are at most 64 kinds of tokens, counted once', () => {
    expect(withOutputs(basic(alice, { tokens: some(64) }))).toBe(OK);
    expect(withOutputs(basic(alice, { tokens: some(65) }))).toBe('C-24');
    const full = basic(alice, { tokens: some(64) });
    expect(withOutputs(full, basic(alice, { tokens: some(1, 65) }))).toBe('C-22');
    expect(withOutputs(full, full)).toBe(OK);
  });

  it('H-26 tokens have amounts, and ascend by ID', () => {
    const [first, second] = [tokens(aliasId, 1n, 1), tokens(aliasId, 1n, 2)];
    const holding = (...nativeTokens: (typeof first)[]) =>
      withOutputs({ ...basic(alice), nativeTokens });
    expect(holding(first, second)).toBe(OK);
    expect(holding({ ...first, amount: 0n })).toBe('C-23');
    expect(holding(first, { ...first, amount: 2n })).toBe('C-24');
    expect(holding(second, first)).toBe('C-24');
  });

  it('H-27 a foundry’s counters fit each other', () => {
    const scheme = (given: FoundryFields) => withOutputs(foundry(aliasId, given));
    expect(scheme({ maximumSupply: 0n })).toBe('C-26');
    expect(scheme({ minted: 20n, melted: 15n, maximumSupply: 10n })).toBe(OK);
    expect(scheme({ minted: 20n, melted: 5n, maximumSupply: 10n })).toBe('C-28');
    expect(scheme({ minted: 1n, melted: 2n })).toBe('C-27');
  });

  it('H-28 there is one token scheme', () => {
    const bytes = blockOf({ outputs: [foundry(aliasId, { minted: 77n })] });
    const at = Buffer.from(bytes).indexOf(Uint8Array.of(1, 0, 0, 0, 0, 77));
    bytes[at + 4] = 1;
    expect(brokenRule(bytes)).toBe('A.8');
  });

  it('H-29 no chain goes on twice; zero IDs and equal IDs of another type are other chains', () => {
    expect(withOutputs(foundry(aliasId), foundry(aliasId))).toBe('C-25');
    expect(withOutputs(alias(alice, bob), alias(alice, bob))).toBe(OK);
    expect(withOutputs(nft(alice), nft(alice))).toBe(OK);
    expect(withOutputs(nft(alice, { nftId }), nft(alice, { nftId }))).toBe('C-25');
    expect(withOutputs(alias(alice, bob, { aliasId }), nft(alice, { nftId: aliasId }))).toBe(OK);
  });
});

describe('H.1 aliases and NFTs', () => {
  it('H-30 a new alias begins at 0', () => {
    expect(withOutputs(alias(alice, bob, { stateIndex: 1 }))).toBe('C-30');
    expect(withOutputs(alias(alice, bob, { foundryCounter: 1 }))).toBe('C-30');
    expect(withOutputs(alias(alice, bob, { aliasId, foundryCounter: 7 }))).toBe(OK);
  });

  it('H-31 an alias does not control itself; two may control each other', () => {
    const own = aliasAddress(aliasId);
    expect(withOutputs(alias(own, bob, { aliasId }))).toBe('C-31');
    expect(withOutputs(alias(alice, own, { aliasId }))).toBe('C-31');
    expect(withOutputs(alias(nftAddress(aliasId), bob, { aliasId }))).toBe(OK);
    const other = idOf('other alias');
    const back = alias(aliasAddress(other), bob, { aliasId });
    expect(withOutputs(back, alias(own, bob, { aliasId: other }))).toBe(OK);
  });

  it('H-32 an NFT does not own itself, but may be returned to itself', () => {
    const own = nftAddress(nftId);
    expect(withOutputs(nft(own, { nftId }))).toBe('C-32');
    const conditions = [depositReturn(own, 500_000n), expiration(own, 1)];
    expect(withOutputs(nft(alice, { nftId, conditions }))).toBe(OK);
  });
});
