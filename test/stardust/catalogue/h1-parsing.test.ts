/** protocol.md H.1, cases 1 to 41: what a block may be. A case that is refused names the rule that it breaks. */
import { describe, expect, it } from 'vitest';
import { inadmissible, minimumDeposit } from '../../../src/stardust/admission.ts';
import { type Block, parseBlock } from '../../../src/stardust/block.ts';
import { concatBytes } from '../../../src/stardust/bytes.ts';
import { encode } from '../../../src/stardust/codec.ts';
import { type Feature, FeatureType } from '../../../src/stardust/feature.ts';
import { outputBytes } from '../../../src/stardust/ids.ts';
import type { MigratedFunds, MilestoneOption, ReceiptOption } from '../../../src/stardust/milestone.ts';
import { milestone } from '../../../src/stardust/milestone.ts';
import type { Output } from '../../../src/stardust/output.ts';
import type { ProtocolParameters } from '../../../src/stardust/parameters.ts';
import { ConflictReason } from '../../../src/stardust/semantics/conflict-reason.ts';
import { taggedData } from '../../../src/stardust/tagged-data.ts';
import { type Unlock, UnlockType } from '../../../src/stardust/unlock.ts';
import { type UnlockCondition, UnlockConditionType } from '../../../src/stardust/unlock-condition.ts';
import {
  alias,
  aliasAddress,
  basic,
  blockAround,
  blockBytes,
  brokenRule,
  byAlias,
  byNft,
  depositReturn,
  expiration,
  type FoundryFields,
  foundry,
  idOf,
  issuer,
  metadata,
  milestoneOf,
  NETWORK_NAME,
  nft,
  nftAddress,
  referTo,
  sender,
  signature,
  signer,
  type TransactionPlan,
  tag,
  timelock,
  tokens,
  transactionBytes,
  transactionOf,
  verdict,
  ZERO,
} from '../../build.ts';

const alice = signer('alice');
const bob = signer('bob');
const aliasId = idOf('alias');
const nftId = idOf('nft');

const SUPPLY = 2_779_530_283_277_761n;
const parameters: ProtocolParameters = {
  version: 2,
  networkName: NETWORK_NAME,
  bech32Hrp: 'tst',
  minPowScore: 0,
  belowMaxDepth: 15,
  rentStructure: { vByteCost: 500, vByteFactorData: 1, vByteFactorKey: 10 },
  tokenSupply: SUPPLY,
};

const oneInput = [{ output: basic(alice.address), unlock: alice }];
const plan = (given: Partial<TransactionPlan>): TransactionPlan => ({
  inputs: oneInput,
  outputs: [basic(alice.address)],
  ...given,
});
const blockOf = (given: Partial<TransactionPlan>) => blockBytes({ payload: transactionOf(plan(given)) });

/** The rule that a transaction with these outputs breaks. */
const withOutputs = (...outputs: Output[]) => brokenRule(blockOf({ outputs }));

/** The rule that the block breaks under the parameters. */
function inadmissibleRule(bytes: Uint8Array, given: Partial<ProtocolParameters> = {}): string | undefined {
  const result = parseBlock(bytes);
  if (!result.ok) throw new Error(result.reason);
  return inadmissible(result.parsed, { ...parameters, ...given })?.split(':')[0];
}

const admitted = (outputs: Output[], given: Partial<ProtocolParameters> = {}) =>
  inadmissibleRule(blockOf({ outputs }), given);

const tagged = (tagLength: number, dataLength: number) => ({
  type: 5 as const,
  tag: new Uint8Array(tagLength),
  data: new Uint8Array(dataLength),
});

const OK = undefined;

