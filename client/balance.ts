/**
 * What an address holds, as the wallet of iota-sdk adds it up
 * (https://github.com/iotaledger/iota-sdk, `Balance`): its total is what the address can spend at any
 * time from now on. What it may get, or may lose, is apart.
 */

import { equalBytes, fromHex, toHex } from '../src/stardust/encoding/bytes.ts';
import type { Address, RentStructure } from '../src/stardust/output.ts';
import {
  findCondition,
  minimumDeposit,
  type Output,
  OutputType,
  UnlockConditionType,
} from '../src/stardust/output.ts';
import { type Chain, chainOf, type OutputKind, outputKind } from './words/kind.ts';
import { unlockPeriods } from './words/unlock.ts';

/** An unspent output that names the address in an unlock condition. */
export interface AddressOutput {
  /** 0x and 68 hex digits. */
  outputId: string;
  output: Output;
}

/**
 * How an address stands to an output at a moment.
 *
 * - `own`: it can unlock the output, and nobody else ever can. Aliases and foundries always count as
 *   own.
 * - `locked`: a timelock holds the output, then it is own.
 * - `claimable`: it can unlock the output, which expires later. The wallet does not count it even if
 *   it comes back to the same address.
 * - `pending`: somebody else can unlock the output first, or a timelock holds it; later the address can.
 * - `returns`: the output is somebody else's. Whoever spends it pays its storage deposit to the address.
 * - `passed`: the output expired, and is somebody else's.
 */
export type Tenure = 'own' | 'locked' | 'claimable' | 'pending' | 'returns' | 'passed';

/** @param unixTime seconds, of the ledger's newest milestone */
export function tenureOf(output: Output, address: Address, unixTime: number): Tenure {
  if (output.type === OutputType.Alias || output.type === OutputType.Foundry) return 'own';
  const owners = unlockPeriods(output, unixTime).map(({ owner }) => owner);
  const isOurs = (owner: Address | undefined) => owner !== undefined && isSame(owner, address);
  if (!owners.some(isOurs)) return returnOf(output, address) === undefined ? 'passed' : 'returns';
  const isOursAtLast = isOurs(owners.at(-1));
  if (isOurs(owners[0])) return expiresAfter(output, unixTime) ? 'claimable' : 'own';
  const isOnlyLocked = owners.every((owner) => owner === undefined || isOurs(owner));
  return isOursAtLast && isOnlyLocked ? 'locked' : 'pending';
}

function expiresAfter(output: Output, unixTime: number): boolean {
  const expiration = findCondition(output, UnlockConditionType.Expiration);
  return expiration !== undefined && expiration.unixTime > unixTime;
}

/** The storage deposit that is paid to this address, undefined if none is. */
function returnOf(output: Output, address: Address): bigint | undefined {
  const condition = findCondition(output, UnlockConditionType.StorageDepositReturn);
  return condition && isSame(condition.returnAddress, address) ? condition.amount : undefined;
}

/** Base tokens that the address gains or has by the output: without a deposit that it pays to others. */
export function gainOf(output: Output, address: Address, tenure: Tenure): bigint {
  if (tenure === 'passed') return 0n;
  const returned = returnOf(output, address);
  if (tenure === 'returns') return returned ?? 0n;
  const due = findCondition(output, UnlockConditionType.StorageDepositReturn)?.amount ?? 0n;
  return returned === undefined ? output.amount - due : output.amount;
}

/** Of one native token, in its smallest unit, by tenure; `own` as the wallet's total. */
export type TokenAmounts = Readonly<Record<Exclude<Tenure, 'returns' | 'passed'>, bigint>>;

/** Base tokens, in the smallest unit. */
export interface Balance {
  /** Of all own outputs: `available` and `deposit`. */
  total: bigint;
  /** What the address can spend without giving up an NFT, an alias, a foundry or native tokens. */
  available: bigint;
  /** What these must hold. */
  deposit: bigint;
  locked: bigint;
  claimable: bigint;
  pending: bigint;
  returns: bigint;
  /** The least that own outputs must hold, by kind; basic outputs without native tokens, too. */
  minimum: Readonly<Record<OutputKind, bigint>>;
  /** By the ID of the token, 0x and 76 hex digits. */
  tokens: ReadonlyMap<string, TokenAmounts>;
  /** Own NFTs, aliases and foundries. */
  chains: readonly Chain[];
  /** How many outputs there are of each tenure. */
  counts: Readonly<Record<Tenure, number>>;
}

/**
 * Adds up the outputs that `GET /api/indexer/v1/outputs?unlockableByAddress=…` lists.
 *
 * @param unixTime seconds, of the ledger's newest milestone
 */
export function addUp(
  outputs: readonly AddressOutput[],
  {
    address,
    unixTime,
    rentStructure,
  }: { address: Address; unixTime: number; rentStructure: RentStructure },
): Balance {
  const sums = { own: 0n, locked: 0n, claimable: 0n, pending: 0n, returns: 0n, passed: 0n };
  const counts = { own: 0, locked: 0, claimable: 0, pending: 0, returns: 0, passed: 0 };
  const minimum = { basic: 0n, alias: 0n, foundry: 0n, nft: 0n };
  const tokens = new Map<string, Record<keyof TokenAmounts, bigint>>();
  const chains: Chain[] = [];
  let held = 0n;
  for (const { outputId, output } of outputs) {
    const tenure = tenureOf(output, address, unixTime);
    sums[tenure] += gainOf(output, address, tenure);
    counts[tenure]++;
    if (tenure !== 'returns' && tenure !== 'passed')
      for (const { id, amount } of output.nativeTokens) {
        const key = toHex(id);
        const amounts = tokens.get(key) ?? { own: 0n, locked: 0n, claimable: 0n, pending: 0n };
        amounts[tenure] += amount;
        tokens.set(key, amounts);
      }
    if (tenure !== 'own') continue;
    const least = minimumDeposit(output, rentStructure);
    minimum[outputKind(output)] += least;
    // a basic output without native tokens can be spent whole
    if (output.type !== OutputType.Basic || output.nativeTokens.length > 0) held += least;
    const chain = chainOf(output, fromHex(outputId));
    if (chain !== undefined) chains.push(chain);
  }
  const { own: total, locked, claimable, pending, returns } = sums;
  // outputs of earlier parameters may hold less than today's least
  const deposit = held < total ? held : total;
  const available = total - deposit;
  return {
    total,
    available,
    deposit,
    locked,
    claimable,
    pending,
    returns,
    minimum,
    tokens,
    chains,
    counts,
  };
}

/** Whether an unlock condition of the output has the address, its returns among them. */
export function namesAddress({ unlockConditions }: Output, address: Address): boolean {
  return unlockConditions.some(
    (condition) =>
      ('address' in condition && isSame(condition.address, address)) ||
      ('returnAddress' in condition && isSame(condition.returnAddress, address)),
  );
}

function isSame(a: Address, b: Address): boolean {
  return a.type === b.type && equalBytes(a.id, b.id);
}
