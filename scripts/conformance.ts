/**
 * `npm run conformance -- [--parameters FILE] FILE…`: runs vectors in the formats of data/README.md, plain or gzipped, against the product.
 *
 * Prints every failure with what differed, then `N passed, N failed`; the exit code is 1 if any failed, 2 if it was called wrongly.
 */
import { parseArgs } from 'node:util';
import type { ProtocolParameters } from '../src/stardust/parameters.ts';
import { README_PARAMETERS, readParameters } from './conformance/parameters.ts';
import { readVectors } from './conformance/read-vectors.ts';
import { runVector } from './conformance/run-vector.ts';

const USAGE = 'Usage: npm run conformance -- [--parameters FILE] FILE…';

interface Count {
  passed: number;
  failed: number;
}

async function runFile(path: string, parameters: ProtocolParameters): Promise<Count> {
  const count: Count = { passed: 0, failed: 0 };
  const fail = (place: string, failure: string) => {
    count.failed++;
    console.log(`${place}: ${failure}`);
  };
  try {
    for await (const { line, json } of readVectors(path)) {
      const { name, failure } = await runVector(json, parameters);
      if (failure === undefined) count.passed++;
      else fail(`${path}:${line}${name === undefined ? '' : ` ${name}`}`, failure);
    }
    if (count.passed + count.failed === 0) fail(path, 'holds no vector');
  } catch (error) {
    fail(path, `cannot be read: ${messageOf(error)}`);
  }
  return count;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { parameters: { type: 'string' } },
    allowPositionals: true,
  });
  if (positionals.length === 0) throw new Error('no file given');
  const parameters =
    values.parameters === undefined ? README_PARAMETERS : await readParameters(values.parameters);
  const total: Count = { passed: 0, failed: 0 };
  for (const path of positionals) {
    const { passed, failed } = await runFile(path, parameters);
    total.passed += passed;
    total.failed += failed;
  }
  console.log(`${total.passed} passed, ${total.failed} failed`);
  return total.failed === 0 ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(messageOf(error));
  console.error(USAGE);
  process.exitCode = 2;
}
