/** docs/protocol.md, H.4, H-86 to H-107: aliases, foundries and their tokens, NFTs, issuers. */
import { ed25519 } from '@noble/curves/ed25519.js';
import { describe, expect, it } from 'vitest';
import { verifyZip215 } from '../../../src/stardust/crypto/ed25519.ts';
import { ConflictReason } from '../../../src/stardust/semantics/verdict.ts';
import { AddressType } from '../../../src/stardust/wire/address.ts';
import { chainIdFromOutputId, ed25519AddressId } from '../../../src/stardust/wire/ids.ts';
import type { Output } from '../../../src/stardust/wire/output.ts';
import { UnlockType } from '../../../src/stardust/wire/unlock.ts';
import { keyPair } from '../../support/payloads/keys.ts';
import {
  type AliasFields,
  alias,
  aliasAddress,
  basic,
  type FoundryFields,
  foundry,
  idOf,
  issuer,
  type More,
  metadata,
  nft,
  sender,
  tokens,
} from '../../support/payloads/outputs.ts';
import {
  byAlias,
  inputId,
  type PlannedInput,
  referTo,
  type TransactionPlan,
  verdict,
} from '../../support/payloads/transactions.ts';
import { readLines } from '../../support/vectors.ts';

const { None, InvalidChainStateTransition: INVALID_CHAIN, ...Reason } = ConflictReason;

const alice = keyPair('alice');
const bob = keyPair('bob');
const carol = keyPair('carol');

const aliasId = idOf('alias');
const otherAliasId = idOf('other alias');
const nftId = idOf('nft');

/** An alias of alice's, governed by bob, at state index 1. */
const aliasState = (given: AliasFields = {}) =>
  alias(alice, bob, { aliasId, stateIndex: 1, amount: 1_000_000n, ...given });

/** One alias in, one alias out, and what else there is. */
const step = (
  before: AliasFields,
  after: AliasFields,
  unlock: PlannedInput['unlock'],
  more: { inputs?: PlannedInput[]; outputs?: Output[] } = {},
): TransactionPlan => ({
  inputs: [{ output: aliasState(before), unlock }, ...(more.inputs ?? [])],
  outputs: [aliasState(after), ...(more.outputs ?? [])],
});

describe('H.4 aliases', () => {
  it('H-86 a state index moves by 1 or not at all, whatever else is wrong', () => {
    for (const stateIndex of [3, 0]) {
      expect(verdict(step({}, { stateIndex }, alice))).toBe(INVALID_CHAIN);
      expect(verdict(step({}, { stateIndex, amount: 5n }, carol))).toBe(INVALID_CHAIN);
    }
  });

  it('H-87 after the last state index comes 0', () => {
    expect(verdict(step({ stateIndex: 0xffffffff }, { stateIndex: 0 }, alice))).toBe(None);
  });

  it('H-88 the state controller unlocks state transitions, the governor all others', () => {
    expect(verdict(step({}, { stateIndex: 2 }, alice))).toBe(None);
    expect(verdict(step({}, { stateIndex: 2 }, bob))).toBe(Reason.InvalidSignature);
    expect(verdict(step({}, {}, bob))).toBe(None);
    expect(verdict(step({}, {}, alice))).toBe(Reason.InvalidSignature);
  });

  it('H-89 governance changes controllers and features, and nothing else', () => {
    const rest = (amount: bigint) => ({ outputs: [basic(bob, { amount })] });
    expect(verdict(step({ amount: 2_000_000n }, {}, bob, rest(1_000_000n)))).toBe(INVALID_CHAIN);
    expect(verdict(step({}, { stateMetadata: Uint8Array.of(1) }, bob))).toBe(INVALID_CHAIN);
    expect(
      verdict(step({ tokens: [tokens(aliasId, 2n)] }, { tokens: [tokens(aliasId, 1n)] }, bob)),
    ).toBe(INVALID_CHAIN);
    expect(verdict(step({ foundryCounter: 1 }, { foundryCounter: 2 }, bob))).toBe(INVALID_CHAIN);
    const plan = step({}, {}, bob);
    plan.outputs = [alias(carol, carol, { aliasId, stateIndex: 1, features: [metadata([1])] })];
    expect(verdict(plan)).toBe(None);
  });

  it('H-90 a state transition changes neither controllers nor metadata, but the sender', () => {
    const changing = (before: AliasFields, after: AliasFields) =>
      verdict(step(before, { stateIndex: 2, ...after }, alice));
    for (const [controller, governor] of [
      [carol, bob],
      [alice, carol],
    ] as const) {
      const plan = step({}, {}, alice);
      plan.outputs = [alias(controller, governor, { aliasId, stateIndex: 2 })];
      expect(verdict(plan)).toBe(INVALID_CHAIN);
    }
    expect(changing({}, { features: [metadata([1])] })).toBe(INVALID_CHAIN);
    expect(changing({ features: [metadata([1])] }, {})).toBe(INVALID_CHAIN);
    expect(changing({ features: [metadata([1])] }, { features: [metadata([2])] })).toBe(
      INVALID_CHAIN,
    );
    expect(changing({ features: [metadata([1])] }, { features: [metadata([1])] })).toBe(None);
    expect(changing({}, { features: [sender(alice)] })).toBe(None);
    expect(changing({ features: [sender(bob)] }, { features: [sender(alice)] })).toBe(None);
  });
});

