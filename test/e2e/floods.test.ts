/**
 * A flood of lists that look at 100,000 NFTs each, and one of proposals: a coordinator that asks
 * `npm run serve` meanwhile waits for what is running, not for all that was sent. `npm run
 * test:slow -- floods` runs it.
 */
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { openDatabase } from '../support/edge/d1-file.ts';
import { followFeed } from '../support/edge/follow-feed.ts';
import { prepareFollowing } from '../support/edge/follow-network.ts';
import { untilLedger } from '../support/edge/walk-network.ts';
import { NFT, WHITE_FLAG } from '../support/http/contract.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';

const SECONDS = Number(process.env.SECONDS ?? 3);

/** More than a list looks at: each is cut off. */
const NFTS = 300_000;

/** By how much 32 connections may slow a question more than 2 do. */
const MAX_RATIO = 4;

it('32 connections with lists slow a coordinator by little more than 2 do', async () => {
  const network = new SyntheticNetwork({ seed: 'floods' });
  network.milestone();
  await using following = await prepareFollowing(network, { confirmed: 1 });
  const start = () => following.start({ asServe: true, quiet: true });
  const first = await start();
  await untilLedger(first, 1);
  // the lists are filled in a pass after the import
  await sleep(3000);
  await first.stop();
  {
    using db = openDatabase(following.persistTo);
    db.exec(`WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < ${NFTS})
      INSERT INTO output_detail (kind, created_time, output, address, native_tokens)
      SELECT 6, 1600000000 + v / 10, unhex(printf('%068x', v * 7919)),
        unhex(printf('00%064x', v % 1000)), 0 FROM n`);
  }
  const edge = await start();

  const { request } = network.propose({ parents: [network.milestoneBlock!] });
  let asked = 0;
  /** Milliseconds of a question that was not asked before. */
  const ask = async (): Promise<number> => {
    const body = JSON.stringify({ ...request, timestamp: request.timestamp + ++asked });
    const since = performance.now();
    const { status } = await fetch(edge.url + WHITE_FLAG, { method: 'POST', body });
    expect(status).toBe(200);
    return performance.now() - since;
  };
  const answers = new Set<string>();
  const list = async (): Promise<void> => {
    const answer = await fetch(`${edge.url}${NFT.slice(0, -1)}?hasTimelock=true`);
    const { items, cursor } = (await answer.json()) as { items?: string[]; cursor?: string };
    const isCutOff = items?.length === 0 && cursor !== undefined;
    answers.add(isCutOff ? 'cut off' : String(answer.status));
  };
  /** The median while so many connections send lists. */
  const medianBeside = async (connections: number): Promise<number> => {
    let isOver = false;
    const flood = Array.from({ length: connections }, async () => {
      while (!isOver) await list();
    });
    const times: number[] = [];
    for (const end = Date.now() + SECONDS * 1000; Date.now() < end; await sleep(50))
      times.push(await ask());
    isOver = true;
    await Promise.all(flood);
    return times.sort((a, b) => a - b)[times.length >> 1]!;
  };
  await ask();
  const [few, many] = [await medianBeside(2), await medianBeside(32)];
  console.log(JSON.stringify({ few: Math.round(few), many: Math.round(many) }));
  // what the budget of rows ends, or what has waited for too long
  expect(answers.delete('cut off')).toBe(true);
  expect([...answers].filter((each) => !['429', '503'].includes(each))).toEqual([]);
  expect(many / few).toBeLessThan(MAX_RATIO);
});

/** Of a proposal: its roots take a while. */
const CONE = 4000;
const PUSHED_AT_ONCE = 500;
const CONNECTIONS = 140;
const QUESTIONS = 8;

/** Of the crowd, from a question to its answer: those in places, and what was not read yet. */
const MAX_BEFORE = CONNECTIONS / 4;

it(`a coordinator takes turns with ${CONNECTIONS} connections of one address that propose`, async () => {
  await using fed = await followFeed('crowd', { quiet: true });
  const { network, double, edge } = fed;
  let last = network.milestoneBlock!;
  for (let i = 1; i <= CONE; i++) {
    last = network.note([...new Set([last, ...network.someParents()])]);
    if (i % PUSHED_AT_ONCE === 0) await double.mqtt!.pushNews();
  }
  const proposal = network.propose({ parents: [last] }).request;
  let asked = 0;
  /** The status of the answer to a question that was not asked before. */
  const ask = (address: string) =>
    new Promise<number>((resolve) => {
      const headers = { 'cf-connecting-ip': address };
      const sent = request(edge.url + WHITE_FLAG, { method: 'POST', agent: new Agent(), headers });
      sent
        .once('error', () => resolve(0))
        .once('response', (answer) => {
          answer.resume().once('end', () => resolve(answer.statusCode!));
        });
      sent.end(JSON.stringify({ ...proposal, timestamp: proposal.timestamp + ++asked }));
    });
  while ((await ask('192.0.2.1')) !== 200) await sleep(1000);
  let answered = 0;
  let isOver = false;
  const crowd = Array.from({ length: CONNECTIONS }, async () => {
    while (!isOver) {
      if ((await ask('198.51.100.1')) === 200) answered++;
      else await sleep(50);
    }
  });
  await sleep(2000);
  const before: number[] = [];
  for (let i = 0; i < QUESTIONS; i++) {
    const since = answered;
    expect(await ask('192.0.2.1')).toBe(200);
    before.push(answered - since);
    await sleep(500);
  }
  isOver = true;
  await Promise.all(crowd);
  console.log(JSON.stringify({ before, answered }));
  expect(answered).toBeGreaterThan(QUESTIONS);
  expect(Math.max(...before)).toBeLessThanOrEqual(MAX_BEFORE);
});
