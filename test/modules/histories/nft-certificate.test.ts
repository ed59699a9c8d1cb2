/**
 * Certificates of NFTs, from the ledger by its route, and what they prove
 * (src/stardust/provenance/certificate.ts), against what the network's own transactions did.
 */

import { beforeAll, describe, expect, it } from 'vitest';
import type { SqliteDatabase } from '../../../cli/lib/wrangler/sqlite-database.ts';
import { LedgerMoved } from '../../../src/ledger/core/fence.ts';
import { readHead } from '../../../src/ledger/core/head.ts';
import { loadSnapshot } from '../../../src/ledger/import/load-snapshot.ts';
import { prune } from '../../../src/ledger/write/prune.ts';
import { readNftCertificate } from '../../../src/modules/histories/nft-certificate.ts';
import { proveBlock } from '../../../src/modules/proofs/applied-milestone.ts';
import { inclusionToJson } from '../../../src/modules/proofs/routes/poi.ts';
import { openIndexLedger } from '../../../src/nft-index/d1-ledger.ts';
import { beginState } from '../../../src/nft-index/publisher-state.ts';
import { verifySignature } from '../../../src/platform/verify-signature.ts';
import { blake2b256 } from '../../../src/stardust/crypto/hash.ts';
import { toBase64 } from '../../../src/stardust/encoding/base64.ts';
import { toHex, toHexDigits } from '../../../src/stardust/encoding/bytes.ts';
import { proofFor, verifyInclusion } from '../../../src/stardust/proof/proof.ts';
import {
  type Finding,
  laterState,
  MAX_CERTIFICATE_BYTES,
  type NftState,
  type Proved,
  proveCertificate,
  provedValue,
  type Trust,
} from '../../../src/stardust/provenance/provenance.ts';
import { decodeBlock } from '../../../src/stardust/wire/block.ts';
import { nftIdOf, outputBytes } from '../../../src/stardust/wire/ids.ts';
import type { NftOutput } from '../../../src/stardust/wire/output.ts';
import type { Fetch } from '../../support/http/contract.ts';
import { fetchFrom } from '../../support/http/stub-node.ts';
import { asFile, disturbed, followTo, startLedger } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { freshRandom } from '../../support/network/fresh-random.ts';
import { resign } from '../../support/network/milestones.ts';
import { milestoneAt, type Network } from '../../support/network/network-model.ts';
import { fullSnapshot } from '../../support/network/network-snapshot.ts';
import { eventsOfLives, type LifeEvent, nftLives } from '../../support/network/nft-lives.ts';
import { SyntheticNetwork } from '../../support/network/synthetic-network.ts';
import type { Coin } from '../../support/network/transactions.ts';
import { nodeOver } from '../../support/nft-list/list-node.ts';
import { basic, metadata, nft } from '../../support/payloads/outputs.ts';
import { changeField } from '../../support/stardust/changed-json.ts';

const MILESTONES = 30;

const network = nftLives('certificates of NFTs', MILESTONES);
const lives = eventsOfLives(network);
const trust = trustOf(network);

type Json = Record<string, unknown>;

function trustOf({ keys }: Network): Trust {
  return { whose: 'the keys of the test', keys, verify: verifySignature };
}

const pathOf = (nft: string, milestone?: number) =>
  `/api/edge/v1/nfts/0x${nft}/certificate${milestone === undefined ? '' : `?milestone=${milestone}`}`;

function proofOf<T>(finding: Finding<T>): Proved<T> {
  if (finding.standing !== 'proved') throw new Error(finding.reason);
  return finding.proof;
}

/** What a state must be after an event. */
function factsOf({ index, blockId, transactionId, outputId }: LifeEvent) {
  const held = outputId === undefined ? undefined : `0x${outputId}`;
  return { index, blockId: `0x${blockId}`, transactionId: `0x${transactionId}`, held };
}

function factsProved(proof: Proved<NftState>) {
  const { since, blockId, transactionId, held } = provedValue(proof);
  return { index: since.index, blockId, transactionId, held: held?.outputId };
}

