/**
 * Mistakes that the simulator must find (plants.txt), and checks of stored data that tests must miss
 * (sums.txt): each is a patch of one to ten lines. A text that is not found exactly once is an error,
 * so that none of them rots when the code changes (plants.test.ts).
 *
 * A mistake has a line `NAME (WHO MUST FIND IT): what is wrong then`, and below it, for each file, `@ FILE` and lines
 * that begin with `-` for what is found and with `+` for what stands there instead. Of a file with
 * several changes each begins with its first `-`. `#` is a comment.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Change {
  /** From the project's root. */
  file: string;
  /** Found exactly once in the file. */
  text: string;
  instead: string;
}

export interface Plant {
  /** The part of the node, and a number. */
  name: string;
  /** What is wrong then. */
  wrong: string;
  changes: readonly Change[];
  /** Who must find it; by default the simulator, which takes our rules as they are. */
  by: string | undefined;
}

function readPlant(text: string): Plant {
  const [head = '', ...lines] = text.split('\n');
  const [, name, by, wrong] = /^([\w-]+)(?: \((.+?)\))?: (.+)$/.exec(head) ?? [];
  if (name === undefined || wrong === undefined) throw new Error(`no mistake: ${head}`);
  const changes: { file: string; text: string[]; instead: string[] }[] = [];
  let file = '';
  let before = '';
  for (const line of lines) {
    const [sign = '', rest] = [line[0], line.slice(2)];
    if (sign === '@') file = rest;
    else if (sign === '-') {
      if (before !== '-') changes.push({ file, text: [], instead: [] });
      changes.at(-1)!.text.push(rest);
    } else if (sign === '+') changes.at(-1)!.instead.push(rest);
    else throw new Error(`${name}: no line of a mistake: ${line}`);
    before = sign;
  }
  return {
    name,
    wrong,
    by,
    changes: changes.map((each) => ({
      file: each.file,
      text: each.text.join('\n'),
      instead: each.instead.join('\n'),
    })),
  };
}

const readPlants = (file: string): readonly Plant[] =>
  readFileSync(join(import.meta.dirname, file), 'utf8')
    .split('\n\n')
    .map((text) => text.trimEnd())
    .filter((text) => text !== '' && !text.startsWith('#'))
    .map(readPlant);

export const PLANTS = readPlants('plants.txt');
export const REMOVED_CHECKS = readPlants('sums.txt');
