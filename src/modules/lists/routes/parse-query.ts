/**
 * The query of a list (TIP-26) as inx-indexer 1.0.1 reads it (docs/contract.md#lists): unknown
 * parameters are ignored, and what it refuses, by 400 or 500, is refused here.
 */
import { HttpError } from '../../../http/errors.ts';
import { parseQueryString, type QueryString } from '../../../http/request.ts';
import { ALL_KINDS, type Kind } from '../../../ledger/output-list/indexed-kinds.ts';
import { MAX_UINT32 } from '../../../platform/json-schemas.ts';
import { parseBech32Address } from '../../../stardust/bech32.ts';
import { type AddressKey, AddressType, addressKey } from '../../../stardust/wire/address.ts';
import { MAX_NATIVE_TOKENS } from '../../../stardust/wire/syntax.ts';
import {
  END,
  type OutputFilters,
  type OutputQuery,
  type Position,
  START,
} from '../output-query.ts';

export const MAX_PAGE_SIZE = 1000;

/** Bytes (C-35). */
export const MAX_TAG_LENGTH = 64;

/** Digits of a cursor: time and output ID of the first item of its page. */
const TIME_DIGITS = 8;
const CURSOR_DIGITS = TIME_DIGITS + 68;

const TRUE = ['1', 't', 'T', 'true', 'TRUE', 'True'];
const FALSE = ['0', 'f', 'F', 'false', 'FALSE', 'False'];

/** Reads one parameter's value; throws an HttpError 400. */
type Reader<T> = (value: string, name: string) => T;

type Filter = keyof OutputFilters;

const COMMON: readonly Filter[] = [
  'hasNativeTokens',
  'minNativeTokenCount',
  'maxNativeTokenCount',
  'createdBefore',
  'createdAfter',
];

const OF_BASIC: readonly Filter[] = [
  ...COMMON,
  'unlockableByAddress',
  'address',
  'sender',
  'tag',
  'hasStorageDepositReturn',
  'storageDepositReturnAddress',
  'hasTimelock',
  'timelockedBefore',
  'timelockedAfter',
  'hasExpiration',
  'expiresBefore',
  'expiresAfter',
  'expirationReturnAddress',
];

/** Filters of a list, by kind; `all` of the route of every kind. Others are ignored. */
export const FILTERS: Readonly<Record<Kind | 'all', readonly Filter[]>> = {
  all: [...COMMON, 'unlockableByAddress'],
  basic: OF_BASIC,
  alias: [...COMMON, 'unlockableByAddress', 'stateController', 'governor', 'issuer', 'sender'],
  foundry: [...COMMON, 'aliasAddress'],
  nft: [...OF_BASIC, 'issuer'],
};

/** Throws an HttpError 400 where the reference answers with an error. */
export function parseOutputQuery(search: string, kind: Kind | 'all'): OutputQuery {
  const values = parseQueryString(search);
  const prefixes = new Set<string>();
  const readers = readersOf(prefixes);
  const filters: OutputFilters = Object.assign(
    {},
    ...FILTERS[kind].map((name) => read<Filter, unknown>(values, name, readers[name])),
  );
  // the empty tag asks for nothing
  if (filters.tag === '') delete filters.tag;
  const { cursor } = read(values, 'cursor', readCursor);
  const page = cursor ?? { pageSize: readPageSize(values), from: START };
  const kinds = kind === 'all' ? ALL_KINDS : [kind];
  return { kinds, filters, prefixes: [...prefixes], ...page };
}

/** @param prefixes to which those of the addresses that are read are added */
function readersOf(prefixes: Set<string>): {
  [F in Filter]-?: Reader<NonNullable<OutputFilters[F]>>;
} {
  const address = addressReader(prefixes);
  return {
    address,
    stateController: address,
    governor: address,
    aliasAddress: addressReader(prefixes, AddressType.Alias),
    unlockableByAddress: address,
    issuer: address,
    sender: address,
    storageDepositReturnAddress: address,
    expirationReturnAddress: address,
    tag: readTag,
    hasNativeTokens: readBoolean,
    minNativeTokenCount: readTokenCount,
    maxNativeTokenCount: readTokenCount,
    hasStorageDepositReturn: readBoolean,
    hasTimelock: readBoolean,
    timelockedBefore: readUint32,
    timelockedAfter: readUint32,
    hasExpiration: readBoolean,
    expiresBefore: readUint32,
    expiresAfter: readUint32,
    createdBefore: readUint32,
    createdAfter: readUint32,
  };
}

/**
 * Reads the query of a gallery: by address or by issuer, with the cursors of lists. Throws an
 * HttpError 400.
 *
 * @param maxPageSize replaces larger page sizes
 */
export function parseGalleryQuery(values: QueryString, maxPageSize: number): OutputQuery {
  const prefixes = new Set<string>();
  const address = addressReader(prefixes);
  const filters = { ...read(values, 'address', address), ...read(values, 'issuer', address) };
  const { cursor } = read(values, 'cursor', readCursor);
  if (cursor?.pageSize === 0) throw refuse('cursor', 'of a list without pages');
  const { pageSize, from } = cursor ?? { pageSize: readPageSize(values), from: START };
  return {
    kinds: ['nft'],
    filters,
    prefixes: [...prefixes],
    pageSize: Math.min(pageSize, maxPageSize),
    from,
  };
}

