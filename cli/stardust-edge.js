#!/usr/bin/env node
/**
 * The command `stardust-edge`. It runs in any Node from 20 on, and hands over to the Node that the
 * project is made for, with the memory settings of the command (commands.ts).
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = import.meta.dirname;

/** JavaScript in a folder that was built, TypeScript in the project. */
const COMMANDS = ['commands.js', 'commands.ts'].map((name) => join(FOLDER, name)).find(existsSync);

const MAJOR = '26';

/** What npm ci installs, unless npm runs on this version itself. */
const INSTALLED = join(FOLDER, '..', 'node_modules', '.bin', 'node');

/**
 * An import allocates much that is short-lived, and takes less memory if V8 collects young objects
 * after every 2 MB.
 */
const IMPORTS = ['--max-semi-space-size=2'];

/** Flags of V8 by the name of the command. */
const NODE_FLAGS = { import: IMPORTS, deploy: IMPORTS };

/** Signals that end this process must reach the one that it waits for. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

const args = process.argv.slice(2);
const flags = NODE_FLAGS[args[0]] ?? [];
const isOurs = process.versions.node.split('.')[0] === MAJOR;

if (isOurs && flags.every((flag) => process.execArgv.includes(flag))) {
  const { runCommandLine } = await import(COMMANDS);
  process.exitCode = await runCommandLine(args);
} else if (isOurs || existsSync(INSTALLED))
  handOver(isOurs ? process.execPath : INSTALLED, [...flags, import.meta.filename, ...args]);
else {
  console.error(`Node ${MAJOR} is not installed here, and this is ${process.version}: run npm ci`);
  process.exitCode = 1;
}

/**
 * Another process takes the place of this one, or, on systems and Nodes without exec, is waited
 * for.
 */
function handOver(node, nodeArgs) {
  if (process.execve !== undefined && process.platform !== 'win32')
    process.execve(node, [node, ...nodeArgs], process.env);
  const child = spawn(node, nodeArgs, { stdio: 'inherit' });
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
  child.once('error', (error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
  child.once('exit', (code, signal) => {
    for (const each of SIGNALS) process.removeAllListeners(each);
    if (signal === null) process.exitCode = code;
    else process.kill(process.pid, signal);
  });
}
