/**
 * Every answer that inx-indexer gave at the end of network-k: lists of all kinds of outputs page by
 * page, lookups by ID, and what it refused.
 */
import { beforeAll, expect, it } from 'vitest';
import { checkAlways, type Fetch } from '../../support/http/contract.ts';
import { fetchFrom } from '../../support/http/stub-node.ts';
import { nodeOver } from '../../support/nft-list/list-node.ts';
import { indexEveryKind, listedLedger } from '../../support/nft-list/listed-ledger.ts';
import { recordedOutputs } from '../../support/nft-list/recorded-nfts.ts';
import { readLines } from '../../support/vectors.ts';

interface Recorded {
  path: string;
  status: number;
  pageSize: number;
  cursor?: string;
  /** Places in the ledger's list of outputs. */
  items: number[];
}

const [ledger, ...answers] = readLines('network-k/list_queries.jsonl') as [
  { ledgerIndex: number; outputs: string[] },
  ...Recorded[],
];
const { ledgerIndex, outputs } = ledger;

/** Every so many of the answers: a prime, so that all kinds of queries are among them. */
const STEP = process.env.SLOW ? 1 : 5;

let fetch: Fetch;

beforeAll(async () => {
  const db = await listedLedger(ledgerIndex, 'network-k');
  await indexEveryKind(db);
  fetch = fetchFrom({ node: nodeOver(db) });
});

it('the ledger is the recorded one', () => {
  const derived = recordedOutputs('network-k')(ledgerIndex).map(({ outputId }) => `0x${outputId}`);
  expect(derived.sort()).toEqual([...outputs].sort());
});

it('all that was recorded: status, and the body of each 200 to the byte', async () => {
  const counts = new Map<string, number>();
  for (const [i, { path, status, pageSize, cursor, items }] of answers.entries()) {
    if (i % STEP !== 0) continue;
    if (/^\/api\/indexer\/v1\/outputs\/nft\/./.test(path)) continue; // from KV
    const answer = await fetch(path);
    checkAlways(answer);
    // it answers 500 to some that can never be right
    expect(answer.status, path).toBe(status === 500 ? 400 : status);
    counts.set(`${status}`, (counts.get(`${status}`) ?? 0) + 1);
    if (status !== 200) continue;
    const isLookup = path.includes('/0');
    const body = {
      ledgerIndex,
      ...(!isLookup && { pageSize }),
      ...(cursor && { cursor }),
      items: items.map((place) => outputs[place]!),
    };
    const text = await answer.text();
    // without pages it gives what it finds in no defined order
    if (pageSize === 0 && !isLookup) {
      const all = JSON.parse(text) as typeof body;
      expect({ ...all, items: all.items.sort() }).toEqual({ ...body, items: body.items.sort() });
    } else expect(text, path).toBe(JSON.stringify(body));
  }
  expect(counts.get('200')).toBeGreaterThan(2_900 / STEP);
  expect(counts.get('400')).toBeGreaterThan(process.env.SLOW ? 200 : 20);
});
