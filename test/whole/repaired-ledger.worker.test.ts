/**
 * A ledger that was imported from a damaged snapshot is replaced by the right one while the node
 * runs, as in the runbook "The ledger is lost or wrong": no answer of before is left. Everything is
 * asked through the app as `npm run serve` has it, with its memory of answers.
 */

import { env } from 'cloudflare:workers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createApp } from '../../src/http/app.ts';
import { loadSnapshot } from '../../src/ledger/import/load-snapshot.ts';
import { MODULES } from '../../src/modules/list.ts';
import { openNode } from '../../src/node/edge-node.ts';
import { readSettings } from '../../src/settings.ts';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import { encode } from '../../src/stardust/encoding/codec.ts';
import { output } from '../../src/stardust/wire/output.ts';
import { post, WHITE_FLAG } from '../support/http/contract.ts';
import { checkingDescription } from '../support/http/described.ts';
import {
  asFile,
  followTo,
  questionOf,
  startLedger,
  storeNow,
} from '../support/ledger/ledger-harness.ts';
import { type Network, ZERO_ID } from '../support/network/network-model.ts';
import { deltaSnapshot, fullSnapshot } from '../support/network/network-snapshot.ts';
import { COIN_AMOUNT, SyntheticNetwork } from '../support/network/synthetic-network.ts';
import { basic, nft } from '../support/payloads/outputs.ts';

const NFT_ID = new Uint8Array(32).fill(7);
const SECOND_MS = 1000;

const network = new SyntheticNetwork({
  seed: 'repaired',
  coins: (account) => [
    basic(account(0), { amount: COIN_AMOUNT }),
    nft(account(1), { nftId: NFT_ID, amount: COIN_AMOUNT }),
  ],
});
const [, held] = network.genesisSpends;
const taken = network.transaction(
  [held!],
  [nft(network.account(4), { nftId: NFT_ID, amount: COIN_AMOUNT })],
  'signature',
);
const conflicting = network.attachTransaction(taken);
network.milestone();
const moved = network.transaction(
  [held!],
  [nft(network.account(3), { nftId: NFT_ID, amount: COIN_AMOUNT })],
);
const top = network.attachTransaction(moved, [network.milestoneBlock!]);
network.milestone({ parents: [top] });
const outputId = toHex(held!.coin.id);

/** The network as a snapshot has it in which the owner of the NFT is another. */
function damaged(): Network {
  const outputs = new Map(network.outputs);
  const wrong = nft(network.account(2), { nftId: NFT_ID, amount: COIN_AMOUNT });
  outputs.set(outputId, { ...outputs.get(outputId)!, bytes: encode(output, wrong) });
  return { ...network.toNetwork(), outputs };
}

const result = readSettings(env);
if (!result.ok) throw new Error(result.problems.join());
const settings = { ...result.settings, oneIsolate: true, milestoneKeys: network.keys };
const app = createApp({ settings, node: openNode(settings), modules: MODULES });
const fetch = checkingDescription((path, init) =>
  app.fetch(new Request(`http://edge.example${path}`, init), {
    waitUntil: () => {},
  } as unknown as ExecutionContext),
);

const RAW = { headers: { accept: 'application/vnd.iota.serializer-v1' } };
const proposal = questionOf(network, 2);

async function askAll(): Promise<Record<string, string>> {
  const answers: Record<string, string> = {};
  const asked: [string, string, RequestInit?][] = [
    ['proposal', WHITE_FLAG, post(JSON.stringify(proposal.question))],
    ['past milestone', WHITE_FLAG, post(JSON.stringify(questionOf(network, 1).question))],
    ['NFT', `/api/edge/v1/nfts/${toHex(NFT_ID)}`],
    ['lookup', `/api/indexer/v1/outputs/nft/${toHex(NFT_ID)}`],
    ['list', '/api/indexer/v1/outputs/nft'],
    ['reason of a conflict', `/api/core/v2/blocks/${conflicting}/metadata`],
    ['output', `/api/core/v2/outputs/${outputId}`],
    ['bytes of the output', `/api/core/v2/outputs/${outputId}`, RAW],
  ];
  for (const [name, path, init] of asked) {
    const response = await fetch(path, init);
    const body = new Uint8Array(await response.arrayBuffer());
    expect([name, response.status]).toEqual([name, 200]);
    // what a client may keep for ever must be what an ID names
    const keeps = response.headers.get('cache-control')!.includes('immutable');
    expect([name, keeps]).toEqual([name, false]);
    answers[name] = `${response.headers.get('etag') ?? ''} ${body.toHex()}`;
  }
  return answers;
}

