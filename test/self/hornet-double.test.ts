/**
 * The double of a HORNET node: it serves both recorded networks byte for byte and answers as HORNET
 * did (test/vectors/README.md#recorded-networks), and each of its faults is one.
 */
import { gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { otherBlock } from '../support/hornet-double/fault.ts';
import { type DoubleOptions, NodeDouble } from '../support/hornet-double/hornet-double.ts';
import { JSON_TYPE, RAW_TYPE } from '../support/hornet-double/routes.ts';
import { fewerSignatures } from '../support/network/milestones.ts';
import { lastIndex, type Network, ZERO_ID } from '../support/network/network-model.ts';
import {
  type RecordedName,
  readVector,
  recordedNetwork,
  recordedQuestions,
} from '../support/network/recorded-network.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';

const networks = {
  'network-a': recordedNetwork('network-a'),
  'network-c': recordedNetwork('network-c'),
} satisfies { [name in RecordedName]?: Network };
const a = networks['network-a'];
const opened: NodeDouble[] = [];

async function start(network: Network, options: DoubleOptions = {}): Promise<NodeDouble> {
  const double = await NodeDouble.start(network, options);
  opened.push(double);
  return double;
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((double) => double.stop()));
});

const raw = { headers: { Accept: RAW_TYPE } };
const core = (double: NodeDouble, path: string, init?: RequestInit) =>
  fetch(`${double.url}/api/core/v2/${path}`, init);
const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());
const statusOf = async (response: Promise<Response>) => (await response).status;

describe.each(['network-a', 'network-c'] as const)('%s', (name) => {
  const network = networks[name];
  const last = lastIndex(network);

  it('serves every block and every milestone byte for byte', async () => {
    const double = await start(network, { confirmed: last });
    for (const { id, bytes } of network.blocks.values()) {
      expect((await bytesOf(await core(double, `blocks/${id}`, raw))).equals(bytes), id).toBe(true);
    }
    for (const { index, id, payload } of network.milestones) {
      expect(
        (await bytesOf(await core(double, `milestones/by-index/${index}`, raw))).equals(payload),
      ).toBe(true);
      expect((await bytesOf(await core(double, `milestones/${id}`, raw))).equals(payload)).toBe(
        true,
      );
    }
  });

  it('serves every output byte for byte', async () => {
    const double = await start(network, { confirmed: last });
    for (const [id, { bytes }] of network.outputs) {
      expect((await bytesOf(await core(double, `outputs/${id}`, raw))).equals(bytes), id).toBe(
        true,
      );
    }
  });

  it('describes itself as the recorded node did', async () => {
    const double = await start(network, { confirmed: last });
    double.node.healthy = false;
    const recorded = JSON.parse(readVector(`${name}/info.json`).toString());
    const info = await (await core(double, 'info')).json();
    expect(info).toEqual({
      ...recorded,
      metrics: expect.objectContaining({ referencedRate: 100 }),
    });
    const { treasury } = JSON.parse(readVector(`${name}/final.json`).toString());
    expect(await (await core(double, 'treasury')).json()).toEqual(treasury);
  });

  it('has, at the ledger index of every recorded question, its parents, unreferenced', async () => {
    const double = await start(network);
    const questions = recordedQuestions(name);
    const refused = new Map<unknown, number>();
    for (const { ledgerIndex, request, name: question } of questions) {
      double.confirm(ledgerIndex);
      const { parents } = request as { parents?: unknown };
      if (!Array.isArray(parents)) continue;
      for (const parent of parents) {
        const response = await core(double, `blocks/${parent}/metadata`);
        if (!response.ok) refused.set(question, response.status);
        else
          expect(await response.json(), question).not.toHaveProperty('referencedByMilestoneIndex');
      }
    }
    const { count, faulty } = {
      'network-a': {
        count: 232,
        faulty: { 'unknown parent': 404, 'parent without prefix': 400, 'short parent': 404 },
      },
      'network-c': { count: 166, faulty: { 'short parent': 404 } },
    }[name];
    expect(questions.length).toBe(count);
    expect(Object.fromEntries(refused)).toEqual(faulty);
  });

  it('has at every milestone its block and the whole cone of the next one', async () => {
    const double = await start(network);
    for (let index = 0; index < last; index++) {
      double.confirm(index);
      for (const block of network.blocks.values()) {
        const found = double.node.block(block.id) !== undefined;
        if ((block.referenced?.index ?? Infinity) <= index + 1) expect(found).toBe(true);
        if (block.milestoneIndex !== undefined) expect(found).toBe(block.milestoneIndex <= index);
      }
    }
  });
});

