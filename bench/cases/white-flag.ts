/**
 * The white flag over HTTP: warm, the same request again, in a fresh isolate, and its memory.
 */
import type { Edge } from '../../test/support/edge/edge.ts';
import { OUR_ISOLATE, readHeaps } from '../../test/support/edge/heap.ts';
import type { ConeOptions } from '../../test/support/network/cones.ts';
import type { Bench, BenchCase } from '../case.ts';
import { type ConeLedger, coneLedger } from '../tools/cone-ledger.ts';
import { Connection } from '../tools/connection.ts';
import { measureHash } from '../tools/hash-time.ts';
import { median } from '../tools/measure.ts';
import { memoryOf, workerdOf } from '../tools/process.ts';
import { Questioner } from '../tools/questions.ts';
import { withEdge, withProbe } from '../tools/servers.ts';

const COUNT = 21;

/** The target: a request may take its hashing time, half of that on top, and 5 ms. */
const SHARE = 1.5;
const EXTRA_MS = 5;

function warm(options: ConeOptions, most: number | undefined): BenchCase {
  const name = describe(options);
  return {
    name,
    about: 'The same question about another moment each time, every answer computed.',
    run: async (bench) => {
      const ledger = await coneLedger(options);
      await withProbe(bench.probe, (probe) =>
        withEdge(served(bench, ledger), async (edge) => {
          const questioner = new Questioner(edge.url);
          const before = await measureHash(probe);
          const ms = await questioner.measure(ledger.question, COUNT);
          const hash = (before + (await measureHash(probe))) / 2;
          bench.report({
            name,
            value: ms,
            unit: 'ms',
            ...(most !== undefined && { target: { most } }),
          });
          for (const [stage, value] of Object.entries(questioner.stagesOf(COUNT))) {
            bench.report({ name: `${name}: ${stage}`, value, unit: 'ms' });
          }
          bench.report({ name: `${name}: hash of 65 bytes`, value: hash, unit: 'µs' });
          const noble = await measureHash(probe, '/hash-noble');
          bench.report({ name: `${name}: the same by @noble/hashes`, value: noble, unit: 'µs' });
          bench.report({
            name: `${name}: hashing of both roots`,
            value: (ledger.nodes * hash) / 1000,
            unit: 'ms',
          });
          const shareOf = (unit: number) => ms / ((SHARE * ledger.nodes * unit) / 1000 + EXTRA_MS);
          const allowed = `${name}: of ${SHARE} × hashing + ${EXTRA_MS} ms`;
          bench.report({ name: allowed, value: shareOf(hash), unit: 'times', target: { most: 1 } });
          bench.report({
            name: `${allowed}, by @noble/hashes`,
            value: shareOf(noble),
            unit: 'times',
          });
          const again: number[] = [];
          for (let i = 0; i < COUNT; i++) again.push(await questioner.askAgain(ledger.question));
          bench.report({
            name: `${name}: the same request again`,
            value: median(again),
            unit: 'ms',
            target: { most: 3 },
          });
          questioner.close();
        }),
      );
    },
  };
}

function fresh(options: ConeOptions, most?: number): BenchCase {
  const name = `fresh isolate, ${describe(options)}`;
  return {
    name,
    about:
      'The first request to a Worker just started, with an empty database cache; median of starts.',
    run: async (bench) => {
      const ledger = await coneLedger(options);
      const times: number[] = [];
      for (let i = 0; i < 7; i++) {
        await withEdge(served(bench, ledger), async (edge) => {
          const questioner = new Questioner(edge.url);
          times.push(await questioner.ask(ledger.question));
          questioner.close();
        });
      }
      bench.report({
        name,
        value: median(times),
        unit: 'ms',
        ...(most !== undefined && { target: { most } }),
      });
    },
  };
}

/** Requests to a Worker that answers a constant, to see what workerd takes by itself. */
const CONSTANTS = 20_000;

/**
 * The platform limits an isolate's heap: V8's, and the memory that it refers to. The whole process
 * has the isolates of D1 and of the cache too, and V8 gives memory back late.
 */
function memory(options: ConeOptions, most: number): BenchCase {
  const name = `memory, ${describe(options)}`;
  return {
    name,
    about:
      'By how much ten such requests, one after the other, make the heap grow, garbage included; ' +
      'beside it the resident memory of all of workerd.',
    run: async (bench) => {
      const ledger = await coneLedger(options);
      await withEdge({ ...served(bench, ledger), inspect: true }, async (edge) => {
        // opens D1, so that this is not counted
        const connection = new Connection(edge.url);
        await connection.get('/health');
        connection.close();
        const pid = workerdOf(edge);
        const before = { heap: await heapOf(edge), resident: memoryOf(pid) };
        const heaps: number[] = [];
        const resident: number[] = [];
        const questioner = new Questioner(edge.url);
        for (let i = 0; i < 10; i++) {
          await questioner.ask(ledger.question);
          heaps.push((await heapOf(edge)) - before.heap);
          resident.push(memoryOf(pid) - before.resident);
        }
        questioner.close();
        bench.report({
          name: `${name}: heap`,
          value: Math.max(...heaps),
          unit: 'MB',
          target: { most },
        });
        bench.report({ name: `${name}: heap after the first`, value: heaps[0]!, unit: 'MB' });
        bench.report({ name: `${name}: workerd`, value: Math.max(...resident), unit: 'MB' });
        bench.report({ name: `${name}: workerd after the first`, value: resident[0]!, unit: 'MB' });
      });
      await withProbe(bench.probe, async (probe) => {
        const pid = workerdOf(probe);
        const before = memoryOf(pid);
        const connection = new Connection(probe.url);
        for (let i = 0; i < CONSTANTS; i++) await connection.get('/constant');
        connection.close();
        bench.report({
          name: `memory: workerd, ${CONSTANTS.toLocaleString('en')} answers that are a constant`,
          value: memoryOf(pid) - before,
          unit: 'MB',
        });
      });
    },
  };
}

/** MB of a million bytes. */
async function heapOf(edge: Edge): Promise<number> {
  return (await readHeaps(edge)).get(OUR_ISOLATE)! / 1e6;
}

function served({ worker: folder }: Bench, { persistTo }: ConeLedger) {
  return { folder, persistTo, vars: { SERVER_TIMING: 'true' } };
}

function describe({ kind, count, conflicts }: ConeOptions): string {
  const share = conflicts === undefined ? '' : `, ${100 * conflicts} % in conflict`;
  return `${count.toLocaleString('en')} ${kind}${share}`;
}

export const whiteFlagCases: readonly BenchCase[] = [
  warm({ kind: 'notes', count: 1000 }, 8),
  warm({ kind: 'notes', count: 10_000 }, 45),
  warm({ kind: 'notes', count: 50_000 }, undefined),
  warm({ kind: 'transfers', count: 1000 }, 12),
  warm({ kind: 'transfers', count: 10_000 }, 80),
  warm({ kind: 'transfers', count: 10_000, conflicts: 0.2 }, 80),
  warm({ kind: 'transfers', count: 50_000 }, 400),
  fresh({ kind: 'notes', count: 10_000 }),
  fresh({ kind: 'transfers', count: 10_000 }, 150),
  memory({ kind: 'transfers', count: 50_000 }, 128),
];