describe('H.1 blocks', () => {
  it('H-1 a block has at most 32768 bytes', () => {
    const ofLength = (length: number) => blockBytes({ payload: tagged(0, length - 55) });
    expect(ofLength(32768).length).toBe(32768);
    expect(brokenRule(ofLength(32768))).toBe(OK);
    expect(brokenRule(ofLength(32769))).toBe('C-1');
  });

  it('H-2 a block has 1 to 8 parents, ascending', () => {
    const ids = Array.from({ length: 9 }, (_, i) => new Uint8Array(32).fill(i));
    const of = (...parents: Uint8Array[]) =>
      brokenRule(concatBytes(Uint8Array.of(2, parents.length), ...parents, new Uint8Array(12)));
    expect(of(ids[0]!, ids[1]!)).toBe(OK);
    expect(of(...ids.slice(0, 8))).toBe(OK);
    expect(of(ids[1]!, ids[0]!)).toBe('C-2');
    expect(of(ids[1]!, ids[1]!)).toBe('C-2');
    expect(of()).toBe('C-2');
    expect(of(...ids)).toBe('C-2');
  });

  it('H-3 nothing follows the nonce', () => {
    expect(brokenRule(concatBytes(blockBytes({}), Uint8Array.of(0)))).toBe('C-1');
  });

  it('H-4 a block may have no payload', () => {
    const result = parseBlock(blockBytes({}));
    expect(result.ok && result.parsed.transaction).toBe(undefined);
    expect(result.ok).toBe(true);
  });

  it('H-5 the protocol version is for the node to refuse, not for the parser', () => {
    for (const protocolVersion of [1, 3]) {
      expect(brokenRule(blockBytes({ protocolVersion }))).toBe(OK);
      expect(inadmissibleRule(blockBytes({ protocolVersion }))).toBe('C-4');
    }
  });

  it('H-6 payloads are tagged data, transactions and milestones', () => {
    for (const type of [0, 1, 2, 3, 4, 8]) {
      expect(brokenRule(blockAround(Uint8Array.of(type, 0, 0, 0, ...new Uint8Array(42))))).toBe('C-3');
    }
  });

  it('H-7 the payload is as long as is said', () => {
    const payload = encode(taggedData, tagged(3, 5));
    expect(brokenRule(blockAround(payload))).toBe(OK);
    expect(brokenRule(blockAround(payload, payload.length - 1))).toBe('C-3');
    expect(brokenRule(blockAround(payload, payload.length + 1))).toBe('C-3');
    expect(brokenRule(blockAround(payload, payload.length + 100))).toBe('C-3');
  });

  it('H-8 a milestone block has nonce 0, be it signed or not', () => {
    const of = (block: Partial<Block>) => blockBytes({ payload: milestoneOf({}), ...block });
    expect(inadmissibleRule(of({}))).toBe(OK);
    expect(inadmissibleRule(of({ nonce: 1n }))).toBe('C-5');
    const value = milestoneOf({});
    const signatures = value.signatures.map((each) => ({ ...each, signature: new Uint8Array(64) }));
    expect(inadmissibleRule(of({ nonce: 1n, payload: { ...value, signatures } }))).toBe('C-5');
  });

  it('H-9 tags have up to 64 bytes; tag and data may be empty', () => {
    expect(brokenRule(blockBytes({ payload: tagged(64, 1) }))).toBe(OK);
    expect(brokenRule(blockBytes({ payload: tagged(65, 1) }))).toBe('C-7');
    expect(brokenRule(blockBytes({ payload: tagged(0, 0) }))).toBe(OK);
  });
});

