/**
 * What the page asks of a node to judge what it shows: each function reads bytes, and lets
 * src/stardust/provenance/ decide. A part that does not come in time is not checked; it is never
 * left out.
 */
import { within } from '../../src/platform/clock.ts';
import { startWorkers } from '../../src/platform/concurrency.ts';
import { verifySignature } from '../../src/platform/verify-signature.ts';
import {
  proveBlockBytes,
  proveBlockContent,
  proveBlocks,
} from '../../src/stardust/provenance/blocks.ts';
import { proveMilestone } from '../../src/stardust/provenance/milestone.ts';
import { notChecked } from '../../src/stardust/provenance/proved.ts';
import type {
  AskedMilestone,
  BlockFacts,
  BlockSet,
  Finding,
  SignedMilestone,
} from '../../src/stardust/provenance/provenance.ts';
import { isMissing } from '../node/ask.ts';
import { readBlockBytes, readMilestoneBytes } from '../node/ledger.ts';
import { describeKeys, type KeyChoice, remarkOnName } from './describe-keys.ts';
import { parseKeys } from './parse-keys.ts';

/** Throws an Error with a sentence where the visitor's keys are none. */
export function trustOf(choice: KeyChoice) {
  return {
    whose: describeKeys(choice),
    keys: choice.kind === 'known' ? choice.network : parseKeys(choice.publicKeys, choice.threshold),
    verify: verifySignature,
  };
}

/**
 * Whether the chosen keys signed this milestone. Where nobody has chosen keys, and the node calls its
 * network by another name than that of the default, a milestone that they did not sign is not refuted.
 */
export async function judgeMilestone(
  payload: Uint8Array,
  asked: AskedMilestone,
  choice: KeyChoice,
  networkName: string,
): Promise<Finding<SignedMilestone>> {
  const finding = await proveMilestone(payload, asked, trustOf(choice));
  return softenDefault(finding, choice, networkName);
}

/**
 * What is refuted by keys that nobody chose, of a network that the node calls by another name, is not
 * checked.
 */
export function softenDefault<T>(
  finding: Finding<T>,
  choice: KeyChoice,
  networkName: string,
): Finding<T> {
  const isOther =
    choice.kind === 'known' && choice.isDefault && choice.network.networkName !== networkName;
  if (finding.standing !== 'refuted' || !isOther) return finding;
  return remarkOnName(networkName, choice)?.isOdd === false
    ? notChecked('who signed it, as this page has no keys of this network')
    : notChecked(
        `${finding.reason}. Those are the keys that this page begins with: choose yours on “Verify”`,
      );
}

/** The milestone with this index, read and judged. Never rejects. */
export async function readSigned(
  index: number,
  choice: KeyChoice,
  networkName: string,
): Promise<Finding<SignedMilestone>> {
  try {
    const payload = await readMilestoneBytes(String(index));
    return await judgeMilestone(payload, { index }, choice, networkName);
  } catch (error) {
    return notChecked(
      isMissing(error)
        ? `who signed milestone ${index}, as this node does not have its bytes`
        : `milestone ${index}: ${(error as Error).message}`,
    );
  }
}

/** The block with this ID, read and judged. Never rejects. */
export const readBlockContent = (blockId: string) => readBlock(blockId, proveBlockContent);

async function readBlock<T extends BlockFacts>(
  blockId: string,
  judge: (bytes: Uint8Array, blockId: string) => Finding<T>,
): Promise<Finding<T>> {
  try {
    return judge(await readBlockBytes(blockId), blockId);
  } catch (error) {
    return notChecked(`the bytes of block ${blockId}: ${(error as Error).message}`);
  }
}

/** For all blocks of a cone: longer nobody waits for a verdict. */
const PATIENCE_MS = 30_000;

/**
 * The blocks of a cone, read six at a time and judged, as far as they come within 30 seconds.
 *
 * @param onRead called after each block with how many were read
 */
export async function askCone(
  ids: readonly string[],
  onRead: (count: number) => void,
): Promise<{ all: Finding<BlockSet>; each: readonly Finding<BlockFacts>[] }> {
  const found: Finding<BlockFacts>[] = [];
  let isLate = false;
  const workers = startWorkers(ids.values(), async (blockId) => {
    if (isLate) return;
    const finding = await readBlock(blockId, proveBlockBytes);
    if (isLate) return;
    found.push(finding);
    onRead(found.length);
  });
  await within<unknown, void>(PATIENCE_MS, Promise.all(workers), () => {
    isLate = true;
  });
  if (!isLate) return { all: proveBlocks(found), each: found };
  const missing = notChecked(
    `the bytes of ${ids.length - found.length} of ${ids.length} blocks did not come within ${PATIENCE_MS / 1000} seconds`,
  );
  return { all: proveBlocks([...found, missing]), each: found };
}
