/**
 * Wrangler's commands, done to an account in memory as wrangler 4.156 and Cloudflare do them: D1
 * executes a file whole or not at all, within its limits; wrangler finds D1 by its name and KV by
 * the ID in its configuration or of the version before, keeps secrets, and replaces all settings.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { migrate } from '../../../scripts/lib/wrangler/local-database.ts';
import type { RunWrangler } from '../../../scripts/lib/wrangler/run-wrangler.ts';
import type { SqliteDatabase } from '../../../scripts/lib/wrangler/sqlite-database.ts';
import {
  readWranglerConfig,
  WRANGLER_TOML,
} from '../../../scripts/lib/wrangler/wrangler-config.ts';
import { currentVersion, type FakeAccount, type FakeVersion } from './fake-account.ts';

/** Bytes of a statement that D1 accepts: https://developers.cloudflare.com/d1/platform/limits/ */
const MAX_STATEMENT = 100_000;
/** Pairs that `wrangler kv bulk put` accepts at once. */
const MAX_PAIRS = 10_000;

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const OPTIONS = {
  ...{ env: text, config: text, json: flag, remote: flag, yes: flag, command: text, file: text },
  ...{ binding: text, preview: text, location: text, jurisdiction: text, 'namespace-id': text },
  ...{ minify: flag, tag: text, 'secrets-file': text, domain: text },
  ...{ force: flag, 'skip-confirmation': flag },
  var: { type: 'string', multiple: true },
} as const;

const parse = (args: readonly string[]) =>
  parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });

type Values = ReturnType<typeof parse>['values'];

export function fakeWrangler(account: FakeAccount): RunWrangler {
  return async (args, env = {}) => {
    account.calls.push(args.filter((arg) => !arg.startsWith('/')).join(' '));
    account.point();
    const { values, positionals } = parse(args);
    if (values.env === undefined) throw new Error('no environment is named');
    if (!account.isLoggedIn && positionals[0] === 'whoami') throw new Error('{"loggedIn":false}');
    if (!account.isLoggedIn) throw new Error('You are not authenticated.');
    const output = await new Call(account, values, env).answer(positionals);
    account.point();
    return output;
  };
}

class Call {
  readonly #account: FakeAccount;
  readonly #values: Values;
  readonly #env: Record<string, string>;
  readonly #config;

  constructor(account: FakeAccount, values: Values, env: Record<string, string>) {
    this.#account = account;
    this.#values = values;
    this.#env = env;
    this.#config = readWranglerConfig(WRANGLER_TOML, values.env);
  }

