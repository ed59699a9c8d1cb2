/**
 * The fast path against the simple one: whatever of a random network is stored, in whatever order
 * it came, and whatever has to be fetched, the answer to a request is the oracle's; and the
 * verdicts made at intake are those that the oracle's judge makes at any time.
 */
import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import { isUndecidedAt, readCone } from '../../src/stardust/white-flag/cone.ts';
import type { ParsedBlock } from '../../src/stardust/wire/block.ts';
import { outputId } from '../../src/stardust/wire/ids.ts';
import {
  type Answer,
  ask,
  disturbed,
  type Question,
  type Rig,
  startLedger,
  storeNow,
  takeNext,
  withTips,
} from '../support/ledger/ledger-harness.ts';
import { knownBlockIds, storedBlocks } from '../support/ledger/stored-blocks.ts';
import { compareVerdicts } from '../support/ledger/stored-verdicts.ts';
import { lastIndex, milestoneAt, type Network, ZERO_ID } from '../support/network/network-model.ts';
import { oracleView, parsedBlocks } from '../support/network/oracle-view.ts';
import { Random } from '../support/network/random.ts';
import { randomNetwork } from '../support/network/random-network.ts';
import { whiteFlag } from '../support/oracle/oracle.ts';

vi.setConfig({ testTimeout: 300_000 });

const db = env.LEDGER;

/**
 * Milliseconds do not matter here; seconds after the previous milestone do, as the networks have
 * time conditions about the next two (five seconds each).
 */
const DELAYS = [1, 4, 5, 6, 9, 10, 11, 1000];

async function oracleAnswer(
  network: Network,
  parsed: Map<string, ParsedBlock>,
  question: Question,
): Promise<Answer> {
  const { previousMilestoneId, ...request } = question;
  const view = oracleView(network, question.index - 1, parsed);
  const result = await whiteFlag(view, { ...request, previousMilestoneId: previousMilestoneId! });
  const { inclusionMerkleRoot, appliedMerkleRoot, metPreviousMilestone } = result;
  return metPreviousMilestone ? { inclusionMerkleRoot, appliedMerkleRoot } : 400;
}

/**
 * A question about milestone `index` with some of the blocks, and mostly the previous milestone's,
 * as parents.
 */
function randomQuestion(
  network: Network,
  index: number,
  blocks: readonly string[],
  random: Random,
): Question {
  const previous = milestoneAt(network, index - 1);
  const before = [...network.blocks.values()].filter(
    ({ milestoneIndex }) => milestoneIndex === index - 1,
  );
  const parents = random.sample(blocks, random.between(1, 4));
  if (before.length > 0 && random.chance(0.75)) parents.push(random.pick(before).id);
  return {
    index,
    timestamp: (previous ?? network.genesis).timestamp + random.pick(DELAYS),
    parents: random.sample([...new Set(parents)], 8),
    previousMilestoneId: previous?.id ?? ZERO_ID,
  };
}

async function storedIds(): Promise<Set<string>> {
  return new Set(Array.from(await knownBlockIds(db), (id) => `0x${id}`));
}

/**
 * Stores some blocks and their past; the follower may die before the verdicts that waited for them
 * are made.
 */
async function someArrive(
  rig: Rig,
  open: readonly string[],
  random: Random,
  dies: boolean,
): Promise<void> {
  const tips = random.sample(open, random.between(1, 6));
  const dying = disturbed(db, async (sql) => {
    if (dies && /UPDATE pack SET records/.test(sql)) throw new Error('killed');
  });
  await storeNow(withTips(rig, ...tips), dying).catch((error: Error) => {
    expect(error.message).toBe('killed');
  });
}

/** What has to have happened for a run to mean anything. */
interface Seen {
  answered: number;
  refused: number;
  fetched: number;
  audits: number;
}

