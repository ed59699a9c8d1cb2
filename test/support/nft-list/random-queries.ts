/**
 * Random queries for lists of given NFTs: right ones, odd ones, and such as are refused.
 */

import { toBech32 } from '../../../src/stardust/bech32.ts';
import { toHexDigits } from '../../../src/stardust/encoding/bytes.ts';
import { type Address, AddressType } from '../../../src/stardust/wire/address.ts';
import type { Random } from '../network/random.ts';
import type { PlainOutput } from './plain-list.ts';

/** What the NFTs have, to ask for. */
export interface Vocabulary {
  prefix: string;
  addresses: Address[];
  tags: string[];
  times: number[];
  positions: string[];
}

const ADDRESSES = [
  'address',
  'stateController',
  'governor',
  'aliasAddress',
  'unlockableByAddress',
  'issuer',
  'sender',
  'storageDepositReturnAddress',
  'expirationReturnAddress',
];
const BOOLEANS = ['hasNativeTokens', 'hasStorageDepositReturn', 'hasTimelock', 'hasExpiration'];
const COUNTS = ['minNativeTokenCount', 'maxNativeTokenCount'];
const TIMES = [
  'timelockedBefore',
  'timelockedAfter',
  'expiresBefore',
  'expiresAfter',
  'createdBefore',
  'createdAfter',
];

const ODD = ['', 'x', '-1', '0', '00', '007', '1', '64', '65', '4294967295', '4294967296'];
ODD.push('99999999999999999999999', '1e3', '0x', '0x1', '0xzz', '0X00', '%', '%zz', '%2', 'a;b');
ODD.push('+1', ' 1', '1 ', '1%00', '%31', 'true', 'TRUE', 'True', 'tRUE', 't', 'F', 'yes', '1.0');
ODD.push(`0x${'ab'.repeat(64)}`, `0x${'ab'.repeat(65)}`, 'tst1', '1tst', '.', '..', '.5', '%c3%a9');

export function vocabularyOf(nfts: readonly PlainOutput[], prefix: string): Vocabulary {
  const addresses: Address[] = [{ type: AddressType.Alias, id: new Uint8Array(32) }];
  const tags = ['00ff'];
  const times = [0, 1, 2 ** 32 - 1];
  const positions: string[] = [];
  for (const { output, outputId, createdTime } of nfts) {
    times.push(createdTime);
    positions.push(`${createdTime.toString(16).padStart(8, '0')}${outputId}`);
    for (const condition of output.unlockConditions) {
      if ('address' in condition) addresses.push(condition.address);
      if ('returnAddress' in condition) addresses.push(condition.returnAddress);
      if ('unixTime' in condition) times.push(condition.unixTime);
    }
    for (const feature of [
      ...output.features,
      ...('immutableFeatures' in output ? output.immutableFeatures : []),
    ]) {
      if ('address' in feature) addresses.push(feature.address);
      if ('tag' in feature) tags.push(toHexDigits(feature.tag));
    }
  }
  return { prefix, addresses, tags, times, positions };
}

/** @param oddness how probable it is that a value is not one that belongs there */
export function randomQuery(random: Random, words: Vocabulary, oddness: number): string {
  const pairs: string[] = [];
  const add = (name: string, value: string) => {
    const odd = random.chance(oddness) ? oddValue(random, value) : value;
    pairs.push(`${random.chance(oddness / 10) ? name.toUpperCase() : name}=${odd}`);
  };
  const count = random.below(4);
  for (let i = 0; i < count; i++) {
    const [name, value] = random.pick([
      () => [random.pick(ADDRESSES), addressText(random, words)],
      () => [random.pick(BOOLEANS), random.pick(['true', 'false', '1', '0', 'T'])],
      () => [random.pick(COUNTS), `${random.below(4)}`],
      () => [random.pick(TIMES), `${random.pick(words.times) + random.between(0, 2) - 1}`],
      () => ['tag', `0x${random.pick(words.tags)}`],
    ])() as [string, string];
    add(name, value);
  }
  if (random.chance(0.5)) add('pageSize', `${random.pick([1, 2, 3, 10, 50, 999, 1000, 1001])}`);
  if (random.chance(0.3)) add('cursor', cursorText(random, words));
  if (random.chance(oddness)) pairs.push(random.pick(['nonsense=1', '', '=', 'a', '&', '%zz=1']));
  return random.sample(pairs, pairs.length).join('&');
}

function addressText(random: Random, { prefix, addresses }: Vocabulary): string {
  return toBech32(prefix, random.pick(addresses));
}

function cursorText(random: Random, { positions }: Vocabulary): string {
  const position = positions.length === 0 ? '0'.repeat(76) : random.pick(positions);
  return `${position}.${random.pick([1, 2, 5, 100, 1000])}`;
}

function oddValue(random: Random, value: string): string {
  const at = random.below(value.length + 1);
  const letter = random.pick([...'0aFfgGzZ/:@1.,%;+é~']);
  return random.pick([
    () => random.pick(ODD),
    () => value.toUpperCase(),
    () => value.slice(0, at) + letter + value.slice(at),
    () => value.slice(0, at) + letter + value.slice(at + 1),
    () => value.slice(0, at) + value.slice(at + 1),
    () => value.replace(/\.\d+$/, `.${random.pick(['0', '00', '1001', '4294967296', 'x', ''])}`),
    () => encodeURIComponent(value).replace(/\d/g, (digit) => `%3${digit}`),
    () => value.replace(/^tst/, 'iota'),
  ])();
}
