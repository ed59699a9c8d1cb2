/**
 * What an address holds: each rule by an example, and made-up ledgers held against the wallet of
 * iota-sdk, in all parts of its balance.
 */
import { CoinType, Wallet } from '@iota/sdk-wasm/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AddressOutput, addUp, gainOf, type Tenure, tenureOf } from '../../client/balance.ts';
import { toBech32 } from '../../src/stardust/bech32.ts';
import { fromHex, toHex } from '../../src/stardust/encoding/bytes.ts';
import { type Address, AddressType } from '../../src/stardust/wire/address.ts';
import { aliasIdOf } from '../../src/stardust/wire/ids.ts';
import { type Output, OutputType } from '../../src/stardust/wire/output.ts';
import { findCondition, UnlockConditionType } from '../../src/stardust/wire/unlock-condition.ts';
import { Random } from '../support/network/random.ts';
import { startWalletNode, type WalletNode } from '../support/network/wallet-node.ts';
import {
  alias,
  basic,
  depositReturn,
  expiration,
  foundry,
  idOf,
  nft,
  timelock,
  tokens,
} from '../support/payloads/outputs.ts';

const NOW = Math.floor(Date.now() / 1000);
const PAST = NOW - 5000;
const SOON = NOW + 5000;
const LATE = NOW + 9000;
const PREFIX = 'mde';
const RENT = { vByteCost: 100, vByteFactorData: 1, vByteFactorKey: 10 };

const us: Address = { type: AddressType.Ed25519, id: idOf('us') };
const others: Address = { type: AddressType.Ed25519, id: idOf('others') };
/** The same 32 bytes as another kind of address. */
const namesake: Address = { type: AddressType.Nft, id: idOf('us') };
const ALIAS = idOf('alias');

const identified = (outputs: readonly Output[]): AddressOutput[] =>
  outputs.map((output, i) => ({ outputId: `${toHex(idOf(`made ${i}`))}0000`, output }));

const balanceOf = (outputs: readonly Output[]) =>
  addUp(identified(outputs), { address: us, unixTime: NOW, rentStructure: RENT });

describe('the tenure of an output, and what the address gains', () => {
  it.each<[string, Output, Tenure, bigint]>([
    ['only ours', basic(us), 'own', 1_000_000n],
    ['an alias that we govern', alias(others, us), 'own', 1_000_000n],
    ['a foundry of our alias', foundry(ALIAS), 'own', 1_000_000n],
    ['a timelock', basic(us, { conditions: [timelock(SOON)] }), 'locked', 1_000_000n],
    [
      'a timelock that ends this second',
      basic(us, { conditions: [timelock(NOW)] }),
      'own',
      10n ** 6n,
    ],
    [
      'a deposit that is due to others',
      basic(us, { conditions: [depositReturn(others, 300_000n)] }),
      'own',
      700_000n,
    ],
    [
      'a deposit that is due to us',
      basic(us, { conditions: [depositReturn(us, 300_000n)] }),
      'own',
      1_000_000n,
    ],
    [
      'the deposit of an output of others',
      basic(others, { conditions: [depositReturn(us, 300_000n)] }),
      'returns',
      300_000n,
    ],
    [
      'ours until then',
      basic(us, { conditions: [expiration(others, SOON)] }),
      'claimable',
      10n ** 6n,
    ],
    ['ours from then', basic(others, { conditions: [expiration(us, SOON)] }), 'pending', 10n ** 6n],
    ['came back', basic(others, { conditions: [expiration(us, NOW)] }), 'own', 1_000_000n],
    ['passed on', basic(us, { conditions: [expiration(others, NOW)] }), 'passed', 0n],
    [
      'passed on, but for the deposit',
      basic(us, { conditions: [expiration(others, PAST), depositReturn(us, 300_000n)] }),
      'returns',
      300_000n,
    ],
    [
      'locked, then ours until later',
      basic(us, { conditions: [timelock(SOON), expiration(others, LATE)] }),
      'pending',
      1_000_000n,
    ],
    [
      'locked until it is passed on',
      basic(us, { conditions: [timelock(LATE), expiration(others, SOON)] }),
      'passed',
      0n,
    ],
    [
      'locked until it has come back',
      basic(others, { conditions: [timelock(LATE), expiration(us, SOON)] }),
      'locked',
      1_000_000n,
    ],
    [
      'returns to the address of a chain with the same 32 bytes',
      basic(us, { conditions: [expiration(namesake, SOON)] }),
      'claimable',
      1_000_000n,
    ],
  ])('%s', (_, output, tenure, gain) => {
    expect(tenureOf(output, us, NOW)).toBe(tenure);
    expect(gainOf(output, us, tenure)).toBe(gain);
  });
});

