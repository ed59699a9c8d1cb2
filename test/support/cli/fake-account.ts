/**
 * An account at Cloudflare in memory, and wrangler's commands done to it as wrangler 4.156 and
 * Cloudflare do them: D1 executes a file whole or not at all, within its limits; wrangler finds D1 by
 * its name and KV by the ID in its configuration or of the version before, keeps secrets, and
 * replaces all settings. It may fail at any point, before or after something was done.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { migrate } from '../../../cli/lib/wrangler/local-database.ts';
import type { RunWrangler } from '../../../cli/lib/wrangler/run-wrangler.ts';
import { SqliteDatabase } from '../../../cli/lib/wrangler/sqlite-database.ts';
import { readWranglerConfig, WRANGLER_TOML } from '../../../cli/lib/wrangler/wrangler-config.ts';

export interface FakeVersion {
  id: string;
  tag: string | undefined;
  vars: Record<string, string>;
  secrets: Record<string, string>;
  /** IDs of the stores that it is bound to. */
  namespaceId: string;
  databaseId: string;
}

interface FakeWorker {
  versions: FakeVersion[];
  /** Whether it has its cron trigger and its URL, which come after the upload. */
  hasTriggers: boolean;
  /** Its custom domain. */
  domain: string | undefined;
}

export class FakeAccount {
  isLoggedIn = true;
  /** IDs by title. */
  readonly namespaces = new Map<string, string>();
  /** By name. */
  readonly databases = new Map<string, { id: string; database: SqliteDatabase }>();
  readonly workers = new Map<string, FakeWorker>();
  /** The arguments of each call of wrangler, without paths. */
  readonly calls: string[] = [];
  /** Points at which it could have failed so far. */
  points = 0;
  /** Fails at this point. */
  failAt = Number.POSITIVE_INFINITY;
  #ids = 0;

  /** Between any two effects. */
  point(): void {
    if (this.points++ === this.failAt) throw new Error('no connection');
  }

  newId(): string {
    return `id-${++this.#ids}`;
  }

  createNamespace(title: string): string {
    if (this.namespaces.has(title))
      throw new Error('a namespace with this account ID and title already exists [code: 10014]');
    const id = this.newId();
    this.namespaces.set(title, id);
    return id;
  }

  /** @param path its file on this machine */
  createDatabase(name: string, path = ':memory:'): string {
    if (this.databases.has(name)) throw new Error('A database with that name already exists');
    const id = this.newId();
    this.databases.set(name, { id, database: new SqliteDatabase(path) });
    return id;
  }

  upload(name: string, version: FakeVersion): FakeWorker {
    this.point();
    const worker = this.workers.get(name) ?? {
      ...{ versions: [], hasTriggers: false, domain: undefined },
    };
    this.workers.set(name, worker);
    worker.versions.push(version);
    this.point();
    return worker;
  }
}

export function currentVersion(account: FakeAccount, name: string): FakeVersion | undefined {
  return account.workers.get(name)?.versions.at(-1);
}

/** Bytes of a statement that D1 accepts: https://developers.cloudflare.com/d1/platform/limits/ */
const MAX_STATEMENT = 100_000;

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const OPTIONS = {
  ...{ env: text, config: text, json: flag, remote: flag, yes: flag, command: text, file: text },
  ...{ location: text, jurisdiction: text, 'namespace-id': text },
  ...{ minify: flag, tag: text, 'secrets-file': text, domain: text },
  ...{ force: flag, 'skip-confirmation': flag },
  var: { type: 'string', multiple: true },
} as const;

const parse = (args: readonly string[]) =>
  parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });

interface Call {
  account: FakeAccount;
  values: ReturnType<typeof parse>['values'];
  config: ReturnType<typeof readWranglerConfig>;
  env: Record<string, string>;
  /** What is named behind the command. */
  name: string;
}

const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

