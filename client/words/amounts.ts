/**
 * Amounts as people read them: base tokens by the token of the network, native tokens by what their
 * foundry claims (IRC-30,
 * https://github.com/iotaledger/tips/blob/main/tips/TIP-0030/tip-0030.md).
 */
import { type Feature, FeatureType, findFeature } from '../../src/stardust/wire/feature.ts';

/** How a token is written: `1.5 SMR` has 6 decimals. */
export interface TokenUnit {
  decimals: number;
  tickerSymbol: string;
}

/** @param amount in the smallest unit, or its digits */
export function formatAmount(
  amount: bigint | string,
  { decimals, tickerSymbol }: TokenUnit,
): string {
  return `${formatDecimal(amount, decimals)} ${tickerSymbol}`;
}

/** "1,234.5": all digits that count, none is rounded. */
function formatDecimal(amount: bigint | string, decimals: number): string {
  const padded = `${amount}`.padStart(decimals + 1, '0');
  const groups: string[] = [];
  for (let end = padded.length - decimals; end > 0; end -= 3)
    groups.push(padded.slice(Math.max(0, end - 3), end));
  const whole = groups.reverse().join(',');
  let rest = padded.slice(padded.length - decimals);
  while (rest.endsWith('0')) rest = rest.slice(0, -1);
  return `${whole}${rest === '' ? '' : `.${rest}`}`;
}

/**
 * What a foundry claims of its token. Whoever made the foundry could write anything: two tokens may
 * claim one name. So it is shown as a claim, beside the ID.
 */
export interface TokenClaim {
  name: string;
  symbol: string;
  decimals: number;
}

interface Immutable {
  immutableFeatures: readonly Feature[];
}

/** Characters of a name or a symbol; a longer one is cut. */
const MAX_NAME = 60;
const MAX_SYMBOL = 20;

/** Of a uint256, which has 78 digits. */
const MAX_DECIMALS = 77;

/**
 * The claim of a foundry's immutable metadata. Undefined unless it is IRC-30 with a name, a symbol and
 * decimals that an amount can have.
 */
export function readTokenClaim({ immutableFeatures }: Immutable): TokenClaim | undefined {
  const json = readJson(immutableFeatures);
  if (json?.standard !== 'IRC30') return undefined;
  const { name, symbol, decimals } = json;
  if (!isText(name) || !isText(symbol) || !isDecimals(decimals)) return undefined;
  return { name: cut(name, MAX_NAME), symbol: cut(symbol, MAX_SYMBOL), decimals };
}

/** What immutable metadata call an NFT, a foundry or an alias (IRC-27, IRC-30). */
export function readName({ immutableFeatures }: Immutable): string | undefined {
  const name = readJson(immutableFeatures)?.name;
  return isText(name) ? cut(name, MAX_NAME) : undefined;
}

function readJson(features: readonly Feature[]): Record<string, unknown> | undefined {
  const data = findFeature(features, FeatureType.Metadata)?.data;
  return data && parseObject(new TextDecoder().decode(data));
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === 'object' && json !== null
      ? (json as Record<string, unknown>)
      : undefined;
  } catch {
    // any bytes may be there
    return undefined;
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && isVisible(value);
}

/** Whether a reader sees any of it: spaces, zero-width characters and fillers leave no trace. */
export function isVisible(text: string): boolean {
  return /[^\s\p{C}\p{Default_Ignorable_Code_Point}\u2800]/u.test(text);
}

function isDecimals(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MAX_DECIMALS;
}

function cut(text: string, maxCharacters: number): string {
  const characters = [...text.trim()];
  return characters.length > maxCharacters
    ? `${characters.slice(0, maxCharacters).join('')}…`
    : characters.join('');
}

/**
 * An amount of a native token: "1.5 DEEP" by a claim, "1,500,000 units" without one. The reader must
 * be told that the first is claimed.
 */
export function formatTokens(amount: bigint, claim: TokenClaim | undefined): string {
  if (claim !== undefined)
    return formatAmount(amount, { decimals: claim.decimals, tickerSymbol: claim.symbol });
  return `${formatDecimal(amount, 0)} unit${amount === 1n ? '' : 's'}`;
}