describe('H.4 foundries', () => {
  /** A state transition of the alias with a foundry counter, alice paying for the foundries. */
  const founding = (before: number, after: number, outputs: Output[], amount = 1_000_000n) =>
    verdict(
      step({ foundryCounter: before }, { foundryCounter: after, stateIndex: 2 }, alice, {
        inputs: [
          {
            output: basic(alice, { amount: amount * BigInt(outputs.length) }),
            unlock: referTo(0),
          },
        ],
        outputs,
      }),
    );
  const serial = (serialNumber: number, given: FoundryFields = {}) =>
    foundry(aliasId, { serialNumber, ...given });
  const rest = basic(alice);

  it('H-91 the counter counts the foundries that are new', () => {
    expect(founding(0, 1, [serial(1)])).toBe(None);
    expect(founding(0, 1, [rest])).toBe(INVALID_CHAIN);
    expect(founding(0, 0, [serial(1)])).toBe(INVALID_CHAIN);
    expect(founding(1, 0, [rest])).toBe(INVALID_CHAIN);
  });

  it('H-92 new foundries of an alias are in order; alias and other foundries anywhere', () => {
    expect(founding(0, 2, [serial(1), serial(2)])).toBe(None);
    expect(founding(0, 2, [serial(2), serial(1)])).toBe(INVALID_CHAIN);
    const payment = (amount: bigint) => ({
      output: basic(alice, { amount }),
      unlock: referTo(0),
    });
    const plan = step({}, {}, alice, { inputs: [payment(1_000_000n)] });
    plan.outputs = [serial(1), aliasState({ stateIndex: 2, foundryCounter: 1 })];
    expect(verdict(plan)).toBe(None);

    const second = { aliasId: otherAliasId, stateIndex: 1 };
    const interleaved = step({}, { stateIndex: 2, foundryCounter: 2 }, alice, {
      inputs: [{ output: alias(alice, bob, second), unlock: referTo(0) }, payment(4_000_000n)],
      outputs: [
        serial(1),
        foundry(otherAliasId, { serialNumber: 1 }),
        serial(2),
        foundry(otherAliasId, { serialNumber: 2 }),
        alias(alice, bob, { ...second, stateIndex: 2, foundryCounter: 2 }),
      ],
    });
    expect(verdict(interleaved)).toBe(None);
  });

  it('H-93 serial numbers have no gap and begin after the counter', () => {
    expect(founding(0, 2, [serial(1), serial(3)])).toBe(INVALID_CHAIN);
    expect(founding(0, 1, [serial(0)])).toBe(INVALID_CHAIN);
    expect(founding(1, 2, [serial(1)])).toBe(INVALID_CHAIN);
    expect(founding(1, 2, [serial(2)])).toBe(None);
  });

  it('H-94 a foundry is not created with its alias, nor when the alias goes', () => {
    const inputs = [{ output: basic(alice, { amount: 2_000_000n }), unlock: alice }];
    expect(verdict({ inputs, outputs: [alias(alice, bob), serial(1)] })).toBe(INVALID_CHAIN);
    const destroying = step({ amount: 2_000_000n }, {}, bob);
    destroying.outputs = [serial(1), rest];
    expect(verdict(destroying)).toBe(INVALID_CHAIN);
  });

  it('H-95 a new foundry has minted what comes out and melted nothing', () => {
    const output = (amount: bigint) => basic(alice, { tokens: [tokens(aliasId, amount)] });
    expect(founding(0, 1, [serial(1, { minted: 5n }), output(5n)])).toBe(None);
    expect(founding(0, 1, [serial(1, { minted: 5n }), output(4n)])).toBe(INVALID_CHAIN);
    expect(founding(0, 1, [serial(1, { minted: 5n }), rest])).toBe(INVALID_CHAIN);
    expect(founding(0, 1, [serial(1, { minted: 5n, melted: 1n }), output(5n)])).toBe(INVALID_CHAIN);
    expect(founding(0, 1, [serial(1), rest])).toBe(None);
  });

  interface Tokens {
    minted?: bigint;
    melted?: bigint;
    maximumSupply?: bigint;
    /** In basic outputs of alice's. */
    held: bigint;
  }

  const holding = (held: bigint): More => (held === 0n ? {} : { tokens: [tokens(aliasId, held)] });

  /** The foundry and its tokens, from one state to another or to its end. */
  const minting = (
    { held: heldBefore, ...before }: Tokens,
    after: Tokens | { destroyed: true; held: bigint },
  ) =>
    verdict({
      inputs: [
        { output: aliasState({ foundryCounter: 1 }), unlock: alice },
        { output: foundry(aliasId, before), unlock: byAlias(0) },
        { output: basic(alice, holding(heldBefore)), unlock: referTo(0) },
      ],
      outputs: [
        aliasState({ foundryCounter: 1, stateIndex: 2 }),
        'destroyed' in after ? basic(alice) : foundry(aliasId, after),
        basic(alice, holding(after.held)),
      ],
    });

  it('H-96 what is minted is counted exactly', () => {
    expect(minting({ minted: 5n, held: 5n }, { minted: 8n, held: 8n })).toBe(None);
    expect(minting({ minted: 5n, held: 5n }, { minted: 7n, held: 8n })).toBe(INVALID_CHAIN);
    expect(minting({ minted: 5n, held: 5n }, { minted: 9n, held: 8n })).toBe(INVALID_CHAIN);
  });

  it('H-97 melting, burning and both, but not minting and melting', () => {
    const before = { minted: 10n, held: 10n };
    expect(minting(before, { minted: 10n, melted: 3n, held: 7n })).toBe(None);
    expect(minting(before, { minted: 10n, melted: 2n, held: 7n })).toBe(None);
    expect(minting(before, { minted: 10n, held: 7n })).toBe(None);
    expect(minting(before, { minted: 10n, melted: 4n, held: 7n })).toBe(INVALID_CHAIN);
    expect(minting(before, { minted: 12n, melted: 2n, held: 10n })).toBe(INVALID_CHAIN);
    expect(minting(before, { minted: 13n, melted: 2n, held: 11n })).toBe(INVALID_CHAIN);
    expect(minting(before, { minted: 13n, melted: 2n, held: 13n })).toBe(INVALID_CHAIN);
    expect(minting(before, { minted: 11n, melted: 2n, held: 9n })).toBe(INVALID_CHAIN);
    expect(minting(before, { minted: 11n, melted: 1n, held: 9n })).toBe(INVALID_CHAIN);
    expect(
      minting({ minted: 10n, melted: 3n, held: 7n }, { minted: 10n, melted: 2n, held: 6n }),
    ).toBe(INVALID_CHAIN);
  });

  it('H-98 the maximum supply stays', () => {
    expect(minting({ minted: 1n, held: 1n }, { minted: 1n, maximumSupply: 1001n, held: 1n })).toBe(
      INVALID_CHAIN,
    );
  });

  it('H-99 a foundry is destroyed with all tokens melted, before or with it', () => {
    expect(minting({ minted: 10n, melted: 10n, held: 0n }, { destroyed: true, held: 0n })).toBe(
      None,
    );
    expect(minting({ minted: 10n, melted: 6n, held: 4n }, { destroyed: true, held: 0n })).toBe(
      None,
    );
    expect(minting({ minted: 10n, melted: 6n, held: 4n }, { destroyed: true, held: 4n })).toBe(
      INVALID_CHAIN,
    );
    expect(minting({ minted: 10n, melted: 6n, held: 3n }, { destroyed: true, held: 0n })).toBe(
      INVALID_CHAIN,
    );
  });
});

