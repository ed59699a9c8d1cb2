/**
 * Questions about random networks whose blocks are stored in any order, put to the ledger and to
 * the oracle: about the next milestone, about past ones, and about past ones from blocks of several
 * milestones and open blocks.
 */
import { expect } from 'vitest';
import { explainMilestone, proveBlock } from '../../../src/ledger/read/applied-milestone.ts';
import { readOutput } from '../../../src/ledger/read/output-status.ts';
import { toHexDigits } from '../../../src/stardust/encoding/bytes.ts';
import type { ParsedBlock } from '../../../src/stardust/wire/block.ts';
import {
  coneOf,
  lastIndex,
  ledgerAt,
  milestoneAt,
  type Network,
  type NetworkBlock,
  ZERO_ID,
} from '../network/network-model.ts';
import { oracleView, parsedBlocks } from '../network/oracle-view.ts';
import { Random } from '../network/random.ts';
import { randomNetwork } from '../network/random-network.ts';
import { whiteFlag } from '../oracle/oracle.ts';
import {
  type Answer,
  ask,
  type Question,
  startLedger,
  storeNow,
  takeNext,
  withTips,
} from './ledger-harness.ts';
import { knownBlockIds } from './stored-blocks.ts';

/** What was asked about and came to an answer; something of each kind must have been. */
export interface Asked {
  present: number;
  audits: number;
  /** Audits from blocks of several milestones, or open ones. */
  spans: number;
  /** The previous milestone was not met. */
  refused: number;
  explained: number;
  proofs: number;
}

export function nothingAsked(): Asked {
  return { present: 0, audits: 0, spans: 0, refused: 0, explained: 0, proofs: 0 };
}

/** Seconds after the previous milestone: around the time conditions that the networks have. */
const DELAYS = [1, 4, 5, 6, 9, 10, 11, 1000];

const MILESTONES = 9;
const PER_MILESTONE = 9;

/** Of each network, read one by one. */
const OUTPUTS = 40;

/** Follows one network to its end and asks along the way. */
export async function askAboutNetwork(db: D1Database, seed: string, asked: Asked): Promise<void> {
  const network = randomNetwork({ seed, milestones: MILESTONES, events: 45 });
  const random = new Random(`questions ${seed}`);
  const parsed = parsedBlocks(network);
  const rig = await startLedger(db, network, 0);
  for (let ledger = 1; ledger <= lastIndex(network); ledger++) {
    await takeNext(rig, db);
    const visible = [...network.blocks.values()].filter(({ visibleFrom }) => visibleFrom <= ledger);
    const open = visible.filter((block) => milestoneOf(block) > ledger).map(({ id }) => id);
    for (let pass = random.between(1, 3); pass > 0; pass--) {
      await storeNow(withTips(rig, ...random.sample(open, random.between(1, 6))), db);
    }
    const known = await knownBlockIds(db);
    const stored = visible.filter(({ id }) => known.has(id.slice(2)));
    for (let n = 0; n < PER_MILESTONE; n++) {
      const index = random.chance(0.3) ? ledger + 1 : random.between(2, ledger);
      const upTo = random.between(index, ledger + 1);
      const question = randomQuestion(network, index, stored, upTo, random);
      if (index > ledger + 1 || question === undefined) continue;
      const due = await oracleAnswer(network, parsed, question);
      expect(await ask(rig, question), `${seed} ${JSON.stringify(question)}`).toEqual(due);
      const blocks = question.parents.map((id) => network.blocks.get(id)!);
      if (due === 400) asked.refused++;
      else if (index > ledger) asked.present++;
      else if (blocks.some((block) => milestoneOf(block) > index)) asked.spans++;
      else asked.audits++;
    }
  }
  await compareMilestones(db, network, random, asked);
}

function milestoneOf({ referenced }: NetworkBlock): number {
  return referenced?.index ?? Number.POSITIVE_INFINITY;
}

/** From stored blocks that milestones up to `upTo` reference; beyond the ledger, open ones too. */
function randomQuestion(
  network: Network,
  index: number,
  stored: readonly NetworkBlock[],
  upTo: number,
  random: Random,
): Question | undefined {
  const pool = stored.filter(
    (block) => milestoneOf(block) <= upTo || upTo > network.milestones.length,
  );
  const before = stored.filter(({ milestoneIndex }) => milestoneIndex === index - 1);
  const parents = random.sample(pool, random.between(1, 4)).map(({ id }) => id);
  if (before.length > 0 && random.chance(0.85)) parents.push(random.pick(before).id);
  if (parents.length === 0) return undefined;
  const previous = milestoneAt(network, index - 1);
  return {
    index,
    timestamp: (previous ?? network.genesis).timestamp + random.pick(DELAYS),
    parents: [...new Set(parents)],
    previousMilestoneId: previous?.id ?? ZERO_ID,
  };
}

async function oracleAnswer(
  network: Network,
  parsed: Map<string, ParsedBlock>,
  { previousMilestoneId, ...request }: Question,
): Promise<Answer> {
  const view = oracleView(network, request.index - 1, parsed);
  const result = await whiteFlag(view, { ...request, previousMilestoneId: previousMilestoneId! });
  const { inclusionMerkleRoot, appliedMerkleRoot, metPreviousMilestone } = result;
  return metPreviousMilestone ? { inclusionMerkleRoot, appliedMerkleRoot } : 400;
}

/**
 * Verdicts on every block, a proof for each milestone, and what is unspent and spent at the end.
 */
async function compareMilestones(
  db: D1Database,
  network: Network,
  random: Random,
  asked: Asked,
): Promise<void> {
  for (const { index } of network.milestones) {
    const cone = coneOf(network, index);
    const explained = (await explainMilestone(db, index))!;
    expect(explained.blocks.map(({ blockId, reason }) => [`0x${blockId}`, reason])).toEqual(
      cone.map(({ id, referenced }) => [
        id,
        referenced!.state === 'noTransaction' ? undefined : referenced!.conflict,
      ]),
    );
    asked.explained += cone.length;
    if (cone.length === 0) continue;
    const block = random.pick(cone);
    const proof = (await proveBlock(db, block.id.slice(2)))!;
    expect(proof.included.map(toHexDigits)).toEqual(cone.map(({ id }) => id.slice(2)));
    expect([proof.position, toHexDigits(proof.block)]).toEqual([
      block.referenced!.whiteFlagIndex,
      toHexDigits(block.bytes),
    ]);
    asked.proofs++;
  }
  const { results } = await db.prepare('SELECT id FROM output ORDER BY id').all<{ id: string }>();
  const due = ledgerAt(network, lastIndex(network)).map(({ outputId }) => toHexDigits(outputId));
  expect(results.map(({ id }) => id)).toEqual(due.sort());
  for (const [id, { spent, bytes }] of random.sample([...network.outputs], OUTPUTS)) {
    const output = await readOutput(db, id.slice(2));
    expect([id, output?.bytes.toHex(), output?.spent]).toEqual([
      id,
      bytes.toHex(),
      spent && { ...spent, transactionId: toHexDigits(spent.transactionId) },
    ]);
  }
}
