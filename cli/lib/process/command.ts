/**
 * Commands of `stardust-edge`, by commander: what is the same in all of them.
 */
import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import { findFinalNetwork, readSigners, type Signers } from '../network.ts';
import { DEFAULT_PERSIST_TO } from '../project.ts';
import { errorMessage, UsageError } from './command-line.ts';

/**
 * What the reader types before the name of a command: `npx stardust-edge` in a folder with npm. The
 * image says how it is called itself (container/Dockerfile).
 */
export const CALLED_AS = process.env.STARDUST_EDGE_CALLED_AS || 'npx stardust-edge';

/**
 * How the reader gives options to this command: npm takes those before `--` for its own, without a
 * word.
 */
export function callWith(name: string, options: string): string {
  if (process.env.npm_lifecycle_event !== name) return `${CALLED_AS} ${name} ${options}`;
  return `npm ${name === 'start' ? '' : 'run '}${name} -- ${options}`;
}

/** A port as `--port` names it. Throws a UsageError. */
export function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw new UsageError(`--port must be a number from 0 to 65535, not ${text}`);
  return port;
}

/** `localhost:8787` is a URL too, with the scheme `localhost`. */
export function isNodeUrl(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? '');
}

/** Columns of help texts, at most. */
const MAX_COLUMNS = 100;

/**
 * Errors are thrown, so that one place prints them (command-line.ts, reportError).
 *
 * @param about paragraphs, between which are empty lines
 */
export function newCommand(name: string, about: string): Command {
  return new Command(name)
    .description(about.replaceAll(/(?<!\n)\n(?!\n)/g, ' '))
    .helpOption('-h, --help', 'describe the command')
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => console.log(text.trimEnd()),
      // of a command line without a command
      writeErr: (text) => console.error(text.trimEnd()),
      // errors are thrown, too
      outputError: () => undefined,
      getOutHelpWidth: () => Math.min(process.stdout.columns ?? MAX_COLUMNS, MAX_COLUMNS),
    });
}

export function addOptions(command: Command, options: readonly Option[]): Command {
  for (const option of options) command.addOption(option);
  return command;
}

/** The exit code is what `main` returns. */
export function exitWith<Arguments extends unknown[]>(
  main: (...args: Arguments) => number | Promise<number>,
): (...args: Arguments) => Promise<void> {
  return async (...args) => {
    process.exitCode = await main(...args);
  };
}

/** For options that an unset variable of a shell would empty. Throws a UsageError. */
export function filled(name: string): (value: string) => string {
  return (value) => {
    if (value.trim() === '') throw new UsageError(`${name} is empty`);
    return value;
  };
}

/** The whole path: children run in the project's folder. */
export const folderOption = (about: string) =>
  new Option('--persist-to <DIR>', about).argParser((path: string) => {
    // as in --persist-to=~/DIR; who removes a folder of that name removes all that he has
    if (/^~(?:\/|$)/.test(path))
      throw new UsageError('--persist-to: no shell has expanded ~, write $HOME in its place');
    return resolve(filled('--persist-to')(path));
  });

export const persistToOption = (about = 'the data folder') =>
  folderOption(about).default(DEFAULT_PERSIST_TO, '.wrangler/state');

/** For commands that work on deployed stores, too. */
export const remoteOptions = () => [
  new Option('--remote', 'the deployed stores, not those of a data folder'),
  environmentOption('those of [env.NAME] in wrangler.toml: staging'),
];

/** Without it production is meant, with an unset variable in its place perhaps not. */
export const environmentOption = (about: string) =>
  new Option('--env <NAME>', about).argParser(filled('--env'));

export interface RemoteOptions {
  persistTo: string;
  remote?: boolean;
  env?: string;
}

/** The environment of wrangler.toml; empty: production. Throws a UsageError without `--remote`. */
export function environmentOf({ remote, env = '' }: RemoteOptions): string {
  if (!remote && env !== '') throw new UsageError('--env is for --remote');
  return env;
}

/** Which network a command is about: options of every command that needs to know who signs. */
export interface NetworkOptions {
  network?: string | undefined;
  keys?: string | undefined;
  threshold?: string | undefined;
}

/**
 * Keys without a threshold must all sign. Throws a UsageError where options contradict each other.
 */
export function resolveSigners({ network, keys, threshold }: NetworkOptions): Partial<Signers> {
  if (network !== undefined) {
    if ((keys ?? threshold) !== undefined)
      throw new UsageError(
        '--network names the keys: --keys and --threshold are for other networks',
      );
    try {
      return readSigners(network);
    } catch (error) {
      throw new UsageError(errorMessage(error), { cause: error });
    }
  }
  // of keys that are valid for a time, not all sign
  if (threshold === undefined && keys?.includes('@'))
    throw new UsageError('--threshold must be given where keys are valid for a time (@)');
  const least = threshold ?? keys?.split(',').filter((key) => key.trim() !== '').length;
  return {
    ...(keys !== undefined && { MILESTONE_PUBLIC_KEYS: keys }),
    ...(least !== undefined && { MILESTONE_THRESHOLD: String(least) }),
  };
}

/** What the options say of a network, as settings: who signs, and where it ended. */
export function networkSettings(options: NetworkOptions): Record<string, string> {
  const final = findFinalNetwork(options.network);
  const ended = final === undefined ? {} : { FINAL_MILESTONE: String(final.milestone) };
  return { ...resolveSigners(options), ...ended };
}

export const networkOptions = () => [
  new Option(
    '--network <NAME>',
    'who signs milestones: shimmer; iota-final, the last ledger of IOTA mainnet; or the ' +
      'configuration file of a HORNET node of the network',
  ).argParser(filled('--network')),
  new Option(
    '--keys <KEYS>',
    'public keys that sign milestones instead: hex, separated by commas',
  ).argParser(filled('--keys')),
  new Option('--threshold <N>', 'how many of them must have signed (default: all)').argParser(
    filled('--threshold'),
  ),
  renamedOption('--milestone-public-keys <KEYS>', '--keys'),
  renamedOption('--milestone-threshold <N>', '--threshold'),
];

/**
 * A spelling of before: an error that names the one of now. @param flags as commander takes them
 */
export function renamedOption(flags: string, now: string): Option {
  const [name] = flags.split(' ');
  return new Option(flags).hideHelp().argParser(() => {
    throw new UsageError(`${name} is now ${now}`);
  });
}
