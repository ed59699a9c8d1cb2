/**
 * The recorded networks: how record.ts made them. The files are the truth, not the seeds, which
 * make other networks as soon as their maker changes.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Answer } from './judge-answers.ts';
import type { Line } from './network-file.ts';
import type { WildOptions } from './wild-network.ts';

export const RECORDED: Readonly<Record<string, WildOptions>> = {
  short: { seed: 'wild 11', milestones: 10, events: 40 },
  long: { seed: 'wild 4', milestones: 30, events: 15 },
  // near the ends of indexes, times and supplies
  odd: { seed: 'odd 2201', milestones: 10, events: 20, odd: true },
};

export function readRecorded(name: string): { lines: Line[]; answers: Answer[] } {
  return {
    lines: readLines<Line>(`${name}.network`),
    answers: readLines<Answer>(`${name}.answers`),
  };
}

function readLines<T>(name: string): T[] {
  const path = join(import.meta.dirname, 'vectors', `${name}.jsonl.gz`);
  const lines = gunzipSync(readFileSync(path)).toString('utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
}