/** The last event of each milestone that changed the NFT. */
function lastEvents(nft: string): LifeEvent[] {
  const events = lives.get(nft)!.filter(({ index }) => index > 0);
  return events.filter(({ index }, i) => events[i + 1]?.index !== index);
}

let db: SqliteDatabase;
let fetch: Fetch;
/** Of each NFT, by the milestone that made its state. */
const certificates: { nft: string; event: LifeEvent; json: Json }[] = [];

beforeAll(async () => {
  db = await openMemory();
  await followTo(await startLedger(db, network, 0), MILESTONES);
  fetch = fetchFrom({ node: nodeOver(db) });
  for (const nft of lives.keys())
    for (const event of lastEvents(nft)) {
      const json = (await (await fetch(pathOf(nft, event.index))).json()) as Json;
      certificates.push({ nft, event, json });
    }
});

describe('of all NFTs', () => {
  it('each change has one, which proves it', async () => {
    const kinds = new Set<string>();
    for (const { nft, event, json } of certificates) {
      const proof = proofOf(await proveCertificate(json, `0x${nft}`, trust));
      expect(factsProved(proof)).toEqual(factsOf(event));
      expect(provedValue(proof).head.index).toBe(MILESTONES);
      expect(JSON.stringify(json).length).toBeLessThan(MAX_CERTIFICATE_BYTES);
      kinds.add(event.kind);
    }
    expect([...kinds].sort()).toEqual(['burned', 'changed', 'minted', 'transferred']);
  });

  it('without a milestone it is about the newest change; of others there is none', async () => {
    for (const nft of lives.keys()) {
      const events = lastEvents(nft);
      const answer = await fetch(pathOf(nft));
      const last = events.at(-1);
      if (last === undefined) expect(answer.status).toBe(404);
      else
        expect(await answer.json()).toEqual(
          certificates.find((each) => each.nft === nft && each.event === last)!.json,
        );
      for (let index = 1; index <= MILESTONES + 1; index++) {
        if (events.some((event) => event.index === index)) continue;
        const { status, headers } = await fetch(pathOf(nft, index));
        expect([status, headers.get('x-error-detail')]).toEqual([
          404,
          'this milestone or block did not change the NFT',
        ]);
      }
    }
  });

  it('its block has a proof that inx-poi takes', async () => {
    for (const { event } of certificates.slice(0, 10)) {
      const file = await inclusionToJson((await proveBlock(db, event.blockId))!);
      const { blockId } = await verifyInclusion(file, network.keys, verifySignature);
      expect(toHexDigits(blockId)).toBe(event.blockId);
    }
  });
});

it('the later of two states is the one that came later, within a milestone too', async () => {
  let within = 0;
  for (const nft of lives.keys()) {
    const proofs: Proved<NftState>[] = [];
    for (const event of lives.get(nft)!.filter(({ index }) => index > 0)) {
      const json = await (await fetch(`${pathOf(nft)}?block=0x${event.blockId}`)).json();
      const own = certificates.find((each) => each.event === event);
      if (own !== undefined) expect(json).toEqual(own.json);
      const proof = proofOf(await proveCertificate(json, `0x${nft}`, trust));
      expect(factsProved(proof)).toEqual(factsOf(event));
      proofs.push(proof);
    }
    for (const [i, early] of proofs.entries())
      for (const late of proofs.slice(i)) {
        const isWithin = provedValue(early).since.index === provedValue(late).since.index;
        within += Number(isWithin && early !== late);
        for (const later of [laterState(early, late), laterState(late, early)])
          expect(factsProved(proofOf(later))).toEqual(factsProved(late));
      }
  }
  expect(within).toBeGreaterThan(10);
  const [one, other] = await Promise.all(
    certificates
      .filter(({ nft }, i) => certificates.findIndex((each) => each.nft === nft) === i)
      .slice(0, 2)
      .map(async ({ nft, json }) => proofOf(await proveCertificate(json, `0x${nft}`, trust))),
  );
  expect(() => laterState(one!, other!)).toThrow(TypeError);
});