it('keeps what cannot be spent apart, and counts each output once', () => {
  const outputs = [
    basic(us, { amount: 5_000_000n }),
    basic(us, { amount: 2_000_000n, tokens: [tokens(ALIAS, 7n)] }),
    basic(us, { amount: 3_000_000n, tokens: [tokens(ALIAS, 9n)], conditions: [timelock(SOON)] }),
    nft(others, { conditions: [expiration(us, SOON)] }),
    basic(us, { conditions: [expiration(others, PAST)] }),
  ];
  const balance = balanceOf(outputs);
  expect(balance).toMatchObject({
    total: 7_000_000n,
    locked: 3_000_000n,
    pending: 1_000_000n,
    claimable: 0n,
    chains: [],
    counts: { own: 2, locked: 1, pending: 1, passed: 1, claimable: 0, returns: 0 },
  });
  expect(balance.available + balance.deposit).toBe(balance.total);
  expect(balance.deposit).toBeGreaterThan(0n);
  expect([...balance.tokens.values()]).toEqual([
    { own: 7n, locked: 9n, claimable: 0n, pending: 0n },
  ]);
});

it('has no deposit beyond the total, where the rent was lower once', () => {
  expect(balanceOf([nft(us, { amount: 1n })])).toMatchObject({
    total: 1n,
    deposit: 1n,
    available: 0n,
  });
});

it('counts each base token of each output once, or as somebody else’s', () => {
  const random = new Random('parts');
  for (let i = 0; i < 300; i++) {
    const outputs = Array.from({ length: random.below(20) }, () => randomOutput(random));
    const { total, available, deposit, locked, claimable, pending, returns, counts } =
      balanceOf(outputs);
    expect(available + deposit).toBe(total);
    expect(Object.values(counts).reduce((sum, count) => sum + count)).toBe(outputs.length);
    const dues = outputs.map((output) => {
      const tenure = tenureOf(output, us, NOW);
      const gain = gainOf(output, us, tenure);
      const due = findCondition(output, UnlockConditionType.StorageDepositReturn);
      if (tenure === 'passed') return output.amount;
      if (tenure === 'returns') return output.amount - due!.amount;
      return due === undefined || due.returnAddress === us ? output.amount - gain : due.amount;
    });
    const sum = (amounts: readonly bigint[]) => amounts.reduce((all, each) => all + each, 0n);
    expect(total + locked + claimable + pending + returns + sum(dues)).toBe(
      sum(outputs.map(({ amount }) => amount)),
    );
  }
});

/** Whatever a ledger may have that names us. */
function randomOutput(random: Random): Output {
  const amount = BigInt(random.between(200_000, 50_000_000));
  const more = {
    amount,
    tokens: random.chance(0.3)
      ? [tokens(ALIAS, BigInt(random.between(1, 1000)), random.between(1, 2))]
      : [],
  };
  const kind = random.below(8);
  if (kind === 0)
    return alias(
      ...random.pick([[us, us] as const, [us, others] as const, [others, us] as const]),
      more,
    );
  if (kind === 1) return foundry(ALIAS, { ...more, serialNumber: random.between(1, 9) });
  const whoever = () => random.pick([us, others]);
  const whenever = () => random.pick([PAST, NOW - 60, SOON, LATE]);
  const conditions = [
    ...(random.chance(0.4) ? [timelock(whenever())] : []),
    ...(random.chance(0.5) ? [expiration(whoever(), whenever())] : []),
    ...(random.chance(0.4) ? [depositReturn(whoever(), amount / 4n)] : []),
  ];
  const names = { ...more, conditions };
  const owner = conditions.some((each) => 'returnAddress' in each && each.returnAddress === us)
    ? whoever()
    : us;
  return kind === 2 || kind === 3 ? nft(owner, names) : basic(owner, names);
}

