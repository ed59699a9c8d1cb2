/**
 * The double of a HORNET node answers as HORNET did (test/vectors/README.md#recorded-networks). If it
 * did not, tests of the follower would prove nothing. Its faults: each makes the Worker log a line of
 * its own in test/e2e/faults.test.ts.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { type DoubleOptions, NodeDouble } from '../support/hornet-double/hornet-double.ts';
import { JSON_TYPE, RAW_TYPE } from '../support/hornet-double/routes.ts';
import { lastIndex, type Network, ZERO_ID } from '../support/network/network-model.ts';
import {
  readVector,
  recordedNetwork,
  recordedQuestions,
} from '../support/network/recorded-network.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';

const a = recordedNetwork('network-a');
const [first, ...others] = a.blocks.values();
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
const statusOf = async (double: NodeDouble, path: string) => (await core(double, path)).status;
const jsonOf = async (double: NodeDouble, path: string) => (await core(double, path)).json();

it.each(['network-a', 'network-c'] as const)('describes itself as in %s', async (name) => {
  const network = recordedNetwork(name);
  const double = await start(network, { confirmed: lastIndex(network) });
  double.node.healthy = false;
  expect(await jsonOf(double, 'info')).toEqual({
    ...JSON.parse(readVector(`${name}/info.json`).toString()),
    metrics: expect.objectContaining({ referencedRate: 100 }),
  });
});

it.each([
  ['network-a', 232, { 'unknown parent': 404, 'parent without prefix': 400, 'short parent': 404 }],
  ['network-c', 166, { 'short parent': 404 }],
] as const)(
  '%s: has the parents of each recorded question, unreferenced',
  async (name, count, due) => {
    const double = await start(recordedNetwork(name));
    const questions = recordedQuestions(name);
    const refused = new Map<unknown, number>();
    for (const { ledgerIndex, request, name: question } of questions) {
      double.confirm(ledgerIndex);
      const { parents } = request as { parents?: unknown };
      for (const parent of Array.isArray(parents) ? parents : []) {
        const response = await core(double, `blocks/${parent}/metadata`);
        if (!response.ok) refused.set(question, response.status);
        else
          expect(await response.json(), question).not.toHaveProperty('referencedByMilestoneIndex');
      }
    }
    expect(questions.length).toBe(count);
    expect(Object.fromEntries(refused)).toEqual(due);
  },
);

describe('from one milestone to the next', () => {
  it('says who references a block once the milestone is confirmed', async () => {
    const block = others.find(({ referenced }) => (referenced?.conflict ?? 0) > 0)!;
    const { index, conflict, whiteFlagIndex } = block.referenced!;
    const double = await start(a, { confirmed: index - 1 });
    const shown = { blockId: block.id, parents: block.parents, isSolid: true };
    const path = `blocks/${block.id}/metadata`;
    const open = { ...shown, shouldPromote: false, shouldReattach: false };
    expect(await jsonOf(double, path)).toEqual(open);
    double.confirm(index);
    expect(await jsonOf(double, path)).toEqual({
      ...shown,
      referencedByMilestoneIndex: index,
      whiteFlagIndex,
      ledgerInclusionState: 'conflicting',
      conflictReason: conflict,
    });
  });

  it('is not synced three milestones behind, and has what it knows and did not prune', async () => {
    const double = await start(a);
    double.confirm(10, 12);
    expect(await statusOf(double, 'milestones/by-index/12')).toBe(200);
    expect(await statusOf(double, 'milestones/by-index/13')).toBe(404);
    expect(await statusOf(double, 'tips')).toBe(200);
    double.confirm(10, 13);
    expect(await statusOf(double, 'tips')).toBe(503);
    expect(await statusOf(double, `blocks/${ZERO_ID}/metadata`)).toBe(503);
    double.node.prune(5);
    expect(await statusOf(double, 'milestones/by-index/5')).toBe(404);
    expect(await jsonOf(double, 'info')).toMatchObject({ status: { pruningIndex: 5 } });
  });

  it('has blocks of a network that grows once it has confirmed the milestone before', async () => {
    const network = new SyntheticNetwork({ seed: 'growing' });
    const double = await start(network);
    const early = network.note();
    expect(await jsonOf(double, 'tips')).toEqual({ tips: [early] });
    network.milestone({ parents: [early] });
    const late = network.note([early]);
    const statuses = () =>
      Promise.all(
        [early, late, network.milestoneBlock!].map((id) => statusOf(double, `blocks/${id}`)),
      );
    expect(await statuses()).toEqual([200, 404, 404]);
    double.confirm(1);
    expect(await statuses()).toEqual([200, 200, 200]);
  });
});

it('answers in bytes or JSON by the start of Accept, and errors with their code as text', async () => {
  const double = await start(a, { confirmed: 10 });
  const typeFor = async (accept: string) =>
    (await core(double, `blocks/${first!.id}`, { headers: { accept } })).headers.get(
      'content-type',
    );
  expect(await typeFor(RAW_TYPE)).toBe(RAW_TYPE);
  expect(await typeFor(`*/*, ${RAW_TYPE}`)).toBe(JSON_TYPE);
  for (const [path, status] of [
    [`blocks/${ZERO_ID}`, 404],
    ['blocks/0x12', 404],
    ['blocks/12', 400],
    ['milestones/by-index/-1', 400],
    ['elsewhere', 404],
    [`Blocks/${first!.id}`, 404],
  ] as const) {
    const response = await core(double, path);
    expect([path, response.status, await response.json()]).toMatchObject([
      path,
      status,
      { error: { code: `${status}` } },
    ]);
  }
});

it('counts requests', async () => {
  const double = await start(a, { confirmed: 10 });
  const { id } = first!;
  await jsonOf(double, `blocks/${id}`);
  double.forget();
  await core(double, `blocks/${id}`, raw);
  const path = `/api/core/v2/blocks/${id}`;
  const route = { name: 'block', id };
  expect(double.requests).toEqual([{ method: 'GET', path, accept: RAW_TYPE, route, time: 1 }]);
});