/** What a node says that stands still at an earlier milestone, or, undefined, that it knows nothing. */
function frozenAnswer(nft: string, at: number): Json | undefined {
  const last = certificates.findLast((each) => each.nft === nft && each.event.index <= at);
  const head = milestoneAt(network, at)!.payload;
  return last && { ...last.json, ledgerIndex: at, head: toBase64(head) };
}

/** The latest state that one of the answers proves; what proves nothing is left out. */
async function latestOf(answers: readonly unknown[], nftId: string): Promise<Finding<NftState>> {
  let latest: Finding<NftState> = { standing: 'not-checked', reason: 'no answer proves a state' };
  for (const answer of answers) {
    const finding = await proveCertificate(answer, nftId, trust);
    if (finding.standing !== 'proved') continue;
    latest = latest.standing === 'proved' ? laterState(latest.proof, finding.proof) : finding;
  }
  return latest;
}

it('one honest, current node refutes all that are stale or lie', async () => {
  const random = freshRandom();
  const [outcomes, lies] = [new Set<string>(), new Set<string>()];
  for (let i = 0; i < Number(process.env.CLIENTS ?? 25); i++) {
    const nft = random.pick([...new Set(certificates.map((each) => each.nft))]);
    const truth = certificates.findLast((each) => each.nft === nft)!;
    const forged = structuredClone(truth.json);
    changeField(forged, random);
    const replayed = { ...random.pick(certificates).json, nftId: `0x${nft}` };
    const frozen = [1, 2].map(() => frozenAnswer(nft, random.between(1, MILESTONES)));
    const answers = random.sample([truth.json, ...frozen, forged, replayed, { error: 404 }], 6);
    const latest = await latestOf(answers, `0x${nft}`);
    expect(factsProved(proofOf(latest))).toEqual(factsOf(truth.event));
    outcomes.add(truth.event.kind);
    // without the honest one a client may be deceived, but never by what did not happen
    const others = answers.filter((each) => each !== truth.json);
    const said = await latestOf(others, `0x${nft}`);
    if (said.standing !== 'proved') lies.add('nothing proved');
    else {
      const facts = factsProved(said.proof);
      const events = lives.get(nft)!.map(factsOf);
      expect(events).toContainEqual(facts);
      lies.add(facts.index === truth.event.index ? 'current' : 'stale');
    }
  }
  expect(outcomes.size).toBeGreaterThan(2);
  expect([...lies]).toEqual(expect.arrayContaining(['current', 'stale']));
});

