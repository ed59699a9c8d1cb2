/**
 * Settings as commands check them: by the Worker's rules, without its bindings.
 */
import { readSettings } from '../../src/settings.ts';

const BINDINGS = { LEDGER: {}, NFT_INDEX: {}, FOLLOWER: {}, ASSETS: {}, VERSION: {} };

export const checkVars = (vars: Readonly<Record<string, string | undefined>>) =>
  readSettings({ ...vars, ...BINDINGS });
