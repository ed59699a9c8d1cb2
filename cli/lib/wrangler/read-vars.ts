/**
 * The Worker's vars and secrets on this machine: the environment of this process overrides
 * .dev.vars, which overrides [vars] of wrangler.toml, as in `wrangler dev`.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { VAR_NAMES } from '../../../src/settings.ts';
import { checkVars } from '../check-vars.ts';
import { errorMessage, SettingsError } from '../process/command-line.ts';
import { PROJECT } from '../project.ts';
import type { WranglerConfig } from './wrangler-config.ts';

const DEV_VARS = join(PROJECT, '.dev.vars');

/** A value in quotes, which may go over lines. */
const QUOTED = /=[ \t]*(?:"[^"]*"|'[^']*'|`[^`]*`)/g;

/**
 * Throws a SettingsError where it cannot be read, an editor wrote UTF-16, of which no name could be
 * read, or a line is none of `NAME=VALUE`, which would be left out: it may be to close a route.
 *
 * @param file .dev.vars; need not be there
 */
export function readDevVars(file = DEV_VARS): Record<string, string> {
  if (!existsSync(file)) return {};
  const text = readText(file);
  if (text.includes('\0')) throw new SettingsError(`${file} has NUL bytes: save it as UTF-8`);
  const lines = text.replaceAll(QUOTED, (value) => value.replaceAll(/[^\n]/g, '=')).split('\n');
  const strange = lines.findIndex((line) => /^\s*[^\s#=][^=]*$/.test(line));
  // the line may have a secret
  if (strange >= 0)
    throw new SettingsError(`${file}: line ${strange + 1} is not of the form NAME=VALUE`);
  const entries = Object.entries(parseEnv(text.replace(/^\uFEFF/, '')));
  return Object.fromEntries(entries.map(([name, value = '']) => [name, value]));
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new SettingsError(`${file} cannot be read: ${errorMessage(error)}`, { cause: error });
  }
}

/**
 * Throws a SettingsError with a sentence for each that is not right.
 *
 * @param environment of the process; only names of settings are taken from it
 * @param file .dev.vars; need not be there
 */
export function readVars(
  { vars }: Pick<WranglerConfig, 'vars'>,
  environment: Readonly<Record<string, string | undefined>>,
  file = DEV_VARS,
): Record<string, string> {
  const all: Record<string, string> = { ...vars, ...readDevVars(file) };
  for (const name of VAR_NAMES) {
    const value = environment[name];
    if (value !== undefined) all[name] = value;
  }
  const result = checkVars(all);
  if (!result.ok) throw new SettingsError(result.problems.join('\n'));
  if (result.settings.upstreams.length > 0) requireKeys(all);
  return all;
}

/** Without keys every pass of the follower would stop. */
function requireKeys(vars: Readonly<Record<string, string>>): void {
  const missing = ['MILESTONE_PUBLIC_KEYS', 'MILESTONE_THRESHOLD'].filter(
    (name) => !vars[name]?.trim(),
  );
  if (missing.length === 0) return;
  throw new SettingsError(
    `${missing.join(' and ')} must be set where UPSTREAM_URL is: ` +
      'milestones are applied only if they can be verified',
  );
}
