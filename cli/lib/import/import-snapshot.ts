/**
 * Imports a snapshot from files into a database, and prints progress, what is wrong with a file,
 * and what the database holds then.
 */
import { printable } from '../../../client/printable.ts';
import type { Database } from '../../../src/ledger/core/database.ts';
import { networkNames, readParameters } from '../../../src/ledger/core/ledger-parameters.ts';
import {
  type LoadedLedger,
  type LoadOptions,
  loadSnapshot,
  ReplacementRefused,
} from '../../../src/ledger/import/load-snapshot.ts';
import { ledgerStateHash } from '../../../src/ledger/read/ledger-state-hash.ts';
import { verifySignature } from '../../../src/platform/verify-signature.ts';
import { blake2b256 } from '../../../src/stardust/crypto/hash.ts';
import type { MilestoneKeys } from '../../../src/stardust/milestone.ts';
import { SnapshotRefusal } from '../../../src/stardust/snapshot.ts';
import { requireNetwork } from '../network.ts';
import { errorMessage } from '../process/command-line.ts';
import { openSnapshotFile } from '../snapshot-file.ts';
import type { MayReplace } from './check-replacement.ts';
import { ProgressBar } from './progress-bar.ts';

export interface ImportRequest {
  /** Paths of the files. */
  full: string;
  delta: string | undefined;
  /** Who signs milestones. If undefined, signatures are not verified. */
  keys: MilestoneKeys | undefined;
  /** Hex of the SHA-256 that the full snapshot must have; it is stored with the ledger. */
  sha256?: string | undefined;
  /** What `--network` names: the ledger must be of that network. */
  network?: string | undefined;
  /** Asked before the ledger goes back in time or changes the network. If absent, it does not. */
  mayReplace?: MayReplace;
}

const NOTE_UNSIGNED =
  'Note: signatures of the milestones in the files are not checked: no keys are given ' +
  '(MILESTONE_PUBLIC_KEYS and MILESTONE_THRESHOLD).';

/** Throws an Error with a sentence for people: which file, where in it, and what is wrong. */
export async function importSnapshot(
  db: Database,
  request: ImportRequest,
  { beforeReplacing, ...options }: Pick<LoadOptions, 'beforeReplacing' | 'indexAll'> = {},
): Promise<LoadedLedger> {
  const { sha256 } = request;
  const full = openSnapshotFile(
    request.full,
    sha256 === undefined ? undefined : (found) => requireHash(found, sha256, full.size),
  );
  const delta = request.delta === undefined ? undefined : openSnapshotFile(request.delta);
  const total = full.size + (delta?.size ?? 0);
  const bar = new ProgressBar('bytes');
  try {
    return await loadSnapshot(db, full, delta, {
      ...options,
      sha256,
      ...(request.keys && { signers: { keys: request.keys, verify: verifySignature } }),
      onProgress: ({ file, offset }) =>
        bar.show('Reading', file === 'full' ? offset : full.size + offset, total),
      async beforeReplacing(staged, stateHash) {
        bar.clear();
        if (staged.diffs > 0 && request.keys === undefined) console.warn(NOTE_UNSIGNED);
        const { networkName } = staged.currentParameters;
        try {
          requireNetwork(request.network, [networkName]);
        } catch (error) {
          throw new ReplacementRefused(errorMessage(error), { cause: error });
        }
        await beforeReplacing?.(staged, stateHash);
      },
    });
  } catch (error) {
    if (!(error instanceof SnapshotRefusal)) throw error;
    throw new Error(`${error.file === 'full' ? request.full : request.delta}: ${error.message}`, {
      cause: error,
    });
  } finally {
    bar.clear();
  }
}

function requireHash(found: string, sha256: string, size: number): void {
  if (found === sha256) return;
  throw new SnapshotRefusal('full', size, `the file has SHA-256 ${found}, expected ${sha256}`);
}

/** The network whose ledger the database holds, undefined where there is none. */
async function networkOf(db: Database): Promise<string | undefined> {
  return networkNames(await readParameters(db))[0];
}

const SELECT_HELD = `
  SELECT h.ledger, m.timestamp, (SELECT count(*) FROM output) AS outputs,
    (SELECT count(*) FROM nft WHERE output IS NOT NULL) AS nfts
  FROM head h JOIN milestone m ON m.idx = h.ledger`;

export interface Held {
  network: string;
  ledger: number;
  /** Of the milestone, in Unix seconds. */
  timestamp: number;
  outputs: number;
  nfts: number;
  /** All that are known: the state hash has none of them. */
  parameters: LoadedLedger['parameters'];
}

/** Prints what the database now holds, and returns it. */
export async function reportHeld(db: Database): Promise<Held> {
  const found = await db.prepare(SELECT_HELD).first<Omit<Held, 'network' | 'parameters'>>();
  if (found === null) throw new Error('the database holds no ledger');
  const { options } = await readParameters(db);
  const held = { ...found, network: (await networkOf(db))!, parameters: options };
  printHeld(held, await ledgerStateHash(db));
  return held;
}

/**
 * BLAKE2b-256, hex, of the protocol parameters: of each set, ascending by the milestone from which on
 * it holds, that index (uint32, little endian), the protocol version (uint8) and the set's bytes.
 */
export function parametersHash(options: LoadedLedger['parameters']): string {
  const ascending = options.toSorted((a, b) => a.targetMilestoneIndex - b.targetMilestoneIndex);
  const parts = ascending.flatMap(({ targetMilestoneIndex, protocolVersion, parameters }) => {
    const target = Buffer.alloc(4);
    target.writeUInt32LE(targetMilestoneIndex);
    return [target, Uint8Array.of(protocolVersion), parameters];
  });
  return blake2b256(Buffer.concat(parts)).toHex();
}

export function printHeld(
  { network, ledger, timestamp, outputs, nfts, parameters }: Held,
  stateHash: Uint8Array,
): void {
  console.log(`network       ${printable(network)}`);
  console.log(`ledger index  ${ledger}`);
  console.log(`time          ${new Date(timestamp * 1000).toISOString()}`);
  console.log(`outputs       ${outputs}`);
  console.log(`NFTs          ${nfts}`);
  console.log(`state hash    ${stateHash.toHex()}`);
  console.log(`parameters    ${parametersHash(parameters)}`);
}
