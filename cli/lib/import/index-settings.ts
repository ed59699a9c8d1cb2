/**
 * The settings that decide which outputs are in lists, as scripts read them.
 */
import type { IndexSettings } from '../../../src/ledger/output-list/indexed-kinds.ts';
import { checkVars } from '../check-vars.ts';
import { SettingsError } from '../process/command-line.ts';

type Vars = Readonly<Record<string, string | undefined>>;

/**
 * Throws a SettingsError if they are not valid.
 *
 * @param vars sources, the first one that has the var wins
 */
export function readIndexSettings(...vars: readonly Vars[]): IndexSettings {
  const find = (name: string) => vars.map((each) => each[name]).find(Boolean);
  const [index, final] = [find('INDEX'), find('FINAL_MILESTONE')];
  const result = checkVars({ INDEX: index, FINAL_MILESTONE: final });
  if (!result.ok) throw new SettingsError(result.problems.join('\n'));
  return result.settings;
}
