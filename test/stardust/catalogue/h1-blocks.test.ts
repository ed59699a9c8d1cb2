/**
 * docs/protocol.md, H.1, H-1 to H-13 and H-33 to H-41: blocks, essences, unlocks, milestones. Where
 * bytes are refused, the test names the rule that they break.
 */
import { describe, expect, it } from 'vitest';
import { concatBytes } from '../../../src/stardust/encoding/bytes.ts';
import { encode } from '../../../src/stardust/encoding/codec.ts';
import { ConflictReason } from '../../../src/stardust/semantics/verdict.ts';
import { type Block, parseBlock } from '../../../src/stardust/wire/block.ts';
import type {
  MigratedFunds,
  MilestoneOption,
  ReceiptOption,
} from '../../../src/stardust/wire/milestone.ts';
import { milestone } from '../../../src/stardust/wire/milestone.ts';
import { taggedData } from '../../../src/stardust/wire/transaction.ts';
import { type Unlock, UnlockType } from '../../../src/stardust/wire/unlock.ts';
import { blockAround, blockBytes, brokenRule, milestoneOf } from '../../support/payloads/blocks.ts';
import { basic, ZERO } from '../../support/payloads/outputs.ts';
import {
  byAlias,
  byNft,
  referTo,
  signature,
  transactionBytes,
  transactionOf,
  verdict,
} from '../../support/payloads/transactions.ts';
import {
  alice,
  blockOf,
  bob,
  expectRules,
  inadmissibleRule,
  nftId,
  OK,
  oneInput,
  plan,
  tagged,
} from '../../support/stardust/syntactic.ts';

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
    const [first, second] = ids as [Uint8Array, Uint8Array];
    expectRules([OK, of(first, second)], [OK, of(...ids.slice(0, 8))]);
    expectRules(['C-2', of(second, first)], ['C-2', of(second, second)]);
    expectRules(['C-2', of()], ['C-2', of(...ids)]);
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
      const payload = Uint8Array.of(type, 0, 0, 0, ...new Uint8Array(42));
      expect(brokenRule(blockAround(payload))).toBe('C-3');
    }
  });

  it('H-7 the payload has the declared length', () => {
    const payload = encode(taggedData, tagged(3, 5));
    const declared = (more: number) => brokenRule(blockAround(payload, payload.length + more));
    expect([0, -1, 1, 100].map(declared)).toEqual([OK, 'C-3', 'C-3', 'C-3']);
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
    const of = (tag: number, data: number) =>
      brokenRule(blockBytes({ payload: tagged(tag, data) }));
    expectRules([OK, of(64, 1)], ['C-7', of(65, 1)], [OK, of(0, 0)]);
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
    // it is signed with the rest: a signature over the essence without it is not valid
    const [signed] = transactionOf(plan({ payload: tagged(1, 1) })).unlocks;
    expect(verdict(plan({ payload: tagged(1, 1) }))).toBe(ConflictReason.None);
    const inputs = [{ output: basic(alice), unlock: signed! }];
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
          inputs: Array.from({ length: inputs }, (_, i) => ({
            ...oneInput[0]!,
            unlock: i ? referTo(0) : alice,
          })),
        }),
      );
    expect(count(128)).toBe(OK);
    expect(count(129)).toBe('C-10');
    expect(count(0)).toBe('C-10');
    const ids = [2, 1].map((byte) => new Uint8Array(34).fill(byte));
    const from = (...each: Uint8Array[]) =>
      brokenRule(
        blockOf({
          inputs: each.map((id, i) => ({ ...oneInput[0]!, id, unlock: i ? referTo(0) : alice })),
        }),
      );
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
    expectRules([OK, unlocks(one)], ['C-37', unlocks()]);
    expectRules(['C-37', unlocks(one, Uint8Array.of(1, 0, 0))]);
  });

  it('H-37 a transaction belongs to the network', () => {
    expect(inadmissibleRule(blockOf({}))).toBe(OK);
    expect(inadmissibleRule(blockOf({ networkId: 1n }))).toBe('C-13');
  });
});

