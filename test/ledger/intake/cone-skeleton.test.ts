/**
 * The skeleton of a cone (src/ledger/intake/cone-skeleton.ts) on random networks: it meets the
 * blocks of the milestone and those right below them, and its order is that of the milestone.
 */
import { expect, it } from 'vitest';
import { createConeSkeleton, walkDown } from '../../../src/ledger/intake/cone-skeleton.ts';
import type { ParsedBlock } from '../../../src/stardust/wire/block.ts';
import { readMilestone } from '../../support/network/blocks.ts';
import { coneOf, milestoneAt, ZERO_ID } from '../../support/network/network-model.ts';
import { randomNetwork } from '../../support/network/random-network.ts';

const digits = (id: string) => id.slice(2);

it.each([0, 1, 2, 3])('has the order of each milestone (%i)', (i) => {
  const network = randomNetwork({ seed: `skeleton ${i}`, milestones: 9, events: 40 });
  let known = 0;
  for (const { index } of network.milestones) {
    const cone = coneOf(network, index);
    const parents = readMilestone(milestoneAt(network, index)!.payload).parents;
    const skeleton = createConeSkeleton(parents.map((id) => id.toHex()));
    const met: string[] = [];
    for (let at = 0; at < skeleton.size; at++) {
      const id = skeleton.idAt(at);
      met.push(id);
      const referenced = network.blocks.get(`0x${id}`)?.referenced?.index ?? 0;
      if (`0x${id}` === ZERO_ID || referenced < index) known++;
      else skeleton.setParents(id, network.blocks.get(`0x${id}`)!.parents.map(digits));
    }
    expect(new Set(met).size).toBe(met.length);
    const inCone = cone.flatMap(({ id, parents: below }) => [id, ...below]);
    const due = new Set([...inCone.map(digits), ...parents.map((id) => id.toHex())]);
    expect(new Set(met)).toEqual(due);
    const order = Array.from(skeleton.order(), (block) => `0x${skeleton.idAt(block)}`);
    expect(order).toEqual(cone.map(({ id }) => id));
  }
  expect(known).toBeGreaterThan(0);
});

it('orders a single chain of many blocks, and has room for them', () => {
  const id = (i: number) => i.toString(16).padStart(64, '0');
  const last = 50_000;
  const skeleton = createConeSkeleton([id(last)]);
  for (let i = last; i > 0; i--) skeleton.setParents(id(i), [id(i - 1)]);
  expect(skeleton.size).toBe(last + 1);
  // the first one is known, so it is not in the order
  const due = Array.from({ length: last }, (_, i) => id(i + 1));
  const order = skeleton.order();
  expect(Array.from(order, skeleton.idAt)).toEqual(due);
  expect(skeleton.idBytes(order.subarray(1, 3)).toHex()).toBe(id(2) + id(3));
});

it('counts levels down from the tops, and anew below a block from which they restart', () => {
  const idOf = (digit: string) => digit.repeat(64);
  const [top, one, two, three] = [idOf('0'), idOf('1'), idOf('2'), idOf('3')] as const;
  const skeleton = createConeSkeleton([top]);
  skeleton.setParents(top, [one]);
  skeleton.setParents(one, [two]);
  expect([top, one, two].map(skeleton.levelOf)).toEqual([0, 1, 2]);
  skeleton.restartLevels(two);
  skeleton.setParents(two, [three]);
  expect([two, three].map(skeleton.levelOf)).toEqual([0, 1]);
});

it('takes no more room for a block that is noted again, as an upstream gives others one by one', () => {
  const [top, ...parents] = Array.from({ length: 9 }, (_, i) => `${i}`.repeat(64));
  const skeleton = createConeSkeleton([top!]);
  const before = process.memoryUsage().arrayBuffers;
  for (let i = 0; i < 500_000; i++) skeleton.setParents(top!, parents);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1_000_000);
});

it('has a walk of many blocks side by side fetch few of them at once', async () => {
  const ids = Array.from({ length: 1000 }, (_, i) => i.toString(16).padStart(64, '0'));
  const fetched: number[] = [];
  await walkDown(createConeSkeleton(ids), {
    findKnown: async () => new Set(),
    async fetch(some) {
      fetched.push(some.length);
      return some.map(
        (id) => ({ id: Uint8Array.fromHex(id), block: { parents: [] } }) as never as ParsedBlock,
      );
    },
  });
  expect(fetched.reduce((sum, each) => sum + each)).toBe(ids.length);
  // the largest take 200 KB each
  expect(Math.max(...fetched)).toBeLessThan(150);
});
