/**
 * `stardust-edge deploy --dry-run`: the steps, and all that can be checked on this machine.
 */
import { printable } from '../../client/printable.ts';
import { computeLedgerRoot } from '../ledger-root/compute-ledger-root.ts';
import { parametersHash } from '../lib/import/import-snapshot.ts';
import { parseMilestoneKeys } from '../lib/import/milestone-keys.ts';
import { requireNetwork } from '../lib/network.ts';
import type { Ask } from '../lib/process/ask.ts';
import type { Found } from './find-deployed.ts';
import { describeAccess } from './public-routes.ts';
import {
  type DeployOptions,
  type Flags,
  namedSettings,
  resolveOptions,
} from './resolve-options.ts';
import { type Deployment, listSteps } from './steps.ts';

/** A deployment would ask here. */
class WouldAsk extends Error {
  override readonly name = 'WouldAsk';
}

const askNothing: Ask = async (_question, flag) => {
  throw new WouldAsk(`Not all is checked: a deployment would ask for ${flag}.`);
};

/**
 * Prints the steps, what the settings are, and which ledger the files hold. Asks nothing and
 * changes nothing. Returns whether all was checked: a deployment would ask for nothing. Throws an
 * Error with a sentence for what a deployment would refuse.
 */
export async function dryRun(deployment: Deployment, found: Found, flags: Flags): Promise<boolean> {
  const { config, print } = deployment;
  for (const { name, describe, isDone } of Object.values(listSteps(deployment, found)))
    print(`${name}: ${isDone ? 'done before' : describe}`);
  let options: DeployOptions;
  try {
    options = await resolveOptions(flags, config, found, askNothing);
  } catch (error) {
    if (!(error instanceof WouldAsk)) throw error;
    print(error.message);
    return false;
  }
  const { vars, secrets, snapshot } = options;
  print('Settings are valid:');
  for (const [name, value] of namedSettings(vars, config)) print(`  ${name}=${value}`);
  for (const name of Object.keys(secrets?.values ?? {})) print(`  ${name}, a secret`);
  for (const sentence of describeAccess(vars)) print(sentence);
  if (snapshot !== undefined) await checkSnapshot(snapshot, vars, print);
  return true;
}

/** Reads the files as an import does, without a database. */
async function checkSnapshot(
  { full, delta, sha256: expected, network }: NonNullable<DeployOptions['snapshot']>,
  { MILESTONE_PUBLIC_KEYS, MILESTONE_THRESHOLD }: DeployOptions['vars'],
  print: Deployment['print'],
): Promise<void> {
  const keys = parseMilestoneKeys(MILESTONE_PUBLIC_KEYS, MILESTONE_THRESHOLD);
  const { sha256, stateHash, ledger, parameters } = await computeLedgerRoot({ full, delta }, keys);
  if (expected !== undefined && sha256.full !== expected)
    throw new Error(`${full}: the file has SHA-256 ${sha256.full}, expected ${expected}`);
  requireNetwork(network, [ledger.networkName]);
  print('The snapshot can be imported:');
  print(`  network       ${printable(ledger.networkName)}`);
  print(`  ledger index  ${ledger.milestoneIndex}`);
  print(`  outputs       ${ledger.outputs.count}`);
  print(`  NFTs          ${ledger.nfts.count}`);
  print(`  state hash    ${stateHash.toHex()}`);
  print(`  parameters    ${parametersHash(parameters)}`);
  print(`  SHA-256       ${sha256.full}`);
  if (sha256.delta !== undefined) print(`  of the delta  ${sha256.delta}`);
}
