/** The text of docs/bounds.md. */
import { readConstant } from './read-constant.ts';
import { type Bound, SECTIONS } from './rows.ts';

const HEAD = `# Bounds

\`node tools/run.js tools/bounds.ts\` writes this page from the constants in the files that it names
(below \`src/\` unless it is another folder), and a test compares them. A number that is no constant is in
brackets, with what it is from. Behind each arrow: what happens beyond the bound; where there is none,
the next pass or step goes on.
`;

export function describeBounds(): string {
  const sections = Object.entries(SECTIONS).map(
    ([title, rows]) => `\n## ${title}\n\n${rows.map(describeBound).join('')}`,
  );
  return HEAD + sections.join('');
}

function describeBound([bound, file, beyond]: Bound): string {
  const [told, after] = [bound, beyond].map((text) =>
    text.replaceAll(/\{(?:([\w./-]+)#)?([\w.]+)(?::(\w+))?\}/g, (_, other, name, unit) =>
      withUnit(readConstant(pathOf(other ?? file), name), unit ?? unitOf(name)),
    ),
  );
  return `- ${told}${after && ` → ${after}`} (\`${file}\`)\n`;
}

/** Folders that are not below src/ keep their path. */
function pathOf(file: string): string {
  return /^(?:cli|client|explorer)\//.test(file) ? file : `src/${file}`;
}

function unitOf(name: string): string | undefined {
  return /_MS$|Ms$/.test(name) ? 'ms' : /BYTES$/.test(name) ? 'bytes' : undefined;
}

/** Seconds from 1,000 ms on; KB and MB by 1,000 where that is whole, else by 1,024. */
function withUnit(value: number, unit: string | undefined): string {
  if (unit === 'ms') return value < 1000 ? `${value} ms` : `${value / 1000} s`;
  if (unit !== 'bytes') return value.toLocaleString('en');
  const base = value % 1000 === 0 ? 1000 : 1024;
  const units = ['B', 'KB', 'MB', 'GB'];
  const power = Math.min(3, Math.floor(Math.log(value) / Math.log(base)));
  return `${Math.round((10 * value) / base ** power) / 10} ${units[power]}`;
}
