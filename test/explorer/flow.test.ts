/** A transaction as a flow: its sums, whom its unlocks name, and what it changes. */
import { describe, expect, it } from 'vitest';
import { writeSentence } from '../../client/words/sentence.ts';
import { readChainChanges } from '../../explorer/transaction/changes.ts';
import { readTransactionFlow } from '../../explorer/transaction/flow.ts';
import { summarizeFlow } from '../../explorer/transaction/summarize-flow.ts';
import { toBech32 } from '../../src/stardust/bech32.ts';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import { foundryId, outputId } from '../../src/stardust/wire/ids.ts';
import type { Output } from '../../src/stardust/wire/output.ts';
import type { Transaction } from '../../src/stardust/wire/transaction.ts';
import { Random } from '../support/network/random.ts';
import { keyPair } from '../support/payloads/keys.ts';
import {
  alias,
  aliasAddress,
  basic,
  foundry,
  idOf,
  metadata,
  nft,
  nftAddress,
  tokens,
} from '../support/payloads/outputs.ts';
import {
  byAlias,
  byNft,
  inputId,
  referTo,
  type TransactionPlan,
  transactionOf,
} from '../support/payloads/transactions.ts';

const [anna, bert] = [keyPair('anna'), keyPair('bert')];
const OWN_ID = idOf('transaction');

const flowOf = (plan: TransactionPlan, known = plan.inputs.map(({ output }) => output)) =>
  readTransactionFlow({ value: transactionOf(plan), id: OWN_ID }, known);

describe('10,000 random transactions', () => {
  const random = new Random('flows');
  const MAX_U64 = 2n ** 64n - 1n;

  /** Amounts from 1 to what the supply of a network may be. */
  const amount = () => BigInt(random.below(2 ** 31)) * BigInt(random.below(2 ** 20)) + 1n;

  function someOutput(holds: bigint): Output {
    const native = Array.from({ length: random.below(3) }, (_, i) =>
      tokens(idOf(`alias ${random.below(3)} ${i}`), amount() * MAX_U64, random.between(1, 3)),
    ).filter(({ id }, i, all) => all.findIndex((each) => toHex(each.id) === toHex(id)) === i);
    const fields = { amount: holds, tokens: native };
    return random.pick([
      () => basic(anna, fields),
      () => nft(bert, { ...fields, nftId: random.chance(0.5) ? idOf('n') : new Uint8Array(32) }),
      () => alias(anna, bert, fields),
      () => foundry(idOf('alias'), fields),
    ])();
  }

  /** A whole amount in this many parts, each of which may be nothing. */
  function split(whole: bigint, count: number): bigint[] {
    const cuts = Array.from(
      { length: count - 1 },
      () => (whole * BigInt(random.below(1000))) / 999n,
    );
    const marks = [0n, ...cuts.sort((a, b) => (a < b ? -1 : 1)), whole];
    return marks.slice(1).map((mark, i) => mark - marks[i]!);
  }

  /** Unsigned: no flow looks at signatures. */
  function someTransaction(): { value: Transaction; consumed: Output[] } {
    const consumed = Array.from({ length: random.between(1, 6) }, () => someOutput(amount()));
    const whole = consumed.reduce((sum, output) => sum + output.amount, 0n);
    const value: Transaction = {
      type: 6,
      essence: {
        type: 1,
        networkId: 0n,
        inputs: consumed.map((_, i) => ({
          type: 0,
          transactionId: idOf('before'),
          outputIndex: i,
        })),
        inputsCommitment: new Uint8Array(32),
        outputs: split(whole, random.between(1, 6)).map(someOutput),
        payload: undefined,
      },
      unlocks: consumed.map((_, i) =>
        i === 0
          ? {
              type: 0,
              signature: { type: 0, publicKey: anna.publicKey, signature: new Uint8Array(64) },
            }
          : referTo(0),
      ),
    };
    return { value, consumed };
  }

  it('have the same base tokens on both sides, to the last one', () => {
    for (let i = 0; i < (process.env.SLOW ? 10_000 : 2000); i++) {
      const { value, consumed } = someTransaction();
      const flow = readTransactionFlow({ value, id: OWN_ID }, consumed);
      const shown = (side: typeof flow.inputs | typeof flow.outputs) =>
        side.reduce((sum, { output }) => sum + output!.amount, 0n);
      // each token is counted once for each output that holds it
      const held = new Map<string, bigint>();
      for (const { id, amount } of value.essence.outputs.flatMap((each) => each.nativeTokens))
        held.set(toHex(id), (held.get(toHex(id)) ?? 0n) + amount);
      expect([
        shown(flow.inputs),
        shown(flow.outputs),
        flow.consumed?.amount,
        flow.created.tokens.map(({ id, amount }) => [toHex(id), amount]),
        readChainChanges(flow).tokens.every(({ amount }) => amount > 0n),
      ]).toEqual([
        flow.created.amount,
        flow.created.amount,
        flow.created.amount,
        [...held].sort(([a], [b]) => (a < b ? -1 : 1)),
        true,
      ]);
    }
  });

  it('show what is missing or too much', () => {
    const { value, consumed } = someTransaction();
    const more = consumed.with(0, { ...consumed[0]!, amount: consumed[0]!.amount + 1n });
    const flow = readTransactionFlow({ value, id: OWN_ID }, more);
    expect(flow.consumed!.amount - flow.created.amount).toBe(1n);
    const without = readTransactionFlow({ value, id: OWN_ID }, [undefined, ...consumed.slice(1)]);
    expect(without.consumed).toBeUndefined();
    expect(without.inputs[0]).toMatchObject({ output: undefined, by: anna.address });
  });
});

