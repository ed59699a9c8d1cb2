/**
 * Random networks whose blocks are stored in any order, by a follower that may die meanwhile, and
 * questions about them, put to the ledger and to the oracle: about the next milestone, about past
 * ones, about past ones from blocks of several milestones and unreferenced blocks, and about blocks
 * that have to be fetched.
 */
import { expect } from 'vitest';
import type { Database } from '../../../src/ledger/core/database.ts';
import { readCone } from '../../../src/ledger/packs/record-cone.ts';
import { readOutput } from '../../../src/ledger/read/output-status.ts';
import { explainMilestone, proveBlock } from '../../../src/modules/proofs/applied-milestone.ts';
import { toHex, toHexDigits } from '../../../src/stardust/encoding/bytes.ts';
import { isUndecidedAt } from '../../../src/stardust/white-flag/cone.ts';
import type { ParsedBlock } from '../../../src/stardust/wire/block.ts';
import { outputId } from '../../../src/stardust/wire/ids.ts';
import {
  coneOf,
  lastIndex,
  ledgerAt,
  milestoneAt,
  type Network,
  type NetworkBlock,
  type WhiteFlagCase,
  ZERO_ID,
} from '../network/network-model.ts';
import { oracleAnswer, parsedBlocks } from '../network/oracle-view.ts';
import { Random } from '../network/random.ts';
import { randomNetwork } from '../network/random-network.ts';
import {
  ask,
  type Rig,
  startLedger,
  storeNow,
  takeNext,
  withoutVerdicts,
  withTips,
} from './ledger-harness.ts';
import { knownBlockIds, storedBlocks } from './stored-blocks.ts';
import { compareVerdicts } from './stored-verdicts.ts';
import { strayRests } from './stray-rests.ts';

/** What was asked about and came to an answer; something of each kind must have been. */
export interface Asked {
  present: number;
  audits: number;
  /** Audits from blocks of several milestones, or unreferenced ones. */
  spans: number;
  /** The previous milestone was not met. */
  refused: number;
  /** Not all of it was stored. */
  fetched: number;
  explained: number;
  proofs: number;
}

export function nothingAsked(): Asked {
  return { present: 0, audits: 0, spans: 0, refused: 0, fetched: 0, explained: 0, proofs: 0 };
}

/** Seconds after the previous milestone: around the time conditions that the networks have. */
const DELAYS = [1, 4, 5, 6, 9, 10, 11, 1000];

const MILESTONES = 9;
const PER_MILESTONE = 9;

/** Of each network, read one by one. */
const OUTPUTS = 40;

/**
 * Follows one network to its end and asks along the way.
 *
 * @param mortality the probability with which the follower dies whenever it stores blocks
 */
export async function askAboutNetwork(
  db: Database,
  seed: string,
  asked: Asked,
  mortality = 0,
): Promise<void> {
  const network = randomNetwork({ seed, milestones: MILESTONES, events: 45 });
  const random = new Random(`questions ${seed}`);
  const parsed = parsedBlocks(network);
  const rig = await startLedger(db, network, 0);
  for (let ledger = 1; ledger <= lastIndex(network); ledger++) {
    await takeNext(rig, db);
    const visible = [...network.blocks.values()].filter(({ visibleFrom }) => visibleFrom <= ledger);
    const open = visible.filter((block) => milestoneOf(block) > ledger);
    for (let pass = random.between(1, 3); pass > 0; pass--) {
      await someArrive(rig, open, random, random.chance(mortality));
      const pool = random.chance(0.2) ? visible : open;
      const question = randomQuestion(network, ledger + 1, pool, random);
      if (question !== undefined) await askWithAndWithout(rig, question, parsed, asked);
    }
    const known = await knownBlockIds(db);
    const stored = visible.filter(({ id }) => known.has(id.slice(2)));
    for (let n = 0; n < PER_MILESTONE; n++) {
      const index = random.chance(0.3) ? ledger + 1 : random.between(2, ledger);
      const upTo = random.between(index, ledger + 1);
      const pool = stored.filter(
        (block) => milestoneOf(block) <= upTo || upTo > lastIndex(network),
      );
      const before = stored.filter(({ milestoneIndex }) => milestoneIndex === index - 1);
      const question = randomQuestion(network, index, pool, random, before);
      if (index > ledger + 1 || question === undefined) continue;
      const due = await oracleAnswer(network, question, parsed);
      expect(await ask(rig, question), `${seed} ${JSON.stringify(question)}`).toEqual(due);
      const blocks = question.parents.map((id) => network.blocks.get(id)!);
      if (due === 400) asked.refused++;
      else if (index > ledger) asked.present++;
      else if (blocks.some((block) => milestoneOf(block) > index)) asked.spans++;
      else asked.audits++;
    }
  }
  await compareVerdicts(db, network, parsed, DELAYS);
  // whose verdict is undecided lacks something, unless there was no time to make it
  if (mortality === 0) expect(await unsettled(db, network, parsed)).toEqual([]);
  await compareMilestones(db, network, random, asked);
}