describe('H.4 tokens without their foundry', () => {
  const holder = (held: [serial: number, amount: bigint][], by = alice, amount = 1_000_000n) =>
    basic(by, { amount, tokens: held.map(([serial, each]) => tokens(aliasId, each, serial)) });

  it('H-100 are burned, never made', () => {
    const from = (before: [number, bigint][], after: [number, bigint][]) =>
      verdict({ inputs: [{ output: holder(before), unlock: alice }], outputs: [holder(after)] });
    expect(from([[1, 5n]], [[1, 5n]])).toBe(None);
    expect(from([[1, 5n]], [[1, 4n]])).toBe(None);
    expect(from([[1, 5n]], [])).toBe(None);
    expect(from([[1, 5n]], [[1, 6n]])).toBe(Reason.InvalidNativeTokens);
    expect(from([[1, 5n]], [[2, 1n]])).toBe(Reason.InvalidNativeTokens);
  });

  it('H-101 may not add up to 2^256, even to be burned', () => {
    const of = (first: bigint, second: bigint) =>
      verdict({
        inputs: [
          { output: holder([[1, first]]), unlock: alice },
          { output: holder([[1, second]]), unlock: referTo(0) },
        ],
        outputs: [basic(alice, { amount: 2_000_000n })],
      });
    expect(of(2n ** 255n, 2n ** 255n)).toBe(Reason.InvalidNativeTokens);
    expect(of(2n ** 255n, 2n ** 255n - 1n)).toBe(None);
  });

  it('H-102 are at most 64 kinds on both sides together, new ones included', () => {
    const kinds = (before: number, minted: number) => {
      const foundries = Array.from({ length: minted }, (_, i) =>
        foundry(aliasId, { serialNumber: i + 1, minted: 1n }),
      );
      const old = Array.from({ length: before }, (_, i) => tokens(otherAliasId, 1n, i + 1));
      const fresh = foundries.map(({ serialNumber }) => tokens(aliasId, 1n, serialNumber));
      return verdict(
        step({}, { stateIndex: 2, foundryCounter: minted }, alice, {
          inputs: [
            {
              output: basic(alice, {
                amount: BigInt(minted + 1) * 1_000_000n,
                tokens: old,
              }),
              unlock: referTo(0),
            },
          ],
          outputs: [...foundries, basic(alice, { tokens: fresh })],
        }),
      );
    };
    expect(kinds(40, 24)).toBe(None);
    expect(kinds(40, 25)).toBe(Reason.InvalidNativeTokens);
  });
});