describe('H.1 essences', () => {
  /** The payload of a right transaction, changed at an offset. */
  const changed = (offset: number, ...bytes: number[]) => {
    const payload = transactionBytes(plan({}));
    payload.set(bytes, offset);
    return brokenRule(blockAround(payload));
  };

  it('H-10 an essence has type 1', () => {
    expect(changed(4, 1)).toBe(OK);
    expect(changed(4, 0)).toBe('C-8');
  });

  it('H-11 an essence embeds tagged data or nothing', () => {
    expect(brokenRule(blockOf({ payload: tagged(1, 1) }))).toBe(OK);
    // signed with the rest: a signature over the essence without it is not valid
    const [signed] = transactionOf(plan({ payload: tagged(1, 1) })).unlocks;
    expect(verdict(plan({ payload: tagged(1, 1) }))).toBe(ConflictReason.None);
    const inputs = [{ output: basic(alice.address), unlock: signed! }];
    expect(verdict(plan({ inputs, payload: tagged(1, 1) }))).toBe(ConflictReason.None);
    expect(verdict(plan({ inputs }))).toBe(ConflictReason.InvalidSignature);
    for (const embedded of [encode(milestone, milestoneOf({})), transactionBytes(plan({}))]) {
      const payload = transactionBytes(plan({}));
      const unlocks = payload.subarray(payload.length - 100);
      const essence = payload.subarray(0, payload.length - 100 - 4);
      const length = new Uint8Array(Uint32Array.of(embedded.length).buffer);
      expect(brokenRule(blockAround(concatBytes(essence, length, embedded, unlocks)))).toBe('C-3');
    }
  });

  it('H-12 a transaction has 1 to 128 different inputs, in any order', () => {
    const count = (inputs: number) =>
      brokenRule(
        blockOf({
          inputs: Array.from({ length: inputs }, (_, i) => ({ ...oneInput[0]!, unlock: i ? referTo(0) : alice })),
        }),
      );
    expect(count(128)).toBe(OK);
    expect(count(129)).toBe('C-10');
    expect(count(0)).toBe('C-10');
    const ids = [2, 1].map((byte) => new Uint8Array(34).fill(byte));
    const from = (...each: Uint8Array[]) =>
      brokenRule(blockOf({ inputs: each.map((id, i) => ({ ...oneInput[0]!, id, unlock: i ? referTo(0) : alice })) }));
    expect(from(ids[0]!, ids[1]!)).toBe('C-11');
    const small = ids.map((id) => Uint8Array.of(...id.subarray(0, 32), 1, 0));
    expect(from(small[0]!, small[1]!)).toBe(OK);
    expect(from(small[0]!, small[0]!)).toBe('C-10');
  });

  it('H-13 an input has an index up to 127', () => {
    const ofIndex = (index: number) =>
      brokenRule(blockOf({ inputs: [{ ...oneInput[0]!, id: Uint8Array.of(...ZERO, index, 0) }] }));
    expect(ofIndex(127)).toBe(OK);
    expect(ofIndex(128)).toBe('C-11');
  });

  it('H-33 there are as many unlocks as inputs', () => {
    const payload = transactionBytes(plan({}));
    const without = payload.slice(0, payload.length - 100);
    const one = payload.slice(payload.length - 98);
    const unlocks = (...each: Uint8Array[]) =>
      brokenRule(blockAround(concatBytes(without, Uint8Array.of(each.length, 0), ...each)));
    expect(unlocks(one)).toBe(OK);
    expect(unlocks()).toBe('C-37');
    expect(unlocks(one, Uint8Array.of(1, 0, 0))).toBe('C-37');
  });

  it('H-37 a transaction belongs to the network', () => {
    expect(inadmissibleRule(blockOf({}))).toBe(OK);
    expect(inadmissibleRule(blockOf({ networkId: 1n }))).toBe('C-13');
  });
});

describe('H.1 amounts', () => {
  it('H-14 an amount is over 0, and all of them at most the supply', () => {
    expect(withOutputs(basic(alice.address, { amount: 0n }))).toBe('C-14');
    expect(admitted([basic(alice.address, { amount: SUPPLY })])).toBe(OK);
    expect(admitted([basic(alice.address, { amount: SUPPLY + 1n })])).toBe('C-15');
    const rest = basic(alice.address, { amount: 1_000_000n });
    expect(admitted([basic(alice.address, { amount: SUPPLY - 1_000_000n }), rest])).toBe(OK);
    expect(admitted([basic(alice.address, { amount: SUPPLY - 999_999n }), rest])).toBe('C-16');
  });

  it('H-15 outputs may be alike', () => {
    const output = basic(alice.address);
    expect(withOutputs(output, output)).toBe(OK);
    expect(admitted([output, output])).toBe(OK);
  });

  it('H-16 an output deposits what its bytes cost, to the token', () => {
    const { rentStructure } = parameters;
    for (const output of [
      basic(alice.address),
      alias(alice.address, bob.address, { features: [metadata(1, 2, 3)] }),
      foundry(aliasId),
      nft(alice.address, { immutable: [metadata(1)], tokens: [tokens(aliasId, 5n)] }),
    ]) {
      const due = minimumDeposit(rentStructure, outputBytes(output).length);
      expect(admitted([{ ...output, amount: due }])).toBe(OK);
      expect(admitted([{ ...output, amount: due - 1n }])).toBe('C-17');
    }
    // B.14
    const plain = outputBytes(basic(alice.address)).length;
    expect(minimumDeposit({ vByteCost: 100, vByteFactorData: 1, vByteFactorKey: 10 }, plain)).toBe(42600n);
    expect(minimumDeposit({ vByteCost: 250, vByteFactorData: 1, vByteFactorKey: 10 }, plain)).toBe(106500n);
  });

  it('H-17 a storage deposit return lies between a plain output’s deposit and the amount', () => {
    const returning = (amount: bigint) =>
      admitted([basic(alice.address, { conditions: [depositReturn(bob.address, amount)] })]);
    expect(returning(1_000_000n)).toBe(OK);
    expect(returning(1_000_001n)).toBe('C-19');
    expect(returning(213_000n)).toBe(OK);
    expect(returning(212_999n)).toBe('C-18');
  });

  it('H-18 where bytes cost nothing, a return may be 0, and still takes an output', () => {
    const lent = basic(alice.address, { conditions: [depositReturn(bob.address, 0n)] });
    const free = { rentStructure: { vByteCost: 0, vByteFactorData: 1, vByteFactorKey: 10 } };
    expect(admitted([lent], free)).toBe(OK);
    const inputs = [{ output: lent, unlock: alice }];
    expect(verdict({ inputs, outputs: [basic(alice.address)] })).toBe(ConflictReason.ReturnAmountNotFulfilled);
    const outputs = [basic(alice.address, { amount: 999_999n }), basic(bob.address, { amount: 1n })];
    expect(verdict({ inputs, outputs })).toBe(ConflictReason.None);
  });
});

