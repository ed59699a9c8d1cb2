/**
 * `stardust-edge conformance FILE…`: runs recorded vectors against this code. The kinds of vectors
 * and their fields are described in test/vectors/README.md.
 */
import type { Command } from 'commander';
import { printable } from '../client/printable.ts';
import type { ProtocolParameters } from '../src/stardust/block.ts';
import { README_PARAMETERS, readParameterFile } from './conformance/parameters.ts';
import { readVectors } from './conformance/read-vectors.ts';
import { runVector } from './conformance/run-vector.ts';
import { exitWith, newCommand } from './lib/process/command.ts';
import { errorMessage, UsageError } from './lib/process/command-line.ts';

const ABOUT = `Runs vectors against this code: JSON lines or one JSON document a file, plain or
gzipped. Prints what differs, then "N passed, N failed". Exit code 1 if any failed.`;

export const conformanceCommand = (): Command =>
  newCommand('conformance', ABOUT)
    .argument('<FILE...>', 'files of vectors')
    .option(
      '--parameters <FILE>',
      "protocol parameters, as a node's info route answers them; default: those of the recorded " +
        'vectors (test/vectors/README.md)',
    )
    .action(
      exitWith(async (paths: string[], options: { parameters?: string }) => {
        const parameters = await parametersOf(options.parameters);
        const total: Count = { passed: 0, failed: 0 };
        for (const path of paths) {
          const { passed, failed } = await runFile(path, parameters);
          total.passed += passed;
          total.failed += failed;
        }
        console.log(`${total.passed} passed, ${total.failed} failed`);
        return total.failed === 0 ? 0 : 1;
      }),
    );

/** The vector, where it differs, and both values. */
const MAX_LINE = 2000;

interface Count {
  passed: number;
  failed: number;
}

async function runFile(path: string, parameters: ProtocolParameters): Promise<Count> {
  const count: Count = { passed: 0, failed: 0 };
  const fail = (place: string, failure: string) => {
    count.failed++;
    // both may have text of the file
    console.log(printable(`${place}: ${failure}`, MAX_LINE));
  };
  try {
    for await (const { line, json } of readVectors(path)) {
      const { name, failure } = await runVector(json, parameters);
      if (failure === undefined) count.passed++;
      else fail(`${path}:${line}${name === undefined ? '' : ` ${name}`}`, failure);
    }
    if (count.passed + count.failed === 0) fail(path, 'holds no vector');
  } catch (error) {
    fail(path, `cannot be read: ${errorMessage(error)}`);
  }
  return count;
}

async function parametersOf(path: string | undefined): Promise<ProtocolParameters> {
  if (path === undefined) return README_PARAMETERS;
  try {
    return await readParameterFile(path);
  } catch (error) {
    throw new UsageError(errorMessage(error), { cause: error });
  }
}
