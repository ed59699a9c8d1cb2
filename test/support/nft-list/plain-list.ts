/**
 * Lists of inx-indexer 1.0.1 in plain words: every output in memory, one filter after the other, no
 * index. Written after the plug-in's code and apart from src/: what both say is meant.
 */
import { decodeOutput } from '../../../src/stardust/wire/ids.ts';
import type { Output } from '../../../src/stardust/wire/output.ts';
import type { NetworkOutput } from '../network/network-model.ts';

export interface PlainOutput {
  /** 68 hex digits. */
  outputId: string;
  /** Unix seconds. */
  createdTime: number;
  output: Output;
}

export function plainOf(held: NetworkOutput): PlainOutput & { held: NetworkOutput } {
  const { outputId, bookedTimestamp: createdTime, bytes } = held;
  return { outputId: outputId.toHex(), createdTime, output: decodeOutput(bytes), held };
}

/** What stands behind `outputs/` in the path; `all` where nothing does. */
export type ListName = 'all' | 'basic' | 'alias' | 'foundry' | 'nft';

const TYPES = { basic: 3, alias: 4, foundry: 5, nft: 6 };

const UNLOCKING = [
  'address',
  'expirationReturn',
  'depositReturn',
  'stateController',
  'governor',
  'aliasAddress',
] as const;

/** Names of parameters that a list knows besides native tokens, times of creation and pages. */
const KNOWN: Record<ListName, RegExp> = {
  all: /^unlockableByAddress$/,
  basic: /^(unlockableByAddress|address|sender|tag|storageDeposit|hasS|hasT|hasE|expir|timelocked)/,
  alias: /^(unlockableByAddress|stateController|governor|issuer|sender)$/,
  foundry: /^aliasAddress$/,
  nft: /^(unlockableByAddress|address|issuer|sender|tag|storageDeposit|hasS|hasT|hasE|expir|timelocked)/,
};

export interface PlainAnswer {
  status: 200 | 400;
  response?: { ledgerIndex: number; pageSize: number; cursor?: string; items: string[] };
}

class Refused extends Error {}

export function plainList(
  nfts: readonly PlainOutput[],
  ledgerIndex: number,
  prefix: string,
  query: string,
  list: ListName = 'nft',
): PlainAnswer {
  const outputs = list === 'all' ? nfts : nfts.filter(({ output }) => output.type === TYPES[list]);
  try {
    return { status: 200, response: answer(outputs, ledgerIndex, prefix, query, list) };
  } catch (error) {
    if (error instanceof Refused) return { status: 400 };
    throw error;
  }
}

