/** docs/protocol.md, H.4, H-86 to H-107: aliases, foundries and their tokens, NFTs, issuers. */
import { ed25519 } from '@noble/curves/ed25519.js';
import { describe, expect, it } from 'vitest';
import { verifyZip215 } from '../../../src/stardust/crypto/ed25519.ts';
import { ConflictReason } from '../../../src/stardust/semantics/verdict.ts';
import { AddressType } from '../../../src/stardust/wire/address.ts';
import { chainIdFromOutputId, ed25519AddressId } from '../../../src/stardust/wire/ids.ts';
import type { Output } from '../../../src/stardust/wire/output.ts';
import { UnlockType } from '../../../src/stardust/wire/unlock.ts';
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
} from '../../support/payloads/transactions.ts';
import {
  aliasId,
  alice,
  bob,
  carol,
  expectVerdicts,
  nftId,
  otherAliasId,
} from '../../support/stardust/syntactic.ts';
import { readLines } from '../../support/vectors.ts';

const {
  None,
  InvalidChainStateTransition: CHAIN,
  InvalidSignature: SIGNATURE,
  InvalidNativeTokens: TOKENS,
} = ConflictReason;

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

/** A basic output of alice's, after the alias that she has unlocked. */
const payment = (amount: bigint, more: More = {}) => ({
  output: basic(alice, { ...more, amount }),
  unlock: referTo(0),
});

describe('H.4 aliases', () => {
  it('H-86 a state index moves by 1 or not at all, whatever else is wrong', () => {
    for (const stateIndex of [3, 0]) {
      expectVerdicts([CHAIN, step({}, { stateIndex }, alice)]);
      expectVerdicts([CHAIN, step({}, { stateIndex, amount: 5n }, carol)]);
    }
  });

  it('H-87 after the last state index comes 0', () => {
    expectVerdicts([None, step({ stateIndex: 0xffffffff }, { stateIndex: 0 }, alice)]);
  });

  it('H-88 the state controller unlocks state transitions, the governor all others', () => {
    expectVerdicts(
      [None, step({}, { stateIndex: 2 }, alice)],
      [SIGNATURE, step({}, { stateIndex: 2 }, bob)],
      [None, step({}, {}, bob)],
      [SIGNATURE, step({}, {}, alice)],
    );
  });

  it('H-89 governance changes controllers and features, and nothing else', () => {
    const rest = { outputs: [basic(bob)] };
    const held = (amount: bigint) => ({ tokens: [tokens(aliasId, amount)] });
    const features = [metadata([1])];
    const governed = [alias(carol, carol, { aliasId, stateIndex: 1, features })];
    expectVerdicts(
      [CHAIN, step({ amount: 2_000_000n }, {}, bob, rest)],
      [CHAIN, step({}, { stateMetadata: Uint8Array.of(1) }, bob)],
      [CHAIN, step(held(2n), held(1n), bob)],
      [CHAIN, step({ foundryCounter: 1 }, { foundryCounter: 2 }, bob)],
      [None, { ...step({}, {}, bob), outputs: governed }],
    );
  });

  it('H-90 a state transition changes neither controllers nor metadata, but the sender', () => {
    const changing = (before: AliasFields, after: AliasFields) =>
      step(before, { stateIndex: 2, ...after }, alice);
    const controlled = (...by: [typeof alice, typeof alice]) => ({
      ...step({}, {}, alice),
      outputs: [alias(...by, { aliasId, stateIndex: 2 })],
    });
    const [one, two] = [1, 2].map((byte) => ({ features: [metadata([byte])] }));
    const [byAlice, byBob] = [alice, bob].map((by) => ({ features: [sender(by)] }));
    expectVerdicts(
      [CHAIN, controlled(carol, bob)],
      [CHAIN, controlled(alice, carol)],
      [CHAIN, changing({}, one!)],
      [CHAIN, changing(one!, {})],
      [CHAIN, changing(one!, two!)],
      [None, changing(one!, one!)],
      [None, changing({}, byAlice!)],
      [None, changing(byBob!, byAlice!)],
    );
  });
});

