/**
 * Fills local databases with the sample: imports the snapshot, applies the next milestone by the
 * follower's code, stores the blocks of the one after it, and publishes the NFTs. Steps that are
 * done are skipped.
 */
import { createFollowerMemory } from '../../src/follower/follower-context.ts';
import { followOnce } from '../../src/follower/pass.ts';
import type { Database } from '../../src/ledger/core/database.ts';
import { type Head, LedgerUnreadable, readHead } from '../../src/ledger/core/head.ts';
import { readView } from '../../src/ledger/view/consistent-view.ts';
import { openIndexLedger } from '../../src/nft-index/d1-ledger.ts';
import { verifySignature } from '../../src/platform/verify-signature.ts';
import type { MilestoneKeys } from '../../src/stardust/milestone.ts';
import { readServed, type ServedLedger } from '../lib/import/check-replacement.ts';
import { importSnapshot } from '../lib/import/import-snapshot.ts';
import { parseMilestoneKeys } from '../lib/import/milestone-keys.ts';
import { publishLocally } from '../lib/import/publish-index.ts';
import { CALLED_AS, callWith } from '../lib/process/command.ts';
import { holdAlone, unlessServed } from '../lib/wrangler/hold-folder.ts';
import { openLocalDatabase } from '../lib/wrangler/local-database.ts';
import type { WranglerConfig } from '../lib/wrangler/wrangler-config.ts';
import {
  CONFIRMED,
  IMPORTED,
  readNetwork,
  readWhiteFlag,
  type SampleNetwork,
  SNAPSHOT,
  sampleUpstream,
} from './sample.ts';

/** For the milestone: more than it takes. */
const TIMEOUT_MS = 30_000;

/** 0x-hex. */
export interface SampleNft {
  nftId: string;
  outputId: string;
}

/**
 * Returns an NFT that the sample's ledger holds. Throws an Error with a sentence if the databases
 * hold another ledger.
 */
export async function prepareSample(
  persistTo: string,
  config: WranglerConfig,
  say: (step: string) => void,
): Promise<SampleNft> {
  const network = readNetwork();
  const keys = sampleKeys(network);
  const db = await openLocalDatabase(persistTo, config);
  try {
    const served = await readServed(db);
    if (served !== undefined) requireSample(served, persistTo);
    // the sample of another version is imported again
    if (served === undefined || (await isOfOtherSchema(db))) {
      // of two at once, one would serve what the other has staged in part
      using _alone = holdAlone(persistTo, 'import');
      say(`Importing the snapshot at milestone ${IMPORTED}`);
      await importSnapshot(db, { full: SNAPSHOT, delta: undefined, keys });
    }
    if (!(await isApplied(db))) {
      say('Applying milestone 17339: signatures, white flag, both roots');
      await applyConfirmed(db, keys);
    }
    if (!(await isPublished(db))) {
      say('Publishing its NFTs');
      await unlessServed(persistTo, 'publishes them', () => publishLocally(persistTo));
    }
    return await sampleNft(db);
  } finally {
    db.close();
  }
}

export function sampleKeys({
  milestonePublicKeys,
  milestoneThreshold,
}: SampleNetwork): MilestoneKeys {
  return parseMilestoneKeys(milestonePublicKeys.join(), String(milestoneThreshold))!;
}

function requireSample(
  { index: ledger, networks: [network] }: ServedLedger,
  persistTo: string,
): void {
  if (network === readNetwork().name && ledger >= IMPORTED && ledger <= CONFIRMED) return;
  throw new Error(
    `${persistTo} holds the ledger of network ${network} at milestone ${ledger}, which the sample ` +
      `would replace. Name another folder: ${callWith('start', '--persist-to DIR')}; or serve that ` +
      `ledger: ${CALLED_AS} serve --persist-to ${persistTo}`,
  );
}

/** Whether another version of this node imported the ledger. */
async function isOfOtherSchema(db: Database): Promise<boolean> {
  try {
    await readHead(db);
    return false;
  } catch (error) {
    if (error instanceof LedgerUnreadable) return true;
    throw error;
  }
}

async function requireHead(db: Database): Promise<Head> {
  const head = await readHead(db);
  if (head === undefined) throw new Error('there is no ledger');
  return head;
}

/**
 * Whether the ledger is at the confirmed milestone, and the parents of the next one are stored.
 * Blocks are stored parents first, so then the rest of their cone is stored too.
 */
async function isApplied(db: Database): Promise<boolean> {
  const { ledger } = await requireHead(db);
  if (ledger !== CONFIRMED) return false;
  const named = readWhiteFlag().request.parents.map((id) => id.slice(2));
  const view = await readView(db, { index: ledger + 1, named });
  return view?.named.size === named.length;
}

async function applyConfirmed(db: Database, keys: MilestoneKeys): Promise<void> {
  const upstreams = [sampleUpstream()];
  const tools = {
    verify: verifySignature,
    memory: createFollowerMemory(),
    publish: async () => {},
  };
  const following = { db, upstreams, keys, ...tools, retention: CONFIRMED };
  await followOnce(following, { deadline: Date.now() + TIMEOUT_MS, milestones: 1 });
  if (!(await isApplied(db))) throw new Error('the milestone of the sample could not be applied');
}

async function isPublished(db: Database): Promise<boolean> {
  const { head, stored } = await openIndexLedger(db).readState();
  const state = stored?.state;
  return state?.entries.kind === 'complete' && state.recent?.to === head?.ledgerIndex;
}

async function sampleNft(db: Database): Promise<SampleNft> {
  const found = await db
    .prepare(
      'SELECT id, output FROM nft WHERE changed = ?1 AND output IS NOT NULL ORDER BY id LIMIT 1',
    )
    .bind(CONFIRMED)
    .first<{ id: string; output: string }>();
  if (found === null) throw new Error(`milestone ${CONFIRMED} left no NFT`);
  return { nftId: `0x${found.id}`, outputId: `0x${found.output}` };
}
