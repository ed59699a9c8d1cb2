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

/** Commands that import or serve. */
const ALLOCATING = ['import', 'deploy', 'start', 'serve'];

const args = process.argv.slice(2);
const flags = ALLOCATING.includes(args[0] ?? '') ? FRUGAL : [];

if (isRuntime && flags.every((flag) => process.execArgv.includes(flag))) {
  const { runCommandLine } = await import(pathToFileURL(COMMANDS).href);
  process.exitCode = await runCommandLine(args);
} else handOver([...flags, OWN, ...args]);
