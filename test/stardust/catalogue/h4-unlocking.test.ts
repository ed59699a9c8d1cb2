/**
 * docs/protocol.md, H.4, H-59 to H-85: timelocks, expirations, deposits, signatures, unlocks and
 * senders.
 */
import { describe, expect, it } from 'vitest';
import { judgeAt } from '../../../src/stardust/semantics/judge.ts';
import { ConflictReason } from '../../../src/stardust/semantics/verdict.ts';
import { chainIdFromOutputId, outputId } from '../../../src/stardust/wire/ids.ts';
import type { Output } from '../../../src/stardust/wire/output.ts';
import { type Unlock, UnlockType } from '../../../src/stardust/wire/unlock.ts';
import {
  type AliasFields,
  alias,
  aliasAddress,
  basic,
  depositReturn,
  expiration,
  foundry,
  idOf,
  type More,
  metadata,
  nft,
  nftAddress,
  type Owner,
  sender,
  timelock,
  tokens,
  ZERO,
} from '../../support/payloads/outputs.ts';
import {
  byAlias,
  byNft,
  judged,
  type PlannedInput,
  referTo,
  type TransactionPlan,
} from '../../support/payloads/transactions.ts';
import {
  aliasId,
  alice,
  bob,
  carol,
  expectVerdicts,
  nftId,
} from '../../support/stardust/syntactic.ts';

const {
  None,
  TimelockNotExpired: LOCKED,
  InvalidInputsCommitment: COMMITMENT,
  InvalidSignature: SIGNATURE,
  InvalidInputUnlock: UNLOCK,
  InvalidSender: SENDER,
  ReturnAmountNotFulfilled: RETURN,
  InputOutputSumMismatch: SUM,
} = ConflictReason;

type By = PlannedInput['unlock'];

const owned = (more: More = {}, by = alice, unlock: By = by): PlannedInput => ({
  output: basic(by.address, more),
  unlock,
});
const toAlice = (amount: bigint, more: More = {}): Output => basic(alice, { ...more, amount });
const toBob = (amount: bigint, more: More = {}): Output => basic(bob, { ...more, amount });
const keep = [toAlice(1_000_000n)];

const ofAlias = aliasAddress(aliasId);
const ofNft = nftAddress(nftId);

describe('H.4 timelocks, commitment, expiration', () => {
  it('H-59 a timelock ends with its second', () => {
    const plan = { inputs: [owned({ conditions: [timelock(1000)] })], outputs: keep };
    expectVerdicts([LOCKED, plan, 999], [None, plan, 1000]);
  });

  it('H-60 a timelock comes before a wrong commitment', () => {
    const inputs = [owned({ conditions: [timelock(1000)] })];
    expectVerdicts([LOCKED, { inputs, outputs: keep, commitment: ZERO }, 999]);
  });

  it('H-61 a wrong commitment comes before a wrong signature', () => {
    const plan = { inputs: [owned({}, alice, bob)], outputs: keep };
    expectVerdicts([COMMITMENT, { ...plan, commitment: ZERO }], [SIGNATURE, plan]);
  });

  const expiring = basic(alice, { conditions: [expiration(bob, 1000)] });

  it('H-62 from the second of its expiration on only the return address owns an output', () => {
    const by = (unlock: By) => ({ inputs: [{ output: expiring, unlock }], outputs: keep });
    expectVerdicts([None, by(alice), 999], [SIGNATURE, by(bob), 999]);
    expectVerdicts([None, by(bob), 1000], [SIGNATURE, by(alice), 1000]);
  });

  it('H-63 the original receiver of an expired output is no sender', () => {
    const outputs = [toAlice(1_000_000n, { features: [sender(alice)] })];
    const by = (unlock: By) => ({ inputs: [{ output: expiring, unlock }], outputs });
    expectVerdicts([SENDER, by(bob), 1000], [None, by(alice), 999]);
  });

  it('H-64 an output that expired to an NFT takes an NFT unlock', () => {
    const output = basic(alice, { conditions: [expiration(ofNft, 1000)] });
    const held = nft(bob, { nftId });
    const inputs = [{ output: held, unlock: bob }];
    const outputs = [held, toBob(1_000_000n)];
    const by = (unlock: By) => ({ inputs: [...inputs, { output, unlock }], outputs });
    expectVerdicts([None, by(byNft(0)), 1000], [UNLOCK, by(alice), 1000]);
  });
});

