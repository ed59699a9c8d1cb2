/**
 * Runs stories from the command line: seeds, or one that was kept.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { runMain, UsageError } from '../../cli/lib/process/command-line.ts';
import { type Patch, PatchNotFound } from './platform/bundle.ts';
import { runStory } from './run-story.ts';
import { tellStory, type Story } from './story.ts';

const USAGE = `Usage: npx node test/simulator/run.ts [options] SEED|FROM-TO…`;

await runMain(USAGE, async (args) => {
  const { values, positionals } = parseArgs({
    args,
    options: {
      patch: { type: 'string', multiple: true, default: [] },
      story: { type: 'string' },
      json: { type: 'boolean', default: false },
      twice: { type: 'boolean', default: false },
      log: { type: 'string' },
      profile: { type: 'boolean', default: false },
    },
    allowPositionals: true,
  });
  const patches = values.patch.flatMap((path) => JSON.parse(readFileSync(path, 'utf8')) as Patch[]);
  let failures = 0;
  let milestones = 0;
  const began = process.hrtime.bigint();
  const seconds = () => Number((process.hrtime.bigint() - began) / 1000n) / 1e6;
  for (const seed of positionals.flatMap(seedsOf)) {
    const from = seconds();
    const outcome = await runStory(tellStory(seed), patches).catch((error: Error) => {
      console.log(seed, 'BROKEN', error.stack);
      return undefined;
    });
    if (outcome === undefined) continue;
    milestones += outcome.milestones;
    const { failure, hash, world } = outcome;
    if (failure !== undefined) failures++;
    console.log(`${seed} ${hash} ${outcome.milestones} milestones, ${(seconds() - from).toFixed(2)} s, ${world.simulation.events} events${failure ? ` FAILED ${failure.message}` : ''}`);
    if (values.log) writeFileSync(values.log, [...world.notes, ...world.node.lines.map(({ at, text }) => `${at - world.start} ${text}`)].join('\n'));
    if (positionals.length === 1 && values.profile) console.log(Object.fromEntries(world.tally), world.node.counts);
    if (values.twice) {
      const again = await runStory(tellStory(seed), patches);
      if (again.hash !== hash) throw new Error(`${seed}: another hash, ${again.hash}`);
    }
  }
  console.log(`${milestones} milestones in ${seconds().toFixed(1)} s, ${Math.round((60 * milestones) / seconds())} a minute; ${failures} failed`);
  return failures > 0 ? 1 : 0;
});

function seedsOf(text: string): string[] {
  const range = /^(\d+)-(\d+)$/.exec(text);
  if (range === null) return [text];
  const [from, to] = [Number(range[1]), Number(range[2])];
  return Array.from({ length: to - from + 1 }, (_, i) => String(from + i));
}
