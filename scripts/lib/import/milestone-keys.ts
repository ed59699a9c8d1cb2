/**
 * Milestone keys as operators give them to scripts, in the form of the Worker's vars.
 */
import { readSettings } from '../../../src/settings.ts';
import type { MilestoneKeys } from '../../../src/stardust/milestone-keys.ts';

/** Undefined if neither is set. Throws an Error with a sentence if they are not valid. */
export function parseMilestoneKeys(publicKeys = '', threshold = ''): MilestoneKeys | undefined {
  const unused = {};
  const result = readSettings({
    LEDGER: unused,
    NFT_INDEX: unused,
    FOLLOWER: unused,
    MILESTONE_PUBLIC_KEYS: publicKeys,
    MILESTONE_THRESHOLD: threshold,
  });
  if (!result.ok) throw new Error(result.problems.join('; '));
  if (result.settings.milestoneKeys === undefined && (publicKeys !== '' || threshold !== '')) {
    throw new Error('MILESTONE_PUBLIC_KEYS and MILESTONE_THRESHOLD must both be set, or none');
  }
  return result.settings.milestoneKeys;
}