describe('H.4 storage deposit return', () => {
  /** An output of alice's, 1,000,000 base tokens of which `due` go back, and what comes out. */
  const returning = (
    to: Owner,
    due: bigint,
    outputs: Output[],
    more: More = {},
    by: By = alice,
  ) => {
    const conditions = [depositReturn(to, due), ...(more.conditions ?? [])];
    return { inputs: [owned({ conditions }, alice, by)], outputs };
  };
  const toExpire = { conditions: [expiration(bob, 1000)] };

  it('H-65 an expired deposit is due if another than the lender takes the output back', () => {
    const plan = returning(carol, 400_000n, [toBob(1_000_000n)], toExpire, bob);
    expectVerdicts([RETURN, plan, 1000]);
  });

  it('H-66 an expired deposit is not due if the lender takes the output back', () => {
    const noted = [toBob(1_000_000n, { features: [metadata([1])] })];
    expectVerdicts([None, returning(bob, 400_000n, noted, toExpire, bob), 1000]);
  });

  it('H-67 what is lent to oneself is not due', () => {
    expectVerdicts([None, returning(alice, 400_000n, [toBob(1_000_000n)])]);
    // nor if the input refers to the signature, or to the chain that owns it
    const outputs = [toBob(2_000_000n)];
    const first = owned({ conditions: [depositReturn(alice, 400_000n)] });
    const held = { output: nft(alice, { nftId }), unlock: alice };
    const lent = basic(ofNft, { conditions: [depositReturn(ofNft, 400_000n)] });
    expectVerdicts(
      [None, { inputs: [first, { ...first, unlock: referTo(0) }], outputs }],
      [None, { inputs: [held, { output: lent, unlock: byNft(0) }], outputs }],
    );
  });

  it('H-68 an NFT owes nothing to its own address', () => {
    const output = nft(alice, { nftId, conditions: [depositReturn(ofNft, 400_000n)] });
    const outputs = [nft(alice, { nftId })];
    expectVerdicts([None, { inputs: [{ output, unlock: alice }], outputs }]);
  });

  it('H-69 a return address that unlocks another input only is owed', () => {
    const plan = returning(bob, 400_000n, [toAlice(2_000_000n)]);
    expectVerdicts([RETURN, { ...plan, inputs: [...plan.inputs, owned({}, bob)] }]);
  });

  it('H-70 simple outputs add up, and nothing but simple outputs counts', () => {
    const rest = toAlice(600_000n);
    const inParts = (more: More) =>
      returning(bob, 400_000n, [toBob(300_000n, more), toBob(100_000n), rest]);
    const token = tokens(aliasId, 1n);
    const withToken = returning(bob, 400_000n, [toBob(400_000n, { tokens: [token] }), rest]);
    withToken.inputs[0]!.output.nativeTokens.push(token);
    expectVerdicts(
      [None, inParts({})],
      [RETURN, inParts({ features: [metadata([1])] })],
      [RETURN, inParts({ conditions: [timelock(1)] })],
      [RETURN, withToken],
      [RETURN, returning(bob, 400_000n, [nft(bob, { amount: 400_000n }), rest])],
    );
  });

  it('H-71 what two inputs owe to one address adds up', () => {
    const other = owned({ conditions: [depositReturn(bob, 300_000n)] }, alice, referTo(0));
    const returned = (amount: bigint) => {
      const plan = returning(bob, 400_000n, [toBob(amount), toAlice(2_000_000n - amount)]);
      return { ...plan, inputs: [...plan.inputs, other] };
    };
    expectVerdicts([RETURN, returned(400_000n)], [RETURN, returned(699_999n)]);
    expectVerdicts([None, returned(700_000n)]);
  });

  it('H-72 sums come before returns', () => {
    expectVerdicts([SUM, returning(bob, 400_000n, [toAlice(999_999n)])]);
  });

  it('H-73 senders come before sums', () => {
    const outputs = [toAlice(999_999n, { features: [sender(bob)] })];
    expectVerdicts([SENDER, { inputs: [owned()], outputs }]);
  });
});

