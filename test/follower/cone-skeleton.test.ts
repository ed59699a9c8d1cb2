/**
 * The skeleton of a cone (src/follower/cone-skeleton.ts) on random networks: its order is that of
 * the milestone, and what it calls storable is what a ledger would store.
 */
import { expect, it } from 'vitest';
import { createConeSkeleton } from '../../src/follower/cone-skeleton.ts';
import { findProvenOpen, type KnownReference } from '../../src/ledger/prove-open.ts';
import { readMilestone } from '../support/network/blocks.ts';
import { coneOf, milestoneAt, ZERO_ID } from '../support/network/network-model.ts';
import { parsedBlocks } from '../support/network/oracle-view.ts';
import { randomNetwork } from '../support/network/random-network.ts';

const digits = (id: string) => id.slice(2);

it.each([0, 1, 2, 3])('has the order of each milestone, and stores what is proven (%i)', (i) => {
  const network = randomNetwork({ seed: `skeleton ${i}`, milestones: 9, events: 40 });
  const parsed = parsedBlocks(network);
  const seen = { storable: 0, doubtful: 0 };
  for (const { index } of network.milestones) {
    const cone = coneOf(network, index);
    const parents = readMilestone(milestoneAt(network, index)!.payload).parents;
    const skeleton = createConeSkeleton(parents.map((id) => id.toHex()));
    const known = new Map<string, KnownReference>();
    for (let at = 0; at < skeleton.size; at++) {
      const id = skeleton.idOf(at);
      const referenced = network.blocks.get(`0x${id}`)?.referenced?.index ?? 0;
      if (`0x${id}` === ZERO_ID || referenced < index) {
        known.set(id, { milestone: referenced });
        skeleton.know(id, { milestone: referenced });
      } else {
        skeleton.open(id, network.blocks.get(`0x${id}`)!.parents.map(digits));
      }
    }
    const order = skeleton.order();
    expect(order.map((block) => `0x${skeleton.idOf(block)}`)).toEqual(cone.map(({ id }) => id));

    const history = { genesis: 0, start: i % 2 === 0 ? 0 : index - 2, forgotten: index - 3 };
    const blocks = new Map(cone.map(({ id }) => [digits(id), parsed.get(id)!]));
    const proven = findProvenOpen(blocks, known, history);
    const storable = new Set<string>();
    for (const { id, parents: below } of cone) {
      const isStorable = below.map(digits).every((each) => known.has(each) || storable.has(each));
      if (proven.has(digits(id)) && isStorable) storable.add(digits(id));
    }
    expect(skeleton.storable(order, history).map(skeleton.idOf)).toEqual([...storable]);
    seen.storable += storable.size;
    seen.doubtful += cone.length - storable.size;
  }
  expect(Math.min(seen.storable, seen.doubtful)).toBeGreaterThan(0);
});