describe('who unlocks an input', () => {
  const ALIAS = idOf('alias');
  const NFT = idOf('nft');
  const plan: TransactionPlan = {
    inputs: [
      { output: alias(anna, bert, { aliasId: ALIAS, stateIndex: 1 }), unlock: anna },
      { output: basic(anna), unlock: referTo(0) },
      { output: nft(aliasAddress(ALIAS), { nftId: NFT }), unlock: byAlias(0) },
      { output: basic(nftAddress(NFT)), unlock: byNft(2) },
      { output: basic(bert), unlock: bert },
    ],
    outputs: [basic(anna, { amount: 5_000_000n })],
  };
  const by = (known?: (Output | undefined)[]) =>
    readTransactionFlow(
      { value: transactionOf(plan), id: OWN_ID },
      known ?? plan.inputs.map(({ output }) => output),
    ).inputs.map((input) => input.by);

  it('is whom its unlock names', () => {
    expect(by()).toEqual([
      anna.address,
      anna.address,
      aliasAddress(ALIAS),
      nftAddress(NFT),
      bert.address,
    ]);
  });

  it('is known of keys, whatever came of the outputs', () => {
    expect(by([])).toEqual([anna.address, anna.address, undefined, undefined, bert.address]);
  });

  it('is nobody where an unlock names no chain of its kind', () => {
    const others = plan.inputs.map(({ output }) => output);
    expect(by(others.with(0, basic(anna)))[2]).toBeUndefined();
  });
});