describe('H.4 foundries', () => {
  /** A state transition of the alias with a foundry counter, alice paying for the foundries. */
  const founding = (before: number, after: number, outputs: Output[]) =>
    step({ foundryCounter: before }, { foundryCounter: after, stateIndex: 2 }, alice, {
      inputs: [payment(1_000_000n * BigInt(outputs.length))],
      outputs,
    });
  const serial = (serialNumber: number, given: FoundryFields = {}) =>
    foundry(aliasId, { serialNumber, ...given });
  const rest = basic(alice);

  it('H-91 the counter counts the foundries that are new', () => {
    expectVerdicts(
      [None, founding(0, 1, [serial(1)])],
      [CHAIN, founding(0, 1, [rest])],
      [CHAIN, founding(0, 0, [serial(1)])],
      [CHAIN, founding(1, 0, [rest])],
    );
  });

  it('H-92 new foundries of an alias are in order; alias and other foundries anywhere', () => {
    expectVerdicts([None, founding(0, 2, [serial(1), serial(2)])]);
    expectVerdicts([CHAIN, founding(0, 2, [serial(2), serial(1)])]);
    const plan = step({}, {}, alice, { inputs: [payment(1_000_000n)] });
    plan.outputs = [serial(1), aliasState({ stateIndex: 2, foundryCounter: 1 })];
    expectVerdicts([None, plan]);

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
    expectVerdicts([None, interleaved]);
  });

  it('H-93 serial numbers have no gap and begin after the counter', () => {
    expectVerdicts(
      [CHAIN, founding(0, 2, [serial(1), serial(3)])],
      [CHAIN, founding(0, 1, [serial(0)])],
      [CHAIN, founding(1, 2, [serial(1)])],
      [None, founding(1, 2, [serial(2)])],
    );
  });

  it('H-94 a foundry is not created with its alias, nor when the alias goes', () => {
    const inputs = [{ output: basic(alice, { amount: 2_000_000n }), unlock: alice }];
    const destroying = step({ amount: 2_000_000n }, {}, bob);
    expectVerdicts([CHAIN, { inputs, outputs: [alias(alice, bob), serial(1)] }]);
    expectVerdicts([CHAIN, { ...destroying, outputs: [serial(1), rest] }]);
  });

  it('H-95 a new foundry has minted what comes out and melted nothing', () => {
    const output = (amount: bigint) => basic(alice, { tokens: [tokens(aliasId, amount)] });
    expectVerdicts(
      [None, founding(0, 1, [serial(1, { minted: 5n }), output(5n)])],
      [CHAIN, founding(0, 1, [serial(1, { minted: 5n }), output(4n)])],
      [CHAIN, founding(0, 1, [serial(1, { minted: 5n }), rest])],
      [CHAIN, founding(0, 1, [serial(1, { minted: 5n, melted: 1n }), output(5n)])],
      [None, founding(0, 1, [serial(1), rest])],
    );
  });

  /** Tokens minted and melted, those in basic outputs of alice's, and the maximum supply. */
  type Tokens = readonly [minted: bigint, melted: bigint, held: bigint, maximumSupply?: bigint];

  const holding = (held: bigint): More => (held === 0n ? {} : { tokens: [tokens(aliasId, held)] });
  const ofTokens = ([minted, melted, , maximumSupply]: Tokens) =>
    foundry(aliasId, { minted, melted, ...(maximumSupply && { maximumSupply }) });

  /** The foundry and its tokens, from one state to another, or to its end with some tokens left. */
  const minting = (before: Tokens, after: Tokens | bigint): TransactionPlan => ({
    inputs: [
      { output: aliasState({ foundryCounter: 1 }), unlock: alice },
      { output: ofTokens(before), unlock: byAlias(0) },
      payment(1_000_000n, holding(before[2])),
    ],
    outputs: [
      aliasState({ foundryCounter: 1, stateIndex: 2 }),
      typeof after === 'bigint' ? rest : ofTokens(after),
      basic(alice, holding(typeof after === 'bigint' ? after : after[2])),
    ],
  });

  it('H-96 what is minted is counted exactly', () => {
    expectVerdicts(
      [None, minting([5n, 0n, 5n], [8n, 0n, 8n])],
      [CHAIN, minting([5n, 0n, 5n], [7n, 0n, 8n])],
      [CHAIN, minting([5n, 0n, 5n], [9n, 0n, 8n])],
    );
  });

  it('H-97 melting, burning and both, but not minting and melting', () => {
    const before = [10n, 0n, 10n] as const;
    expectVerdicts(
      [None, minting(before, [10n, 3n, 7n])],
      [None, minting(before, [10n, 2n, 7n])],
      [None, minting(before, [10n, 0n, 7n])],
      [CHAIN, minting(before, [10n, 4n, 7n])],
      [CHAIN, minting(before, [12n, 2n, 10n])],
      [CHAIN, minting(before, [13n, 2n, 11n])],
      [CHAIN, minting(before, [13n, 2n, 13n])],
      [CHAIN, minting(before, [11n, 2n, 9n])],
      [CHAIN, minting(before, [11n, 1n, 9n])],
      [CHAIN, minting([10n, 3n, 7n], [10n, 2n, 6n])],
    );
  });

  it('H-98 the maximum supply stays', () => {
    expectVerdicts([CHAIN, minting([1n, 0n, 1n], [1n, 0n, 1n, 1001n])]);
  });

  it('H-99 a foundry is destroyed with all tokens melted, before or with it', () => {
    expectVerdicts(
      [None, minting([10n, 10n, 0n], 0n)],
      [None, minting([10n, 6n, 4n], 0n)],
      [CHAIN, minting([10n, 6n, 4n], 4n)],
      [CHAIN, minting([10n, 6n, 3n], 0n)],
    );
  });
});

