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
import { keyPair } from '../../support/payloads/keys.ts';
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
  verdict,
} from '../../support/payloads/transactions.ts';

const { None, ...Reason } = ConflictReason;

const alice = keyPair('alice');
const bob = keyPair('bob');
const carol = keyPair('carol');

const aliasId = idOf('alias');
const nftId = idOf('nft');

const owned = (more: More = {}, by = alice): PlannedInput => ({
  output: basic(by.address, more),
  unlock: by,
});
const toAlice = (amount: bigint, more: More = {}): Output => basic(alice, { ...more, amount });
const toBob = (amount: bigint, more: More = {}): Output => basic(bob, { ...more, amount });

describe('H.4 timelocks, commitment, expiration', () => {
  it('H-59 a timelock ends with its second', () => {
    const plan = {
      inputs: [owned({ conditions: [timelock(1000)] })],
      outputs: [toAlice(1_000_000n)],
    };
    expect(verdict(plan, 999)).toBe(Reason.TimelockNotExpired);
    expect(verdict(plan, 1000)).toBe(None);
  });

  it('H-60 a timelock comes before a wrong commitment', () => {
    const inputs = [owned({ conditions: [timelock(1000)] })];
    expect(verdict({ inputs, outputs: [toAlice(1_000_000n)], commitment: ZERO }, 999)).toBe(
      Reason.TimelockNotExpired,
    );
  });

  it('H-61 a wrong commitment comes before a wrong signature', () => {
    const inputs = [{ output: basic(alice), unlock: bob }];
    expect(verdict({ inputs, outputs: [toAlice(1_000_000n)], commitment: ZERO })).toBe(
      Reason.InvalidInputsCommitment,
    );
    expect(verdict({ inputs, outputs: [toAlice(1_000_000n)] })).toBe(Reason.InvalidSignature);
  });

  it('H-62 from the second of its expiration on only the return address owns an output', () => {
    const output = basic(alice, { conditions: [expiration(bob, 1000)] });
    const by = (unlock: PlannedInput['unlock']) => ({
      inputs: [{ output, unlock }],
      outputs: [toAlice(1_000_000n)],
    });
    expect(verdict(by(alice), 999)).toBe(None);
    expect(verdict(by(bob), 999)).toBe(Reason.InvalidSignature);
    expect(verdict(by(bob), 1000)).toBe(None);
    expect(verdict(by(alice), 1000)).toBe(Reason.InvalidSignature);
  });

  it('H-63 the original receiver of an expired output is no sender', () => {
    const output = basic(alice, { conditions: [expiration(bob, 1000)] });
    const outputs = [toAlice(1_000_000n, { features: [sender(alice)] })];
    expect(verdict({ inputs: [{ output, unlock: bob }], outputs }, 1000)).toBe(
      Reason.InvalidSender,
    );
    expect(verdict({ inputs: [{ output, unlock: alice }], outputs }, 999)).toBe(None);
  });

  it('H-64 an output that expired to an NFT takes an NFT unlock', () => {
    const output = basic(alice, { conditions: [expiration(nftAddress(nftId), 1000)] });
    const by = (unlock: PlannedInput['unlock']) => ({
      inputs: [
        { output: nft(bob, { nftId }), unlock: bob },
        { output, unlock },
      ],
      outputs: [nft(bob, { nftId }), toBob(1_000_000n)],
    });
    expect(verdict(by(byNft(0)), 1000)).toBe(None);
    expect(verdict(by(alice), 1000)).toBe(Reason.InvalidInputUnlock);
  });
});

