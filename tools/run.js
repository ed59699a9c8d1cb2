/**
 * `node tools/run.js FILE [ARGUMENT…]`, or PROGRAM in place of FILE: runs a script of the project, or
 * a program of a package that package.json depends on (`tsc` of typescript), in the Node that the
 * project is made for. Works in any Node from 20 on, with every npm (cli/lib/runtime.js).
 * package.json and wrangler.toml call it.
 */
import { existsSync } from 'node:fs';
import { findDependencyProgram, handOver } from '../cli/lib/runtime.js';

const USAGE = `Usage: node tools/run.js FILE|PROGRAM [ARGUMENT…]

Runs a script of the project, or a program such as vitest or wrangler, in the Node of package.json.`;

const [name, ...args] = process.argv.slice(2);
if (name === '--help') console.log(USAGE);
else {
  const program = name && (existsSync(name) ? name : findDependencyProgram(name));
  if (program) handOver([program, ...args]);
  else {
    console.error(name ? `${name} is no file, and no program of an installed dependency` : USAGE);
    process.exitCode = 2;
  }
}