describe('H.4 tokens without their foundry', () => {
  const holder = (...held: [serial: number, amount: bigint][]) =>
    basic(alice, { tokens: held.map(([serial, each]) => tokens(aliasId, each, serial)) });

  it('H-100 are burned, never made', () => {
    const to = (after: Output) => ({
      inputs: [{ output: holder([1, 5n]), unlock: alice }],
      outputs: [after],
    });
    expectVerdicts(
      [None, to(holder([1, 5n]))],
      [None, to(holder([1, 4n]))],
      [None, to(holder())],
      [TOKENS, to(holder([1, 6n]))],
      [TOKENS, to(holder([2, 1n]))],
    );
  });

  it('H-101 may not add up to 2^256, even to be burned', () => {
    const of = (first: bigint, second: bigint) => ({
      inputs: [
        { output: holder([1, first]), unlock: alice },
        { output: holder([1, second]), unlock: referTo(0) },
      ],
      outputs: [basic(alice, { amount: 2_000_000n })],
    });
    expectVerdicts([TOKENS, of(2n ** 255n, 2n ** 255n)]);
    expectVerdicts([None, of(2n ** 255n, 2n ** 255n - 1n)]);
  });

  it('H-102 are at most 64 kinds on both sides together, new ones included', () => {
    const kinds = (before: number, minted: number) => {
      const foundries = Array.from({ length: minted }, (_, i) =>
        foundry(aliasId, { serialNumber: i + 1, minted: 1n }),
      );
      const old = Array.from({ length: before }, (_, i) => tokens(otherAliasId, 1n, i + 1));
      const fresh = foundries.map(({ serialNumber }) => tokens(aliasId, 1n, serialNumber));
      return step({}, { stateIndex: 2, foundryCounter: minted }, alice, {
        inputs: [payment(BigInt(minted + 1) * 1_000_000n, { tokens: old })],
        outputs: [...foundries, basic(alice, { tokens: fresh })],
      });
    };
    expectVerdicts([None, kinds(40, 24)], [TOKENS, kinds(40, 25)]);
  });
});

