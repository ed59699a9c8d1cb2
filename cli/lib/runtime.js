/**
 * The Node that everything here runs on: the one of `optionalDependencies` in package.json, found by
 * the name of its package and the `bin` field of that package. npm's link `node_modules/.bin/node`
 * is not relied on: five packages share it, and npm before 11.6.2 deletes it with the four that are
 * for other systems (https://github.com/npm/cli/issues/4362). Runs in any Node from 20 on.
 */
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGE = join(dirname(fileURLToPath(import.meta.url)), '../../package.json');

/** @param {string} path */
const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));

/** Signals that end this process must reach the one that it waits for. */
const SIGNALS = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/** Where programs are that have no PATH. */
const SYSTEM_PATH = '/usr/local/bin:/usr/bin:/bin';

/** Names the process that waits for this one, where a Node without exec started it, by its ID. */
export const WAITED_FOR_BY = 'STARDUST_EDGE_WAITED_FOR_BY';

/** Its packages, one for each system, by name, with their version, which is the same of all. */
const { optionalDependencies: RUNTIMES, dependencies, devDependencies } = readJson(PACKAGE);

/** The major version of Node that everything here runs on. */
const MAJOR = String(Object.values(RUNTIMES)[0]).split('.')[0];

/** Whether this process is such a Node: then npm leaves its package out. */
export const isRuntime = process.versions.node.split('.')[0] === MAJOR;

/**
 * Returns the path of the program NAME of an installed package, by the package's `bin` field.
 * Undefined if the package is not installed, or is for another system.
 *
 * @param {string} packageName
 * @param {string} name
 * @param {string} from a file or folder: packages are looked for in `node_modules` of the folders above it
 * @returns {string | undefined}
 */
export function findProgram(packageName, name, from = PACKAGE) {
  // not `require.resolve`: a package may hide its package.json
  for (const folder of createRequire(from).resolve.paths(packageName) ?? []) {
    const found = join(folder, packageName);
    let description;
    try {
      description = readJson(join(found, 'package.json'));
    } catch {
      continue;
    }
    const { bin, os, cpu } = description;
    if (!suits(os, process.platform) || !suits(cpu, process.arch)) continue;
    // as npm reads it: a single program has the name of its package
    const path = typeof bin !== 'string' ? bin?.[name] : name === packageName ? bin : undefined;
    if (path !== undefined) return join(found, path);
  }
  return undefined;
}

/**
 * Returns the path of the program NAME of whichever package has it, of those that package.json
 * depends on.
 *
 * @param {string} name
 */
export function findDependencyProgram(name) {
  for (const packageName of Object.keys({ ...dependencies, ...devDependencies })) {
    const path = findProgram(packageName, name);
    if (path !== undefined) return path;
  }
  return undefined;
}

/**
 * As npm reads `os` and `cpu` of a package that names what it is for.
 *
 * @param {string | string[] | undefined} wanted
 * @param {string} own
 */
const suits = (wanted, own) => wanted === undefined || [wanted].flat().includes(own);

/**
 * Throws an Error with a sentence unless the program runs on this machine: it may be for another
 * system, C library or processor, or on a disk that is mounted noexec.
 *
 * @param {string} program
 */
function requireRunning(program) {
  const { error, signal, status, stderr } = spawnSync(program, ['--version'], { encoding: 'utf8' });
  if (status === 0) return;
  const reason = error?.message || stderr.trim() || signal || `exit code ${status}`;
  throw new Error(
    `${program} does not run on this machine (${reason}): it may be for another system or C library ` +
      '(README.md), or its disk may be mounted noexec',
  );
}

/**
 * Returns the path of the Node that everything here runs on: of this process, if it is one. Throws
 * an Error with a sentence if it is not installed, or does not run.
 */
export function findRuntime() {
  if (isRuntime) return process.execPath;
  for (const name of Object.keys(RUNTIMES)) {
    const path = findProgram(name, 'node');
    if (path === undefined) continue;
    // where it cannot be run, execve ends this process by a trace
    requireRunning(path);
    return path;
  }
  throw new Error(
    `Node ${MAJOR} for ${process.platform} on ${process.arch} is not installed in ` +
      `${dirname(PACKAGE)}, and this is ${process.version}: run npm ci --include=optional there`,
  );
}

/**
 * Another process takes the place of this one, or, on systems and Nodes without exec, is waited
 * for. Programs that it starts find the same Node first in PATH.
 *
 * @param {readonly string[]} args of Node
 * @param {Readonly<Record<string, string>>} settings added to the environment
 */
export function handOver(args, settings = {}) {
  let node;
  try {
    node = findRuntime();
  } catch (error) {
    console.error(/** @type {Error} */ (error).message);
    process.exitCode = 1;
    return;
  }
  const env = { ...settings, ...withNodeFirst(node) };
  if (process.execve !== undefined && process.platform !== 'win32')
    process.execve(node, [node, ...args], env);
  const child = spawn(node, args, {
    stdio: 'inherit',
    env: { ...env, [WAITED_FOR_BY]: String(process.pid) },
  });
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
  child.once('error', (error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
  child.once('exit', (code, signal) => {
    for (const each of SIGNALS) process.removeAllListeners(each);
    if (signal === null) process.exitCode = code ?? 1;
    else process.kill(process.pid, signal);
  });
}

/** @param {string} node */
function withNodeFirst(node) {
  const separator = process.platform === 'win32' ? ';' : ':';
  // on Windows it may be called Path
  const name = Object.keys(process.env).find((each) => each.toUpperCase() === 'PATH') ?? 'PATH';
  // where a service has no environment the system's programs are found by a default
  const rest = process.env[name] || SYSTEM_PATH;
  return { ...process.env, [name]: `${dirname(node)}${separator}${rest}` };
}
