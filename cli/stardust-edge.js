#!/usr/bin/env node
/**
 * The command `stardust-edge`. It runs in any Node from 20 on, and hands over to the Node that the
 * project is made for, with the memory settings of the command (commands.ts).
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { handOver, isRuntime } from './lib/runtime.js';

// Node before 20.11 knows no other way
const OWN = fileURLToPath(import.meta.url);
const FOLDER = dirname(OWN);

/** JavaScript in a folder that was built, TypeScript in the project. */
const BUILT = join(FOLDER, 'commands.js');
const COMMANDS = existsSync(BUILT) ? BUILT : join(FOLDER, 'commands.ts');

/**
 * Imports and connections of clients allocate much that is short-lived, and take less memory if V8
 * collects young objects after every 2 MB.
 */
const FRUGAL = ['--max-semi-space-size=2'];

/**
 * Connections live for seconds, so what is left of them is among old objects. V8 would collect those
 * at 256 MB for the first time, and then at up to four times what is alive.
 */
const SERVING = [...FRUGAL, '--initial-old-space-size=8', '--heap-growing-percent=15'];

/**
 * glibc would have an arena for each thread, in which what was freed stays: of those that collect
 * garbage and compress answers it is 40 MB. The processes that serve starts have this too.
 */
const GIVING_BACK = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072' };

const args = process.argv.slice(2);
const [name = ''] = args;
const isServing = name === 'start' || name === 'serve';
const isImporting = name === 'import' || name === 'deploy';
const flags = isServing ? SERVING : isImporting ? FRUGAL : [];

if (isRuntime && flags.every((flag) => process.execArgv.includes(flag))) {
  const { runCommandLine } = await import(pathToFileURL(COMMANDS).href);
  process.exitCode = await runCommandLine(args);
} else handOver([...flags, OWN, ...args], isServing ? GIVING_BACK : {});