describe('H.4 immutable features, issuers, IDs', () => {
  it('H-103 immutable features stay', () => {
    const noted = { immutable: [metadata([1])] };
    const ofNft = (immutable: More['immutable'] = []) => ({
      inputs: [{ output: nft(alice, { nftId, ...noted }), unlock: alice }],
      outputs: [nft(alice, { nftId, immutable })],
    });
    const ofFoundry = step({ foundryCounter: 1 }, { foundryCounter: 1, stateIndex: 2 }, alice, {
      inputs: [{ output: foundry(aliasId, noted), unlock: byAlias(0) }],
      outputs: [foundry(aliasId)],
    });
    expectVerdicts(
      [CHAIN, ofNft()],
      [CHAIN, ofNft([metadata([2])])],
      [CHAIN, ofNft([issuer(alice), metadata([1])])],
      [CHAIN, step(noted, { stateIndex: 2 }, alice)],
      [CHAIN, step(noted, {}, bob)],
      [CHAIN, ofFoundry],
    );
  });

  it('H-104 an issuer is unlocked when the chain begins, and need not be later', () => {
    const issued = (by: PlannedInput[]) => ({
      inputs: [{ output: basic(alice), unlock: alice }, ...by],
      outputs: [
        nft(alice, { immutable: [issuer(bob)] }),
        ...by.map(({ output }) => basic(alice, { amount: output.amount })),
      ],
    });
    const byAliasIssuer = (stateIndex: number, unlock: PlannedInput['unlock']) =>
      step({}, { stateIndex }, unlock, {
        inputs: [{ output: basic(carol), unlock: carol }],
        outputs: [nft(carol, { immutable: [issuer(aliasAddress(aliasId))] })],
      });
    const later = nft(alice, { nftId, immutable: [issuer(bob)] });
    expectVerdicts(
      [CHAIN, issued([])],
      [None, issued([{ output: basic(bob), unlock: bob }])],
      [None, byAliasIssuer(2, alice)],
      [CHAIN, byAliasIssuer(1, bob)],
      [None, { inputs: [{ output: later, unlock: alice }], outputs: [later] }],
    );
  });

  it('H-105 an NFT with an alias’s ID continues nothing', () => {
    const twin = nft(bob, { nftId: aliasId });
    const plan = { ...step({}, {}, bob), outputs: [twin] };
    expectVerdicts(
      [CHAIN, plan],
      // nor an alias with an NFT's
      [CHAIN, { inputs: [{ output: twin, unlock: bob }], outputs: [aliasState()] }],
      // the alias counts as destroyed, which takes the governor
      [SIGNATURE, { ...plan, inputs: [{ output: aliasState(), unlock: alice }] }],
    );
  });

  it('H-106 an alias goes on under the ID of its first output; with a zero ID it is new', () => {
    const created = aliasState({ aliasId: new Uint8Array(32), stateIndex: 0 });
    const goesOn = (output: Output, unlock: PlannedInput['unlock']) => ({
      inputs: [{ output: created, unlock }],
      outputs: [output],
    });
    const computed = chainIdFromOutputId(inputId(0));
    expectVerdicts(
      [None, goesOn(aliasState({ aliasId: computed, stateIndex: 1 }), alice)],
      [None, goesOn(aliasState({ aliasId: computed, stateIndex: 0 }), bob)],
      [None, goesOn(created, bob)],
      [SIGNATURE, goesOn(created, alice)],
    );
  });

  it('H-107 small-order keys sign anything with S = 0, but each has its own address', () => {
    const recorded = readLines('ed25519.jsonl') as {
      name: string;
      valid: boolean;
      signature: string;
    }[];
    const smallOrder = recorded.filter(({ name }) => name.startsWith('small order'));
    expect(smallOrder.length).toBe(196);
    const isZero = (S: string) => S.endsWith('00'.repeat(32));
    expect(smallOrder.every(({ valid, signature }) => valid && isZero(signature))).toBe(true);

    // the neutral element, reduced and not
    const reduced = ed25519.Point.ZERO.toBytes();
    const unreduced = Uint8Array.fromHex(`ee${'ff'.repeat(30)}7f`);
    const signature = new Uint8Array(64);
    signature.set(reduced);
    expect(verifyZip215(unreduced, idOf('anything'), signature)).toBe(true);
    const signed = { type: 0, publicKey: unreduced, signature } as const;
    const unlock = { type: UnlockType.Signature, signature: signed } as const;
    const ownedBy = (publicKey: Uint8Array) => {
      const owner = { type: AddressType.Ed25519, id: ed25519AddressId(publicKey) };
      return { inputs: [{ output: basic(owner), unlock }], outputs: [basic(alice)] };
    };
    expectVerdicts([None, ownedBy(unreduced)], [SIGNATURE, ownedBy(reduced)]);
  });
});
