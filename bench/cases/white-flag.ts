/**
 * The white flag over HTTP, warm, of a fresh isolate, and what memory it takes.
 */
import type { Edge, EdgeOptions } from '../../test/support/edge/edge.ts';
import { OUR_ISOLATE, readHeaps } from '../../test/support/edge/heap.ts';
import type { Bench, BenchCase, Figure } from '../case.ts';
import { type ConeLedger, coneLedger } from '../tools/cone-ledger.ts';
import type { ConeOptions } from '../tools/cones.ts';
import { LoadConnection } from '../tools/connection.ts';
import { measureHash } from '../tools/hash-time.ts';
import { median } from '../tools/measure.ts';
import { memoryOf, workerdOf } from '../tools/process.ts';
import { Questioner } from '../tools/questions.ts';
import { withEdge, withProbe } from '../tools/servers.ts';

const COUNT = 21;

/** What a request may take: so many times its hashing, and so many milliseconds. */
const SHARE = 1.5;
const EXTRA_MS = 5;

/** @param most target in milliseconds */
function warm(options: ConeOptions, most?: number): BenchCase {
  return {
    name: describe(options),
    about: 'The same question about another moment each time, every answer computed.',
    run: (bench) => measureWarm(bench, options, most),
  };
}

async function measureWarm(
  bench: Bench,
  options: ConeOptions,
  most: number | undefined,
): Promise<void> {
  const name = describe(options);
  const ledger = await coneLedger(options);
  await withProbe(bench.probe, (probe) =>
    withEdge(served(bench, ledger), async (edge) => {
      const questioner = new Questioner(edge.url);
      const before = await measureHash(probe);
      const value = await questioner.measure(ledger.question, COUNT);
      const hash = (before + (await measureHash(probe))) / 2;
      bench.report({ name, value, unit: 'ms', ...targetOf(most) });
      for (const [stage, ms] of Object.entries(questioner.stagesOf(COUNT))) {
        bench.report({ name: `${name}: ${stage}`, value: ms, unit: 'ms' });
      }
      const hashing = (ledger.nodes * hash) / 1000;
      bench.report({ name: `${name}: hash of a node`, value: hash, unit: 'µs' });
      bench.report({ name: `${name}: hashing of both roots`, value: hashing, unit: 'ms' });
      bench.report({
        name: `${name}: of ${SHARE} × hashing + ${EXTRA_MS} ms`,
        value: value / (SHARE * hashing + EXTRA_MS),
        unit: 'times',
        target: { most: 1 },
      });
      questioner.close();
    }),
  );
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
      bench.report({ name, value: median(times), unit: 'ms', ...targetOf(most) });
    },
  };
}

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
        const connection = new LoadConnection(edge.url);
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
        const report = (what: string, value: number, target?: number) =>
          bench.report({ name: `${name}: ${what}`, value, unit: 'MB', ...targetOf(target) });
        report('heap', Math.max(...heaps), most);
        report('heap after the first', heaps[0]!);
        report('workerd', Math.max(...resident));
        report('workerd after the first', resident[0]!);
      });
    },
  };
}

/** Requests to a Worker that answers a constant. */
const CONSTANTS = 20_000;

const memoryOfConstants: BenchCase = {
  name: 'memory, constants',
  about: 'How far workerd grows by itself: by answers that are a constant.',
  run: (bench) =>
    withProbe(bench.probe, async (probe) => {
      const pid = workerdOf(probe);
      const before = memoryOf(pid);
      const connection = new LoadConnection(probe.url);
      for (let i = 0; i < CONSTANTS; i++) await connection.get('/constant');
      connection.close();
      const name = `memory, constants: workerd, by ${CONSTANTS.toLocaleString('en')} answers`;
      bench.report({ name, value: memoryOf(pid) - before, unit: 'MB' });
    }),
};

/** MB of a million bytes. */
async function heapOf(edge: Edge): Promise<number> {
  return (await readHeaps(edge)).get(OUR_ISOLATE)! / 1e6;
}

function served({ worker: folder }: Bench, { persistTo }: ConeLedger): EdgeOptions {
  return { folder, persistTo, vars: { SERVER_TIMING: 'true' } };
}

function targetOf(most: number | undefined): Pick<Figure, 'target'> {
  return most === undefined ? {} : { target: { most } };
}

function describe({ kind, count, conflicts }: ConeOptions): string {
  const share = conflicts === undefined ? '' : `, ${100 * conflicts} % in conflict`;
  return `${count.toLocaleString('en')} ${kind}${share}`;
}

export const whiteFlagCases: readonly BenchCase[] = [
  warm({ kind: 'notes', count: 1000 }, 12),
  warm({ kind: 'notes', count: 10_000 }, 50),
  warm({ kind: 'notes', count: 50_000 }),
  warm({ kind: 'transfers', count: 1000 }, 14),
  warm({ kind: 'transfers', count: 10_000 }, 85),
  warm({ kind: 'transfers', count: 10_000, conflicts: 0.2 }, 85),
  warm({ kind: 'transfers', count: 50_000 }, 400),
  fresh({ kind: 'notes', count: 10_000 }),
  fresh({ kind: 'transfers', count: 10_000 }, 150),
  memory({ kind: 'transfers', count: 50_000 }, 128),
  memoryOfConstants,
];