describe('H.4 storage deposit return', () => {
  /**
   * An output of alice's, 1,000,000 base tokens of which `due` are to go back, and what comes out.
   */
  const returning = (
    to: Parameters<typeof depositReturn>[0],
    due: bigint,
    outputs: Output[],
    more: More = {},
  ) => ({
    inputs: [owned({ conditions: [depositReturn(to, due), ...(more.conditions ?? [])] })],
    outputs,
  });

  it('H-65 an expired deposit is due if another than the lender takes the output back', () => {
    const plan = returning(carol, 400_000n, [toBob(1_000_000n)], {
      conditions: [expiration(bob, 1000)],
    });
    plan.inputs[0]!.unlock = bob;
    expect(verdict(plan, 1000)).toBe(Reason.ReturnAmountNotFulfilled);
  });

  it('H-66 an expired deposit is not due if the lender takes the output back', () => {
    const plan = returning(bob, 400_000n, [toBob(1_000_000n, { features: [metadata([1])] })], {
      conditions: [expiration(bob, 1000)],
    });
    plan.inputs[0]!.unlock = bob;
    expect(verdict(plan, 1000)).toBe(None);
  });

  it('H-67 what is lent to oneself is not due', () => {
    expect(verdict(returning(alice, 400_000n, [toBob(1_000_000n)]))).toBe(None);
    // nor if the input refers to the signature, or to the chain that owns it
    const first = owned({ conditions: [depositReturn(alice, 400_000n)] });
    expect(
      verdict({ inputs: [first, { ...first, unlock: referTo(0) }], outputs: [toBob(2_000_000n)] }),
    ).toBe(None);
    const ofNft = basic(nftAddress(nftId), {
      conditions: [depositReturn(nftAddress(nftId), 400_000n)],
    });
    const inputs = [
      { output: nft(alice, { nftId }), unlock: alice },
      { output: ofNft, unlock: byNft(0) },
    ];
    expect(verdict({ inputs, outputs: [toBob(2_000_000n)] })).toBe(None);
  });

  it('H-68 an NFT owes nothing to its own address', () => {
    const output = nft(alice, {
      nftId,
      conditions: [depositReturn(nftAddress(nftId), 400_000n)],
    });
    const plan = { inputs: [{ output, unlock: alice }], outputs: [nft(alice, { nftId })] };
    expect(verdict(plan)).toBe(None);
  });

  it('H-69 a return address that unlocks another input only is owed', () => {
    const plan = returning(bob, 400_000n, [toAlice(2_000_000n)]);
    plan.inputs.push(owned({}, bob));
    expect(verdict(plan)).toBe(Reason.ReturnAmountNotFulfilled);
  });

  it('H-70 simple outputs add up, and nothing but simple outputs counts', () => {
    const inParts = (first: More, second: More = {}) =>
      verdict(
        returning(bob, 400_000n, [
          toBob(300_000n, first),
          toBob(100_000n, second),
          toAlice(600_000n),
        ]),
      );
    expect(inParts({})).toBe(None);
    expect(inParts({ features: [metadata([1])] })).toBe(Reason.ReturnAmountNotFulfilled);
    expect(inParts({ conditions: [timelock(1)] })).toBe(Reason.ReturnAmountNotFulfilled);
    const token = tokens(aliasId, 1n);
    const withToken = returning(bob, 400_000n, [
      toBob(400_000n, { tokens: [token] }),
      toAlice(600_000n),
    ]);
    withToken.inputs[0]!.output.nativeTokens.push(token);
    expect(verdict(withToken)).toBe(Reason.ReturnAmountNotFulfilled);
    const byNewNft = [nft(bob, { amount: 400_000n }), toAlice(600_000n)];
    expect(verdict(returning(bob, 400_000n, byNewNft))).toBe(Reason.ReturnAmountNotFulfilled);
  });

  it('H-71 what two inputs owe to one address adds up', () => {
    const returned = (amount: bigint) => {
      const plan = returning(bob, 400_000n, [toBob(amount), toAlice(2_000_000n - amount)]);
      plan.inputs.push({
        ...owned({ conditions: [depositReturn(bob, 300_000n)] }),
        unlock: referTo(0),
      });
      return verdict(plan);
    };
    expect(returned(400_000n)).toBe(Reason.ReturnAmountNotFulfilled);
    expect(returned(699_999n)).toBe(Reason.ReturnAmountNotFulfilled);
    expect(returned(700_000n)).toBe(None);
  });

  it('H-72 sums come before returns', () => {
    expect(verdict(returning(bob, 400_000n, [toAlice(999_999n)]))).toBe(
      Reason.InputOutputSumMismatch,
    );
  });

  it('H-73 senders come before sums', () => {
    const outputs = [toAlice(999_999n, { features: [sender(bob)] })];
    expect(verdict({ inputs: [owned()], outputs })).toBe(Reason.InvalidSender);
  });
});

