/**
 * The routes that tell of the node and of outputs, against the double of a HORNET node over
 * recorded networks.
 */

import { beforeAll, describe, expect, it, vi } from 'vitest';
import { whyUnhealthy } from '../../../src/http/routes/node/health.ts';
import { LedgerDamaged } from '../../../src/ledger/core/checksum.ts';
import type { NodeStatus } from '../../../src/ledger/read/node-status.ts';
import type { BaseToken } from '../../../src/platform/json-schemas.ts';
import { optionToJson } from '../../../src/stardust/json/rest-json.ts';
import { NodeState } from '../../support/hornet-double/node-state.ts';
import {
  checkAlways,
  checkLedgerRead,
  expectError,
  type Fetch,
} from '../../support/http/contract.ts';
import { hasRoute } from '../../support/http/has-route.ts';
import { recordedNode } from '../../support/http/recorded-node.ts';
import { facts, fetchFrom, status } from '../../support/http/stub-node.ts';
import type { Network } from '../../support/network/network-model.ts';
import { recordedNetwork } from '../../support/network/recorded-network.ts';

const RAW = 'application/vnd.iota.serializer-v1';
const networkA = recordedNetwork('network-a');
const networkC = recordedNetwork('network-c');

it('/api/routes is kept for a second in `serve`', async () => {
  const readIndexedKinds = vi.fn(async () => ['nft' as const]);
  const fetch = fetchFrom({ settings: { oneIsolate: true }, node: { readIndexedKinds } });
  for (let i = 0; i < 10; i++) expect((await fetch('/api/routes')).status).toBe(200);
  expect(readIndexedKinds).toHaveBeenCalledTimes(1);
});