describe('the wallet of iota-sdk has the same balance', () => {
  let node: WalletNode;

  beforeAll(async () => {
    node = await startWalletNode(PREFIX, NOW, RENT);
  });
  afterAll(() => node.stop());

  async function balanceByWallet(
    outputs: readonly AddressOutput[],
    foundries: ReadonlyMap<string, readonly AddressOutput[]>,
  ) {
    Object.assign(node, { outputs, foundries });
    const wallet = new Wallet({
      storagePath: 'in memory',
      coinType: CoinType.Shimmer,
      clientOptions: { nodes: [node.url], ignoreNodeHealth: true },
      secretManager: 'placeholder',
    });
    const address = toBech32(PREFIX, us);
    const account = await wallet.createAccount({
      bech32Hrp: PREFIX,
      addresses: [{ address, keyIndex: 0, internal: false, used: true }],
    });
    return account.sync();
  }

  /** What the wallet lists: those that it does not count, unless they expired and are not ours now. */
  function potentiallyLocked({ outputId, output }: AddressOutput): [string, boolean][] {
    const tenure = tenureOf(output, us, NOW);
    if (tenure === 'own') return [];
    if (tenure === 'claimable') return [[outputId, true]];
    const end = findCondition(output, UnlockConditionType.Expiration);
    return end !== undefined && end.unixTime <= NOW ? [] : [[outputId, false]];
  }

  it.each(Array.from({ length: 40 }, (_, i) => i))('of made-up outputs %i', async (i) => {
    const random = new Random(`balance ${i}`);
    const outputs = identified(
      Array.from({ length: random.between(1, 14) }, () => randomOutput(random)),
    );
    const foundries = foundriesOf(outputs, random);
    const all = [...outputs, ...[...foundries.values()].flat()];
    const ours = addUp(all, { address: us, unixTime: NOW, rentStructure: RENT });
    const theirs = await balanceByWallet(outputs, foundries);
    expect({
      baseCoin: { total: ours.total, available: ours.available },
      requiredStorageDeposit: ours.minimum,
      nativeTokens: Object.fromEntries(
        [...ours.tokens].filter(([, { own }]) => own > 0n).map(([id, { own }]) => [id, own]),
      ),
      nfts: idsOf('nft', ours.chains),
      aliases: idsOf('alias', ours.chains),
      foundries: idsOf('foundry', ours.chains),
      potentiallyLockedOutputs: Object.fromEntries(outputs.flatMap(potentiallyLocked)),
    }).toEqual({
      baseCoin: { total: theirs.baseCoin.total, available: theirs.baseCoin.available },
      requiredStorageDeposit: theirs.requiredStorageDeposit,
      nativeTokens: Object.fromEntries(
        theirs.nativeTokens.map(({ tokenId, total }) => [tokenId, BigInt(total)]),
      ),
      nfts: theirs.nfts.toSorted(),
      aliases: theirs.aliases.toSorted(),
      foundries: theirs.foundries.toSorted(),
      potentiallyLockedOutputs: theirs.potentiallyLockedOutputs,
    });
  });

  /** Up to two of each alias, by its address. */
  function foundriesOf(outputs: readonly AddressOutput[], random: Random) {
    const aliases = outputs.flatMap(({ outputId, output }) =>
      output.type === OutputType.Alias ? [aliasIdOf(output, fromHex(outputId))] : [],
    );
    return new Map(
      aliases.map((id, place) => {
        const made = Array.from({ length: random.below(3) }, (_, i) => ({
          outputId: `${toHex(idOf(`foundry ${place} ${i}`))}0000`,
          output: foundry(id, { serialNumber: i + 1, tokens: [tokens(id, 5n, i + 1)] }),
        }));
        return [toBech32(PREFIX, { type: AddressType.Alias, id }), made] as const;
      }),
    );
  }

  const idsOf = (kind: string, chains: readonly { kind: string; id: string }[]) =>
    chains
      .filter((each) => each.kind === kind)
      .map(({ id }) => id)
      .sort();

  it('has made-up outputs of every tenure and kind', () => {
    const random = new Random('every tenure');
    const outputs = Array.from({ length: 500 }, () => randomOutput(random));
    const { counts, minimum } = balanceOf(outputs);
    expect(Object.values(counts).every((count) => count > 5)).toBe(true);
    expect(Object.values(minimum).every((amount) => amount > 0n)).toBe(true);
    expect(outputs.some(({ type }) => type === OutputType.Foundry)).toBe(true);
  });
});