describe('H.4 signatures and unlocks', () => {
  const keep = [toAlice(1_000_000n)];

  it('H-74 the key must be the owner’s, the signature valid, S below the group order', () => {
    expect(verdict({ inputs: [{ output: basic(alice), unlock: bob }], outputs: keep })).toBe(
      Reason.InvalidSignature,
    );
    const spoilt = (spoil: (signature: Uint8Array) => void) => {
      const { tx } = judged({ inputs: [owned()], outputs: keep });
      const unlock = tx.value.unlocks[0]!;
      if (unlock.type !== UnlockType.Signature) throw new Error('no signature');
      const signature = unlock.signature.signature.slice();
      spoil(signature);
      const spoiltUnlock: Unlock = { ...unlock, signature: { ...unlock.signature, signature } };
      return verdict({
        inputs: [{ output: basic(alice), unlock: spoiltUnlock }],
        outputs: keep,
      });
    };
    expect(spoilt(() => {})).toBe(None);
    expect(spoilt((signature) => signature.fill(0, 0, 1))).toBe(Reason.InvalidSignature);
    expect(spoilt(addGroupOrder)).toBe(Reason.InvalidSignature);
  });

  it('H-75 what is signed is the essence’s hash, not the essence', () => {
    const plan = { inputs: [owned()], outputs: keep };
    expect(verdict({ ...plan, signed: (essence) => essence })).toBe(Reason.InvalidSignature);
  });

  it('H-76 a second input of one owner refers to the first', () => {
    const second = (unlock: PlannedInput['unlock']) =>
      verdict({
        inputs: [owned(), { output: basic(alice), unlock }],
        outputs: [toAlice(2_000_000n)],
      });
    expect(second(referTo(0))).toBe(None);
    expect(second(anotherSignature(alice.publicKey))).toBe(Reason.InvalidInputUnlock);
  });

  it('H-77 a reference must point to the owner’s signature', () => {
    const inputs = [owned(), owned({}, bob), { output: basic(alice), unlock: referTo(1) }];
    expect(verdict({ inputs, outputs: [toAlice(3_000_000n)] })).toBe(Reason.InvalidInputUnlock);
  });

  it('H-78 what an alias or NFT owns takes an unlock of that kind', () => {
    const of = (owner: Parameters<typeof basic>[0], unlock: PlannedInput['unlock']) =>
      verdict({
        inputs: [
          {
            output: alias(alice, alice, { aliasId, stateIndex: 1 }),
            unlock: alice,
          },
          { output: nft(alice, { nftId }), unlock: referTo(0) },
          { output: basic(owner), unlock },
        ],
        outputs: [
          alias(alice, alice, { aliasId, stateIndex: 2 }),
          nft(alice, { nftId }),
          toAlice(1_000_000n),
        ],
      });
    expect(of(aliasAddress(aliasId), byAlias(0))).toBe(None);
    expect(of(nftAddress(nftId), byNft(1))).toBe(None);
    expect(of(aliasAddress(aliasId), bob)).toBe(Reason.InvalidInputUnlock);
    expect(of(aliasAddress(aliasId), referTo(0))).toBe(Reason.InvalidInputUnlock);
    expect(of(aliasAddress(aliasId), byNft(0))).toBe(Reason.InvalidInputUnlock);
    expect(of(nftAddress(nftId), byAlias(1))).toBe(Reason.InvalidInputUnlock);
    expect(of(alice, byAlias(0))).toBe(Reason.InvalidInputUnlock);
  });

  it('H-79 the NFT comes before what it owns', () => {
    const nftInput = { output: nft(alice, { nftId }), unlock: referTo(0) };
    const ownedByNft = (reference: number) => ({
      output: basic(nftAddress(nftId)),
      unlock: byNft(reference),
    });
    const outputs = [toAlice(2_000_000n), nft(alice, { nftId })];
    expect(verdict({ inputs: [owned(), nftInput, ownedByNft(1)], outputs })).toBe(None);
    expect(verdict({ inputs: [owned(), ownedByNft(0), nftInput], outputs })).toBe(
      Reason.InvalidInputUnlock,
    );
  });

  it('H-80 an NFT unlocks an alias, which unlocks an output, in a state transition only', () => {
    const chain = (stateIndex: number) =>
      verdict({
        inputs: [
          { output: nft(alice, { nftId }), unlock: alice },
          {
            output: alias(nftAddress(nftId), nftAddress(nftId), { aliasId, stateIndex: 1 }),
            unlock: byNft(0),
          },
          { output: basic(aliasAddress(aliasId)), unlock: byAlias(1) },
        ],
        outputs: [
          nft(alice, { nftId }),
          alias(nftAddress(nftId), nftAddress(nftId), { aliasId, stateIndex }),
          toAlice(1_000_000n),
        ],
      });
    expect(chain(2)).toBe(None);
    expect(chain(1)).toBe(Reason.InvalidInputUnlock);
  });

  it('H-81 a burned NFT unlocks what it owns', () => {
    const inputs = [
      { output: nft(alice, { nftId }), unlock: alice },
      { output: basic(nftAddress(nftId)), unlock: byNft(0) },
    ];
    expect(verdict({ inputs, outputs: [toAlice(2_000_000n)] })).toBe(None);
  });

  it('H-82 a destroyed alias does not, nor its foundry', () => {
    const with_ = (output: Output) =>
      verdict({
        inputs: [
          {
            output: alias(bob, alice, { aliasId, foundryCounter: 1 }),
            unlock: alice,
          },
          { output, unlock: byAlias(0) },
        ],
        outputs: [toAlice(2_000_000n)],
      });
    expect(with_(basic(aliasAddress(aliasId)))).toBe(Reason.InvalidInputUnlock);
    expect(with_(foundry(aliasId))).toBe(Reason.InvalidInputUnlock);
  });

  it('H-83 an alias unlock points to the alias, not to who unlocked it', () => {
    const plan = (reference: number): TransactionPlan => ({
      inputs: [
        owned(),
        {
          output: alias(alice, alice, { aliasId, stateIndex: 1 }),
          unlock: referTo(0),
        },
        { output: basic(aliasAddress(aliasId)), unlock: byAlias(reference) },
      ],
      outputs: [alias(alice, alice, { aliasId, stateIndex: 2 }), toAlice(2_000_000n)],
    });
    expect(verdict(plan(1))).toBe(None);
    expect(verdict(plan(0))).toBe(Reason.InvalidInputUnlock);
  });
});