describe('a node from one milestone to the next', () => {
  it('starts at the genesis, with nothing', async () => {
    const double = await start(a);
    const info = (await (await core(double, 'info')).json()) as { status: unknown };
    expect(info.status).toEqual({
      isHealthy: true,
      latestMilestone: { index: 0 },
      confirmedMilestone: { index: 0 },
      pruningIndex: 0,
    });
    expect(await statusOf(core(double, 'milestones/by-index/1'))).toBe(404);
    expect(await (await core(double, 'treasury')).json()).toEqual({
      milestoneId: ZERO_ID,
      amount: '500000000',
    });
    expect(await (await core(double, 'tips')).json()).toEqual({ tips: [] });
  });

  it('tells who references a block from the moment of the milestone on', async () => {
    const block = [...a.blocks.values()].find(({ referenced }) => (referenced?.conflict ?? 0) > 0)!;
    const { index, conflict, whiteFlagIndex } = block.referenced!;
    const double = await start(a, { confirmed: index - 1 });
    const shown = { blockId: block.id, parents: block.parents, isSolid: true };
    const metadata = async () => (await core(double, `blocks/${block.id}/metadata`)).json();
    expect(await metadata()).toEqual({ ...shown, shouldPromote: false, shouldReattach: false });
    double.confirm(index);
    const state = { ledgerInclusionState: 'conflicting', conflictReason: conflict };
    expect(await metadata()).toEqual({
      ...shown,
      referencedByMilestoneIndex: index,
      whiteFlagIndex,
      ...state,
    });
  });

  it('gives tips that are unreferenced and have no children', async () => {
    const double = await start(a, { confirmed: 50 });
    const { tips } = (await (await core(double, 'tips')).json()) as { tips: string[] };
    expect(tips.length).toBeGreaterThan(0);
    const parents = new Set(
      [...a.blocks.keys()].flatMap((id) => double.node.block(id)?.parents ?? []),
    );
    for (const tip of tips) {
      expect(a.blocks.get(tip)!.referenced!.index).toBeGreaterThan(50);
      expect(parents.has(tip)).toBe(false);
    }
  });

  it('knows milestones before it confirms them', async () => {
    const double = await start(a);
    double.confirm(10, 12);
    expect(await statusOf(core(double, 'milestones/by-index/12'))).toBe(200);
    expect(await statusOf(core(double, 'milestones/by-index/13'))).toBe(404);
    expect(await statusOf(core(double, 'tips'))).toBe(200);
    double.confirm(10, 13);
    expect(await statusOf(core(double, 'tips'))).toBe(503);
    expect(await statusOf(core(double, `blocks/${ZERO_ID}/metadata`))).toBe(503);
    expect(await statusOf(core(double, 'info'))).toBe(200);
  });

  it('forgets what it prunes', async () => {
    const double = await start(a, { confirmed: 50 });
    double.node.prune(20);
    for (const { id, referenced } of a.blocks.values()) {
      if (referenced !== undefined && referenced.index <= 50) {
        expect(double.node.block(id) !== undefined).toBe(referenced.index > 20);
      }
    }
    expect(await statusOf(core(double, 'milestones/by-index/20'))).toBe(404);
    expect(await statusOf(core(double, 'milestones/by-index/21'))).toBe(200);
    const info = (await (await core(double, 'info')).json()) as {
      status: { pruningIndex: number };
    };
    expect(info.status.pruningIndex).toBe(20);
  });

  it('has the protocol parameters of its milestone, and shows the pending ones', async () => {
    const double = await start(networks['network-c']);
    const cost = async (index: number) => {
      double.confirm(index);
      const info = (await (await core(double, 'info')).json()) as {
        protocol: { rentStructure: { vByteCost: number } };
        pendingProtocolParameters: { targetMilestoneIndex: number }[];
      };
      const { protocol, pendingProtocolParameters: pending } = info;
      return [
        protocol.rentStructure.vByteCost,
        pending.map(({ targetMilestoneIndex }) => targetMilestoneIndex),
      ];
    };
    const [before] = await cost(13);
    expect(await cost(14)).toEqual([before, [17]]);
    expect((await cost(17))[1]).toEqual([]);
    expect((await cost(30))[1]).toEqual([31]);
    expect(await cost(31)).toEqual([248, []]);
  });
});

