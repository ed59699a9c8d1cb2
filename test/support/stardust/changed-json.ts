/** JSON with one change: each of all there are, of bytes in hex and numbers, or one by chance. */
import { fromHex, toHex } from '../../../src/stardust/encoding/bytes.ts';
import type { Random } from '../network/random.ts';

export interface Spoilt {
  /** Where the change is, like `.milestone.signatures.0.publicKey byte 5`. */
  place: string;
  json: unknown;
}

/** Copies: one for every byte in hex, and one for every number. */
export function* spoil(json: unknown, place = ''): Generator<Spoilt> {
  if (typeof json !== 'object' || json === null) {
    yield* spoilLeaf(json, place);
    return;
  }
  for (const [key, value] of Object.entries(json)) {
    for (const { place: inside, json: changed } of spoil(value, `${place}.${key}`)) {
      const whole = Array.isArray(json)
        ? json.with(Number(key), changed)
        : { ...json, [key]: changed };
      yield { place: inside, json: whole };
    }
  }
}

function* spoilLeaf(value: unknown, place: string): Generator<Spoilt> {
  if (typeof value === 'number') {
    yield { place, json: value + 1 };
  } else if (typeof value === 'boolean') {
    yield { place, json: !value };
  } else if (/^\d+$/.test(String(value))) {
    yield { place, json: `${BigInt(String(value)) + 1n}` };
  } else if (String(value).length % 2 === 1) {
    // an amount of a native token, which is hex but not of bytes, as it has no leading zeros
    yield { place, json: `0x${(BigInt(String(value)) + 1n).toString(16)}` };
  } else {
    const bytes = fromHex(String(value));
    for (const [i, byte] of bytes.entries()) {
      yield { place: `${place} byte ${i}`, json: toHex(bytes.with(i, byte ^ (1 << (i % 8)))) };
    }
  }
}

// biome-ignore lint/suspicious/noExplicitAny: whatever it is
type Json = any;

interface Place {
  within: Json;
  key: string;
}

const isWithin = (json: Json) => typeof json === 'object' && json !== null;

/** A value at random: of few large ones as often as of many small ones within. */
export function placeIn(json: Json, random: Random): Place {
  for (let within = json; ; ) {
    const key = random.pick(Object.keys(within));
    const isEmpty = !isWithin(within[key]) || Object.keys(within[key]).length === 0;
    if (isEmpty || random.chance(0.4)) return { within, key };
    within = within[key];
  }
}

function otherNumber(value: number, random: Random): number {
  return random.pick([
    value + 1,
    value - 1,
    -value - 1,
    value + 0.5,
    value * 2 + 1,
    2 ** 31,
    2 ** 53,
  ]);
}

function otherText(text: string, random: Random): unknown {
  const at = random.below(text.length + 1);
  const digit = Number.parseInt(text[at] ?? '0', 16) ^ (1 + random.below(15)) || 7;
  return random.pick([
    text.slice(0, at) + digit.toString(16) + text.slice(at + 1),
    `${text}0`,
    text.slice(0, at),
    `${text}\u001b[2J\u202e`,
    `0x${'ab'.repeat(32)}`,
    'included',
    'transaction',
    null,
    17_339,
  ]);
}

function otherList(list: Json[], random: Random): Json[] {
  const at = random.below(list.length + 1);
  const [a, b] = [random.below(list.length), random.below(list.length)];
  return random.pick([
    list.toSpliced(at, 1),
    list.toSpliced(at, 0, list[a] ?? 0),
    list.toReversed(),
    list.length === 0 ? [0] : list.with(a, list[b]),
    [],
  ]);
}

/** Another value, of the same kind mostly. */
function otherValue(value: Json, random: Random): unknown {
  if (random.chance(0.05)) return random.pick([null, {}, [], '', 0, true]);
  if (typeof value === 'number') return otherNumber(value, random);
  if (typeof value === 'string') return otherText(value, random);
  if (typeof value === 'boolean') return !value;
  return Array.isArray(value) ? otherList(value, random) : random.pick([{}, null]);
}

/** One value of the answer is another one, that of a neighbour, or not there; or both change places. */
export function changeField(json: Json, random: Random): void {
  const before = JSON.stringify(json);
  while (JSON.stringify(json) === before) {
    const { within, key } = placeIn(json, random);
    const other = random.pick(Object.keys(within));
    const [one, two] = [within[key], within[other]];
    const dice = random.below(20);
    if (dice < 2 && !Array.isArray(within)) delete within[key];
    else if (dice < 4) within[key] = two;
    else if (dice < 6) [within[key], within[other]] = [two, one];
    else within[key] = otherValue(one, random);
  }
}