/** Imports the network as that one has it, and follows to where the NFT is about to move. */
async function importAt(snapshotOf: Network): Promise<Record<string, string>> {
  const rig = await startLedger(env.LEDGER, network, 0, { snapshotOf });
  await followTo(rig, 1);
  await storeNow(rig, env.LEDGER);
  return askAll();
}

it('leaves no answer of before', async () => {
  const right = await importAt(network);
  expect(right.proposal).toContain(
    new TextEncoder().encode(proposal.answer.appliedMerkleRoot).toHex(),
  );
  await sleep(SECOND_MS + 100);
  const wrong = await importAt(damaged());
  const others = ['proposal', 'NFT', 'reason of a conflict', 'output', 'bytes of the output'];
  const differing = Object.keys(right).filter((name) => right[name] !== wrong[name]);
  expect(differing).toEqual(others);
  await sleep(SECOND_MS + 100);
  expect(await importAt(network)).toEqual(right);
});

it('gives a milestone with the signatures of the right files', async () => {
  const applied = network.toNetwork();
  const last = applied.milestones[1]!;
  const payload = last.payload.with(-1, last.payload.at(-1)! ^ 1);
  const forged = { ...applied, milestones: [applied.milestones[0]!, { ...last, payload }] };
  const importDelta = async (snapshotOf: Network): Promise<string> => {
    const full = asFile(fullSnapshot(applied, { target: 0 }));
    await loadSnapshot(env.LEDGER, full, asFile(deltaSnapshot(snapshotOf, 0, 2)));
    const response = await fetch(`/api/core/v2/milestones/${last.id}`, RAW);
    expect(response.headers.get('cache-control')).toBe(
      'public, max-age=86400, immutable, stale-if-error=0',
    );
    return (await response.bytes()).toHex();
  };
  expect(await importDelta(forged)).toBe(payload.toHex());
  await sleep(SECOND_MS + 100);
  expect(await importDelta(applied)).toBe(last.payload.toHex());
});

it('tells of a network that was begun anew what became of a block there', async () => {
  /** By the milestone that references the same block, and how long caches may keep each. */
  const tellOf = async (empty: number) => {
    const anew = new SyntheticNetwork({ seed: 'anew' });
    for (let i = 0; i < empty; i++) anew.milestone();
    const transfer = anew.transfer(anew.genesisCoins[0]!, 1);
    const id = anew.attachTransaction(transfer, [ZERO_ID]);
    anew.milestone({ parents: [id, ...(anew.milestoneBlock ? [anew.milestoneBlock] : [])] });
    await followTo(await startLedger(env.LEDGER, anew, 0), empty + 1);
    const answers = await Promise.all([
      fetch(`/api/core/v2/blocks/${id}/metadata`),
      fetch(`/api/core/v2/transactions/${toHex(transfer.id)}/included-block/metadata`),
      fetch(`/api/poi/v1/create/${id}`),
    ]);
    const [metadata, included, proof] = await Promise.all(
      answers.map(async (each) => (await each.json()) as Record<string, unknown>),
    );
    const { index } = proof!.milestone as { index: number };
    const indexes = [metadata, included].map((each) => each!.referencedByMilestoneIndex);
    const kept = answers.map(({ headers }) => headers.get('cache-control'));
    return { indexes: [...indexes, index], kept: [...new Set(kept)] };
  };
  const kept = ['public, max-age=86400, immutable, stale-if-error=0'];
  const before = await tellOf(0);
  await sleep(SECOND_MS + 100);
  expect([before, await tellOf(1)]).toEqual([
    { indexes: [1, 1, 1], kept },
    { indexes: [2, 2, 2], kept },
  ]);
});