it('serves a made-up network while it grows', async () => {
  const network = new SyntheticNetwork({ seed: 'growing' });
  const double = await start(network);
  const block = async (id: string) => statusOf(core(double, `blocks/${id}`));
  const early = network.note();
  expect(await (await core(double, 'tips')).json()).toEqual({ tips: [early] });
  const { id } = network.milestone({ parents: [early] });
  const late = network.note([early]);
  expect([await block(early), await block(late), await block(network.milestoneBlock!)]).toEqual([
    200, 404, 404,
  ]);
  expect(await statusOf(core(double, `milestones/${id}`))).toBe(404);
  double.confirm(1);
  expect([await block(early), await block(late), await block(network.milestoneBlock!)]).toEqual([
    200, 200, 200,
  ]);
  expect(await statusOf(core(double, `milestones/${id}`))).toBe(200);
  const { tips } = (await (await core(double, 'tips')).json()) as { tips: string[] };
  expect(tips.sort()).toEqual([late, network.milestoneBlock!].sort());
  const metadata = await (await core(double, `blocks/${network.milestoneBlock}/metadata`)).json();
  expect(metadata).toMatchObject({ isSolid: true, milestoneIndex: 1 });
});

describe('the form of answers', () => {
  it('is bytes or JSON by the start of Accept', async () => {
    const double = await start(a, { confirmed: 10 });
    const [id] = a.blocks.keys();
    const type = async (headers: Record<string, string>) =>
      (await core(double, `blocks/${id}`, { headers })).headers.get('Content-Type');
    expect(await type({ Accept: RAW_TYPE })).toBe(RAW_TYPE);
    expect(await type({ Accept: `*/*, ${RAW_TYPE}` })).toBe(JSON_TYPE);
    const text = await (await core(double, `blocks/${id!.toUpperCase()}`)).text();
    expect(text).toMatch(
      /^\{"protocolVersion":2,"parents":\["0x0{64}"\],"payload":\{"type":7,.*"nonce":"0"\}\n$/,
    );
  });

  it('names the code of an error as text', async () => {
    const double = await start(a, { confirmed: 10 });
    const error = async (path: string) => {
      const response = await fetch(double.url + path);
      expect(response.headers.get('Content-Type')).toBe(JSON_TYPE);
      return [
        response.status,
        ((await response.json()) as { error: { code: unknown } }).error.code,
      ];
    };
    expect(await error(`/api/core/v2/blocks/${ZERO_ID}`)).toEqual([404, '404']);
    expect(await error('/api/core/v2/blocks/0x12')).toEqual([404, '404']);
    expect(await error('/api/core/v2/blocks/12')).toEqual([400, '400']);
    expect(await error('/api/core/v2/milestones/0x12')).toEqual([400, '400']);
    expect(await error('/api/core/v2/milestones/by-index/-1')).toEqual([400, '400']);
    expect(await error('/api/core/v2/outputs/0x12')).toEqual([400, '400']);
    expect(await error('/api/core/v2/elsewhere')).toEqual([404, '404']);
    expect(await statusOf(fetch(`${double.url}/health`))).toBe(200);
  });
});

describe('counting', () => {
  it('keeps the requests and how many were under way at once', async () => {
    const double = await start(a, { confirmed: 10, latency: 20 });
    const ids = [...a.blocks.keys()].slice(0, 12);
    await Promise.all(
      ids.map((id) => core(double, `blocks/${id}`).then((response) => response.bytes())),
    );
    expect(double.requests.length).toBe(12);
    expect(double.mostAtOnce).toBe(12);
    expect(double.mostConnections).toBe(12);
    double.forget();
    await (await core(double, `blocks/${ids[0]}`, raw)).bytes();
    const path = `/api/core/v2/blocks/${ids[0]}`;
    const route = { name: 'block', id: ids[0] };
    expect(double.requests).toEqual([{ method: 'GET', path, accept: RAW_TYPE, route, time: 1 }]);
    expect(double.mostAtOnce).toBe(1);
  });
});

describe('faults', () => {
  const [first] = a.blocks.values();
  const ask = (double: NodeDouble, init = raw) => core(double, `blocks/${first!.id}`, init);

  it('can be given to the first request only', async () => {
    const double = await start(a, {
      confirmed: 10,
      fault: ({ time }) => (time === 1 ? { kind: 'status', status: 503 } : undefined),
    });
    const response = await ask(double);
    expect([
      response.status,
      ((await response.json()) as { error: { code: string } }).error.code,
    ]).toEqual([503, '503']);
    expect((await bytesOf(await ask(double))).equals(first!.bytes)).toBe(true);
  });

  it('delay', async () => {
    const double = await start(a, { confirmed: 10, fault: () => ({ delay: 60 }) });
    const before = performance.now();
    expect(await statusOf(ask(double))).toBe(200);
    expect(performance.now() - before).toBeGreaterThan(50);
  });

  it('cut the body off, drop the connection, or say nothing', async () => {
    const double = await start(a, { confirmed: 10, fault: () => ({ kind: 'cut' }) });
    const cut = await ask(double);
    expect(cut.status).toBe(200);
    await expect(cut.arrayBuffer()).rejects.toThrow();
    double.fault = () => ({ kind: 'drop' });
    await expect(ask(double)).rejects.toThrow();
    double.fault = () => ({ kind: 'silence' });
    await expect(core(double, 'info', { signal: AbortSignal.timeout(50) })).rejects.toThrow(
      'timeout',
    );
  });

  it('send other bytes, another type, no JSON, or changed JSON', async () => {
    const double = await start(a, { confirmed: 10, fault: (request) => otherBlock(a, request) });
    const other = await bytesOf(await ask(double));
    expect(
      [...a.blocks.values()].some(({ id, bytes }) => id !== first!.id && other.equals(bytes)),
    ).toBe(true);
    double.fault = () => ({ kind: 'type', type: 'text/plain' });
    expect((await ask(double)).headers.get('Content-Type')).toBe('text/plain');
    double.fault = () => ({ kind: 'notJson' });
    await expect((await core(double, 'info')).json()).rejects.toThrow(SyntaxError);
    double.fault = () => ({
      kind: 'json',
      change: (value) => ({ ...value, referencedByMilestoneIndex: 3 }),
    });
    const metadata = await core(double, `blocks/${first!.id}/metadata`);
    expect(await metadata.json()).toMatchObject({
      blockId: first!.id,
      referencedByMilestoneIndex: 3,
    });
  });

  it('serve a spoilt milestone in place of one', async () => {
    const spoilt = fewerSignatures(a.milestones[4]!.payload, 1);
    const double = await start(a, {
      confirmed: 10,
      fault: ({ route }) =>
        route.name === 'milestoneByIndex' && route.index === 5
          ? { kind: 'bytes', bytes: spoilt }
          : undefined,
    });
    const milestone = async (index: number) =>
      bytesOf(await core(double, `milestones/by-index/${index}`, raw));
    expect((await milestone(5)).equals(spoilt)).toBe(true);
    expect((await milestone(6)).equals(a.milestones[5]!.payload)).toBe(true);
  });

  it('redirect', async () => {
    const double = await start(a, {
      confirmed: 10,
      fault: () => ({ kind: 'redirect', to: 'http://127.0.0.1:1/' }),
    });
    const response = await ask(double, { ...raw, redirect: 'manual' } as typeof raw);
    expect([response.status, response.headers.get('Location')]).toEqual([
      302,
      'http://127.0.0.1:1/',
    ]);
  });

  it('send far too much, and stop when nobody listens', async () => {
    const double = await start(a, {
      confirmed: 10,
      fault: () => ({ kind: 'oversize', bytes: 3_000_000 }),
    });
    expect((await (await ask(double)).bytes()).length).toBe(3_000_000);
    double.fault = () => ({ kind: 'oversize', bytes: 3_000_000, gzip: true });
    expect((await (await ask(double)).bytes()).length).toBe(3_000_000);
    double.fault = () => ({ kind: 'oversize', announced: true });
    const response = await ask(double);
    expect(response.headers.get('Content-Length')).toBe('100000000');
    await response.body!.cancel();
  });
});

it('compresses for whoever takes it, as HORNET does', async () => {
  const double = await start(a, { confirmed: 10 });
  const { request } = await import('node:http');
  const { promise, resolve } = Promise.withResolvers<{
    encoding: string | undefined;
    body: Buffer;
  }>();
  const headers = { 'Accept-Encoding': 'gzip' };
  request(`${double.url}/api/routes`, { headers }, async (response) => {
    resolve({
      encoding: response.headers['content-encoding'],
      body: Buffer.concat(await response.toArray()),
    });
  }).end();
  const { encoding, body } = await promise;
  expect(encoding).toBe('gzip');
  expect(gunzipSync(body).toString()).toBe('{"routes":["core/v2"]}\n');
});