describe('GET /health', () => {
  const now = Date.now() / 1000;
  const fresh: NodeStatus = {
    ...status,
    ledger: { ...status.ledger, timestamp: Math.floor(now) - 7 },
  };

  it('is empty and 200 while the ledger is fresh', async () => {
    const response = await fetchFrom({ node: { readStatus: async () => fresh } })('/health');
    expect([response.status, await response.text(), response.headers.get('content-type')]).toEqual([
      200,
      '',
      null,
    ]);
    checkAlways(response);
  });

  it('tells the fingerprint of the ledger, and what a scrub found damaged', async () => {
    const { headers } = await fetchFrom({ node: { readStatus: async () => fresh } })('/health');
    expect(headers.get('x-ledger-fingerprint')).toBe('00f1a2b3c4d5e');
    const readStatus = async () => {
      throw new LedgerDamaged('rows of the table output');
    };
    const damaged = await fetchFrom({ node: { readStatus } })('/health');
    expect(damaged.status).toBe(503);
    expect(damaged.headers.get('x-error-detail')).toMatch(/^rows of the table output are damaged/);
  });

  it('tells how blocks come in, and how old the newest is, as info does', async () => {
    const read = async () => ({
      ...fresh,
      blocks: { by: 'feed' as const, newest: Math.floor(Date.now() / 1000) - 3 },
    });
    for (const path of ['/health', '/api/core/v2/info']) {
      const { headers } = await fetchFrom({ node: { readStatus: read } })(path);
      expect(headers.get('x-blocks-by')).toBe('feed');
      expect(headers.get('x-newest-block-age')).toMatch(/^[34]$/);
    }
    const none = await fetchFrom({ node: { readStatus: async () => fresh } })('/health');
    expect(none.headers.get('x-blocks-by')).toBeNull();
  });

  const sized = (bytes: number, limitBytes: number | undefined = 10e9): NodeStatus => ({
    ...fresh,
    retention: { kept: 4210, configured: 17_280 },
    database: { bytes, limitBytes },
  });

  it.each<[NodeStatus, string | null]>([
    [sized(7_499_999_999), null],
    [
      sized(7_500_000_000),
      'the database has 7.5 of 10.0 GB and keeps 4210 milestones, RETENTION_MILESTONES is 17280',
    ],
    [sized(9_499_999_999), expect.stringMatching(/^the database has 9.5 of 10.0 GB/)],
    // serve: only the disk limits it
    [{ ...fresh, database: { bytes: 50e9, limitBytes: undefined } }, null],
  ])('is 200 and warns of the size of the database: %#', async (read, warning) => {
    const response = await fetchFrom({ node: { readStatus: async () => read } })('/health');
    expect([response.status, response.headers.get('x-health-warning')]).toEqual([200, warning]);
  });

  it('is 503 when the database is so large that writes are about to fail, and not at the end', () => {
    expect(whyUnhealthy(sized(9_500_000_000), Date.now())).toBe(
      'the database has 9.5 of 10.0 GB and keeps 4210 milestones, RETENTION_MILESTONES is 17280: writes are about to fail',
    );
    const ended = { ...sized(9_900_000_000), finalMilestone: status.ledger.index };
    expect(whyUnhealthy(ended, Date.now())).toBeUndefined();
  });

  it.each<[string, NodeStatus | undefined]>([
    ['the ledger at milestone 17339 is', status],
    [
      'stopped: MILESTONE_PUBLIC_KEYS is not set',
      { ...fresh, follower: { state: 'stopped', reason: 'MILESTONE_PUBLIC_KEYS is not set' } },
    ],
    [
      'diverged: roots differ at 17340',
      { ...fresh, follower: { state: 'diverged', reason: 'roots differ at 17340' } },
    ],
    [
      'failing: no pass gets beyond milestone 17339',
      { ...fresh, follower: { state: 'failing', reason: 'no pass gets beyond milestone 17339' } },
    ],
    ['no ledger was imported yet', undefined],
  ])('is empty and 503 when %s', async (reason, read) => {
    const response = await fetchFrom({ node: { readStatus: async () => read } })('/health');
    expect([response.status, await response.text()]).toEqual([503, '']);
    expect(response.headers.get('x-error-detail')).toMatch(new RegExp(`^${reason}`));
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  it('is 503 when the database cannot be read, and the log says why', async () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => {});
    const fetch = fetchFrom({
      node: { readStatus: () => Promise.reject(new Error('D1_ERROR: gone')) },
    });
    const response = await fetch('/health');
    expect([response.status, await response.text()]).toEqual([503, '']);
    expect(response.headers.get('x-error-detail')).toBe('the ledger cannot be read');
    expect(error.mock.calls.join()).toContain('D1_ERROR: gone');
    vi.restoreAllMocks();
  });

  it('counts a ledger of five minutes as fresh, of a second more as old', () => {
    const at = (age: number) => whyUnhealthy(status, (status.ledger.timestamp + age) * 1000);
    expect(at(300)).toBeUndefined();
    expect(at(301)).toContain('301 seconds old');
    // clocks differ
    expect(at(-300)).toBeUndefined();
    expect(at(-301)).toMatch(
      /^milestone \d+ is 301 seconds ahead of this clock: one of both is wrong$/,
    );
  });

  it('says of an old ledger where it and its upstream stand', () => {
    const { ledger } = status;
    const now = (ledger.timestamp + 301) * 1000;
    const upstream = { ...ledger, index: ledger.index - 1 };
    expect(whyUnhealthy({ ...status, upstream }, now)).toMatch(
      // a pushed milestone may have taken the ledger beyond
      new RegExp(`301 seconds old; when last asked, the upstream was at ${upstream.index}$`),
    );
    expect(whyUnhealthy({ ...status, upstream: ledger }, now)).toMatch(/old$/);
    expect(whyUnhealthy({ ...status, genesisIndex: ledger.index }, now)).toMatch(/at genesis/);
  });
});

