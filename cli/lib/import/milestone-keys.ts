/**
 * Milestone keys as operators give them to scripts, in the form of the Worker's vars.
 */
import type { MilestoneKeys } from '../../../src/stardust/milestone.ts';
import { checkVars } from '../check-vars.ts';
import type { Signers } from '../network.ts';
import { SettingsError } from '../process/command-line.ts';

/** What keys and threshold were given by: a flag, or the name of the setting. */
export interface KeyNames {
  publicKeys: string;
  threshold: string;
}

const SETTINGS: KeyNames = {
  publicKeys: 'MILESTONE_PUBLIC_KEYS',
  threshold: 'MILESTONE_THRESHOLD',
};

/**
 * Undefined if neither is set. Throws a SettingsError if they are not valid, which names the flag or
 * setting that they came from.
 */
export function parseMilestoneKeys(
  publicKeys = '',
  threshold = '',
  names: KeyNames = SETTINGS,
): MilestoneKeys | undefined {
  const result = checkVars({
    [SETTINGS.publicKeys]: publicKeys,
    [SETTINGS.threshold]: threshold,
  });
  if (!result.ok) {
    const problems = result.problems.join('; ');
    throw new SettingsError(
      problems
        .replaceAll(SETTINGS.publicKeys, names.publicKeys)
        .replaceAll(SETTINGS.threshold, names.threshold),
    );
  }
  if (result.settings.milestoneKeys === undefined && (publicKeys !== '' || threshold !== ''))
    throw new SettingsError(`${names.publicKeys} and ${names.threshold} must both be set, or none`);
  return result.settings.milestoneKeys;
}

/**
 * The keys of the command line, else of the vars. A var that is empty is one that is not set.
 *
 * @param given by options of the command line
 * @param vars sources, the first one that has the var wins
 */
export function chooseMilestoneKeys(
  given: Partial<Signers>,
  ...vars: readonly Readonly<Record<string, string | undefined>>[]
): MilestoneKeys | undefined {
  const find = (name: keyof Signers) => given[name] ?? vars.map((each) => each[name]).find(Boolean);
  const nameOf = (name: keyof Signers, option: string) =>
    given[name] === undefined ? name : option;
  return parseMilestoneKeys(find('MILESTONE_PUBLIC_KEYS'), find('MILESTONE_THRESHOLD'), {
    publicKeys: nameOf('MILESTONE_PUBLIC_KEYS', '--keys'),
    threshold: nameOf('MILESTONE_THRESHOLD', '--threshold'),
  });
}
