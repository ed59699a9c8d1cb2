/** GET /api/edge/v1/changes/nfts, from databases in memory. */
import { beforeAll, describe, expect, it } from 'vitest';
import { insertHead, insertMilestone } from '../../../src/ledger/core/write-head.ts';
import { MAX_CHANGES } from '../../../src/modules/histories/nft-changes.ts';
import { checkLedgerRead, expectError, type Fetch } from '../../support/http/contract.ts';
import { fetchFrom } from '../../support/http/stub-node.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { testHead, testMilestone } from '../../support/ledger/test-head.ts';
import { nodeOver } from '../../support/nft-list/list-node.ts';

const PATH = '/api/edge/v1/changes/nfts?after=';
const START = 1000;

interface Changes {
  to: number;
  changes: { nftId: string; outputId: string | null }[];
}

const changesOf = async (answer: Response) => (await answer.json()) as Changes;

/** An NFT by its number: its state is that of the milestone that changed it last; odd ones burn. */
const idOf = (number: number) => number.toString(16).padStart(8, '0').padEnd(64, '5a');
const outputOf = (number: number, milestone: number) =>
  number % 2 === 1
    ? null
    : `${milestone.toString(16).padStart(8, '0')}${idOf(number)}`.slice(0, 68);

/**
 * A ledger of which each milestone has changed so many NFTs, the same ones over again once it has
 * come to the last of `nfts`.
 */
async function ledgerOf(counts: readonly number[], nfts = Number.POSITIVE_INFINITY) {
  const db = await openMemory();
  const ledger = START + counts.length;
  const changed = new Map<number, number>();
  let [total, next] = [0, 0];
  const statements = [
    insertHead(db, testHead('g', START, ledger)),
    insertMilestone(db, testMilestone(START, 0)),
  ];
  for (const [i, count] of counts.entries()) {
    const milestone = START + 1 + i;
    const numbers = Array.from({ length: count }, () => next++ % nfts);
    for (const number of numbers) changed.set(number, milestone);
    total += count;
    statements.push(insertMilestone(db, { ...testMilestone(milestone, 0), nftChanges: total }));
    // as if a part had room for 100
    for (let part = 0; part * 100 < count; part++) {
      const ids = numbers.slice(part * 100, part * 100 + 100).map(idOf);
      const cells = [milestone, part, JSON.stringify(ids)];
      statements.push(db.prepare('INSERT INTO nft_change VALUES (?1, ?2, ?3)').bind(...cells));
    }
  }
  for (const [number, milestone] of changed) {
    const [id, output] = [idOf(number), outputOf(number, milestone)];
    statements.push(
      db.prepare('INSERT INTO nft VALUES (?1, ?2, ?3)').bind(id, output, milestone),
      db
        .prepare(`INSERT INTO output (id, chain, bytes, block, created, created_time, sum)
          SELECT ?2, ?1, '', '', 0, 0, 0 WHERE ?2 IS NOT NULL`)
        .bind(id, output),
    );
  }
  await db.batch(statements);
  return { db, fetch: fetchFrom({ node: nodeOver(db) }), ledger, changed };
}

describe('three NFTs of four milestones', () => {
  let fetch: Fetch;
  beforeAll(async () => {
    ({ fetch } = await ledgerOf([2, 0, 2, 0], 3));
  });

  it('each that changed, once, with its state now', async () => {
    const answer = await fetch(`${PATH}1000`);
    const change = (number: number, milestone: number) => {
      const output = outputOf(number, milestone);
      return { nftId: `0x${idOf(number)}`, outputId: output && `0x${output}` };
    };
    expect(await answer.json()).toEqual({
      from: 1000,
      to: 1004,
      ledgerIndex: 1004,
      changes: [change(0, 1003), change(1, 1001), change(2, 1003)],
    });
  });

  it.each([1003, 1004])('none after milestone %i', async (after) => {
    const nothing = { from: after, to: 1004, ledgerIndex: 1004, changes: [] };
    expect(await (await fetch(PATH + after)).json()).toEqual(nothing);
  });

  it('are cached as lookups are', async () => {
    for (const after of [1000, 1001]) await checkLedgerRead(fetch, PATH + after, 1004);
  });

  it.each([
    ['999', 'changes after milestone 999 are not kept: list the NFTs again'],
    ['0', 'changes after milestone 0 are not kept: list the NFTs again'],
    ['1005', 'the ledger is at 1004, before the milestone that was asked for'],
    ['4294967295', 'the ledger is at 1004, before the milestone that was asked for'],
  ])('404 after milestone %s', async (after, detail) => {
    const headers = { 'x-ledger-index': '1004', 'x-error-detail': detail };
    await expectError(fetch, PATH + after, 404, undefined, headers);
  });

  it.each([
    '',
    '-1',
    '1e3',
    '0x3e8',
    ' 1000',
    '1000.0',
    '1000%00',
    '4294967296',
    '99999999999',
    '１',
  ])('400 after %s', async (after) => {
    const detail = 'after is not an integer from 0 to 4294967295';
    const headers = { 'x-error-detail': detail };
    await expectError(fetch, PATH + after, 400, undefined, headers);
  });

  it('400 without after, and with two', async () => {
    const path = '/api/edge/v1/changes/nfts';
    for (const search of ['', '?', '?After=1000', '?after=1000;', '?after'])
      await expectError(fetch, path + search, 400);
    await expectError(fetch, `${PATH}1003&after=1`, 400, undefined, {
      'x-error-detail': 'after is given twice',
    });
  });
});

it('25,000 changes: a client asks page by page, each of bounded size', async () => {
  const { fetch, ledger, changed } = await ledgerOf(
    Array.from({ length: 50 }, () => 500),
    8_000,
  );
  const known = new Map<string, string | null>();
  let [after, pages] = [START, 0];
  while (after < ledger) {
    const body = await changesOf(await fetch(PATH + after));
    expect(body.to).toBe(Math.min(after + MAX_CHANGES / 500, ledger));
    expect(body.changes.length).toBeLessThanOrEqual(MAX_CHANGES);
    for (const { nftId, outputId } of body.changes) known.set(nftId, outputId);
    after = body.to;
    pages++;
  }
  expect(pages).toBe(3);
  const state = [...changed].map(([number, milestone]): [string, string | null] => {
    const output = outputOf(number, milestone);
    return [`0x${idOf(number)}`, output && `0x${output}`];
  });
  expect(known).toEqual(new Map(state));
});

it('404 where one milestone changed more than 10,000', async () => {
  const { fetch } = await ledgerOf([1, MAX_CHANGES + 1, 1]);
  const ask = async (after: number) => {
    const answer = await fetch(PATH + after);
    return answer.ok ? (await changesOf(answer)).to : answer.headers.get('x-error-detail');
  };
  expect(await ask(1000)).toBe(1001);
  expect(await ask(1001)).toMatch(/^more than 10000 NFTs changed in the next milestone/);
  expect(await ask(1002)).toBe(1003);
});

it('10,000 in one milestone are an answer', async () => {
  const { fetch } = await ledgerOf([MAX_CHANGES, 1]);
  expect((await changesOf(await fetch(`${PATH}1000`))).to).toBe(1001);
});
