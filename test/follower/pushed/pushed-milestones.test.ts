/** Milestones that were pushed: those that may be the one that is due, few of them. */
import { describe, expect, it } from 'vitest';
import { createPushedMilestones } from '../../../src/follower/pushed/pushed-milestones.ts';
import { forgedSignature } from '../../support/network/milestones.ts';
import { SyntheticNetwork } from '../../support/network/synthetic-network.ts';

const network = new SyntheticNetwork({ seed: 'pushed milestones', keyCount: 8 });
for (let i = 0; i < 30; i++) network.milestone();
const payloadOf = (index: number) => network.milestones[index - 1]!.payload;
const json = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

describe('pushed milestones', () => {
  it('are there by their index', () => {
    const milestones = createPushedMilestones();
    milestones.push(payloadOf(3));
    expect(milestones.at(2)).toEqual([]);
    expect(milestones.at(3)).toEqual([payloadOf(3)]);
  });

  it('stay when the message that brought them is overwritten', () => {
    const milestones = createPushedMilestones();
    const message = Uint8Array.from(payloadOf(1));
    milestones.push(message);
    message.fill(0);
    expect(milestones.at(1)[0]!).toEqual(payloadOf(1));
  });

  it('may be several of one index: the last one first, each once, and no more than four', () => {
    const milestones = createPushedMilestones();
    const forged = Array.from({ length: 6 }, (_, i) => forgedSignature(payloadOf(2), i));
    milestones.push(payloadOf(2));
    for (const each of forged) milestones.push(each);
    milestones.push(forged[5]!);
    expect(milestones.at(2)).toEqual(forged.slice(2).reverse());
    milestones.refuse(2, milestones.at(2)[0]!);
    expect(milestones.at(2)).toHaveLength(3);
    for (const payload of milestones.at(2)) milestones.refuse(2, payload);
    expect(milestones.at(2)).toEqual([]);
  });

  it('are forgotten when they are applied, and not taken again', () => {
    const milestones = createPushedMilestones();
    for (const index of [1, 2, 3]) milestones.push(payloadOf(index));
    milestones.applied(2);
    milestones.push(payloadOf(2));
    expect([1, 2, 3].map((index) => milestones.at(index).length)).toEqual([0, 0, 1]);
    milestones.clear();
    milestones.push(payloadOf(2));
    expect([2, 3].map((index) => milestones.at(index).length)).toEqual([1, 0]);
  });

  it('are the next ones where there are many', () => {
    const milestones = createPushedMilestones();
    for (let index = 30; index > 0; index--) milestones.push(payloadOf(index));
    const held = network.milestones.filter(({ index }) => milestones.at(index).length > 0);
    expect(held.map(({ index }) => index)).toEqual(Array.from({ length: 16 }, (_, i) => i + 1));
  });

  it('are not what does not parse', () => {
    const milestones = createPushedMilestones();
    milestones.push(new Uint8Array(200));
    milestones.push(new Uint8Array(50_000));
    milestones.push(payloadOf(1).subarray(1));
    expect(milestones.at(0)).toEqual([]);
    expect(milestones.at(1)).toEqual([]);
  });
});

describe('the confirmed milestone', () => {
  it('is the last one told', () => {
    const milestones = createPushedMilestones();
    expect(milestones.confirmed).toBeUndefined();
    milestones.confirm(json({ index: 7, timestamp: 1, milestoneId: '0x00' }));
    expect(milestones.confirmed).toBe(7);
    milestones.confirm(json({ index: 6 }));
    expect(milestones.confirmed).toBe(6);
  });

  it.each(['', '[', 'null', '{"index":-1}', '{"index":1.5}', '{"index":"7"}', '{}'])(
    'is not %j',
    (text) => {
      const milestones = createPushedMilestones();
      milestones.confirm(new TextEncoder().encode(text));
      expect(milestones.confirmed).toBeUndefined();
    },
  );
});