describe('what changes', () => {
  const ALIAS = idOf('alias');
  const NETWORK = { bech32Hrp: 'smr', baseToken: { tickerSymbol: 'SMR', decimals: 6 } };

  const NAMES = new Map([
    [toHex(anna.address.id), 'ANNA'],
    [toHex(bert.address.id), 'BERT'],
  ]);

  /** Deeds and sentences, with names for addresses. */
  function changesOf(
    inputs: readonly Output[],
    outputs: Output[],
    known: readonly (Output | undefined)[] = inputs,
  ) {
    const plan = {
      inputs: inputs.map((output, i) => ({ output, unlock: i === 0 ? anna : referTo(0) })),
      outputs,
    };
    const { chains, tokens, isWhole } = readChainChanges(
      readTransactionFlow({ value: transactionOf(plan), id: OWN_ID }, known),
    );
    return {
      isWhole,
      chains: chains.map(({ chain, deed, sentence }) => [
        chain.kind,
        deed,
        writeSentence(
          sentence.map((part) =>
            typeof part === 'object' && 'address' in part
              ? (NAMES.get(toHex(part.address.id)) ?? part)
              : part,
          ),
          NETWORK,
        ),
      ]),
      tokens: tokens.map(({ deed, amount }) => [deed, amount]),
    };
  }

  it('an NFT is minted, moved, kept or burned', () => {
    const nftId = idOf('nft');
    expect(changesOf([basic(anna)], [nft(bert)]).chains).toEqual([
      ['nft', 'minted', 'It goes to BERT.'],
    ]);
    expect(changesOf([nft(anna, { nftId })], [nft(bert, { nftId })]).chains).toEqual([
      ['nft', 'moved', 'From ANNA to BERT.'],
    ]);
    expect(changesOf([nft(anna, { nftId })], [nft(anna, { nftId })]).chains).toEqual([
      ['nft', 'kept', 'It stays with ANNA.'],
    ]);
    expect(changesOf([nft(anna, { nftId })], [basic(bert)]).chains).toEqual([
      ['nft', 'burned', 'By ANNA.'],
    ]);
  });

  it('a new NFT has the hash of its output’s ID, and keeps it', () => {
    const minted = readTransactionFlow(
      {
        value: transactionOf({
          inputs: [{ output: basic(anna), unlock: anna }],
          outputs: [nft(anna)],
        }),
        id: OWN_ID,
      },
      [basic(anna)],
    ).outputs[0]!;
    expect(minted.id).toBe(toHex(outputId(OWN_ID, 0)));
    const id = Uint8Array.fromHex(minted.chain!.id.slice(2));
    // an NFT that was minted in the output that is consumed has zeros there
    const plan = {
      inputs: [{ output: nft(anna), unlock: anna, id: outputId(OWN_ID, 0) }],
      outputs: [nft(bert, { nftId: id })],
    };
    const { chains } = readChainChanges(
      readTransactionFlow({ value: transactionOf(plan), id: idOf('next') }, [nft(anna)]),
    );
    expect(chains.map(({ deed }) => deed)).toEqual(['moved']);
  });

  it('an alias is created, has a new state or another governor, or is destroyed', () => {
    const aliasId = ALIAS;
    const before = alias(anna, bert, { aliasId, stateIndex: 4, foundryCounter: 1 });
    expect(changesOf([basic(anna)], [alias(anna, bert)]).chains).toEqual([
      ['alias', 'created', 'Its state controller is ANNA, its governor BERT.'],
    ]);
    const next = alias(anna, bert, {
      aliasId,
      stateIndex: 5,
      foundryCounter: 2,
      stateMetadata: Uint8Array.of(1),
    });
    expect(changesOf([before], [next]).chains).toEqual([
      ['alias', 'in a new state', 'State index 4 → 5, foundries 1 → 2, other state metadata.'],
    ]);
    const governed = {
      ...alias(bert, bert, { aliasId, stateIndex: 4, features: [metadata([1])] }),
    };
    expect(changesOf([before], [governed]).chains).toEqual([
      [
        'alias',
        'governed',
        'Its state controller was ANNA and is BERT. Its governor stays BERT. Its features change.',
      ],
    ]);
    expect(changesOf([before], [basic(anna)]).chains).toEqual([['alias', 'destroyed', 'By ANNA.']]);
  });

  it('a foundry is created, and mints, melts, burns or stays, in units, whatever it claims', () => {
    const claim = { standard: 'IRC30', name: 'Token', symbol: '000 SMR', decimals: 1 };
    const irc30 = metadata(new TextEncoder().encode(JSON.stringify(claim)));
    const supply = (minted: bigint, melted = 0n) =>
      foundry(ALIAS, { minted, melted, maximumSupply: 1000n, immutable: [irc30] });
    const holding = (amount: bigint) =>
      basic(anna, amount === 0n ? {} : { tokens: [tokens(ALIAS, amount)] });
    expect(changesOf([basic(anna)], [supply(10n), holding(10n)])).toMatchObject({
      chains: [['foundry', 'created', 'Its supply is 10 units of at most 1,000 units.']],
      tokens: [['minted', 10n]],
    });
    expect(changesOf([supply(10n), holding(10n)], [supply(15n), holding(15n)])).toMatchObject({
      chains: [
        ['foundry', 'minted tokens', 'Supply +5 units: it is 15 units of at most 1,000 units.'],
      ],
      tokens: [['minted', 5n]],
    });
    expect(changesOf([supply(10n), holding(10n)], [supply(10n, 4n), holding(5n)])).toMatchObject({
      chains: [
        ['foundry', 'melted tokens', 'Supply −4 units: it is 6 units of at most 1,000 units.'],
      ],
      tokens: [
        ['melted', 4n],
        ['burned', 1n],
      ],
    });
    expect(changesOf([supply(10n), holding(10n)], [supply(10n), holding(10n)])).toMatchObject({
      chains: [['foundry', 'changed', 'Its supply stays 10 units of at most 1,000 units.']],
      tokens: [],
    });
    expect(changesOf([supply(10n, 4n), holding(6n)], [basic(anna)])).toMatchObject({
      chains: [['foundry', 'destroyed', 'Before, its supply was 6 units.']],
      tokens: [['melted', 6n]],
    });
    expect(toHex(foundryId(supply(1n)))).toBe(toHex(tokens(ALIAS, 1n).id));
  });

  it('tokens without their foundry are burned, or created as no rule allows', () => {
    const holding = (amount: bigint) => basic(anna, { tokens: [tokens(ALIAS, amount)] });
    expect(changesOf([holding(5n)], [holding(3n)]).tokens).toEqual([['burned', 2n]]);
    expect(changesOf([holding(5n)], [basic(anna)]).tokens).toEqual([['burned', 5n]]);
    expect(changesOf([holding(3n)], [holding(5n)]).tokens).toEqual([
      ['created without its foundry', 2n],
    ]);
  });

  it('is said with care where an input is not known', () => {
    const nftId = idOf('nft');
    const inputs = [nft(anna, { nftId }), basic(anna)];
    const unknown = [undefined, basic(anna)];
    expect(changesOf(inputs, [nft(bert, { nftId })], unknown)).toEqual({
      isWhole: false,
      chains: [['nft', 'in a new output', 'To BERT.']],
      tokens: [],
    });
    // its owner may have kept it: “sent 1 NFT to 0 addresses” would say more than is known
    const plan = {
      inputs: inputs.map((output, i) => ({ output, unlock: i === 0 ? anna : referTo(0) })),
      outputs: [nft(anna, { nftId })],
    };
    const flow = readTransactionFlow({ value: transactionOf(plan), id: OWN_ID }, unknown);
    const sentence = summarizeFlow(flow, readChainChanges(flow), true);
    expect(sentence.join('')).toBe('1 NFT in a new output');
    expect(changesOf(inputs, [foundry(ALIAS)], unknown).chains[0]![1]).toBe('created or changed');
    expect(changesOf(inputs, [alias(anna, bert, { aliasId: ALIAS })], unknown).chains[0]).toEqual([
      'alias',
      'changed',
      'Its state index is 0.',
    ]);
  });

  it('made-up IDs of inputs are those that the transaction names', () => {
    expect(
      flowOf({ inputs: [{ output: basic(anna), unlock: anna }], outputs: [] }).inputs[0]!.id,
    ).toBe(toHex(inputId(0)));
  });
});