/** By the words of a command: does it, and returns what wrangler prints. */
const COMMANDS: Record<string, (call: Call) => unknown> = {
  whoami: () => ({ loggedIn: true }),
  'd1 list': ({ account }) => [...account.databases.keys()].map((name) => ({ name })),
  'd1 create': ({ account, name }) => account.createDatabase(name),
  'd1 delete': ({ account, name }) => account.databases.delete(name),
  'd1 migrations apply': (call) => migrate(databaseOf(call)),
  async 'd1 execute'(call) {
    const { command, file } = call.values;
    const database = databaseOf(call);
    if (file === undefined)
      return database.batch(command!.split(';').map((sql) => database.prepare(sql)));
    const sql = readFileSync(file, 'utf8');
    if (sql.split(';\n').some((each) => Buffer.byteLength(each) > MAX_STATEMENT))
      throw new Error('statement too long');
    return database.transact(() => database.exec(sql));
  },
  'kv namespace list': ({ account }) =>
    [...account.namespaces].map(([title, id]) => ({ title, id })),
  'kv namespace create': ({ account, name, values: { env } }) =>
    account.createNamespace(env === '' ? name : `${env}-${name}`),
  'kv namespace delete'({ account, values }) {
    const [title] = [...account.namespaces].find(([, id]) => id === values['namespace-id']) ?? [];
    if (title === undefined) throw new Error('namespace not found [code: 10013]');
    account.namespaces.delete(title);
  },
  'deployments status': (call) => ({
    versions: [{ version_id: versionOf(call).id, percentage: 100 }],
  }),
  'versions view'(call) {
    const { id, tag, vars, secrets } = versionOf(call);
    const bindings = [
      { type: 'kv_namespace', name: 'NFT_INDEX' },
      ...Object.entries(vars).map(([name, text]) => ({ type: 'plain_text', name, text })),
      ...Object.keys(secrets).map((name) => ({ type: 'secret_text', name })),
    ];
    return { id, annotations: { 'workers/tag': tag }, resources: { bindings } };
  },
  deploy,
  delete(call) {
    if (!call.account.workers.delete(call.config.workerName)) versionOf(call);
  },
};

/** The command with the most words of these, and the word behind them. */
function findCommand(words: readonly string[]) {
  for (const count of [3, 2, 1]) {
    const command = COMMANDS[words.slice(0, count).join(' ')];
    if (command !== undefined) return { command, name: words[count] ?? '' };
  }
  throw new Error(`unknown: ${words.join(' ')}`);
}

export function fakeWrangler(account: FakeAccount): RunWrangler {
  return async (args, env = {}) => {
    account.calls.push(args.filter((arg) => !arg.startsWith('/')).join(' '));
    account.point();
    const { values, positionals } = parse(args);
    if (values.env === undefined) throw new Error('no environment is named');
    if (!account.isLoggedIn && positionals[0] === 'whoami') throw new Error('{"loggedIn":false}');
    if (!account.isLoggedIn) throw new Error('You are not authenticated.');
    const { command, name } = findCommand(positionals);
    const config = readWranglerConfig(WRANGLER_TOML, values.env);
    const told = await command({ account, values, config, env, name });
    account.point();
    return typeof told === 'object' ? JSON.stringify(told) : String(told ?? '');
  };
}

function versionOf({ account, config }: Call): FakeVersion {
  const version = currentVersion(account, config.workerName);
  if (version === undefined)
    throw new Error('This Worker does not exist on your account. [code: 10007]');
  return version;
}

function databaseOf({ account, values, name }: Call): SqliteDatabase {
  if (values.remote !== true) throw new Error('not for the deployed database');
  const found = account.databases.get(name);
  if (found === undefined) throw new Error(`Couldn't find a D1 DB named '${name}'`);
  return found.database;
}

/** The ID in the configuration that --config names. */
function configuredNamespace({ values: { config, env } }: Call): string | undefined {
  if (config === undefined) return undefined;
  const json = readJson(config);
  return (env === '' ? json : json.env[env!]).kv_namespaces[0].id;
}

function deploy(call: Call): void {
  const { account, config, values, env } = call;
  const { workerName: name, databaseName, vars } = config;
  const { var: given = [], 'secrets-file': secrets, domain, tag } = values;
  const named = given.map((each) => each.split(/:(.*)/s).slice(0, 2));
  const worker = account.upload(name, {
    ...{ id: account.newId(), tag, vars: { ...vars, ...Object.fromEntries(named) } },
    secrets: { ...currentVersion(account, name)?.secrets, ...(secrets && readJson(secrets)) },
    namespaceId: configuredNamespace(call)!,
    databaseId: account.databases.get(databaseName)!.id,
  });
  account.point();
  worker.hasTriggers = true;
  worker.domain = domain ?? worker.domain;
  account.point();
  const own = domain === undefined ? [] : [`${domain} (custom domain)`];
  const targets = [`https://${name}.example.workers.dev`, ...own, 'schedule: * * * * *'];
  for (const line of [{ type: 'wrangler-session' }, { type: 'deploy', targets }])
    appendFileSync(env.WRANGLER_OUTPUT_FILE_PATH!, `${JSON.stringify(line)}\n`);
}
