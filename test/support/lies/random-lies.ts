/**
 * Answers with one field changed at random: any value of any depth, or a few bytes.
 */
import { Random } from '../network/random.ts';
import type { Rule } from './lying-node.ts';
import { inBytes, inJson, type Json, type Paths } from './rules.ts';

interface Place {
  within: Json;
  key: string | number;
}

/** Every value of JSON, with where it is. */
function placesIn(json: Json): Place[] {
  if (typeof json !== 'object' || json === null) return [];
  const keys = Array.isArray(json) ? json.keys() : Object.keys(json);
  return Array.from(keys as Iterable<string | number>).flatMap((key) => [
    { within: json, key },
    ...placesIn(json[key]),
  ]);
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
  return Array.isArray(value) ? otherList(value, random) : {};
}

/** One value of the answer is another one, or is not there. */
function changeField(json: Json, random: Random): void {
  const before = JSON.stringify(json);
  while (JSON.stringify(json) === before) {
    const { within, key } = random.pick(placesIn(json));
    if (random.chance(0.1) && !Array.isArray(within)) delete within[key];
    else within[key] = otherValue(within[key], random);
  }
}

function changeBytes(bytes: Uint8Array, random: Random): Uint8Array {
  const at = random.below(bytes.length);
  return random.pick([
    bytes.with(at, bytes[at]! ^ (1 << random.below(8))) as Uint8Array<ArrayBuffer>,
    bytes.slice(0, at),
    Uint8Array.from([...bytes, random.below(256)]),
    Uint8Array.from([...bytes.slice(0, at), ...bytes.slice(at + 1)]),
  ]);
}

/** Paths of answers, and in which form they are read. */
export type Answers = readonly (readonly [Paths, 'json' | 'bytes'])[];

/** One of these answers, wherever it is asked for, is changed as the seed says. */
export function randomLie(
  seed: string,
  answers: readonly (readonly [Paths, 'json' | 'bytes'])[],
): Rule {
  const [paths, kind] = new Random(seed).pick(answers);
  // the same change each time
  return kind === 'json'
    ? inJson(paths, (json) => changeField(json, new Random(`${seed} change`)))
    : inBytes(paths, (bytes) => changeBytes(bytes, new Random(`${seed} change`)));
}
