/** Reads constants of TypeScript files by their text: the files need not be loaded, nor export them. */
import { readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { runInNewContext } from 'node:vm';
import { PROJECT } from '../../cli/lib/project.ts';

const COMMENT = /\/\*[\s\S]*?\*\/|\/\/.*/g;

const NAME = /\b[A-Z][A-Z0-9_]+\b/g;

/**
 * The number that a constant stands for. Throws an Error where the file has no such constant.
 *
 * @param file path from the project's folder
 * @param name `NAME`, or `NAME.field` of an object
 */
export function readConstant(file: string, name: string): number {
  const text = readFileSync(join(PROJECT, file), 'utf8').replaceAll(COMMENT, '');
  const [constant, field] = name.split('.') as [string, string?];
  const declared = new RegExp(`^(?:export )?const ${constant}\\b[^=]*=\\s*([^;]+);`, 'm').exec(
    text,
  );
  if (declared === null) return readConstant(importedFrom(file, text, constant), name);
  const value = declared[1]!;
  const expression =
    field === undefined ? value : new RegExp(`\\b${field}: ([^,}]+)`).exec(value)?.[1];
  const inNumbers = expression?.replaceAll(NAME, (other) => String(readConstant(file, other)));
  if (inNumbers === undefined || !/^[\d_.\s+*/()<-]+$/.test(inNumbers))
    throw new Error(`${file}: ${name} is no number`);
  return runInNewContext(inNumbers) as number;
}

/** The file from which another imports a name. */
function importedFrom(file: string, text: string, name: string): string {
  const from = new RegExp(`^import \\{[^}]*\\b${name}\\b[^}]*\\} from '(\\.[^']+)'`, 'm').exec(
    text,
  );
  if (from === null) throw new Error(`${file} has no constant ${name}`);
  return posix.join(dirname(file), from[1]!);
}
