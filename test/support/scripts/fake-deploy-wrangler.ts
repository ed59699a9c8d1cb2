/**
 * Wrangler's commands as `npm run deploy` gives them, done to an account in memory. What wrangler
 * finds out by itself is done as wrangler 4.156 does it: it makes stores that a first deployment
 * lacks, connects to a database of the name that is configured, inherits both from the version
 * before, keeps secrets, and replaces all settings.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { RunWrangler } from '../../../scripts/lib/wrangler/run-wrangler.ts';
import {
  readWranglerConfig,
  WRANGLER_TOML,
} from '../../../scripts/lib/wrangler/wrangler-config.ts';
import { currentVersion, type FakeAccount, type FakeVersion } from './fake-account.ts';
import { executeOn } from './fake-wrangler.ts';

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const OPTIONS = {
  ...{ env: text, json: flag, remote: flag, yes: flag, minify: flag, command: text, file: text },
  ...{ tag: text, message: text, config: text, 'secrets-file': text, binding: text, preview: text },
  var: { type: 'string', multiple: true },
} as const;

export function fakeDeployWrangler(account: FakeAccount): RunWrangler {
  return async (args, env = {}) => {
    account.point();
    const { values, positionals } = parseArgs({
      args: [...args],
      options: OPTIONS,
      allowPositionals: true,
    });
    if (values.env === undefined) throw new Error('no environment is named');
    const config = readWranglerConfig(WRANGLER_TOML, values.env);
    const name = config.workerName;
    const [group, verb, third] = positionals;
    if (!account.isLoggedIn && group === 'whoami') throw new Error('{"loggedIn":false}');
    if (!account.isLoggedIn) throw new Error('You are not authenticated.');
    const output = await answer();
    account.point();
    return output;

    async function answer(): Promise<string> {
      switch (`${group} ${verb ?? ''}`.trim()) {
        case 'whoami':
          return '{"loggedIn":true}';
        case 'deployments status':
          return JSON.stringify({
            versions: [{ version_id: mustVersion().id, percentage: 100 }],
          });
        case 'versions view':
          return JSON.stringify(versionToJson(mustVersion()));
        case 'kv namespace':
          return JSON.stringify([...account.namespaces].map(([title, { id }]) => ({ title, id })));
        case 'kv bulk': {
          const id = mustVersion().namespaceId;
          const bound = [...account.namespaces.values()].find((each) => each.id === id)!;
          return executeOn(databaseOf(), bound.entries, args);
        }
        case 'd1 migrations':
        case 'd1 execute':
          return executeOn(
            databaseOf(third === 'apply' ? positionals[3]! : third!),
            new Map(),
            args,
          );
        case 'deploy':
          deploy();
          return '';
        default:
          throw new Error(`unknown: ${args.join(' ')}`);
      }
    }

    function mustVersion(): FakeVersion {
      const version = currentVersion(account, name);
      if (version === undefined)
        throw new Error('This Worker does not exist on your account. [code: 10007]');
      return version;
    }

    function databaseOf(asked = config.databaseName) {
      const found = account.databases.get(asked);
      if (found === undefined) throw new Error(`Couldn't find a D1 DB named '${asked}'`);
      return found.database;
    }

    function deploy(): void {
      const before = currentVersion(account, name);
      const configured = values.config === undefined ? undefined : namespaceOf(values.config);
      const namespaceId =
        configured ?? before?.namespaceId ?? account.createNamespace(`${name}-nft-index`);
      const databaseId =
        account.databases.get(config.databaseName)?.id ??
        account.createDatabase(config.databaseName);
      const given = (values.var ?? []).map((each) => {
        const colon = each.indexOf(':');
        return [each.slice(0, colon), each.slice(colon + 1)];
      });
      const secrets = values['secrets-file'];
      account.upload(name, {
        id: account.newId(),
        tag: values.tag,
        message: values.message,
        vars: { ...config.vars, ...Object.fromEntries(given) },
        secrets: {
          ...before?.secrets,
          ...(secrets !== undefined && JSON.parse(readFileSync(secrets, 'utf8'))),
        },
        namespaceId,
        databaseId,
      });
      account.setTriggers(name);
      const line = {
        type: 'deploy',
        version_id: mustVersion().id,
        targets: [`https://${name}.example.workers.dev`, 'schedule: * * * * *'],
      };
      appendFileSync(
        env.WRANGLER_OUTPUT_FILE_PATH!,
        `${JSON.stringify({ type: 'wrangler-session' })}\n${JSON.stringify(line)}\n`,
      );
    }

    function namespaceOf(path: string): string {
      const json = JSON.parse(readFileSync(path, 'utf8'));
      const table = values.env === '' ? json : json.env[values.env!];
      return table.kv_namespaces[0].id;
    }
  };
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
