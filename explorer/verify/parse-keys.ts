/**
 * Milestone keys as visitors paste them.
 */
import { fromHex } from '../../src/stardust/encoding/bytes.ts';
import type { MilestoneKeys } from '../../src/stardust/milestone-keys.ts';

/**
 * Throws an Error with a sentence, in terms of the form, if these are no keys.
 *
 * @param text keys of 64 hex digits, separated by commas or white space
 * @param thresholdText how many of them must have signed; empty: all
 */
export function parseKeys(text: string, thresholdText: string): MilestoneKeys {
  const entries = text.split(/[\s,]+/).filter((entry) => entry !== '');
  if (entries.length === 0) throw new Error('No key is given.');
  const keys = entries.map((entry, i) => {
    const digits = /^(?:0x)?(?<digits>[0-9a-f]{64})$/i.exec(entry)?.groups?.digits;
    if (digits === undefined)
      throw new Error(`Key ${i + 1} is not 64 hex digits: ${entry.slice(0, 80)}`);
    return { publicKey: fromHex(`0x${digits}`), first: 0, last: 0 };
  });
  const count = new Set(entries.map((entry) => entry.toLowerCase().replace('0x', ''))).size;
  const threshold = thresholdText.trim() === '' ? count : Number(thresholdText);
  if (!Number.isInteger(threshold) || threshold < 1)
    throw new Error('The number of signatures must be 1 or more.');
  if (threshold > count)
    throw new Error(`${threshold} signatures cannot come of ${count} different keys.`);
  return { keys, threshold };
}
