/**
 * Milestone keys as operators give them to scripts, in the form of the Worker's vars.
 */
import { readSettings } from '../../../src/settings.ts';
import type { MilestoneKeys } from '../../../src/stardust/milestone-keys.ts';

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
 * Undefined if neither is set. Throws an Error with a sentence if they are not valid, which names
 * the flag or setting that they came from.
 */
export function parseMilestoneKeys(
  publicKeys = '',
  threshold = '',
  names: KeyNames = SETTINGS,
): MilestoneKeys | undefined {
  const unused = {};
  const result = readSettings({
    LEDGER: unused,
    NFT_INDEX: unused,
    FOLLOWER: unused,
    ASSETS: unused,
    [SETTINGS.publicKeys]: publicKeys,
    [SETTINGS.threshold]: threshold,
  });
  if (!result.ok) {
    const problems = result.problems.join('; ');
    throw new Error(
      problems
        .replaceAll(SETTINGS.publicKeys, names.publicKeys)
        .replaceAll(SETTINGS.threshold, names.threshold),
    );
  }
  if (result.settings.milestoneKeys === undefined && (publicKeys !== '' || threshold !== ''))
    throw new Error(`${names.publicKeys} and ${names.threshold} must both be set, or none`);
  return result.settings.milestoneKeys;
}

/**
 * The keys of the command line's flags, else of the vars. A var that is empty is one that is not
 * set.
 *
 * @param flags what was given by `--milestone-public-keys` and `--milestone-threshold`
 * @param vars sources, the first one that has the var wins
 */
export function chooseMilestoneKeys(
  flags: Readonly<Record<keyof KeyNames, string | undefined>>,
  ...vars: readonly Readonly<Record<string, string | undefined>>[]
): MilestoneKeys | undefined {
  const find = (name: string) => vars.map((each) => each[name]).find(Boolean);
  return parseMilestoneKeys(
    flags.publicKeys ?? find(SETTINGS.publicKeys),
    flags.threshold ?? find(SETTINGS.threshold),
    {
      publicKeys: flags.publicKeys === undefined ? SETTINGS.publicKeys : '--milestone-public-keys',
      threshold: flags.threshold === undefined ? SETTINGS.threshold : '--milestone-threshold',
    },
  );
}