describe('a false certificate', () => {
  it('a mutated one proves nothing', async () => {
    const random = freshRandom();
    const refused = new Set<string>();
    for (let i = 0; i < Number(process.env.MUTATIONS ?? 300); i++) {
      const { nft, json } = random.pick(certificates);
      const mutated = structuredClone(json);
      changeField(mutated, random);
      const finding = await proveCertificate(mutated, `0x${nft}`, trust);
      expect(finding.standing, JSON.stringify(mutated)).toBe('refuted');
      if (finding.standing === 'refuted') refused.add(finding.reason.replace(/[0-9].*/s, ''));
    }
    expect(refused.size).toBeGreaterThan(8);
  });

  it('one of another NFT, of other milestones, of another network, or by too few keys', async () => {
    const other = trustOf(nftLives('another network', 2));
    const strict = { ...trust, keys: { ...network.keys, threshold: 4 } };
    const old = certificates.filter(({ event }) => event.index < MILESTONES);
    for (const { nft, json } of old.slice(0, 20)) {
      const another = [...lives.keys()].find((each) => each !== nft)!;
      const claims: [Json, string, Trust][] = [
        [json, another, trust],
        [{ ...json, nftId: `0x${another}` }, another, trust],
        [{ ...json, head: json.milestone }, nft, trust],
        [{ ...json, milestone: json.head }, nft, trust],
        [json, nft, other],
        [json, nft, strict],
      ];
      for (const [claim, id, by] of claims)
        expect((await proveCertificate(claim, `0x${id}`, by)).standing).toBe('refuted');
    }
  });

  it('a path to the inclusion root shows no transaction that was applied', async () => {
    for (const { nft, event, json } of certificates.slice(0, 20)) {
      const { included, position } = (await proveBlock(db, event.blockId))!;
      const said = { ...json, appliedProof: proofFor(included, position) };
      expect(await proveCertificate(said, `0x${nft}`, trust)).toMatchObject({
        standing: 'refuted',
        reason: 'the path does not lead to the signed root',
      });
    }
  });

  it('a transfer is no burn, and a burn without what it consumed is nothing', async () => {
    const transfer = certificates.find(({ event }) => event.kind === 'transferred')!;
    const burn = certificates.find(({ event }) => event.kind === 'burned')!;
    const consumed = burn.json.consumed as Json[];
    const hidden = consumed.map(({ output, ...rest }) =>
      output === undefined
        ? rest
        : { hash: toHex(blake2b256(Uint8Array.fromBase64(output as string))) },
    );
    for (const [{ nft, json }, changes] of [
      [transfer, { outputId: null, consumed }],
      [burn, { consumed: undefined }],
      [burn, { consumed: [] }],
      [burn, { consumed: [...consumed, ...consumed] }],
      [burn, { consumed: hidden }],
    ] as const)
      expect((await proveCertificate({ ...json, ...changes }, `0x${nft}`, trust)).standing).toBe(
        'refuted',
      );
  });

  it('two milestones of one index, both of which the keys signed, are of two chains', async () => {
    const { nft, event, json } = certificates[0]!;
    const { payload } = milestoneAt(network, event.index)!;
    const beside = toBase64(resign(payload, { metadata: Uint8Array.of(1) }, network.signers));
    const judge = (changes: Json) =>
      proveCertificate({ ...json, ledgerIndex: event.index, ...changes }, `0x${nft}`, trust);
    const own = proofOf(await judge({ head: toBase64(payload) }));
    expect(factsProved(own)).toEqual(factsOf(event));
    expect(await judge({ head: beside })).toMatchObject({
      standing: 'refuted',
      reason: `the ledger's milestone ${event.index} is not that of the certificate`,
    });
    const other = proofOf(await judge({ head: beside, milestone: beside }));
    expect(laterState(own, other)).toMatchObject({
      standing: 'refuted',
      reason: `two milestones ${event.index} are signed by ${trust.whose}`,
    });
  });

  it('bytes in another spelling', async () => {
    const padded = certificates.flatMap(({ nft, json }) =>
      ['milestone', 'block', 'head']
        .filter((field) => /[AQgw]=+$/.test(json[field] as string))
        .map((field) => ({ nft, json, field })),
    );
    expect(padded.length).toBeGreaterThan(10);
    for (const { nft, json, field } of padded.slice(0, 10)) {
      const text = json[field] as string;
      // the bits beyond the last byte
      const other = text.replace(/.(?==)/, (last) => String.fromCharCode(last.charCodeAt(0) + 1));
      expect(await proveCertificate({ ...json, [field]: other }, `0x${nft}`, trust)).toMatchObject({
        standing: 'refuted',
        reason: expect.stringContaining('is not base64'),
      });
    }
  });

  it('a burn by what the transaction did not consume', async () => {
    const stranger = new Uint8Array(32).fill(0xee);
    const output = toBase64(outputBytes(nft(network.account(0), { nftId: stranger })));
    for (const { json } of certificates.slice(0, 10)) {
      const { transaction } = decodeBlock(Uint8Array.fromBase64(json.block as string));
      const consumed = transaction!.value.essence.inputs.map(() => ({ output }));
      const claim = { ...json, nftId: toHex(stranger), outputId: null, consumed };
      expect((await proveCertificate(claim, toHex(stranger), trust)).standing).toBe('refuted');
    }
  });

  it.each([null, [], 'x', 7, {}, { milestone: 7 }])('%j', async (json) => {
    expect((await proveCertificate(json, `0x${'ab'.repeat(32)}`, trust)).standing).toBe('refuted');
  });
});

