/**
 * Statements of addresses that are changed, each in a way that makes something of it false.
 */
import type { Random } from '../network/random.ts';

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** What only its maker says: whether pages come before and behind. */
const SAID = ['after', 'next'];

/** The same statement with one value changed, removed or added, or two of a list exchanged. */
export function mutateStatement(statement: unknown, random: Random): Json {
  const json = structuredClone(statement) as { [name: string]: Json };
  const names = Object.keys(json).filter((name) => !SAID.includes(name));
  for (;;) {
    const name = random.pick(names);
    const changed = change(json[name]!, random);
    if (JSON.stringify(changed) === JSON.stringify(json[name])) continue;
    if (changed === undefined) delete json[name];
    else json[name] = changed;
    return json;
  }
}

/** Undefined: it is to be removed. Sometimes it is as it was. */
function change(value: Json, random: Random): Json | undefined {
  if (random.chance(0.02)) return undefined;
  if (random.chance(0.02)) return random.pick<Json>([null, 0, '', true, [], {}, '0x']);
  if (Array.isArray(value)) return changeList(value, random);
  if (typeof value === 'object' && value !== null) return changeObject(value, random);
  if (typeof value === 'number') return value + random.pick([1, -1, 2, 2 ** 32]);
  if (typeof value === 'string') return changeText(value, random);
  return value;
}

function changeObject(value: { [name: string]: Json }, random: Random): Json {
  if (random.chance(0.05)) return { ...value, more: 1 };
  const names = Object.keys(value);
  const name = random.pick(names);
  const { [name]: was, ...others } = value;
  const now = change(was!, random);
  return now === undefined ? others : { ...value, [name]: now };
}

function changeList(value: Json[], random: Random): Json {
  if (value.length === 0) return ['0x'];
  const at = random.below(value.length);
  const kind = random.below(10);
  if (kind === 0) return value.toSpliced(at, 1);
  if (kind === 1) return value.toSpliced(at, 0, value[at]!);
  if (kind === 2 && at > 0) return value.toSpliced(at - 1, 2, value[at]!, value[at - 1]!);
  const now = change(value[at]!, random);
  return now === undefined ? value.toSpliced(at, 1) : value.with(at, now);
}

/** Another character of the same kind at any place, one less, or one more. */
function changeText(value: string, random: Random): string {
  if (value === '') return 'x';
  const at = random.below(value.length);
  if (random.chance(0.1)) return value.slice(0, at) + value.slice(at + 1);
  if (random.chance(0.1)) return `${value.slice(0, at)}0${value.slice(at)}`;
  const digit = random.below(16).toString(16);
  return value.slice(0, at) + digit + value.slice(at + 1);
}