describe('H.4 immutable features, issuers, IDs', () => {
  it('H-103 immutable features stay', () => {
    for (const after of [[], [metadata([2])], [metadata([1]), issuer(alice)]]) {
      const ofNft = {
        inputs: [{ output: nft(alice, { nftId, immutable: [metadata([1])] }), unlock: alice }],
        outputs: [nft(alice, { nftId, immutable: after.toSorted((a, b) => a.type - b.type) })],
      };
      expect(verdict(ofNft)).toBe(INVALID_CHAIN);
    }
    expect(verdict(step({ immutable: [metadata([1])] }, { stateIndex: 2 }, alice))).toBe(
      INVALID_CHAIN,
    );
    expect(verdict(step({ immutable: [metadata([1])] }, {}, bob))).toBe(INVALID_CHAIN);
    const ofFoundry = step({ foundryCounter: 1 }, { foundryCounter: 1, stateIndex: 2 }, alice, {
      inputs: [{ output: foundry(aliasId, { immutable: [metadata([1])] }), unlock: byAlias(0) }],
      outputs: [foundry(aliasId)],
    });
    expect(verdict(ofFoundry)).toBe(INVALID_CHAIN);
  });

  it('H-104 an issuer is unlocked when the chain begins, and need not be later', () => {
    const issued = (by: PlannedInput[], issuedBy = bob) =>
      verdict({
        inputs: [{ output: basic(alice), unlock: alice }, ...by],
        outputs: [
          nft(alice, { immutable: [issuer(issuedBy)] }),
          ...by.map(({ output }) => basic(alice, { amount: output.amount })),
        ],
      });
    expect(issued([])).toBe(INVALID_CHAIN);
    expect(issued([{ output: basic(bob), unlock: bob }])).toBe(None);

    const byAliasIssuer = (stateIndex: number, unlock: PlannedInput['unlock']) =>
      verdict(
        step({ amount: 1_000_000n }, { stateIndex }, unlock, {
          inputs: [{ output: basic(carol), unlock: carol }],
          outputs: [nft(carol, { immutable: [issuer(aliasAddress(aliasId))] })],
        }),
      );
    expect(byAliasIssuer(2, alice)).toBe(None);
    expect(byAliasIssuer(1, bob)).toBe(INVALID_CHAIN);

    const later = nft(alice, { nftId, immutable: [issuer(bob)] });
    expect(verdict({ inputs: [{ output: later, unlock: alice }], outputs: [later] })).toBe(None);
  });

  it('H-105 an NFT with an alias’s ID continues nothing', () => {
    const plan = step({}, {}, bob);
    plan.outputs = [nft(bob, { nftId: aliasId })];
    expect(verdict(plan)).toBe(INVALID_CHAIN);
    // nor an alias with an NFT's
    const burning = {
      inputs: [{ output: nft(bob, { nftId: aliasId }), unlock: bob }],
      outputs: [aliasState()],
    };
    expect(verdict(burning)).toBe(INVALID_CHAIN);
    // the alias counts as destroyed, which takes the governor
    expect(verdict({ ...plan, inputs: [{ output: aliasState(), unlock: alice }] })).toBe(
      Reason.InvalidSignature,
    );
  });

  it('H-106 an alias goes on under the ID of its first output; with a zero ID it is new', () => {
    const created = aliasState({ aliasId: new Uint8Array(32), stateIndex: 0 });
    const goesOn = (output: Output, unlock: PlannedInput['unlock']) =>
      verdict({ inputs: [{ output: created, unlock }], outputs: [output] });
    const computed = chainIdFromOutputId(inputId(0));
    expect(goesOn(aliasState({ aliasId: computed, stateIndex: 1 }), alice)).toBe(None);
    expect(goesOn(aliasState({ aliasId: computed, stateIndex: 0 }), bob)).toBe(None);
    expect(goesOn(created, bob)).toBe(None);
    expect(goesOn(created, alice)).toBe(Reason.InvalidSignature);
  });

  it('H-107 small-order keys sign anything with S = 0, but each has its own address', () => {
    const smallOrder = (
      readLines('ed25519.jsonl') as { name: string; valid: boolean; signature: string }[]
    ).filter(({ name }) => name.startsWith('small order'));
    expect(smallOrder.length).toBe(196);
    expect(
      smallOrder.every(({ valid, signature }) => valid && signature.endsWith('00'.repeat(32))),
    ).toBe(true);

    // the neutral element, reduced and not
    const reduced = ed25519.Point.ZERO.toBytes();
    const unreduced = Uint8Array.fromHex(`ee${'ff'.repeat(30)}7f`);
    const signature = new Uint8Array(64);
    signature.set(reduced);
    expect(verifyZip215(unreduced, idOf('anything'), signature)).toBe(true);
    const unlock = {
      type: UnlockType.Signature,
      signature: { type: 0, publicKey: unreduced, signature },
    } as const;
    const ownedBy = (publicKey: Uint8Array) => {
      const owner = { type: AddressType.Ed25519, id: ed25519AddressId(publicKey) };
      return verdict({
        inputs: [{ output: basic(owner), unlock }],
        outputs: [basic(alice)],
      });
    };
    expect(ownedBy(unreduced)).toBe(None);
    expect(ownedBy(reduced)).toBe(Reason.InvalidSignature);
  });
});