describe('GET /api/core/v2/info', () => {
  const MOMENTS: [Network, number][] = [
    [networkC, 13],
    [networkC, 14],
    [networkC, 17],
    [networkC, 30],
    [networkC, 68],
    [networkA, 106],
  ];

  it.each(process.env.SLOW ? MOMENTS : MOMENTS.slice(0, 4))(
    'has the shape and the parameters of the reference: $name at %i',
    async (network, index) => {
      const node = new NodeState(network, index);
      const recorded = await recordedNode(network, index);
      // no ledger has a token: the upstream said it
      const { baseToken } = node.infoJson() as { baseToken: BaseToken };
      const readStatus = async () => ({ ...(await recorded.readStatus!())!, baseToken });
      const fetch = fetchFrom({ node: { ...recorded, readStatus } });
      const info = (await (await fetch('/api/core/v2/info')).json()) as Record<string, unknown>;
      node.healthy = false;
      const { name, version, metrics, features, ...rest } = node.infoJson();
      expect(info).toMatchObject(rest);
      expect(Object.keys(info)).toEqual(Object.keys(node.infoJson()));
      expect(info).toMatchObject({
        name: expect.any(String),
        version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
        features: [],
      });
    },
  );

  it.each([
    [Uint8Array.of(2, 0, 255), '0x0200ff'],
    // nobody reads parameters before they are in force
    [new Uint8Array(), ''],
  ])('has what is announced, as the reference shows the option: %j', async (parameters, params) => {
    const option = { type: 1, targetMilestoneIndex: 900, protocolVersion: 2, parameters } as const;
    const readStatus = async () => ({ ...status, pendingParameters: [option] });
    const info = await (await fetchFrom({ node: { readStatus } })('/api/core/v2/info')).json();
    expect(info).toMatchObject({
      pendingProtocolParameters: [
        { type: 1, targetMilestoneIndex: 900, protocolVersion: 2, params },
      ],
    });
    const [shown] = (info as { pendingProtocolParameters: object[] }).pendingProtocolParameters;
    expect(JSON.stringify(shown)).toBe(JSON.stringify(optionToJson(option)));
  });

  it('is healthy when the ledger is fresh, and names the latest milestone that upstream has', async () => {
    const now = Math.floor(Date.now() / 1000);
    const index = facts.ledgerIndex + 2;
    const upstream = { index, timestamp: now, milestoneId: 'aa'.repeat(32) };
    const ledger = { ...status.ledger, timestamp: now };
    const read = async () => ({ ...status, ledger, upstream });
    const info = await (
      await fetchFrom({ node: { readStatus: read } })('/api/core/v2/info')
    ).json();
    expect(info).toMatchObject({
      status: {
        isHealthy: true,
        latestMilestone: { index },
        confirmedMilestone: { index: facts.ledgerIndex },
      },
    });
  });

  it('never names a latest milestone older than its own', async () => {
    const upstream = { index: 90, timestamp: 1, milestoneId: 'aa'.repeat(32) };
    const read = async () => ({ ...status, upstream });
    const info = await (
      await fetchFrom({ node: { readStatus: read } })('/api/core/v2/info')
    ).json();
    expect(info).toMatchObject({ status: { latestMilestone: { index: facts.ledgerIndex } } });
  });

  it('leaves out what the upstream does not say of its latest milestone', async () => {
    const index = facts.ledgerIndex + 3;
    const upstream = { index, timestamp: 0, milestoneId: '00'.repeat(32) };
    const read = async () => ({ ...status, upstream });
    const response = await fetchFrom({ node: { readStatus: read } })('/api/core/v2/info');
    const info = await response.json<{ status: { latestMilestone: object } }>();
    expect(info.status.latestMilestone).toEqual({ index });
  });

  it('has the token of the settings', async () => {
    const baseToken = {
      ...{ name: 'Mine', tickerSymbol: 'MYC', unit: 'MYC', subunit: 'cent' },
      ...{ decimals: 2, useMetricPrefix: false },
    };
    const info = await (await fetchFrom({ settings: { baseToken } })('/api/core/v2/info')).json();
    expect(info).toMatchObject({ baseToken });
  });

  it('has what an upstream says, else the smallest unit: no prefix names a token', async () => {
    const parameters = { ...status.parameters, networkName: 'mine', bech32Hrp: 'smr' };
    const said = {
      ...{ name: 'Mine', tickerSymbol: 'MYC', unit: 'MYC', subunit: 'cent' },
      ...{ decimals: 2, useMetricPrefix: false },
    };
    const tokenOf = async (more: object) => {
      const readStatus = async () => ({ ...status, parameters, ...more });
      const answer = await fetchFrom({ node: { readStatus } })('/api/core/v2/info');
      return ((await answer.json()) as { baseToken: unknown }).baseToken;
    };
    expect(await tokenOf({ baseToken: said })).toEqual(said);
    expect(await tokenOf({})).toMatchObject({ tickerSymbol: 'units', decimals: 0 });
    // whoever names a network may name it like a field that every object has
    const named = { ...parameters, networkName: 'constructor' };
    expect(await tokenOf({ parameters: named })).toMatchObject({ tickerSymbol: 'units' });
    // of a public network the project itself knows
    expect(await tokenOf({ baseToken: said, parameters: status.parameters })).toMatchObject({
      tickerSymbol: 'SMR',
    });
  });

  it('has its rates, and knows the tokens of Shimmer', async () => {
    expect(await (await fetchFrom()('/api/core/v2/info')).json()).toMatchObject({
      baseToken: {
        name: 'Shimmer',
        tickerSymbol: 'SMR',
        unit: 'SMR',
        subunit: 'glow',
        decimals: 6,
        useMetricPrefix: false,
      },
      metrics: { blocksPerSecond: 8.6, referencedBlocksPerSecond: 8.6, referencedRate: 100 },
    });
  });

  it('is 500 without a ledger', async () => {
    const fetch = fetchFrom({ node: { readStatus: async () => undefined } });
    await expectError(fetch, '/api/core/v2/info', 500);
  });
});

