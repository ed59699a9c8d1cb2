/**
 * Examples of parameters from the ledger that the node serves: those in openapi.json are of the
 * sample, which other ledgers do not have.
 */
import * as v from 'valibot';
import { chainOf } from '../../client/words/kind.ts';
import { fromHex } from '../../src/stardust/encoding/bytes.ts';
import { askJson } from '../node/ask.ts';
import { askExplanation, askTips, readCreated, readNfts } from '../node/ledger.ts';
import { listPath, readAll, readNewest } from '../node/lists.ts';
import type { Info } from '../node/shapes.ts';
import type { RequestExamples } from './request.ts';

const chain = v.object({ items: v.array(v.string()) });

/** The ID of any alias or foundry. */
async function anyChain(kind: 'alias' | 'foundry'): Promise<string | undefined> {
  const { items } = await askJson(listPath(kind, { pageSize: '1' }), chain);
  const [found] = (items.length > 0 && (await readAll(items))) || [];
  return found && chainOf(found.output, fromHex(found.outputId))?.id;
}

/** By name of a parameter; undefined where the ledger has none, or the node does not say. */
export async function readExamples(info: Info): Promise<RequestExamples> {
  const { index, timestamp, milestoneId } = info.status.confirmedMilestone;
  const orNone = <T>(read: Promise<T>) => read.catch(() => undefined);
  const [nfts, explanation, created, unspent, tips, aliasId, foundryId] = await Promise.all([
    orNone(readNewest('nft', 1, timestamp).then(readNfts)),
    orNone(askExplanation(index)),
    orNone(readCreated(index)),
    orNone(askJson(listPath(undefined, { pageSize: '1' }), chain)),
    orNone(askTips()),
    orNone(anyChain('alias')),
    orNone(anyChain('foundry')),
  ]);
  const nft = nfts?.[0];
  const applied = explanation?.said.blocks.find((each) => each.ledgerInclusionState === 'included');
  // one that was migrated names the milestone instead of a transaction
  const made = created?.find((id) => !id.startsWith(milestoneId));
  const outputId = nft?.outputId ?? unspent?.items[0] ?? created?.[0];
  const body = {
    index: index + 1,
    timestamp: timestamp + 10,
    parents: tips?.tips ?? [],
    previousMilestoneId: milestoneId,
  };
  return {
    milestoneIndex: String(index),
    milestoneId,
    after: String(index),
    nftId: nft?.nftId,
    aliasId,
    foundryId,
    outputId,
    ids: outputId,
    address: nft?.owner.address,
    issuer: nft?.owner.address,
    blockId: (applied ?? explanation?.said.blocks[0])?.blockId,
    transactionId: (made ?? outputId)?.slice(0, 66),
    body: JSON.stringify(body, undefined, 2),
  };
}