describe('H.1 unlock conditions and features', () => {
  const withConditions = (...unlockConditions: UnlockCondition[]) =>
    withOutputs({ ...basic(alice.address), unlockConditions });
  const owner: UnlockCondition = { type: UnlockConditionType.Address, address: alice.address };
  const controller: UnlockCondition = { type: UnlockConditionType.StateController, address: alice.address };
  const governor: UnlockCondition = { type: UnlockConditionType.Governor, address: alice.address };

  it('H-19 no timelock until 0, no expiration at 0', () => {
    expect(withConditions(owner, timelock(1))).toBe(OK);
    expect(withConditions(owner, timelock(0))).toBe('C-21');
    expect(withConditions(owner, expiration(bob.address, 1))).toBe(OK);
    expect(withConditions(owner, expiration(bob.address, 0))).toBe('C-20');
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
      withOutputs({ ...alias(alice.address, bob.address), unlockConditions });
    expect(withControllers(controller, governor)).toBe(OK);
    expect(withControllers(governor)).toBe('C-33');
    expect(withControllers(controller)).toBe('C-33');
    const bytes = blockOf({ outputs: [foundry(aliasId)] });
    const at = Buffer.from(bytes).indexOf(Uint8Array.of(UnlockConditionType.ImmutableAlias, 8, ...aliasId));
    bytes[at + 1] = 0;
    expect(brokenRule(bytes)).toBe('A.8');
  });

  it('H-23 issuers are immutable, senders are not, and an alias has no tag', () => {
    expect(withOutputs(nft(alice.address, { immutable: [issuer(alice.address)] }))).toBe(OK);
    expect(withOutputs(nft(alice.address, { features: [issuer(alice.address)] }))).toBe('C-34');
    expect(withOutputs(nft(alice.address, { immutable: [sender(alice.address)] }))).toBe('C-34');
    expect(withOutputs(alias(alice.address, bob.address, { features: [tag(1)] }))).toBe('C-34');
    expect(withOutputs(nft(alice.address, { features: [tag(1)] }))).toBe(OK);
  });

  it('H-24 metadata has 1 to 8192 bytes, a tag 1 to 64, state metadata up to 8192', () => {
    const withFeature = (feature: Feature) => withOutputs(basic(alice.address, { features: [feature] }));
    const data = (length: number) => withFeature({ type: FeatureType.Metadata, data: new Uint8Array(length) });
    expect([0, 1, 8192, 8193].map(data)).toEqual(['C-35', OK, OK, 'C-35']);
    const tags = (length: number) => withFeature({ type: FeatureType.Tag, tag: new Uint8Array(length) });
    expect([0, 1, 64, 65].map(tags)).toEqual(['C-35', OK, OK, 'C-35']);
    const state = (length: number) =>
      withOutputs(alias(alice.address, bob.address, { stateMetadata: new Uint8Array(length) }));
    expect([0, 8192, 8193].map(state)).toEqual([OK, OK, 'C-35']);
  });
});

