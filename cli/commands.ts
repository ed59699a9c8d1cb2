/**
 * The commands of `stardust-edge` (cli/stardust-edge.js), each of which is loaded only if it is
 * the one that was named.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { CALLED_AS, newCommand } from './lib/process/command.ts';
import {
  outliveReaders,
  reportError,
  requireWritten,
  UsageError,
} from './lib/process/command-line.ts';
import { PROJECT } from './lib/project.ts';

interface Entry {
  about: string;
  load: () => Promise<Command>;
  /** Needs sources and tools, which a folder made by `npm run build -- --to` has not. */
  inProject?: boolean;
  /** Requests nodes, which may be behind a proxy. */
  requestsNodes?: boolean;
}

const COMMANDS: Readonly<Record<string, Entry>> = {
  start: {
    about: 'serve the sample, real milestones of Shimmer',
    load: async () => (await import('./start.ts')).startCommand(),
    inProject: true,
  },
  serve: {
    about: 'serve a ledger on this machine, and follow a network',
    load: async () => (await import('./serve.ts')).serveCommand(),
  },
  import: {
    about: 'import a snapshot',
    load: async () => (await import('./import.ts')).importCommand(),
  },
  backup: {
    about: 'save the ledger of a data folder, or turn a D1 export into a back-up',
    load: async () => (await import('./backup.ts')).backupCommand(),
  },
  restore: {
    about: 'make a data folder of a back-up',
    load: async () => (await import('./restore.ts')).restoreCommand(),
  },
  reindex: {
    about: 'rebuild the NFT index',
    load: async () => (await import('./reindex.ts')).reindexCommand(),
  },
  verify: {
    about: "check a node's newest milestone, or a final ledger, without trust in the node",
    load: async () => (await import('./verify.ts')).verifyCommand(),
    requestsNodes: true,
  },
  explain: {
    about: 'find the first block in which two answers to a white-flag request differ',
    load: async () => (await import('./explain.ts')).explainCommand(),
    requestsNodes: true,
  },
  'ledger-root': {
    about: 'compute the final root of a snapshot, without a database',
    load: async () => (await import('./ledger-root.ts')).ledgerRootCommand(),
  },
  conformance: {
    about: 'run recorded vectors against this code',
    load: async () => (await import('./conformance.ts')).conformanceCommand(),
  },
  deploy: {
    about: 'deploy to Cloudflare, or remove what was deployed',
    load: async () => (await import('./deploy.ts')).deployCommand(),
    inProject: true,
    requestsNodes: true,
  },
};

/** Commands whose output is a log: what is lost of it is no failure. */
const LOGGING: readonly string[] = ['start', 'serve'];

/** What commands were called before, and how the same is done now. */
const RENAMED: Readonly<Record<string, string>> = {
  undeploy: 'deploy --remove',
  'cut-backup': 'backup --from-d1',
};

const isProject = existsSync(join(PROJECT, 'src', 'worker.ts'));

/** Undefined if there is no such command here. */
export async function loadCommand(name: string): Promise<Command | undefined> {
  const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (entry === undefined) return undefined;
  if (entry.inProject && !isProject)
    throw new UsageError(
      `${name} needs the project: ${PROJECT} has only what one machine serves by`,
    );
  if (entry.requestsNodes) (await import('./lib/process/use-proxy.ts')).useProxy();
  return entry.load();
}

async function makeProgram(args: readonly string[]): Promise<Command> {
  const { version } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'));
  const program = newCommand(CALLED_AS, 'An edge node of an IOTA Stardust ledger.')
    .version(version, '--version', 'print the version')
    .helpCommand('help [command]', 'describe a command')
    .addHelpText('after', '\nCOMMAND --help describes a command.');
  const [first = '', second] = args;
  if (first === 'help' && second !== undefined && !Object.hasOwn(COMMANDS, second))
    throw new UsageError(`unknown command '${second}'`);
  const named = args.find((each) => !each.startsWith('-') && each !== 'help') ?? '';
  const now = Object.hasOwn(RENAMED, named) ? RENAMED[named] : undefined;
  if (now !== undefined) throw new UsageError(`${named} is now: ${CALLED_AS} ${now}`);
  const chosen = await loadCommand(named);
  for (const [name, { about, inProject }] of Object.entries(COMMANDS))
    if (name === named) program.addCommand(chosen!.summary(about));
    else if (isProject || !inProject) program.addCommand(newCommand(name, about));
  return program;
}

/** Prints what goes wrong. Returns the exit code. @param args without Node and script */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  outliveReaders();
  try {
    const program = await makeProgram(args);
    await program.parseAsync(args, { from: 'user' });
    if (!LOGGING.includes(program.args[0]!)) requireWritten();
    return Number(process.exitCode ?? 0);
  } catch (error) {
    return reportError(error);
  }
}