describe('of a ledger that is pruned, or was just imported', () => {
  it('only changes after the first milestone that is kept have one', async () => {
    const pruned = await openMemory();
    await followTo(await startLedger(pruned, network, 0), MILESTONES);
    await prune(pruned, 10);
    const ask = fetchFrom({ node: nodeOver(pruned) });
    const seen = new Set<string>();
    for (const { nft, event, json } of certificates) {
      const answer = await ask(pathOf(nft, event.index));
      const detail = answer.headers.get('x-error-detail');
      if (event.index > MILESTONES - 10) expect(await answer.json()).toEqual(json);
      else {
        expect([answer.status, detail]).toEqual([404, expect.stringMatching(/kept/)]);
        seen.add(detail!);
      }
    }
    expect(seen.size).toBeGreaterThan(0);
  });

  it('pruning beside a request for the oldest change is no damage', async () => {
    const pruned = await openMemory();
    await followTo(await startLedger(pruned, network, 0), MILESTONES);
    const { generation } = (await readHead(pruned))!;
    const state = beginState({ generation: generation, ledgerIndex: MILESTONES });
    await openIndexLedger(pruned).swap(undefined, { token: 't', state });
    const { nft, event } = certificates.find(
      ({ nft, event }) => event.outputId && lives.get(nft)!.at(-1)!.index > event.index,
    )!;
    const keep = MILESTONES - event.index;
    await prune(pruned, keep + 1);
    const busy = disturbed(pruned, async (_, batch) => {
      if (batch === 2) await prune(pruned, keep);
    });
    const reading = readNftCertificate(busy, nft, { milestone: event.index });
    await expect(reading).rejects.toThrow(LedgerMoved);
  });

  it('a snapshot has no block', async () => {
    const imported = await openMemory();
    await loadSnapshot(imported, asFile(fullSnapshot(network, { target: 20 })), undefined);
    const ask = fetchFrom({ node: nodeOver(imported) });
    for (const nft of lives.keys()) expect((await ask(pathOf(nft))).status).toBe(404);
  });
});

/** Two NFTs may be minted by one transaction. */
function mints({ blockId }: LifeEvent, nft: string): boolean {
  return lives.get(nft)!.some((event) => event.blockId === blockId);
}

it('a block that did not change the NFT, or is not known', async () => {
  const { nft, event } = certificates[0]!;
  const quiet = [...network.blocks.values()].find(
    ({ referenced }) => referenced?.state === 'noTransaction',
  )!;
  const strange = certificates.find((each) => each.nft !== nft && !mints(each.event, nft))!;
  for (const [block, detail] of [
    [quiet.id.slice(2), 'this milestone or block did not change the NFT'],
    [strange.event.blockId, 'this milestone or block did not change the NFT'],
    ['ab'.repeat(32), 'the block that changed the NFT is not kept'],
  ] as const) {
    const answer = await fetch(`${pathOf(nft)}?block=0x${block}`);
    expect([answer.status, answer.headers.get('x-error-detail')]).toEqual([404, detail]);
  }
  const both = `${pathOf(nft, event.index)}&block=0x${event.blockId}`;
  expect((await fetch(both)).status).toBe(400);
});

it('a block that a milestone references while it is read is not of the milestone before', async () => {
  const racing = await openMemory();
  const { nft, event } = certificates.find(
    ({ nft, event }) => event.index > 8 && lives.get(nft)![0]!.index < event.index,
  )!;
  const rig = await startLedger(racing, network, 0);
  await followTo(rig, event.index - 1);
  const applying = disturbed(racing, async (_, batch) => {
    if (batch === 2) await followTo(rig, event.index);
  });
  expect(await readNftCertificate(applying, nft, { block: event.blockId })).toEqual({
    ledgerIndex: event.index - 1,
    ok: false,
    why: 'not kept',
  });
});