describe('H.4 signatures and unlocks', () => {
  it('H-74 the key must be the owner’s, the signature valid, S below the group order', () => {
    const spoilt = (spoil: (signature: Uint8Array) => void): TransactionPlan => {
      const { tx } = judged({ inputs: [owned()], outputs: keep });
      const unlock = tx.value.unlocks[0]!;
      if (unlock.type !== UnlockType.Signature) throw new Error('no signature');
      const signature = unlock.signature.signature.slice();
      spoil(signature);
      const other: Unlock = { ...unlock, signature: { ...unlock.signature, signature } };
      return { inputs: [owned({}, alice, other)], outputs: keep };
    };
    expectVerdicts(
      [SIGNATURE, { inputs: [owned({}, alice, bob)], outputs: keep }],
      [None, spoilt(() => {})],
      [SIGNATURE, spoilt((signature) => signature.fill(0, 0, 1))],
      [SIGNATURE, spoilt(addGroupOrder)],
    );
  });

  it('H-75 what is signed is the essence’s hash, not the essence', () => {
    const signed = (essence: Uint8Array) => essence;
    expectVerdicts([SIGNATURE, { inputs: [owned()], outputs: keep, signed }]);
  });

  it('H-76 a second input of one owner refers to the first', () => {
    const second = (unlock: By) => ({
      inputs: [owned(), owned({}, alice, unlock)],
      outputs: [toAlice(2_000_000n)],
    });
    // a second signature by the same key; it need not be valid
    const { publicKey } = alice;
    const signature = { type: 0 as const, publicKey, signature: new Uint8Array(64) };
    expectVerdicts([None, second(referTo(0))]);
    expectVerdicts([UNLOCK, second({ type: UnlockType.Signature, signature })]);
  });

  it('H-77 a reference must point to the owner’s signature', () => {
    const inputs = [owned(), owned({}, bob), owned({}, alice, referTo(1))];
    expectVerdicts([UNLOCK, { inputs, outputs: [toAlice(3_000_000n)] }]);
  });

  it('H-78 what an alias or NFT owns takes an unlock of that kind', () => {
    const held = nft(alice, { nftId });
    const of = (owner: Owner, unlock: By) => ({
      inputs: [
        { output: alias(alice, alice, { aliasId, stateIndex: 1 }), unlock: alice },
        { output: held, unlock: referTo(0) },
        { output: basic(owner), unlock },
      ],
      outputs: [alias(alice, alice, { aliasId, stateIndex: 2 }), held, ...keep],
    });
    expectVerdicts(
      [None, of(ofAlias, byAlias(0))],
      [None, of(ofNft, byNft(1))],
      [UNLOCK, of(ofAlias, bob)],
      [UNLOCK, of(ofAlias, referTo(0))],
      [UNLOCK, of(ofAlias, byNft(0))],
      [UNLOCK, of(ofNft, byAlias(1))],
      [UNLOCK, of(alice, byAlias(0))],
    );
  });

  it('H-79 the NFT comes before what it owns', () => {
    const held = { output: nft(alice, { nftId }), unlock: referTo(0) };
    const ownedByNft = (at: number) => ({ output: basic(ofNft), unlock: byNft(at) });
    const outputs = [toAlice(2_000_000n), nft(alice, { nftId })];
    expectVerdicts([None, { inputs: [owned(), held, ownedByNft(1)], outputs }]);
    expectVerdicts([UNLOCK, { inputs: [owned(), ownedByNft(0), held], outputs }]);
  });

  it('H-80 an NFT unlocks an alias, which unlocks an output, in a state transition only', () => {
    const chain = (stateIndex: number) => ({
      inputs: [
        { output: nft(alice, { nftId }), unlock: alice },
        { output: alias(ofNft, ofNft, { aliasId, stateIndex: 1 }), unlock: byNft(0) },
        { output: basic(ofAlias), unlock: byAlias(1) },
      ],
      outputs: [nft(alice, { nftId }), alias(ofNft, ofNft, { aliasId, stateIndex }), ...keep],
    });
    expectVerdicts([None, chain(2)], [UNLOCK, chain(1)]);
  });

  it('H-81 a burned NFT unlocks what it owns', () => {
    const held = { output: nft(alice, { nftId }), unlock: alice };
    const inputs = [held, { output: basic(ofNft), unlock: byNft(0) }];
    expectVerdicts([None, { inputs, outputs: [toAlice(2_000_000n)] }]);
  });

  it('H-82 a destroyed alias does not, nor its foundry', () => {
    const destroyed = { output: alias(bob, alice, { aliasId, foundryCounter: 1 }), unlock: alice };
    const beside = (output: Output) => ({
      inputs: [destroyed, { output, unlock: byAlias(0) }],
      outputs: [toAlice(2_000_000n)],
    });
    expectVerdicts([UNLOCK, beside(basic(ofAlias))], [UNLOCK, beside(foundry(aliasId))]);
  });

  it('H-83 an alias unlock points to the alias, not to who unlocked it', () => {
    const plan = (reference: number) => ({
      inputs: [
        owned(),
        { output: alias(alice, alice, { aliasId, stateIndex: 1 }), unlock: referTo(0) },
        { output: basic(ofAlias), unlock: byAlias(reference) },
      ],
      outputs: [alias(alice, alice, { aliasId, stateIndex: 2 }), toAlice(2_000_000n)],
    });
    expectVerdicts([None, plan(1)], [UNLOCK, plan(0)]);
  });
});

