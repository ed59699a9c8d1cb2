/**
 * Which lines of `src` that load some stories reach: each file's share, and the lines never reached.
 */
import { Session } from 'node:inspector/promises';
import { SourceMap } from 'node:module';
import { relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { runMain, UsageError } from '../../cli/lib/process/command-line.ts';
import { PROJECT } from '../../cli/lib/project.ts';
import { bundleText } from './platform/bundle.ts';
import { LIMITS } from './platform/limits.ts';
import { runStory } from './run-story.ts';
import { tellStory } from './story.ts';

const USAGE = `Usage: node tools/run.js test/simulator/coverage.ts [--seconds N] [FIRST SEED]

Runs stories for so long (default 3600), and prints which lines of src they reach: the share of each
file that has lines which are not reached, those lines, and the share of all. Exit code 1 if it is below 85 %.`;

const LEAST_SHARE = 0.85;

await runMain(USAGE, async (args) => {
  const options = { seconds: { type: 'string', default: '3600' } } as const;
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  const [first = '1'] = positionals;
  if (![values.seconds, first].every((text) => Number.isSafeInteger(Number(text))))
    throw new UsageError('seconds and a seed are whole numbers');
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: false, detailed: true });
  const end = process.uptime() + Number(values.seconds);
  let seed = Number(first);
  for (; process.uptime() < end; seed++) {
    const { failure } = await runStory(tellStory(String(seed)));
    if (failure !== undefined) console.log(`story ${seed} fails: ${failure.message}`);
  }
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const lines = new Map<string, Map<number, boolean>>();
  for (const limits of LIMITS) {
    const { code, path } = await bundleText(limits);
    for (const script of result.filter(({ url }) => url === pathToFileURL(path).href))
      addLines(lines, code, script.functions);
  }
  let [all, reached] = [0, 0];
  for (const [file, each] of [...lines].sort()) {
    const missed = [...each].flatMap(([line, isReached]) => (isReached ? [] : [line]));
    all += each.size;
    reached += each.size - missed.length;
    const share = Math.round(100 * (1 - missed.length / each.size));
    if (missed.length > 0)
      console.log(`${share} % ${file}: ${ranges(missed.sort((a, b) => a - b))}`);
  }
  const share = ((100 * reached) / all).toFixed(1);
  console.log(`${share} % of ${all} lines by ${seed - Number(first)} stories`);
  return reached / all >= LEAST_SHARE ? 0 : 1;
});

interface Covered {
  ranges: { startOffset: number; endOffset: number; count: number }[];
}

/** What SourceMap finds for a place. */
interface Found {
  originalSource: string;
  originalLine: number;
}

/** A line is reached if any of what was made of it was, in any of the bundles. */
function addLines(
  lines: Map<string, Map<number, boolean>>,
  code: string,
  functions: readonly Covered[],
): void {
  const [, base64 = ''] = /sourceMappingURL=data:application\/json;base64,(.*)/.exec(code) ?? [];
  const map = new SourceMap(JSON.parse(Buffer.from(base64, 'base64').toString()));
  const counts = new Uint8Array(code.length).fill(1);
  // outer ranges come before those within them
  for (const { ranges: all } of functions)
    for (const { startOffset, endOffset, count } of all)
      counts.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  let offset = 0;
  for (const [place, text] of code.split('\n').entries()) {
    const column = text.search(/[^\s{}()[\];,]/);
    const found = column < 0 ? undefined : (map.findEntry(place, column) as Partial<Found>);
    if (found?.originalSource !== undefined) {
      const path = resolve(PROJECT, found.originalSource);
      const file = relative(PROJECT, path);
      if (file.startsWith('src/')) {
        const own = lines.get(file) ?? new Map<number, boolean>();
        lines.set(file, own);
        const line = found.originalLine! + 1;
        own.set(line, own.get(line) === true || counts[offset + column] === 1);
      }
    }
    offset += text.length + 1;
  }
}

function ranges(numbers: readonly number[]): string {
  const parts: [number, number][] = [];
  for (const number of numbers) {
    const last = parts.at(-1);
    if (last !== undefined && number - last[1] <= 1) last[1] = number;
    else parts.push([number, number]);
  }
  return parts.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(', ');
}
