/**
 * What benchmarks measured at one commit, case by case, and the tables of docs/performance.md that
 * are made of it. A document has no figure of another commit: it is written once every case was
 * measured at this one.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { UsageError } from '../../cli/lib/process/command-line.ts';
import { PROJECT } from '../../cli/lib/project.ts';
import { type Figure, holds } from '../case.ts';

const DOCUMENT = join(PROJECT, 'docs/performance.md');
const BEGIN = '<!-- measured: `npm run bench -- --write` writes what follows -->';
const END = '<!-- measured: end -->';

export interface Kept {
  commit: string;
  machine: string;
  /** By the name of the case, the day on which it was measured, and its figures. */
  cases: Record<string, { day: string; figures: Figure[] }>;
}

/** Changes that are no part of what is measured. */
const IS_DOCUMENT = /^.. docs\//;

const git = (...args: string[]) =>
  execFileSync('git', args, { cwd: PROJECT, encoding: 'utf8' }).trimEnd();

const pathOf = (commit: string) => join(PROJECT, 'dist/bench', `${commit}.json`);

/** What was kept of the commit that is checked out. Throws a UsageError if files differ from it. */
export function openRecord(): Kept {
  const changes = git('status', '--porcelain', '--untracked-files=no').split('\n');
  const others = changes.filter((line) => line !== '' && !IS_DOCUMENT.test(line));
  if (others.length > 0)
    throw new UsageError(`--write: commit first what was changed:\n${others.join('\n')}`);
  const commit = git('rev-parse', '--short=12', 'HEAD');
  const model = cpus()[0]?.model;
  const machine = `${cpus().length} × ${model}, ${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.version}`;
  const path = pathOf(commit);
  const kept = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Kept) : undefined;
  if (kept?.machine === machine) return kept;
  return { commit, machine, cases: {} };
}

/** Keeps what a case measured, in place of what it measured before at the same commit. */
export function keepFigures(kept: Kept, name: string, figures: Figure[]): void {
  kept.cases[name] = { day: new Date().toISOString().slice(0, 10), figures };
  const path = pathOf(kept.commit);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(kept));
}

/**
 * Writes the document, if each case was measured. Returns the names of those that were not.
 *
 * @param names of all cases, in their order
 */
export function writeDocument(kept: Kept, names: readonly string[], path = DOCUMENT): string[] {
  const missing = names.filter((name) => kept.cases[name] === undefined);
  if (missing.length > 0) return missing;
  const text = readFileSync(path, 'utf8');
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`${path} lacks the lines that frame the figures`);
  const head = text.slice(0, from + BEGIN.length);
  writeFileSync(path, `${head}\n\n${describeKept(kept, names)}\n${text.slice(to)}`);
  return [];
}

/** A line for each case with targets: the figures that miss theirs, and else the one nearest to it. */
function describeKept({ commit, machine, cases }: Kept, names: readonly string[]): string {
  const days = names.map((name) => cases[name]!.day).sort();
  const [first, last] = [days[0]!, days.at(-1)!];
  const when = first === last ? first : `${first} to ${last}`;
  const lines = names.flatMap((name) => {
    const aimed = cases[name]!.figures.filter(({ target }) => target !== undefined).toSorted(
      (a, b) => partOfTarget(b) - partOfTarget(a),
    );
    const told = aimed.filter((figure, i) => i === 0 || !holds(figure));
    const more = aimed.length - told.length;
    const texts = told.map((figure) => describe(figure, name));
    if (more > 0) texts.push(`${more} more ${more === 1 ? 'holds' : 'hold'}`);
    return texts.length > 0 ? [`- \`${name}\`: ${texts.join('; ')}`] : [];
  });
  return [
    `Commit ${commit}, ${when}, ${machine}. Target in brackets, **bold** where it is missed.`,
    '',
    ...lines,
    '',
  ].join('\n');
}

/** 1 where the target is just met, more where it is missed. */
function partOfTarget({ value, target }: Figure): number {
  if (target === undefined) return 0;
  return 'most' in target ? value / target.most : target.least / value;
}

/** A figure without the name of its case, which stands before it. */
function describe(figure: Figure, caseName: string): string {
  const { name, target, unit } = figure;
  const own = name.startsWith(caseName) ? name.slice(caseName.length).replace(/^[:,] /, '') : name;
  const number = `${formatValue(figure.value)} ${unit === 'times' ? '×' : unit}`.trimEnd();
  const value = holds(figure) ? number : `**${number}**`;
  const goal = target && ('most' in target ? ` (≤ ${target.most})` : ` (≥ ${target.least})`);
  return `${own} ${value}${goal ?? ''}`.trimStart();
}

/** Three digits that count. */
export function formatValue(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en');
  return value.toPrecision(3);
}