describe('H.4 senders', () => {
  const stepping = (to: AliasFields, unlock: By, from: Owner) => {
    const before = alias(alice, bob, { aliasId, stateIndex: 1, amount: 2_000_000n });
    const after = alias(alice, bob, { aliasId, amount: 1_000_000n, ...to });
    const sent = toAlice(1_000_000n, { features: [sender(from)] });
    return { inputs: [{ output: before, unlock }], outputs: [after, sent] };
  };

  it('H-84 an alias is sender in a state transition, not in governance, nor when new', () => {
    expectVerdicts([None, stepping({ stateIndex: 2 }, alice, ofAlias)]);
    expectVerdicts([SENDER, stepping({ stateIndex: 1 }, bob, ofAlias)]);

    // No transaction can name an ID that depends on its own hash. A verdict can still be asked for,
    // as the ID is given.
    const id = idOf('transaction');
    const created = aliasAddress(chainIdFromOutputId(outputId(id, 0)));
    const { tx, consumed } = judged({
      inputs: [owned({ amount: 2_000_000n })],
      outputs: [alias(alice, alice), toAlice(1_000_000n, { features: [sender(created)] })],
    });
    expect(judgeAt({ ...tx, id }, consumed, 1000)).toBe(SENDER);
  });

  it('H-85 the governor is no sender in a state transition', () => {
    expectVerdicts([SENDER, stepping({ stateIndex: 2 }, alice, bob)]);
  });
});

/** Adds the order of the group to S, the second half of a signature. */
function addGroupOrder(signature: Uint8Array): void {
  const order = 2n ** 252n + 27742317777372353535851937790883648493n;
  let carry = 0;
  for (let i = 0; i < 32; i++) {
    const sum = signature[32 + i]! + Number((order >> BigInt(8 * i)) & 0xffn) + carry;
    signature[32 + i] = sum & 0xff;
    carry = sum >> 8;
  }
}