/** Reads an address, of this type if one is given, and adds its prefix to the set. */
function addressReader(prefixes: Set<string>, type?: number): Reader<string> {
  return (value, name) => {
    const { prefix, key } = parseAddress(value, name, type);
    prefixes.add(prefix);
    return key;
  };
}

/**
 * Returns the key and the prefix of a bech32 address in any case. Throws an HttpError 400.
 *
 * @param type type that it must have; of an alias
 */
export function parseAddress(
  value: string,
  name: string,
  type?: number,
): { prefix: string; key: AddressKey } {
  const parsed = parseBech32Address(value.toLowerCase());
  if (parsed === undefined) throw refuse(name, 'no bech32 address');
  if (type !== undefined && parsed.address.type !== type)
    throw refuse(name, 'no address of an alias');
  return { prefix: parsed.prefix, key: addressKey(parsed.address) };
}

/** Throws an HttpError 400 unless all of these are the prefix of the network's addresses. */
export function requirePrefix(prefix: string, given: readonly string[]): void {
  if (given.some((each) => each !== prefix)) throw foreignAddress(prefix);
}

/** @param prefix of the network's addresses */
export const foreignAddress = (prefix: string): HttpError =>
  new HttpError(400, `an address of another network: this one's begin with ${prefix}1`);

/** The parameter under its name, or nothing where it is absent or empty. */
function read<const N extends string, T>(
  values: QueryString,
  name: N,
  reader: Reader<T>,
): { [K in N]?: T } {
  const value = values.get(name);
  if (value === undefined || value === '') return {};
  return { [name]: reader(value, name) } as { [K in N]: T };
}

function readBoolean(value: string, name: string): boolean {
  if (TRUE.includes(value)) return true;
  if (FALSE.includes(value)) return false;
  throw refuse(name, 'neither true nor false');
}

function readUint32(value: string, name: string): number {
  const number = uint32(value);
  if (number === undefined) throw refuse(name, `no integer from 0 to ${MAX_UINT32}`);
  return number;
}

function readTokenCount(value: string, name: string): number {
  const count = readUint32(value, name);
  if (count > MAX_NATIVE_TOKENS) throw refuse(name, `more than ${MAX_NATIVE_TOKENS}`);
  return count;
}

/** Digits of any number, leading zeros included. */
function uint32(value: string): number | undefined {
  if (!/^[0-9]+$/.test(value)) return undefined;
  const number = Number(value);
  return number <= MAX_UINT32 ? number : undefined;
}

/** Hex digits. */
function readTag(value: string, name: string): string {
  if (!/^0[xX](?:[0-9a-fA-F]{2})*$/.test(value))
    throw refuse(name, 'no 0x with pairs of hex digits');
  const digits = value.slice(2).toLowerCase();
  if (digits.length > 2 * MAX_TAG_LENGTH) throw refuse(name, `more than ${MAX_TAG_LENGTH} bytes`);
  return digits;
}

/** Reads a page size; what is no number, or 0, or too large, is the largest page. */
export function readPageSize(values: QueryString): number {
  const size = uint32(values.get('pageSize') ?? '');
  return size === undefined || size === 0 || size > MAX_PAGE_SIZE ? MAX_PAGE_SIZE : size;
}

/** 76 characters, a dot, and the page size, which counts instead of `pageSize`. */
function readCursor(value: string, name: string): Pick<OutputQuery, 'pageSize' | 'from'> {
  const [text, size, ...more] = value.split('.');
  const pageSize = uint32(size ?? '');
  if (text!.length !== CURSOR_DIGITS || pageSize === undefined || more.length > 0)
    throw refuse(name, 'no cursor of a list');
  // the reference gives everything then, from the beginning
  if (pageSize === 0) return { pageSize, from: START };
  return { pageSize: Math.min(pageSize, MAX_PAGE_SIZE), from: firstPositionFrom(text!) };
}

export function formatCursor({ createdTime, outputId }: Position, pageSize: number): string {
  return `${createdTime.toString(16).padStart(TIME_DIGITS, '0')}${outputId}.${pageSize}`;
}

/**
 * Returns the first position whose digits are not before the text, letters being upper case and
 * characters compared by their codes, as the reference compares: any text may be in a cursor.
 */
function firstPositionFrom(text: string): Position {
  const upper = text.replace(/[a-f]/g, (letter) => letter.toUpperCase());
  const [digits] = upper.match(/^[0-9A-F]*/)!;
  if (digits.length === upper.length) return positionFromDigits(digits);
  const stop = upper[digits.length]!;
  if (stop < '0') return positionFromDigits(digits);
  if (stop < 'A') return positionFromDigits(`${digits}A`);
  // whatever begins with these digits is before the text
  const next = BigInt(`0x1${digits}`) + 1n;
  const nextDigits = next.toString(16);
  return nextDigits.startsWith('2') ? END : positionFromDigits(nextDigits.slice(1));
}

function positionFromDigits(digits: string): Position {
  const all = digits.toLowerCase().padEnd(CURSOR_DIGITS, '0');
  return {
    createdTime: Number.parseInt(all.slice(0, TIME_DIGITS), 16),
    outputId: all.slice(TIME_DIGITS),
  };
}

const refuse = (name: string, why: string): HttpError => new HttpError(400, `${name}: ${why}`);