it('400 for what is no ID or no milestone, 404 before X-Min-Ledger-Index', async () => {
  const { nft } = certificates[0]!;
  for (const path of [
    pathOf(`${nft}00`),
    `${pathOf(nft)}?milestone=x`,
    `${pathOf(nft)}?milestone=`,
  ])
    expect((await fetch(path)).status).toBe(400);
  const init = { headers: { 'x-min-ledger-index': String(MILESTONES + 1) } };
  expect((await fetch(pathOf(nft), init)).status).toBe(404);
});

it('a block of nearly 32 KB fits; with as much consumed beside it, it is refused', async () => {
  const large = new SyntheticNetwork({ seed: 'large blocks' });
  const [owner] = [large.account(0)];
  const long = (byte: number) => metadata(new Uint8Array(8000).fill(byte));
  const note = (amount: bigint) => basic(owner, { amount, features: [long(1)] });
  large.milestone();
  const [coin] = large.genesisCoins as [Coin];
  const amount = 100_000_000n;
  const first = nft(owner, { amount, immutable: [long(2)], features: [long(3)] });
  const rest = coin.output.amount - amount;
  const minted = large.transaction(
    [large.spendOf(coin)],
    [first, note(rest - amount), note(amount)],
  );
  large.attachTransaction(minted);
  large.milestone();
  const [held, change, more] = minted.coins as [Coin, Coin, Coin];
  const burned = large.transaction(
    [held, change, more].map((each) => large.spendOf(each)),
    [note(rest - amount), note(amount), note(amount)],
  );
  large.attachTransaction(burned);
  large.milestone();
  const ledger = await openMemory();
  await followTo(await startLedger(ledger, large, 0), 3);
  const ask = fetchFrom({ node: nodeOver(ledger) });
  const id = toHexDigits(nftIdOf(first, held.id));
  const answer = await ask(pathOf(id, 2));
  const text = await answer.text();
  const json = JSON.parse(text) as Json;
  // a block has at most 32,768
  expect(Uint8Array.fromBase64(json.block as string).length).toBeGreaterThan(32_400);
  expect(text.length).toBeLessThan(MAX_CERTIFICATE_BYTES);
  expect(factsProved(proofOf(await proveCertificate(json, `0x${id}`, trustOf(large)))).index).toBe(
    2,
  );
  const refused = await ask(pathOf(id, 3));
  expect([refused.status, refused.headers.get('x-error-detail')]).toEqual([
    500,
    'the certificate would have more than 50 KB',
  ]);
});

it('a burn beside other inputs shows what the NFT was in, and of the others their hashes', async () => {
  const beside = new SyntheticNetwork({
    seed: 'burn beside others',
    coins: (account) => [basic(account(0)), nft(account(0)), basic(account(0))],
  });
  beside.milestone();
  const coins = beside.genesisCoins.slice(0, 3);
  const amount = coins.reduce((sum, { output }) => sum + output.amount, 0n);
  const spends = coins.map((each) => beside.spendOf(each));
  beside.attachTransaction(beside.transaction(spends, [basic(beside.account(1), { amount })]));
  beside.milestone();
  const ledger = await openMemory();
  await followTo(await startLedger(ledger, beside, 0), 2);
  const [, held] = coins as [Coin, Coin, Coin];
  const id = toHexDigits(nftIdOf(held.output as NftOutput, held.id));
  const json = (await (await fetchFrom({ node: nodeOver(ledger) })(pathOf(id))).json()) as Json;
  expect(json.consumed).toEqual([
    { hash: toHex(blake2b256(coins[0]!.bytes)) },
    { output: toBase64(held.bytes) },
    { hash: toHex(blake2b256(coins[2]!.bytes)) },
  ]);
  const proof = proofOf(await proveCertificate(json, `0x${id}`, trustOf(beside)));
  expect(factsProved(proof)).toMatchObject({ index: 2, held: undefined });
});