describe('H.4 senders', () => {
  const stepping = (
    from: AliasFields,
    to: AliasFields,
    unlock: PlannedInput['unlock'],
    outputs: Output[],
  ) => ({
    inputs: [
      {
        output: alias(alice, bob, {
          aliasId,
          stateIndex: 1,
          amount: 2_000_000n,
          ...from,
        }),
        unlock,
      },
    ],
    outputs: [alias(alice, bob, { aliasId, amount: 1_000_000n, ...to }), ...outputs],
  });

  it('H-84 an alias is sender in a state transition, not in governance, nor when new', () => {
    const sent = [toAlice(1_000_000n, { features: [sender(aliasAddress(aliasId))] })];
    expect(verdict(stepping({}, { stateIndex: 2 }, alice, sent))).toBe(None);
    expect(verdict(stepping({}, { stateIndex: 1 }, bob, sent))).toBe(Reason.InvalidSender);

    // No transaction can name an ID that depends on its own hash. A verdict can still be asked for,
    // as the ID is given.
    const id = idOf('transaction');
    const created = aliasAddress(chainIdFromOutputId(outputId(id, 0)));
    const creating = {
      inputs: [owned({ amount: 2_000_000n })],
      outputs: [alias(alice, alice), toAlice(1_000_000n, { features: [sender(created)] })],
    };
    const { tx, consumed } = judged(creating);
    expect(judgeAt({ ...tx, id }, consumed, 1000)).toBe(Reason.InvalidSender);
  });

  it('H-85 the governor is no sender in a state transition', () => {
    const sent = [toAlice(1_000_000n, { features: [sender(bob)] })];
    expect(verdict(stepping({}, { stateIndex: 2 }, alice, sent))).toBe(Reason.InvalidSender);
  });
});

/** A second signature unlock by the same key; it need not be valid. */
function anotherSignature(publicKey: Uint8Array): Unlock {
  return {
    type: UnlockType.Signature,
    signature: { type: 0, publicKey, signature: new Uint8Array(64) },
  };
}

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
