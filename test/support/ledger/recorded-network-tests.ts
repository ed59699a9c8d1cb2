/**
 * The tests of one recorded network (test/vectors/README.md#recorded-networks), followed from
 * genesis milestone by milestone. Compared are what the node decided about every block, the ledger,
 * the NFTs, and the answer to every question that the node answered. Each question is put when it
 * was put to the node, and once more at the end, as an audit.
 */
import { beforeAll, expect, it } from 'vitest';
import type { Database } from '../../../src/ledger/core/database.ts';
import { outputColumns, readOutputBytes } from '../../../src/ledger/core/output-bytes.ts';
import { ledgerStateHash } from '../../../src/ledger/read/ledger-state-hash.ts';
import { receiptOf } from '../../../src/stardust/wire/milestone.ts';
import { readMilestone } from '../network/blocks.ts';
import { lastIndex, treasuryAt } from '../network/network-model.ts';
import { parsedBlocks } from '../network/oracle-view.ts';
import {
  type RecordedName,
  recordedNetwork,
  recordedQuestions,
} from '../network/recorded-network.ts';
import { readLines, readVector } from '../vectors.ts';
import { ask, followTo, type Question, type Rig, startLedger } from './ledger-harness.ts';
import { storedBlocks } from './stored-blocks.ts';
import { compareVerdicts } from './stored-verdicts.ts';

/** How many questions the node answered, and state hashes that it gave, by the ledger's index. */
const RECORDED: Partial<Record<RecordedName, { answers: number; hashes: Record<number, string> }>> =
  {
    'network-a': {
      answers: 206,
      hashes: {
        81: '987f45404baa75ebb31617db0dda5458367b1da1a1bc2859a860c2498e796b9e',
        106: '577f3d596803a35b2abee1e2b115702092a672ce404186a78f581c32e10884df',
      },
    },
    'network-c': {
      answers: 153,
      hashes: {
        41: '3a0ad6b5f3b8b8018be60c3e0c2247c2fa5b9745ae5fac1e7f5470cf0e9dcd7d',
        68: '5d8c90245d379f5b3ac95b3428e8f97f7cecd137b21591cbc995c97b64c580e3',
      },
    },
    'network-n': {
      answers: 247,
      hashes: { 125: 'b9a73bc228cb55b0f1378d91a1afa5275c5e8958aa237cb3b5a55acb74911d05' },
    },
  };

interface NftLine {
  ledgerIndex: number;
  nftId: string;
  items: string[] | null;
}