describe('H.1 native tokens and foundries', () => {
  const some = (count: number, from = 1) => Array.from({ length: count }, (_, i) => tokens(aliasId, 1n, from + i));

  it('H-25 there are at most 64 kinds of tokens, counted once', () => {
    expect(withOutputs(basic(alice.address, { tokens: some(64) }))).toBe(OK);
    expect(withOutputs(basic(alice.address, { tokens: some(65) }))).toBe('C-24');
    const full = basic(alice.address, { tokens: some(64) });
    expect(withOutputs(full, basic(alice.address, { tokens: some(1, 65) }))).toBe('C-22');
    expect(withOutputs(full, full)).toBe(OK);
  });

  it('H-26 tokens have amounts, and ascend by ID', () => {
    const [first, second] = [tokens(aliasId, 1n, 1), tokens(aliasId, 1n, 2)];
    const holding = (...nativeTokens: (typeof first)[]) => withOutputs({ ...basic(alice.address), nativeTokens });
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

  it('H-29 chains go on once; zero IDs and IDs of another kind are others', () => {
    expect(withOutputs(foundry(aliasId), foundry(aliasId))).toBe('C-25');
    expect(withOutputs(alias(alice.address, bob.address), alias(alice.address, bob.address))).toBe(OK);
    expect(withOutputs(nft(alice.address), nft(alice.address))).toBe(OK);
    expect(withOutputs(nft(alice.address, { nftId }), nft(alice.address, { nftId }))).toBe('C-25');
    expect(withOutputs(alias(alice.address, bob.address, { aliasId }), nft(alice.address, { nftId: aliasId }))).toBe(
      OK,
    );
  });
});

describe('H.1 aliases and NFTs', () => {
  it('H-30 a new alias begins at 0', () => {
    expect(withOutputs(alias(alice.address, bob.address, { stateIndex: 1 }))).toBe('C-30');
    expect(withOutputs(alias(alice.address, bob.address, { foundryCounter: 1 }))).toBe('C-30');
    expect(withOutputs(alias(alice.address, bob.address, { aliasId, foundryCounter: 7 }))).toBe(OK);
  });

  it('H-31 an alias does not control itself; two may control each other', () => {
    const own = aliasAddress(aliasId);
    expect(withOutputs(alias(own, bob.address, { aliasId }))).toBe('C-31');
    expect(withOutputs(alias(alice.address, own, { aliasId }))).toBe('C-31');
    expect(withOutputs(alias(nftAddress(aliasId), bob.address, { aliasId }))).toBe(OK);
    const other = idOf('other alias');
    const cycle = [alias(aliasAddress(other), bob.address, { aliasId }), alias(own, bob.address, { aliasId: other })];
    expect(withOutputs(...cycle)).toBe(OK);
  });

  it('H-32 an NFT does not own itself, but may be returned to itself', () => {
    const own = nftAddress(nftId);
    expect(withOutputs(nft(own, { nftId }))).toBe('C-32');
    const conditions = [depositReturn(own, 500_000n), expiration(own, 1)];
    expect(withOutputs(nft(alice.address, { nftId, conditions }))).toBe(OK);
  });
});

describe('H.1 unlocks', () => {
  const unlocked = (...unlocks: Unlock[]) =>
    brokenRule(blockOf({ inputs: unlocks.map((unlock) => ({ output: basic(alice.address), unlock })) }));
  const signed = signature(alice, ZERO);

  it('H-34 a reference points back, to a signature; alias and NFT unlocks point back to anything', () => {
    expect(unlocked(signed, referTo(0))).toBe(OK);
    expect(unlocked(signed, referTo(1))).toBe('C-39');
    expect(unlocked(signed, referTo(2), signature(bob, ZERO))).toBe('C-39');
    expect(unlocked(signed, referTo(0), referTo(1))).toBe('C-40');
    expect(unlocked(signed, byAlias(0), referTo(1))).toBe('C-40');
    expect(unlocked(signed, byNft(0), referTo(1))).toBe('C-40');
    expect(unlocked(signed, byAlias(0))).toBe(OK);
    expect(unlocked(signed, referTo(0), byNft(1))).toBe(OK);
    expect(unlocked(signed, byAlias(0), byNft(1), byAlias(2))).toBe(OK);
    expect(unlocked(byAlias(0))).toBe('C-39');
  });

  it('H-35 two signatures differ, but may be by one key, which conflicts', () => {
    const other = signature(alice, nftId);
    expect(unlocked(signed, signed)).toBe('C-38');
    expect(unlocked(signed, other)).toBe(OK);
    const inputs = [
      { output: basic(alice.address), unlock: alice },
      { output: basic(alice.address), unlock: other },
    ];
    const outputs = [basic(alice.address, { amount: 2_000_000n })];
    expect(verdict({ inputs, outputs })).toBe(ConflictReason.InvalidInputUnlock);
  });

  it('H-36 a signature of zeros is a block, and a conflict', () => {
    const zeros = { type: 0 as const, publicKey: alice.publicKey, signature: new Uint8Array(64) };
    const unlock: Unlock = { type: UnlockType.Signature, signature: zeros };
    expect(unlocked(unlock)).toBe(OK);
    expect(verdict(plan({ inputs: [{ output: basic(alice.address), unlock }] }))).toBe(ConflictReason.InvalidSignature);
  });
});

describe('H.1 milestones', () => {
  const zeroSignature = (publicKey: Uint8Array) => ({ type: 0 as const, publicKey, signature: new Uint8Array(64) });
  const signedBy = (...keys: Uint8Array[]) =>
    brokenRule(blockBytes({ payload: { ...milestoneOf({}), signatures: keys.map(zeroSignature) } }));
  /** A key of 32 bytes 7, one of them 8. */
  const key = (at: number) => new Uint8Array(32).fill(7).fill(8, at, at + 1);

  it('H-38 signatures ascend by the first 31 bytes of their keys', () => {
    expect(signedBy(key(40), key(0))).toBe(OK);
    expect(signedBy(key(0), key(40))).toBe('A.10');
    expect(signedBy(key(40), key(31))).toBe('A.10');
    expect(signedBy(key(40), key(30))).toBe(OK);
  });

  const announcing = (targetMilestoneIndex: number): MilestoneOption => ({
    type: 1,
    targetMilestoneIndex,
    protocolVersion: 2,
    parameters: new Uint8Array(),
  });

  it('H-39 two options of one type are parsed', () => {
    expect(brokenRule(blockBytes({ payload: milestoneOf({ options: [announcing(5), announcing(6)] }) }))).toBe(OK);
    expect(brokenRule(blockBytes({ payload: milestoneOf({ options: [announcing(6), announcing(5)] }) }))).toBe('A.10');
    expect(brokenRule(blockBytes({ payload: milestoneOf({ options: [announcing(5), announcing(5)] }) }))).toBe('A.10');
  });

  const funds = (tail: number, address = alice.address): MigratedFunds => ({
    tailTransactionHash: new Uint8Array(49).fill(tail),
    address,
    deposit: 1_000_000n,
  });
  const receipt = (...entries: MigratedFunds[]): ReceiptOption => ({
    type: 0,
    migratedAt: 1,
    final: false,
    funds: entries,
    transaction: { type: 4, input: { type: 1, milestoneId: ZERO }, output: { type: 2, amount: 1n } },
  });
  const receiptBlock = (option: ReceiptOption) => blockBytes({ payload: milestoneOf({ options: [option] }) });

  it('H-40 funds of one tail transaction are parsed if their bytes ascend', () => {
    const [low, high] = [alice, bob].sort((a, b) => Buffer.compare(a.address.id, b.address.id));
    expect(brokenRule(receiptBlock(receipt(funds(1, low!.address), funds(1, high!.address))))).toBe(OK);
    expect(brokenRule(receiptBlock(receipt(funds(1, high!.address), funds(1, low!.address))))).toBe('A.10');
  });

  it('H-41 a receipt is final or not, has its transaction, and migrates to Ed25519 addresses', () => {
    const bytes = receiptBlock(receipt(funds(7)));
    const start = Buffer.from(bytes).indexOf(Uint8Array.of(7, 7, 7, 7, 7)) - 3;
    const changed = (offset: number, ...values: number[]) => {
      const copy = bytes.slice();
      copy.set(values, start + offset);
      return brokenRule(copy);
    };
    expect(changed(0, 1)).toBe(OK);
    expect(changed(0, 2)).toBe('A.0');
    expect(changed(3 + 49, 8)).toBe('A.4');
    expect(changed(3 + 90, 0, 0, 0, 0)).toBe('A.10');
  });
});