  async answer([group, verb, third, fourth]: readonly string[]): Promise<string> {
    const { command, file } = this.#values;
    switch ([group, verb, group === 'kv' ? third : ''].filter(Boolean).join(' ')) {
      case 'whoami':
        return '{"loggedIn":true}';
      case 'd1 list':
        return JSON.stringify([...this.#account.databases.keys()].map((name) => ({ name })));
      case 'd1 create':
        return this.#account.createDatabase(third!);
      case 'd1 delete':
        return String(this.#account.databases.delete(third!));
      case 'd1 migrations':
        await migrate(this.#database(fourth!));
        return '';
      case 'd1 execute':
        if (file === undefined)
          return JSON.stringify(await query(this.#database(third!), command!));
        executeFile(this.#database(third!), readFileSync(file, 'utf8'));
        return '';
      case 'kv namespace list':
        return JSON.stringify(
          [...this.#account.namespaces].map(([title, { id }]) => ({ title, id })),
        );
      case 'kv namespace create':
        return this.#account.createNamespace(fourth!);
      case 'kv namespace delete':
        return this.#deleteNamespace();
      case 'kv bulk put':
        put(this.#boundNamespace().entries, fourth!);
        return '';
      case 'deployments status':
        return JSON.stringify({ versions: [{ version_id: this.#version().id, percentage: 100 }] });
      case 'versions view':
        return JSON.stringify(versionToJson(this.#version()));
      case 'deploy':
        this.#deploy();
        return '';
      case 'delete':
        if (!this.#account.workers.delete(this.#config.workerName)) this.#version();
        return '';
      default:
        throw new Error(`unknown: ${[group, verb, third].join(' ')}`);
    }
  }

  #version(): FakeVersion {
    const version = currentVersion(this.#account, this.#config.workerName);
    if (version === undefined)
      throw new Error('This Worker does not exist on your account. [code: 10007]');
    return version;
  }

  #database(name: string): SqliteDatabase {
    if (this.#values.remote !== true) throw new Error('not for the deployed database');
    const found = this.#account.databases.get(name);
    if (found === undefined) throw new Error(`Couldn't find a D1 DB named '${name}'`);
    return found.database;
  }

  #boundNamespace() {
    const { remote, binding, preview } = this.#values;
    if (remote !== true || binding !== 'NFT_INDEX' || preview !== 'false')
      throw new Error('not for the deployed namespace');
    const id = this.#configuredNamespace() ?? this.#version().namespaceId;
    return [...this.#account.namespaces.values()].find((each) => each.id === id)!;
  }

  /** The ID in the configuration that --config names. */
  #configuredNamespace(): string | undefined {
    const { config, env } = this.#values;
    if (config === undefined) return undefined;
    const json = JSON.parse(readFileSync(config, 'utf8'));
    return (env === '' ? json : json.env[env!]).kv_namespaces[0].id;
  }

  #deleteNamespace(): string {
    const id = this.#values['namespace-id'];
    const found = [...this.#account.namespaces].find(([, each]) => each.id === id);
    if (found === undefined) throw new Error('namespace not found [code: 10013]');
    this.#account.namespaces.delete(found[0]);
    return '';
  }

  #deploy(): void {
    const account = this.#account;
    const { workerName: name, databaseName, vars } = this.#config;
    const { var: given = [], 'secrets-file': secrets, domain, tag } = this.#values;
    const before = currentVersion(account, name);
    const named = given.map((each) => {
      const colon = each.indexOf(':');
      return [each.slice(0, colon), each.slice(colon + 1)];
    });
    const newSecrets = secrets === undefined ? {} : JSON.parse(readFileSync(secrets, 'utf8'));
    account.upload(name, {
      id: account.newId(),
      tag,
      vars: { ...vars, ...Object.fromEntries(named) },
      secrets: { ...before?.secrets, ...newSecrets },
      namespaceId: this.#configuredNamespace()!,
      databaseId: account.databases.get(databaseName)!.id,
    });
    account.setTriggers(name, domain);
    const own = domain === undefined ? [] : [`${domain} (custom domain)`];
    const targets = [`https://${name}.example.workers.dev`, ...own, 'schedule: * * * * *'];
    appendFileSync(
      this.#env.WRANGLER_OUTPUT_FILE_PATH!,
      `${JSON.stringify({ type: 'wrangler-session' })}\n${JSON.stringify({ type: 'deploy', targets })}\n`,
    );
  }
}

function executeFile(database: SqliteDatabase, sql: string): void {
  for (const statement of sql.split(';\n')) {
    if (Buffer.byteLength(statement) > MAX_STATEMENT) throw new Error('statement too long');
  }
  database.transact(() => database.exec(sql));
}

function query(database: SqliteDatabase, command: string): Promise<{ results: unknown[] }[]> {
  return database.batch(command.split(';').map((sql) => database.prepare(sql)));
}

function put(entries: Map<string, string>, path: string): void {
  const pairs = JSON.parse(readFileSync(path, 'utf8')) as { key: string; value: string }[];
  if (pairs.length > MAX_PAIRS) throw new Error('too many pairs');
  for (const { key, value } of pairs) entries.set(key, value);
}

function versionToJson({ id, tag, vars, secrets }: FakeVersion) {
  return {
    id,
    annotations: { 'workers/tag': tag },
    resources: {
      bindings: [
        { type: 'kv_namespace', name: 'NFT_INDEX' },
        ...Object.entries(vars).map(([name, text]) => ({ type: 'plain_text', name, text })),
        ...Object.keys(secrets).map((name) => ({ type: 'secret_text', name })),
      ],
    },
  };
}