/** Called in a `describe`. */
export function testRecordedNetwork(name: RecordedName, open: () => Promise<Database>): void {
  const { answers, hashes } = RECORDED[name]!;
  const network = recordedNetwork(name);
  const last = lastIndex(network);
  const questions = recordedQuestions(name).filter(({ status }) => status === 200);
  const nftLines = readLines(`${name}/nft.jsonl`) as NftLine[];
  const found: {
    hashes: Record<number, string>;
    live: unknown[];
    nfts: {
      index: number;
      ours: Map<string, string | null>;
      indexer: Map<string, string | null>;
    }[];
  } = { hashes: {}, live: [], nfts: [] };
  let db: Database;
  let rig: Rig;

  beforeAll(async () => {
    db = await open();
    rig = await startLedger(db, network, network.genesis.index);
    const indexer = new Map<string, string | null>();
    for (let index = network.genesis.index; index <= last; index++) {
      await followTo(rig, index);
      if (index in hashes) found.hashes[index] = (await ledgerStateHash(db)).toHex();
      for (const { request, ledgerIndex } of questions) {
        if (ledgerIndex === index) found.live.push(await ask(rig, request as Question));
      }
      for (const { ledgerIndex, nftId, items } of nftLines) {
        if (ledgerIndex === index) indexer.set(nftId.slice(2), items?.[0]?.slice(2) ?? null);
      }
      // it was asked about all that changed, but not after every milestone
      if (nftLines.every(({ ledgerIndex }) => ledgerIndex !== index)) continue;
      const { results } = await db
        .prepare('SELECT id, output FROM nft')
        .all<{ id: string; output: string | null }>();
      found.nfts.push({
        index,
        ours: new Map(results.map(({ id, output }) => [id, output])),
        indexer: new Map(indexer),
      });
    }
  }, 300_000);

  it('has the recorded state hashes', () => {
    expect(found.hashes).toEqual(hashes);
  });

  it('holds the unspent outputs of the node', async () => {
    const { results } = await db
      .prepare(`SELECT ${outputColumns('output')} FROM output ORDER BY id`)
      .all<Record<string, string | number>>();
    const ours = results.map(({ id, bytes, block, created, created_time: time }) => ({
      outputId: `0x${id}`,
      output: `0x${readOutputBytes(String(bytes), String(id)).toHex()}`,
      blockId: `0x${block}`,
      milestoneIndexBooked: created,
      milestoneTimestampBooked: time,
    }));
    expect(ours).toEqual(
      (readLines(`${name}/unspent.jsonl`) as typeof ours).sort((a, b) =>
        a.outputId < b.outputId ? -1 : 1,
      ),
    );
  });

  it('has decided about every block as the node did', async () => {
    const blocks = (await storedBlocks(db)).filter(({ milestone }) => milestone !== null);
    const nodes = [...network.blocks.values()].flatMap(({ id, referenced }) => {
      if (referenced === undefined) return [];
      const { index: milestone, whiteFlagIndex: position, state, conflict } = referenced;
      const reason = state === 'noTransaction' ? null : conflict;
      return { id: id.slice(2), milestone, position, reason };
    });
    const ours = blocks.map(({ id, milestone, position, reason }) => {
      return { id, milestone, position, reason };
    });
    expect(ours.sort((a, b) => (a.id < b.id ? -1 : 1))).toEqual(
      nodes.sort((a, b) => (a.id < b.id ? -1 : 1)),
    );
    expect(blocks.every(({ payload, reason }) => (payload === 6) === (reason !== null))).toBe(true);
  });

  it('has the answers of the indexer about every NFT, whenever it was asked', () => {
    const wrong = found.nfts.flatMap(({ index, ours, indexer }) =>
      [...indexer].filter(([id, output]) => ours.get(id) !== output).map((due) => [index, ...due]),
    );
    expect(wrong).toEqual([]);
    const { ours, indexer } = found.nfts.at(-1)!;
    expect(ours).toEqual(indexer);
  });

  it('has the treasury and the receipts of the node', async () => {
    const { treasury, receipts } = JSON.parse(readVector(`${name}/final.json`).toString());
    const head = await db
      .prepare('SELECT treasury_milestone AS id, treasury_amount AS amount FROM head')
      .first();
    expect(head).toEqual({ id: treasury.milestoneId.slice(2), amount: treasury.amount });
    expect(head).toEqual({
      id: treasuryAt(network, last).milestoneId.toHex(),
      amount: String(treasuryAt(network, last).amount),
    });
    const { results } = await db
      .prepare('SELECT idx, payload FROM milestone WHERE payload IS NOT NULL ORDER BY idx')
      .all<{ idx: number; payload: string }>();
    const withReceipt = results.filter(
      ({ payload }) =>
        receiptOf(readMilestone(readOutputBytes(payload, 'milestone'))) !== undefined,
    );
    const indexes = receipts.receipts.map(
      ({ milestoneIndex }: { milestoneIndex: number }) => milestoneIndex,
    );
    expect(withReceipt.map(({ idx }) => idx)).toEqual(
      indexes.sort((a: number, b: number) => a - b),
    );
  });

  it('has the verdicts of the judge, at any time', async () => {
    const transactions = [...network.blocks.values()].filter(
      ({ referenced }) => referenced && referenced.state !== 'noTransaction',
    );
    // the verdicts on those that consume an output which never was stay undecided
    const compared = await compareVerdicts(db, network, parsedBlocks(network), [0, 1]);
    expect(compared).toBeGreaterThan(transactions.length * 0.9);
  });

  it('answered as the node did when it was asked, from what it had stored', () => {
    expect(found.live).toHaveLength(answers);
    expect(found.live).toEqual(questions.map(({ response }) => response));
  });

  it('answers the same in an audit', async () => {
    const audits = [];
    for (const { request } of questions) audits.push(await ask(rig, request as Question));
    expect(audits).toEqual(found.live);
  });
}
