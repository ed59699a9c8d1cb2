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

const USAGE = `Usage: node tools/run.js test/simulator/reference/record.ts PROGRAM

Makes the vectors of this folder anew, by a build of tools/judge.`;

await runMain(USAGE, async ([program, ...others]) => {
  if (program === undefined || others.length > 0) throw new UsageError('one program');
  for (const [name, options] of Object.entries(RECORDED)) {
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