function answer(
  nfts: readonly PlainOutput[],
  ledgerIndex: number,
  prefix: string,
  query: string,
  list: ListName,
) {
  const first = new Map<string, Buffer>();
  for (const pair of query.split('&')) {
    const [name, ...rest] = pair.split('=');
    const key = decoded(name!)?.toString('latin1');
    const value = decoded(rest.join('='));
    if (pair.includes(';') || key === undefined || value === undefined || first.has(key)) continue;
    first.set(key, value);
  }
  const text = (name: string) => first.get(name)?.toString('latin1') ?? '';
  const isKnown = (name: string) => /native|created|cursor/i.test(name) || KNOWN[list].test(name);
  const given = (name: string) => isKnown(name) && text(name).length > 0;
  const number = (name: string, max = 4294967295) => {
    if (!/^[0-9]+$/.test(text(name)) || BigInt(text(name)) > BigInt(max)) throw new Refused();
    return Number(text(name));
  };
  const truth = (name: string) => {
    if (!/^(?:[1tT0fF]|true|True|TRUE|false|False|FALSE)$/.test(text(name))) throw new Refused();
    return /^[1tT]/.test(text(name));
  };
  const address = (name: string) => bech32Bytes(text(name).toLowerCase(), prefix);

  const tests: ((nft: Facts) => boolean)[] = [];
  if (given('hasNativeTokens')) {
    const wanted = truth('hasNativeTokens');
    tests.push((nft) => nft.tokens > 0 === wanted);
  }
  if (given('minNativeTokenCount')) {
    const min = number('minNativeTokenCount', 64);
    tests.push((nft) => nft.tokens >= min);
  }
  if (given('maxNativeTokenCount')) {
    const max = number('maxNativeTokenCount', 64);
    tests.push((nft) => nft.tokens <= max);
  }
  if (given('unlockableByAddress')) {
    const wanted = address('unlockableByAddress');
    tests.push((nft) => UNLOCKING.some((field) => nft[field] === wanted));
  }
  for (const [name, field] of [
    ['address', 'address'],
    ['stateController', 'stateController'],
    ['governor', 'governor'],
    ['aliasAddress', 'aliasAddress'],
    ['issuer', 'issuer'],
    ['sender', 'sender'],
    ['storageDepositReturnAddress', 'depositReturn'],
    ['expirationReturnAddress', 'expirationReturn'],
  ] as const) {
    if (!given(name)) continue;
    const wanted = address(name);
    if (name === 'aliasAddress' && !wanted.startsWith('08')) throw new Refused();
    tests.push((nft) => nft[field] === wanted);
  }
  for (const [name, field] of [
    ['hasStorageDepositReturn', 'depositReturn'],
    ['hasExpiration', 'expirationReturn'],
    ['hasTimelock', 'timelock'],
  ] as const) {
    if (!given(name)) continue;
    const wanted = truth(name);
    tests.push((nft) => (nft[field] !== undefined) === wanted);
  }
  for (const [verb, field] of [
    ['expires', 'expiration'],
    ['timelocked', 'timelock'],
    ['created', 'created'],
  ] as const) {
    if (given(`${verb}Before`)) {
      const time = number(`${verb}Before`);
      tests.push((nft) => nft[field] !== undefined && nft[field] < time);
    }
    if (given(`${verb}After`)) {
      const time = number(`${verb}After`);
      tests.push((nft) => nft[field] !== undefined && nft[field] > time);
    }
  }
  if (given('tag')) {
    const tag = text('tag');
    if (!/^0x([0-9a-f][0-9a-f])*$/i.test(tag) || tag.length > 2 + 128) throw new Refused();
    if (tag.length > 2) tests.push((nft) => `0x${nft.tag}` === tag.toLowerCase());
  }
  let pageSize = 1000;
  const asked = text('pageSize');
  if (/^[0-9]+$/.test(asked) && BigInt(asked) > 0n && BigInt(asked) < 1000n)
    pageSize = Number(asked);
  let from = '';
  if (given('cursor')) {
    const parts = text('cursor').split('.');
    const size = parts[1] ?? '';
    if (parts.length !== 2 || parts[0]!.length !== 76 || !/^[0-9]+$/.test(size))
      throw new Refused();
    if (BigInt(size) > 4294967295n) throw new Refused();
    pageSize = Math.min(Number(BigInt(size)), 1000);
    from = parts[0]!.replace(/[a-z]/g, (letter) => letter.toUpperCase());
  }
  const found = nfts
    .filter((nft) => tests.every((test) => test(factsOf(nft))))
    .map((nft) => ({ nft, key: `${hex32(nft.createdTime)}${nft.outputId}`.toUpperCase() }))
    .filter(({ key }) => pageSize === 0 || key >= from)
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  // a union has its limit, 0 and 1, when the parts of it have none
  const most = pageSize > 0 ? pageSize : list === 'all' ? 1 : found.length;
  const page = found.slice(0, most);
  const next = pageSize > 0 ? found[page.length] : undefined;
  return {
    ledgerIndex,
    pageSize,
    ...(next && { cursor: `${next.key.toLowerCase()}.${pageSize}` }),
    items: page.map(({ nft }) => `0x${nft.outputId}`),
  };
}

function hex32(value: number): string {
  return value.toString(16).padStart(8, '0');
}

