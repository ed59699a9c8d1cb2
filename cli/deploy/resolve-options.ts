/**
 * What to deploy: by flags, as deployed before, by wrangler.toml, or as the operator answers.
 */
import { readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as v from 'valibot';
import type { Settings } from '../../src/settings.ts';
import { checkVars } from '../lib/check-vars.ts';
import type { ImportRequest } from '../lib/import/import-snapshot.ts';
import { findFinalNetwork, readSigners, requireNetwork } from '../lib/network.ts';
import type { Ask } from '../lib/process/ask.ts';
import { isNodeUrl, type NetworkOptions, resolveSigners } from '../lib/process/command.ts';
import { UsageError } from '../lib/process/command-line.ts';
import { PROJECT } from '../lib/project.ts';
import { findUnmatched, readRoutePaths } from '../lib/unmatched-patterns.ts';
import type { WranglerConfig } from '../lib/wrangler/wrangler-config.ts';
import type { Found } from './find-deployed.ts';
import { defaultAccess } from './public-routes.ts';

export interface Flags extends NetworkOptions {
  upstream?: string | undefined;
  full?: string | undefined;
  delta?: string | undefined;
  secrets?: string | undefined;
  /** `NAME:VALUE`. */
  var?: string[] | undefined;
  location?: string | undefined;
  jurisdiction?: string | undefined;
  domain?: string | undefined;
  url?: string | undefined;
}

export interface DeployOptions extends Pick<Flags, 'location' | 'jurisdiction' | 'domain' | 'url'> {
  /** All settings of the Worker, by name. */
  vars: Record<string, string>;
  /** Path of a JSON file of secrets, and what is in it. */
  secrets: { path: string; values: Record<string, string> } | undefined;
  /** Undefined if the database has a ledger already. */
  snapshot: Pick<ImportRequest, 'full' | 'delta' | 'sha256' | 'network'> | undefined;
}

/**
 * Throws a UsageError, or an Error with a sentence, before anything is changed, if something is
 * missing or invalid.
 */
export async function resolveOptions(
  flags: Flags,
  { vars: known }: WranglerConfig,
  { worker, hasLedger, networks }: Found,
  ask: Ask,
): Promise<DeployOptions> {
  const { location, jurisdiction, domain, url } = flags;
  // it may have a password
  if (url !== undefined && !isNodeUrl(url))
    throw new UsageError('--url must be a URL of http or https');
  if (domain !== undefined && URL.parse(`https://${domain}`)?.host !== domain)
    throw new UsageError(`--domain must be a host name such as edge.example, not ${domain}`);
  let { network } = flags;
  const vars: Record<string, string> = { ...known };
  // empty ones too: they were emptied
  Object.assign(vars, worker?.vars);
  Object.assign(vars, resolveSigners(flags));
  const final = findFinalNetwork(flags.network);
  // it has no upstream any more
  if (final !== undefined)
    Object.assign(vars, { FINAL_MILESTONE: String(final.milestone), UPSTREAM_URL: '' });
  if (flags.upstream !== undefined) vars.UPSTREAM_URL = flags.upstream;
  for (const text of flags.var ?? []) Object.assign(vars, parseVar(text, known));
  // as the Worker reads them
  for (const [name, value] of Object.entries(vars)) vars[name] = value.trim();
  for (const path of [flags.full, flags.delta]) if (path !== undefined) requireFile(path);
  if (hasLedger) requireNetwork(flags.network, networks);
  const secrets = flags.secrets === undefined ? undefined : readSecrets(flags.secrets);
  const deployed = (worker?.secrets ?? []).map((name) => [name, 'set']);
  const hidden = { ...Object.fromEntries(deployed), ...secrets?.values };
  // `wrangler secret put` makes a Worker too, without settings
  const isFirst = worker?.vars.PUBLIC_ROUTES === undefined;
  Object.assign(vars, defaultAccess(vars, Object.keys(hidden), isFirst));
  // what is given is checked before anything is asked
  requireValid({ ...vars, ...hidden });
  if (!vars.MILESTONE_PUBLIC_KEYS) {
    const question = 'Network: shimmer, or the configuration file of its HORNET nodes?';
    network = await ask(question, '--network');
    Object.assign(vars, readSigners(network));
  }
  const isUpstreamKnown = flags.upstream !== undefined || final !== undefined;
  if (!vars.UPSTREAM_URL && !isUpstreamKnown && isFirst)
    vars.UPSTREAM_URL = await ask('URLs of HORNET nodes to follow, by commas?', '--upstream');
  if (requireValid({ ...vars, ...hidden }).milestoneKeys === undefined)
    throw new Error('MILESTONE_PUBLIC_KEYS and MILESTONE_THRESHOLD must both be set');
  const snapshot = hasLedger ? undefined : await resolveSnapshot({ ...flags, network }, ask);
  return { vars, secrets, snapshot, location, jurisdiction, domain, url };
}

function parseVar(text: string, known: Record<string, string>): Record<string, string> {
  const colon = text.indexOf(':');
  const name = text.slice(0, Math.max(colon, 0));
  // the value may be a secret in the wrong place
  if (!Object.hasOwn(known, name))
    throw new UsageError(
      `--var ${name}: the form is NAME:VALUE, with a NAME of wrangler.toml; secrets are for --secrets`,
    );
  return { [name]: text.slice(colon + 1) };
}

/** Names of all secrets. The Worker would ignore others. */
const secretsFile = v.record(
  v.picklist(['API_USER', 'API_PASSWORD', 'API_TOKEN', 'UPSTREAM_TOKEN']),
  v.string(),
);

function readSecrets(name: string): NonNullable<DeployOptions['secrets']> {
  const path = resolve(name);
  requireFile(path);
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), secretsFile), readText(path));
  if (!parsed.success) {
    // a message must not quote the value
    const where = v.getDotPath(parsed.issues[0]) ?? 'the file';
    throw new Error(
      `${path}: ${where} is invalid: it must be a JSON object of strings, with the names of --help`,
    );
  }
  return { path, values: parsed.output };
}

const readText = (path: string) => readFileSync(path, 'utf8');

const OPEN_API = join(PROJECT, 'src/http/openapi/openapi.json');

function requireValid(environment: Record<string, string>): Settings {
  const result = checkVars(environment);
  if (!result.ok) throw new Error(result.problems.join('\n'));
  const unmatched = findUnmatched(environment, readRoutePaths(OPEN_API));
  if (unmatched.length > 0) throw new Error(unmatched.join('\n'));
  return result.settings;
}

async function resolveSnapshot(flags: Flags, ask: Ask): Promise<DeployOptions['snapshot']> {
  const final = findFinalNetwork(flags.network, flags.delta);
  const from = final && `, which was published as ${final.url}`;
  const full = flags.full ?? (await ask(`File of the full snapshot${from ?? ''}?`, 'FILE'));
  const delta =
    flags.full === undefined && flags.delta === undefined && final === undefined
      ? (await ask('File of the delta snapshot, or nothing?', '--delta')) || undefined
      : flags.delta;
  for (const path of [full, delta]) if (path !== undefined) requireFile(path);
  return { full, delta, sha256: final?.sha256, network: flags.network };
}

function requireFile(path: string): void {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile())
    throw new Error(`${path}: there is no such file`);
}

/** Settings that a deployment names: an empty one only where it replaces wrangler.toml's. */
export const namedSettings = (vars: DeployOptions['vars'], { vars: known }: WranglerConfig) =>
  Object.entries(vars).filter(([name, value]) => value !== '' || known[name]);