describe('H.1 unlocks', () => {
  const unlocked = (...unlocks: Unlock[]) =>
    brokenRule(blockOf({ inputs: unlocks.map((unlock) => ({ output: basic(alice), unlock })) }));
  const signed = signature(alice, ZERO);

  it('H-34 a reference points back to a signature, alias and NFT unlocks to anything', () => {
    expectRules(
      [OK, unlocked(signed, referTo(0))],
      ['C-39', unlocked(signed, referTo(1))],
      ['C-39', unlocked(signed, referTo(2), signature(bob, ZERO))],
      ['C-40', unlocked(signed, referTo(0), referTo(1))],
      ['C-40', unlocked(signed, byAlias(0), referTo(1))],
      ['C-40', unlocked(signed, byNft(0), referTo(1))],
      [OK, unlocked(signed, byAlias(0))],
      [OK, unlocked(signed, referTo(0), byNft(1))],
      [OK, unlocked(signed, byAlias(0), byNft(1), byAlias(2))],
      ['C-39', unlocked(byAlias(0))],
    );
  });

  it('H-35 two signatures differ, but may be by one key, which conflicts', () => {
    const other = signature(alice, nftId);
    expect(unlocked(signed, signed)).toBe('C-38');
    expect(unlocked(signed, other)).toBe(OK);
    const inputs = [...oneInput, { output: basic(alice), unlock: other }];
    const outputs = [basic(alice, { amount: 2_000_000n })];
    expect(verdict({ inputs, outputs })).toBe(ConflictReason.InvalidInputUnlock);
  });

  it('H-36 a signature of zeros is a block, and a conflict', () => {
    const zeros = { type: 0 as const, publicKey: alice.publicKey, signature: new Uint8Array(64) };
    const unlock: Unlock = { type: UnlockType.Signature, signature: zeros };
    expect(unlocked(unlock)).toBe(OK);
    const inputs = [{ output: basic(alice), unlock }];
    expect(verdict(plan({ inputs }))).toBe(ConflictReason.InvalidSignature);
  });
});

describe('H.1 milestones', () => {
  const signedBy = (...keys: Uint8Array[]) => {
    const zeros = { type: 0 as const, signature: new Uint8Array(64) };
    const signatures = keys.map((publicKey) => ({ ...zeros, publicKey }));
    return brokenRule(blockBytes({ payload: { ...milestoneOf({}), signatures } }));
  };
  /** A key of 32 bytes 7, one of them 8. */
  const key = (at: number) => new Uint8Array(32).fill(7).fill(8, at, at + 1);

  it('H-38 signatures ascend by the first 31 bytes of their keys', () => {
    expectRules([OK, signedBy(key(40), key(0))], ['A.10', signedBy(key(0), key(40))]);
    expectRules(['A.10', signedBy(key(40), key(31))], [OK, signedBy(key(40), key(30))]);
  });

  const announcing = (targetMilestoneIndex: number): MilestoneOption => ({
    type: 1,
    targetMilestoneIndex,
    protocolVersion: 2,
    parameters: new Uint8Array(),
  });

  it('H-39 two options of one type are parsed', () => {
    const both = (...targets: number[]) =>
      brokenRule(blockBytes({ payload: milestoneOf({ options: targets.map(announcing) }) }));
    expectRules([OK, both(5, 6)], ['A.10', both(6, 5)], ['A.10', both(5, 5)]);
  });

  const funds = (tail: number, { address } = alice): MigratedFunds => ({
    tailTransactionHash: new Uint8Array(49).fill(tail),
    address,
    deposit: 1_000_000n,
  });
  const receipt = (...entries: MigratedFunds[]): ReceiptOption => ({
    type: 0,
    migratedAt: 1,
    final: false,
    funds: entries,
    transaction: {
      type: 4,
      input: { type: 1, milestoneId: ZERO },
      output: { type: 2, amount: 1n },
    },
  });
  const receiptBlock = (option: ReceiptOption) =>
    blockBytes({ payload: milestoneOf({ options: [option] }) });

  it('H-40 funds of one tail transaction are parsed if their bytes ascend', () => {
    const [low, high] = [alice, bob].sort((a, b) => Buffer.compare(a.address.id, b.address.id));
    const both = (a: typeof alice, b: typeof alice) =>
      brokenRule(receiptBlock(receipt(funds(1, a), funds(1, b))));
    expectRules([OK, both(low!, high!)], ['A.10', both(high!, low!)]);
  });

  it('H-41 a receipt: final is a boolean, it has a transaction, addresses are Ed25519', () => {
    const bytes = receiptBlock(receipt(funds(7)));
    const start = Buffer.from(bytes).indexOf(Uint8Array.of(7, 7, 7, 7, 7)) - 3;
    const changed = (offset: number, ...values: number[]) => {
      const copy = bytes.slice();
      copy.set(values, start + offset);
      return brokenRule(copy);
    };
    expectRules([OK, changed(0, 1)], ['A.0', changed(0, 2)]);
    expectRules(['A.4', changed(3 + 49, 8)], ['A.10', changed(3 + 90, 0, 0, 0, 0)]);
  });
});