// what it answers: test/whole/recorded-reads.worker.test.ts
describe.runIf(hasRoute('/api/core/v2/outputs/0x'))('GET /api/core/v2/outputs/:outputId', () => {
  const INDEX = 70;
  let fetch: Fetch;
  beforeAll(async () => {
    fetch = fetchFrom({ node: await recordedNode(networkA, INDEX) });
  });
  const ids = [...networkA.outputs.keys()];

  it('raw is not kept, JSON for seconds with a tag, and each says by what it varies', async () => {
    const [spent, unspent] = ['spent', 'unspent'].map(
      (state) =>
        ids.find((id) => {
          const { bookedIndex, spent: by } = networkA.outputs.get(id)!;
          const isSpent = by !== undefined && by.index <= INDEX;
          return bookedIndex <= INDEX && isSpent === (state === 'spent');
        })!,
    );
    const tags = new Set<string>();
    for (const id of [spent, unspent]) {
      const path = `/api/core/v2/outputs/${id}`;
      const raw = await fetch(path, { headers: { accept: RAW } });
      expect(raw.headers.get('cache-control')).toBe('no-store');
      expect(raw.headers.get('vary')).toBe('accept');
      expect([raw.headers.get('etag'), raw.headers.get('x-ledger-index')]).toEqual([null, null]);
      tags.add(await checkLedgerRead(fetch, path, INDEX, 'x-min-ledger-index, accept'));
      tags.add(await checkLedgerRead(fetch, `${path}/metadata`, INDEX));
    }
    expect(tags.size).toBe(4);
    const later = fetchFrom({ node: await recordedNode(networkA, INDEX + 1) });
    const { headers } = await later(`/api/core/v2/outputs/${unspent}`);
    expect(tags).not.toContain(headers.get('etag'));
  });

  it('is JSON unless Accept begins with the raw type', async () => {
    const path = `/api/core/v2/outputs/0X${ids[0]!.slice(2).toUpperCase()}`;
    for (const accept of [undefined, '*/*', `text/html, ${RAW}`, 'application/vnd.iota']) {
      const response = await fetch(path, { headers: accept === undefined ? {} : { accept } });
      expect([response.status, response.headers.get('content-type')]).toEqual([
        200,
        'application/json',
      ]);
    }
    const response = await fetch(path, { headers: { accept: `${RAW}; q=1` } });
    expect(response.headers.get('content-type')).toBe(RAW);
  });

  it.each(['0x', '0x00', ids[0]!.slice(2), `${ids[0]}00`, `${ids[0]!.slice(0, -1)}g`])(
    '400: %s',
    async (id) => {
      await expectError(fetch, `/api/core/v2/outputs/${id}`, 400);
      await expectError(fetch, `/api/core/v2/outputs/${id}/metadata`, 400);
    },
  );

  it.each(['', '/', `/${ids[0]}/`, `/${ids[0]}/metadata/`, `/${ids[0]}/other`])(
    '404: outputs%s',
    async (rest) => {
      await expectError(fetch, `/api/core/v2/outputs${rest}`, 404);
    },
  );
});