interface Facts {
  tokens: number;
  created: number;
  address: string | undefined;
  stateController: string | undefined;
  governor: string | undefined;
  aliasAddress: string | undefined;
  issuer: string | undefined;
  sender: string | undefined;
  tag: string | undefined;
  depositReturn: string | undefined;
  expirationReturn: string | undefined;
  expiration: number | undefined;
  timelock: number | undefined;
}

const facts = new WeakMap<PlainOutput, Facts>();

function factsOf(nft: PlainOutput): Facts {
  const known = facts.get(nft);
  if (known !== undefined) return known;
  const { output, createdTime } = nft;
  const made: Facts = {
    tokens: output.nativeTokens.length,
    created: createdTime,
    address: undefined,
    stateController: undefined,
    governor: undefined,
    aliasAddress: undefined,
    issuer: undefined,
    sender: undefined,
    tag: undefined,
    depositReturn: undefined,
    expirationReturn: undefined,
    expiration: undefined,
    timelock: undefined,
  };
  const key = ({ type, id }: { type: number; id: Uint8Array }) =>
    Buffer.concat([Buffer.of(type), id]).toString('hex');
  for (const condition of output.unlockConditions) {
    if (condition.type === 0) made.address = key(condition.address);
    if (condition.type === 1) made.depositReturn = key(condition.returnAddress);
    if (condition.type === 2) made.timelock = condition.unixTime;
    if (condition.type === 3) {
      made.expiration = condition.unixTime;
      made.expirationReturn = key(condition.returnAddress);
    }
    if (condition.type === 4) made.stateController = key(condition.address);
    if (condition.type === 5) made.governor = key(condition.address);
    if (condition.type === 6) made.aliasAddress = key(condition.address);
  }
  for (const feature of output.features) {
    if (feature.type === 0) made.sender = key(feature.address);
    if (feature.type === 3) made.tag = Buffer.from(feature.tag).toString('hex');
  }
  for (const feature of 'immutableFeatures' in output ? output.immutableFeatures : [])
    if (feature.type === 1) made.issuer = key(feature.address);
  facts.set(nft, made);
  return made;
}

/** Undefined where Go's QueryUnescape fails. */
function decoded(text: string): Buffer | undefined {
  const bytes: number[] = [];
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '%') {
      const digits = text.slice(i + 1, i + 3);
      if (!/^[0-9a-fA-F]{2}$/.test(digits)) return undefined;
      bytes.push(Number.parseInt(digits, 16));
      i += 2;
    } else bytes.push(text[i] === '+' ? 0x20 : text.charCodeAt(i));
  }
  return Buffer.from(bytes);
}

const CHARSET = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';

/** BIP-0173, and an address of a known type in it; hex of its 33 bytes. */
function bech32Bytes(text: string, prefix: string): string {
  const at = text.lastIndexOf('1');
  const words = [...text.slice(at + 1)].map((letter) => CHARSET.indexOf(letter));
  const human = [...text.slice(0, at)].map((letter) => letter.charCodeAt(0));
  const expanded = [...human.map((code) => code >> 5), 0, ...human.map((code) => code & 31)];
  if (text.length > 90 || at < 1 || words.length < 6 || words.includes(-1)) throw new Refused();
  if (checksum([...expanded, ...words]) !== 1) throw new Refused();
  const bits = words
    .slice(0, -6)
    .map((word) => word.toString(2).padStart(5, '0'))
    .join('');
  const padding = bits.slice(bits.length - (bits.length % 8));
  if (padding.length > 4 || padding.includes('1')) throw new Refused();
  const bytes = (bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2));
  if (bytes.length !== 33 || ![0, 8, 16].includes(bytes[0]!)) throw new Refused();
  if (text.slice(0, at) !== prefix) throw new Refused();
  return Buffer.from(bytes).toString('hex');
}

function checksum(values: readonly number[]): number {
  const generator = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
  let sum = 1;
  for (const value of values) {
    const top = sum >> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ value;
    for (let i = 0; i < 5; i++) if ((top >> i) & 1) sum ^= generator[i]!;
  }
  return sum;
}
