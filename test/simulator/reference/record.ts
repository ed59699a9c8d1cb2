/**
 * Records networks and what the reference said of them: vectors for where Go is not there.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { runMain, UsageError } from '../../../cli/lib/process/command-line.ts';
import { judge } from './judge-answers.ts';
import { linesOf } from './network-file.ts';
import { RECORDED } from './recorded.ts';
import { wildNetwork } from './wild-network.ts';

const USAGE = `Usage: node tools/run.js test/simulator/reference/record.ts PROGRAM [NAME…]

Makes the vectors of this folder anew, all or those of these names, by a build of tools/judge.`;

await runMain(USAGE, async ([program, ...names]) => {
  if (program === undefined) throw new UsageError('no program');
  const unknown = names.find((name) => !(name in RECORDED));
  if (unknown !== undefined) throw new UsageError(`no network ${unknown}`);
  for (const [name, options] of Object.entries(RECORDED)) {
    if (names.length > 0 && !names.includes(name)) continue;
    const lines = [...linesOf(wildNetwork(options))];
    const answers = await judge(program, lines);
    for (const [part, values] of Object.entries({ network: lines, answers })) {
      const text = values.map((value) => `${JSON.stringify(value)}\n`).join('');
      const path = join(import.meta.dirname, 'vectors', `${name}.${part}.jsonl.gz`);
      writeFileSync(path, gzipSync(text, { level: 9 }));
    }
  }
  return 0;
});