function milestoneOf({ referenced }: NetworkBlock): number {
  return referenced?.index ?? Number.POSITIVE_INFINITY;
}

/** Stores some blocks and their past; who dies does so before verdicts that waited are made. */
async function someArrive(
  rig: Rig,
  open: readonly NetworkBlock[],
  random: Random,
  dies: boolean,
): Promise<void> {
  const tips = random.sample(open, random.between(1, 6)).map(({ id }) => id);
  const db = dies ? withoutVerdicts(rig.db) : rig.db;
  await storeNow(withTips(rig, ...tips), db).catch((error: Error) => {
    expect(error.message).toBe('killed');
  });
}

/** By what is stored, which may not be enough, and with an upstream. */
async function askWithAndWithout(
  rig: Rig,
  question: WhiteFlagCase['request'],
  parsed: Map<string, ParsedBlock>,
  asked: Asked,
): Promise<void> {
  const known = await knownBlockIds(rig.db);
  const isStored = question.parents.every((id) => known.has(id.slice(2)));
  const due = await oracleAnswer(rig.network, question, parsed);
  const told = `${rig.network.name} ${JSON.stringify(question)}`;
  expect(await ask(rig, question), told).toEqual(isStored ? due : 404);
  expect(await ask(rig, question, { upstreams: [rig.upstream] }), told).toEqual(due);
  if (due === 400) asked.refused++;
  else if (isStored) asked.present++;
  else asked.fetched++;
}

/** Some of the blocks, and mostly one of the previous milestone's, as parents. */
function randomQuestion(
  network: Network,
  index: number,
  pool: readonly NetworkBlock[],
  random: Random,
  before = [...network.blocks.values()].filter((each) => each.milestoneIndex === index - 1),
): WhiteFlagCase['request'] | undefined {
  const parents = random.sample(pool, random.between(1, 4)).map(({ id }) => id);
  if (before.length > 0 && random.chance(0.8)) parents.push(random.pick(before).id);
  if (parents.length === 0) return undefined;
  const previous = milestoneAt(network, index - 1);
  return {
    index,
    timestamp: (previous ?? network.genesis).timestamp + random.pick(DELAYS),
    parents: [...new Set(parents)],
    previousMilestoneId: previous?.id ?? ZERO_ID,
  };
}

/**
 * Unreferenced blocks without a verdict all of whose inputs are in the ledger or made by other
 * unreferenced blocks.
 */
async function unsettled(
  db: Database,
  network: Network,
  parsed: Map<string, ParsedBlock>,
): Promise<string[]> {
  const blocks = (await storedBlocks(db)).filter(({ milestone }) => milestone === null);
  const transactionOf = ({ id }: { id: string }) => parsed.get(`0x${id}`)!.transaction;
  const known = new Set(network.outputs.keys());
  for (const transaction of blocks.map(transactionOf)) {
    transaction?.value.essence.outputs.forEach((_, i) => {
      known.add(toHex(outputId(transaction.id, i)));
    });
  }
  const isKnown = (input: { transactionId: Uint8Array; outputIndex: number }) =>
    known.has(toHex(outputId(input.transactionId, input.outputIndex)));
  return blocks
    .filter(({ record }) => isUndecidedAt(readCone([record]), 0))
    .filter((block) => transactionOf(block)!.value.essence.inputs.every(isKnown))
    .map(({ id }) => id);
}

/**
 * Verdicts on every block, a proof for each milestone, and what is unspent and spent at the end.
 */
async function compareMilestones(
  db: Database,
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
  expect(await strayRests(db)).toEqual([]);
  for (const [id, { spent, bytes }] of random.sample([...network.outputs], OUTPUTS)) {
    const output = await readOutput(db, id.slice(2));
    expect([id, output?.bytes.toHex(), output?.spent]).toEqual([
      id,
      bytes.toHex(),
      spent && { ...spent, transactionId: toHexDigits(spent.transactionId) },
    ]);
  }
}
