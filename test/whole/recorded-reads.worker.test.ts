/**
 * The Worker's app over real D1 at the end of network-n, against what HORNET 2.0.1 and inx-poi
 * answered there (test/vectors/README.md#recorded-networks): bytes where they are raw, values where
 * they are JSON. What they refuse is refused by the contract's statuses. Every answer is as
 * openapi.json describes it.
 */
import { MODULES } from '../../src/modules/list.ts';
import '../support/vectors-in-workerd.ts';
import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it } from 'vitest';
import { createApp } from '../../src/http/app.ts';
import { openNode } from '../../src/node/edge-node.ts';
import { readSettings } from '../../src/settings.ts';
import type { MilestoneKeys } from '../../src/stardust/milestone-keys.ts';
import { errorBody, type Fetch } from '../support/http/contract.ts';
import { checkingDescription } from '../support/http/described.ts';
import { followTo, startLedger, storeNow } from '../support/ledger/ledger-harness.ts';
import { lastIndex } from '../support/network/network-model.ts';
import { recordedNetwork } from '../support/network/recorded-network.ts';
import { spoil } from '../support/stardust/changed-json.ts';
import { readLines } from '../support/vectors.ts';

interface RecordedRead {
  method: 'GET' | 'POST';
  path: string;
  accept?: string;
  body?: unknown;
  status: number;
  type: string;
  response?: unknown;
  raw?: string;
}

const RAW = 'application/vnd.iota.serializer-v1';
const network = recordedNetwork('network-n');
const last = lastIndex(network);
const reads = readLines('network-n/reads.jsonl') as RecordedRead[];
/** Of the reads of each kind. */
const STEP = process.env.SLOW ? 1 : 3;

const { keys } = network.keys;
const result = readSettings(env);
if (!result.ok) throw new Error(result.problems.join());
const { settings } = result;
const fetch = appWith(network.keys);

function appWith(milestoneKeys: MilestoneKeys | undefined): Fetch {
  const own = { ...settings, milestoneKeys };
  const app = createApp({ settings: own, node: openNode(own), modules: MODULES });
  const ctx = { waitUntil: () => {} } as unknown as ExecutionContext;
  return checkingDescription((path, init) =>
    app.fetch(new Request(`http://edge.example${path}`, init), ctx),
  );
}

beforeAll(async () => {
  const rig = await startLedger(env.LEDGER, network, 0);
  await followTo(rig, last);
  await storeNow(rig, env.LEDGER);
});

