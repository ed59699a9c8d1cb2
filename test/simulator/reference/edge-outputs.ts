/**
 * Outputs at the edges of their fields, with which a wild network begins: counters before they wrap,
 * supplies and sums of tokens around 2^256, as many tokens as there may be, owners that own each
 * other, deposits to return to oneself, and times that are long over, now, or never.
 */
import { foundryId } from '../../../src/stardust/wire/ids.ts';
import type { NativeToken, Output } from '../../../src/stardust/wire/output.ts';
import type { KeyPair } from '../../support/payloads/keys.ts';
import {
  alias,
  aliasAddress,
  basic,
  depositReturn,
  expiration,
  foundry,
  idOf,
  nft,
  nftAddress,
  timelock,
} from '../../support/payloads/outputs.ts';

export const MAX_UINT256: bigint = 2n ** 256n - 1n;
const MAX_UINT32 = 2 ** 32 - 1;
const HALF = 2n ** 255n;

const AMOUNT = 10_000_000n;
const RETURNED = 1_000_000n;

/** State index and foundry counter of each alias. */
const COUNTERS = [
  [MAX_UINT32, 1],
  [MAX_UINT32 - 1, MAX_UINT32 - 2],
  [5, MAX_UINT32],
  [MAX_UINT32, 2],
] as const;

/** Alias, serial number, tokens minted and melted, and the maximum supply of each foundry. */
const FOUNDRIES = [
  [0, 1, MAX_UINT256, 0n, MAX_UINT256],
  [1, 1, MAX_UINT256, MAX_UINT256, MAX_UINT256],
  [2, 7, HALF, 0n, HALF],
  [3, 1, 0n, 0n, MAX_UINT256],
  [3, 2, 100n, 50n, MAX_UINT256],
] as const;

/** Tokens of these foundries on outputs: of the first, more than were ever minted. */
const HELD: readonly (readonly [foundry: number, amount: bigint])[][] = [
  [[0, MAX_UINT256]],
  [[0, 1n]],
  [[0, HALF]],
  [[0, HALF]],
  [[1, 1n]],
  [
    [2, HALF - 1n],
    [4, 50n],
  ],
  [[2, 1n]],
  [[4, 10n]],
];

const MAX_TOKENS = 64;

/** @param now the timestamp of the genesis */
export function edgeOutputs(account: (number: number) => KeyPair, now: number): Output[] {
  const aliasIds = COUNTERS.map((_, i) => idOf(`edge ${i}`));
  const nftIds = [0, 1, 2].map((i) => idOf(`edge nft ${i}`));
  const amount = AMOUNT;
  const aliases = COUNTERS.map(([stateIndex, foundryCounter], i) => {
    const counters = { aliasId: aliasIds[i]!, stateIndex, foundryCounter };
    return alias(account(i), account(i + 1), { amount, ...counters });
  });
  const foundries = FOUNDRIES.map(([of, serialNumber, minted, melted, maximumSupply]) => {
    const made = foundry(aliasIds[of]!, { amount, serialNumber, minted, maximumSupply });
    return { ...made, tokenScheme: { ...made.tokenScheme, melted } };
  });
  const holders = HELD.map((held, i) => {
    const tokens = held.map(
      ([of, count]): NativeToken => ({ id: foundryId(foundries[of]!), amount: count }),
    );
    return basic(i % 3 === 2 ? aliasAddress(aliasIds[i % 4]!) : account(i), { amount, tokens });
  });
  const many = Array.from({ length: MAX_TOKENS }, (_, i): NativeToken => {
    return { id: foundryId(foundry(idOf(`edge token ${i}`), { serialNumber: 1 })), amount: 3n };
  });
  const crowded = [many, many.slice(1)].map((tokens, i) => basic(account(i), { amount, tokens }));
  const nfts = nftIds.map((nftId, i) =>
    nft(i === 2 ? nftAddress(nftIds[0]!) : account(i), { amount, nftId }),
  );
  const times = [1, now, now + 10, now + 40, MAX_UINT32];
  const timed = times.flatMap((time, i) => {
    const own = nftAddress(nftIds[i % 3]!);
    const back = depositReturn(account(0), RETURNED);
    const all = depositReturn(aliasAddress(aliasIds[i % 4]!), amount);
    return [
      basic(account(i), { amount, conditions: [back, expiration(account(0), time)] }),
      basic(account(0), { amount, conditions: [back] }),
      basic(account(i), { amount, conditions: [all, timelock(time)] }),
      basic(own, {
        amount,
        conditions: [depositReturn(own, RETURNED), expiration(account(i), time)],
      }),
      nft(account(i), {
        amount,
        conditions: [back, timelock(time), expiration(account(5), time)],
      }),
    ];
  });
  return [...aliases, ...foundries, ...holders, ...crowded, ...nfts, ...timed];
}
