/**
 * Answers with one field changed at random: any value of any depth, or a few bytes.
 */
import { Random } from '../network/random.ts';
import { changeField } from '../stardust/changed-json.ts';
import type { Rule } from './lying-node.ts';
import { inBytes, inJson, type Paths } from './rules.ts';

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
