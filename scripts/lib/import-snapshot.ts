/**
 * Importing a snapshot from files into a database: progress on the terminal, what is wrong in a sentence, and what came of it.
 */
import { verifySignature } from '../../src/follow/session.ts';
import { type LoadedLedger, loadSnapshot } from '../../src/ledger/load.ts';
import { readParameters } from '../../src/ledger/parameters.ts';
import type { Database } from '../../src/ledger/rows.ts';
import { ledgerStateHash } from '../../src/ledger/state-hash.ts';
import type { MilestoneKeys } from '../../src/stardust/milestone-keys.ts';
import { decodeParameters } from '../../src/stardust/parameters.ts';
import { SnapshotRefusal } from '../../src/stardust/snapshot/byte-stream.ts';
import { ProgressBar } from './progress-bar.ts';
import { openSnapshotFile } from './snapshot-files.ts';

export interface ImportRequest {
  /** Paths of the files. */
  full: string;
  delta: string | undefined;
  /** Who signs milestones. Without them signatures are not looked at. */
  keys: MilestoneKeys | undefined;
}

/** Rejects with an Error whose message is a sentence for people: which file, what, and where in it. */
export async function importSnapshot(db: Database, request: ImportRequest): Promise<LoadedLedger> {
  const full = openSnapshotFile(request.full);
  const delta = request.delta === undefined ? undefined : openSnapshotFile(request.delta);
  const total = full.size + (delta?.size ?? 0);
  const bar = new ProgressBar();
  try {
    return await loadSnapshot(db, full, delta, {
      ...(request.keys && { signers: { keys: request.keys, verify: verifySignature } }),
      onProgress: ({ file, offset }) => bar.show('Reading', file === 'full' ? offset : full.size + offset, total),
    });
  } catch (error) {
    if (!(error instanceof SnapshotRefusal)) throw error;
    throw new Error(`${error.file === 'full' ? request.full : request.delta}: ${error.message}`, { cause: error });
  } finally {
    bar.clear();
  }
}

/** The network whose ledger the database holds, undefined where there is none. */
export async function networkOf(db: Database): Promise<string | undefined> {
  const [option] = (await readParameters(db)).options;
  return option && decodeParameters(option.parameters).networkName;
}

/** Prints what was loaded, with the state hash of what the database now holds. */
export async function report(db: Database, { ledgerIndex, outputs, nfts }: LoadedLedger): Promise<void> {
  const hash = await ledgerStateHash(db);
  console.log(`ledger index  ${ledgerIndex}`);
  console.log(`outputs       ${outputs}`);
  console.log(`NFTs          ${nfts}`);
  console.log(`state hash    ${hash.toHex()}`);
}