/** @param mortality the probability with which the follower dies whenever it stores blocks */
async function runNetwork(seed: string, mortality: number, seen: Seen): Promise<void> {
  const network = randomNetwork({ seed, milestones: 9, events: 45 });
  const random = new Random(`agree ${seed}`);
  const parsed = parsedBlocks(network);
  const rig = await startLedger(db, network, 0);
  for (let ledger = 0; ledger <= lastIndex(network); ledger++) {
    if (ledger > 0) await takeNext(rig, db);
    const visible = [...network.blocks.values()].filter(({ visibleFrom }) => visibleFrom <= ledger);
    const open = visible.filter(
      ({ referenced }) => (referenced?.index ?? Number.POSITIVE_INFINITY) > ledger,
    );
    const unreferencedIds = open.map(({ id }) => id);
    if (ledger === 0 || unreferencedIds.length === 0) continue;
    for (let turn = 0; turn < 3; turn++) {
      await someArrive(rig, unreferencedIds, random, random.chance(mortality));
      const stored = await storedIds();

      const question = randomQuestion(
        network,
        ledger + 1,
        random.chance(0.2) ? visible.map(({ id }) => id) : unreferencedIds,
        random,
      );
      const expected = await oracleAnswer(network, parsed, question);
      const isStored = question.parents.every((id) => stored.has(id));
      const told = `${seed}, ledger ${ledger}, ${JSON.stringify(question)}`;
      expect(await ask(rig, question), told).toEqual(isStored ? expected : 404);
      expect(await ask(rig, question, { upstreams: [rig.upstream] }), told).toEqual(expected);
      if (expected === 400) seen.refused++;
      else seen.answered++;
      if (!isStored) seen.fetched++;

      const index = random.between(2, ledger);
      const later = [...stored].filter(
        (id) => (network.blocks.get(id)?.referenced?.index ?? index) >= index - 1,
      );
      const audit = randomQuestion(network, index, later, random);
      if (!audit.parents.every((id) => stored.has(id)) || index > ledger) continue;
      expect(await ask(rig, audit), `audit of ${told}`).toEqual(
        await oracleAnswer(network, parsed, audit),
      );
      seen.audits++;
    }
  }
  await compareVerdicts(db, network, parsed, DELAYS);
  // whose verdict is open lacks something, unless there was no time to make it
  if (mortality === 0) expect(await unsettled(network)).toEqual([]);
}

/** Open blocks without a verdict all of whose inputs are known. */
async function unsettled(network: Network): Promise<string[]> {
  const blocks = await storedBlocks(db);
  const open = blocks.filter(
    ({ milestone, record }) => milestone === null && isUndecidedAt(readCone([record]), 0),
  );
  const created = new Set<string>();
  const parsed = parsedBlocks(network);
  for (const { id } of blocks) {
    const { transaction } = parsed.get(`0x${id}`)!;
    transaction?.value.essence.outputs.forEach((_, i) => {
      created.add(outputId(transaction.id, i).toHex());
    });
  }
  for (const id of network.outputs.keys()) created.add(id.slice(2));
  return open
    .filter(({ id }) =>
      parsed
        .get(`0x${id}`)!
        .transaction!.value.essence.inputs.every((input) =>
          created.has(outputId(input.transactionId, input.outputIndex).toHex()),
        ),
    )
    .map(({ id }) => id);
}

describe('random networks', () => {
  const seen: Seen = { answered: 0, refused: 0, fetched: 0, audits: 0 };

  it.each(Array.from({ length: 8 }, (_, i) => [`network ${i}`, (i % 2) * 0.5] as const))(
    '%s, whose follower dies with probability %s',
    (seed, mortality) => runNetwork(seed, mortality, seen),
  );

  it('were asked about in every way', () => {
    expect(seen.answered).toBeGreaterThan(80);
    expect(seen.refused).toBeGreaterThan(5);
    expect(seen.fetched).toBeGreaterThan(30);
    expect(seen.audits).toBeGreaterThan(50);
  });
});
