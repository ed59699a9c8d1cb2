/**
 * What must hold of a Worker that follows a network: of its ledger on disk, at any moment and at the
 * end of a recorded network, and of its answers.
 */
import { expect } from 'vitest';
import { milestoneAt, type Network } from '../network/network-model.ts';
import { heldAt, holdersOf } from '../network/nft-places.ts';
import { type RecordedName, recordedQuestions } from '../network/recorded-network.ts';
import { openDatabase, readStateHash } from './d1-file.ts';
import type { Edge } from './edge.ts';
import { ask, expectedStatus, IN_TIME, lookUpNft } from './walk-network.ts';

/**
 * Each milestone once, without a gap, as the network has it, and the head at the last one, whose
 * index it returns. The ledger was imported at the network's genesis.
 */
export function checkChain(persistTo: string, network: Network): number {
  using db = openDatabase(persistTo);
  // both are read at the same moment, also while a Worker writes
  db.exec('BEGIN');
  const ledger = Number(db.prepare('SELECT ledger FROM head').get()!.ledger);
  const rows = db.prepare('SELECT idx, id FROM milestone ORDER BY idx').all();
  expect(rows.map(({ idx }) => Number(idx))).toEqual(rows.map((_, i) => i));
  expect(rows.length - 1).toBe(ledger);
  for (const { idx, id } of rows.slice(1))
    expect(`0x${id}`).toBe(milestoneAt(network, Number(idx))!.id);
  return ledger;
}

/** To which HORNET came (test/vectors/README.md#recorded-networks). */
const STATE_HASHES: Partial<Record<RecordedName, string>> = {
  'network-a': '0x577f3d596803a35b2abee1e2b115702092a672ce404186a78f581c32e10884df',
  'network-c': '0x5d8c90245d379f5b3ac95b3428e8f97f7cecd137b21591cbc995c97b64c580e3',
  'network-n': '0xb9a73bc228cb55b0f1378d91a1afa5275c5e8958aa237cb3b5a55acb74911d05',
};

/** Once the Worker has ended. */
export async function expectRecordedEnd(name: RecordedName, persistTo: string): Promise<void> {
  expect(STATE_HASHES).toHaveProperty(name);
  expect(await readStateHash(persistTo)).toBe(STATE_HASHES[name]);
}

/**
 * Puts the questions that the node was asked at this ledger index, unless `refused` is false those
 * that it refused, too, and again while the answer is late. Returns how many there were.
 */
export async function askRecorded(
  name: RecordedName,
  url: string,
  index: number,
  refused = true,
): Promise<number> {
  const questions = recordedQuestions(name).filter(
    ({ ledgerIndex, status }) => ledgerIndex === index && (refused || status === 200),
  );
  for (const question of questions) {
    let answer = await ask(url, question);
    while (answer.isLate && !IN_TIME) answer = await ask(url, question);
    const { status, body } = answer;
    const due = { name: question.name, index, status: expectedStatus(question) };
    expect({ name: question.name, index, status }).toEqual(due);
    if (question.status === 200) expect(body).toEqual(question.response);
  }
  return questions.length;
}

export type ExpectNft = (url: string, nftId: string) => Promise<number>;

/** A check of lookups, which returns the ledger index of the answer: the network had the NFT there. */
export function nftsOf(network: Network): ExpectNft {
  const holders = holdersOf(network);
  return async (url, nftId) => {
    const answer = await lookUpNft(url, nftId);
    const { ledgerIndex } = answer;
    const place = heldAt(holders.get(nftId) ?? [], ledgerIndex);
    const truth = { status: place ? 200 : 404, items: place ? [place] : null };
    expect({ nftId, ...answer }).toEqual({ nftId, ledgerIndex, ...truth });
    return ledgerIndex;
  };
}

/** Waits until a line like this is logged behind the first so many. */
export async function untilLogged(edge: Edge, like: RegExp, from: number): Promise<void> {
  for (const end = Date.now() + 60_000; ; ) {
    const next = edge.nextLine(like, 1000);
    if (edge.log.slice(from).some((line) => like.test(line))) return;
    if (Date.now() > end)
      throw new Error(`no line like ${like}:\n${edge.log.slice(from).join('\n')}`);
    await next;
  }
}