describe('a transaction in one sentence', () => {
  const WORDS = { bech32Hrp: 'tst', baseToken: { decimals: 0, tickerSymbol: 'T' } };
  const summary = (plan: TransactionPlan, isApplied: boolean | undefined) => {
    const flow = flowOf(plan);
    return writeSentence(summarizeFlow(flow, readChainChanges(flow), isApplied), WORDS).replaceAll(
      /tst1\w+/g,
      (text) => (text === write(anna) ? 'A' : text === write(bert) ? 'B' : '?'),
    );
  };
  const write = ({ address }: typeof anna) => toBech32('tst', address);
  const nftId = idOf('n');

  it.each<[string, Output[], Output[]]>([
    [
      'A sent 3 T to B',
      [basic(anna, { amount: 5n })],
      [basic(bert, { amount: 3n }), basic(anna, { amount: 2n })],
    ],
    ['A rearranged 5 T of its own', [basic(anna, { amount: 5n })], [basic(anna, { amount: 5n })]],
    ['A sent 1 NFT to B', [nft(anna, { amount: 5n, nftId })], [nft(bert, { amount: 5n, nftId })]],
    [
      'A minted 2 NFTs for B',
      [basic(anna, { amount: 5n })],
      [nft(bert, { amount: 2n }), nft(bert, { amount: 3n })],
    ],
    ['1 NFT burned', [nft(anna, { amount: 5n, nftId })], [basic(anna, { amount: 5n })]],
  ])('%s', (words, consumed, created) => {
    const inputs = consumed.map((output) => ({ output, unlock: anna }));
    expect(summary({ inputs, outputs: created }, true)).toBe(words);
  });

  it('says of what failed that it was tried, and not so of what waits', () => {
    const plan: TransactionPlan = {
      inputs: [{ output: basic(anna, { amount: 5n }), unlock: anna }],
      outputs: [basic(bert, { amount: 5n })],
    };
    expect(summary(plan, false)).toBe('A tried to send 5 T to B');
    expect(summary(plan, undefined)).toBe('A would send 5 T to B');
  });
});
