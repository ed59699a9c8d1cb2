import { readSettings, type Settings } from '../../src/settings.ts';

/** The settings of an environment that has these bindings, objects for the others, and no var. */
export function defaultSettings(bindings: Readonly<Record<string, object>>): Settings {
  const result = readSettings({
    LEDGER: {},
    NFT_INDEX: {},
    FOLLOWER: {},
    ASSETS: {},
    VERSION: {},
    ...bindings,
  });
  if (!result.ok) throw new Error(result.problems.join());
  return result.settings;
}