function ask({ method, path, accept, body }: RecordedRead): Promise<Response> {
  return fetch(path, {
    method,
    ...(accept !== undefined && { headers: { accept } }),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

/** 400 where the request can never be right, 404 where what it names is not known. */
function refusalOf({ path, method }: RecordedRead): 400 | 404 {
  if (method === 'POST') return 400;
  const digits = path.includes('/outputs/') ? 68 : 64;
  const name = path
    .replace(/^\/api\/(core\/v2|poi\/v1)\/(milestones\/by-index\/|[a-z]+\/)/, '')
    .replace(/\/.*$/, '');
  const isIndex = path.includes('/by-index/') && /^\d+$/.test(name) && Number(name) < 2 ** 32;
  return isIndex || new RegExp(`^0x[0-9a-f]{${digits}}$`, 'i').test(name) ? 404 : 400;
}

/** By the kind of what is asked for. */
const kinds = Map.groupBy(
  reads.filter(({ path }) => !/\/(info|routes)$/.test(path)),
  ({ method, path }) =>
    `${method} ${path.replace(/(?<=\/)(0x[0-9a-fA-F]*|-?\d+|zz0*|x)(?=\/|$)/g, '…')}`,
);

describe('every recorded answer', () => {
  it('is of a kind that is compared', () => {
    expect(kinds.size).toBe(15);
  });

  it.each([...kinds.keys()])('%s', async (kind) => {
    for (const read of kinds.get(kind)!.filter((_, i) => i % STEP === 0)) {
      const response = await ask(read);
      const what = `${read.method} ${read.path} ${read.accept ?? ''}`;
      if (read.status !== 200) {
        const status = refusalOf(read);
        expect([what, response.status, await response.text()]).toEqual([
          what,
          status,
          errorBody(response.status),
        ]);
      } else if (read.raw !== undefined) {
        expect([what, response.headers.get('content-type')]).toEqual([what, RAW]);
        expect(`0x${(await response.bytes()).toHex()}`, what).toBe(read.raw);
      } else {
        expect([what, response.status]).toEqual([what, 200]);
        const answer = await response.json();
        expect(answer, what).toEqual(read.response);
      }
    }
  });
});

describe('proofs', () => {
  const ids = reads.filter(({ path, status }) => path.includes('/create/') && status === 200);

  it('of ours, each of 300 with a byte or a number changed, are refused', async () => {
    const statuses = { 200: 0, 400: 0 };
    const proofs = await Promise.all(ids.slice(0, 10).map((read) => ask(read)));
    for (const [n, proof] of proofs.entries()) {
      const changes = [...spoil(await proof.json())];
      const step = Math.floor(changes.length / 30);
      for (let i = 0; i < 30; i++) {
        const { place, json } = changes[i * step + n]!;
        const response = await fetch('/api/poi/v1/validate', {
          method: 'POST',
          body: JSON.stringify(json),
        });
        const { status } = response;
        if (status === 200)
          expect([place, await response.json()]).toEqual([place, { valid: false }]);
        else expect([place, status]).toEqual([place, 400]);
        statuses[status as 200 | 400]++;
      }
    }
    // a type that is none makes it no proof
    expect(statuses[200]).toBeGreaterThan(250);
    expect(statuses[200] + statuses[400]).toBe(300);
  });

  it('that no bytes can be made of are refused', async () => {
    const proof = await (await ask(ids[0]!)).json<{
      milestone: { signatures: object[] };
      block: object;
    }>();
    const { milestone, block } = proof;
    const hex = (bytes: number) => `0x${'ab'.repeat(bytes)}`;
    const hashes = Array.from({ length: 256 }, (_, i) => `0x${String(i).padStart(64, '0')}`);
    const address = { type: 0, pubKeyHash: hashes[0] };
    const output = {
      type: 3,
      amount: '1',
      unlockConditions: [{ type: 0, address }],
      nativeTokens: hashes.map(() => ({ id: hex(38), amount: '0x1' })),
    };
    const essence = {
      type: 1,
      networkId: '1',
      inputs: [],
      inputsCommitment: hashes[0],
      outputs: [output],
    };
    const parts = [
      { block: { ...block, parents: hashes } },
      { block: { ...block, payload: { type: 5, tag: hex(256) } } },
      { block: { ...block, payload: { type: 6, essence, unlocks: [] } } },
      { milestone: { ...milestone, metadata: hex(65_536) } },
      { milestone: { ...milestone, signatures: hashes.map(() => milestone.signatures[0]) } },
    ];
    for (const part of parts) {
      const body = JSON.stringify({ ...proof, ...part });
      const response = await fetch('/api/poi/v1/validate', { method: 'POST', body });
      expect([response.status, await response.text()]).toEqual([400, errorBody(response.status)]);
      expect(response.headers.get('x-error-detail')).toMatch(/^(C|A)-?[.\d]+: length (256|65536)/);
    }
  });

  it('of any depth are refused', async () => {
    const body = `{"milestone":{"type":${'['.repeat(50_000)}${']'.repeat(50_000)}},"block":{},"proof":{}}`;
    const response = await fetch('/api/poi/v1/validate', { method: 'POST', body });
    expect([response.status, await response.text()]).toEqual([400, errorBody(400)]);
  });

  it('with integers that Go does not read are refused', async () => {
    const text = await (await ask(ids[0]!)).text();
    const body = text.replace('"protocolVersion":2', '"protocolVersion":2.0');
    expect(body).not.toBe(text);
    const response = await fetch('/api/poi/v1/validate', { method: 'POST', body });
    expect([response.status, await response.text()]).toEqual([400, errorBody(400)]);
  });

  it('are what the last of two fields with one name says', async () => {
    const text = await (await ask(ids[0]!)).text();
    const other = await (await ask(ids[1]!)).json<{ block: unknown }>();
    const block = `"block":${JSON.stringify(other.block)}`;
    const behind = `${text.slice(0, -1)},${block}}`;
    for (const [body, valid] of [
      [`{${block},${text.slice(1)}`, true],
      [behind, false],
    ] as const) {
      const response = await fetch('/api/poi/v1/validate', { method: 'POST', body });
      expect(await response.json()).toEqual({ valid });
    }
  });

  it('of ours are valid, and not by other keys, nor by none', async () => {
    const body = await (await ask(ids[0]!)).text();
    const request: RequestInit = { method: 'POST', body };
    expect(await (await fetch('/api/poi/v1/validate', request)).json()).toEqual({ valid: true });
    const other = appWith({ keys: [{ ...keys[0]!, publicKey: new Uint8Array(32) }], threshold: 1 });
    expect(await (await other('/api/poi/v1/validate', request)).json()).toEqual({ valid: false });
    const without = await appWith(undefined)('/api/poi/v1/validate', request);
    expect([without.status, await without.text()]).toEqual([500, errorBody(without.status)]);
  });
});

describe('caching', () => {
  const block = network.blocks.values().find(({ referenced }) => referenced?.index === 50)!;
  const { id } = network.milestones[49]!;
  const year = 'public, max-age=31536000, immutable';
  const day = 'public, max-age=86400, immutable, stale-if-error=0';
  it.each([
    [`blocks/${block.id}`, year, 'accept'],
    [`blocks/${block.id}/metadata`, day, null],
    [`milestones/${id}`, day, 'accept'],
    [`milestones/${id}/utxo-changes`, year, null],
    ['milestones/by-index/50', day, 'accept'],
    ['milestones/by-index/50/utxo-changes', day, null],
    ['treasury', 'no-store', null],
    ['receipts', 'no-store', null],
    ['tips', 'no-store', null],
    [`blocks/0x${'ab'.repeat(32)}`, 'no-store', null],
    ['milestones/by-index/126', 'no-store', null],
  ])('%s: %s, varies by %s', async (path, caching, vary) => {
    const { headers } = await fetch(`/api/core/v2/${path}`);
    expect([headers.get('cache-control'), headers.get('vary')]).toEqual([caching, vary]);
  });

  it('has the ledger index', async () => {
    for (const path of [`blocks/${block.id}`, `milestones/${id}`, 'treasury', 'receipts', 'tips'])
      expect((await fetch(`/api/core/v2/${path}`)).headers.get('x-ledger-index')).toBe('125');
  });
});

describe('open blocks', () => {
  it('are there, with metadata that name no milestone, and are not kept by caches', async () => {
    const { tips } = (await (await fetch('/api/core/v2/tips')).json()) as { tips: string[] };
    expect(tips.length).toBeGreaterThan(0);
    for (const id of tips) {
      const { bytes, parents, milestoneIndex } = network.blocks.get(id)!;
      const raw = await fetch(`/api/core/v2/blocks/${id}`, { headers: { accept: RAW } });
      expect(await raw.bytes()).toEqual(new Uint8Array(bytes));
      expect(raw.headers.get('cache-control')).toBe('no-store');
      const metadata = await fetch(`/api/core/v2/blocks/${id}/metadata`);
      expect(metadata.headers.get('cache-control')).toBe('no-store');
      expect(await metadata.json()).toEqual({
        blockId: id,
        parents,
        isSolid: true,
        ...(milestoneIndex !== undefined && { milestoneIndex }),
      });
    }
  });
});
