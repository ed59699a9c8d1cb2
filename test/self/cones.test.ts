/**
 * Big cones for benches: they have the number of blocks asked for, their verdicts and roots are the
 * oracle's, and the cache gives the same.
 */
import { describe, expect, it } from 'vitest';
import { type ConeOptions, coneNetwork, lastQuestion, makeCone } from '../support/network/cones.ts';
import { coneOf } from '../support/network/network-model.ts';
import { oracleView } from '../support/network/oracle-view.ts';
import { whiteFlag } from '../support/oracle/oracle.ts';

describe.each<ConeOptions>([
  { kind: 'notes', count: 1 },
  { kind: 'notes', count: 300 },
  { kind: 'transfers', count: 7 },
  { kind: 'transfers', count: 300 },
  { kind: 'transfers', count: 300, conflicts: 0.2, width: 60 },
])('%j', (options) => {
  const network = makeCone(options);
  const cone = coneOf(network, 2);

  it('has the blocks asked for, and that of milestone 1', () => {
    expect(cone.length).toBe(options.count + 1);
    expect(cone.filter(({ milestoneIndex }) => milestoneIndex === 1).length).toBe(1);
    for (const { parents } of cone.slice(5)) {
      expect(parents.length).toBeGreaterThanOrEqual(2);
      expect(parents.length).toBeLessThanOrEqual(options.kind === 'notes' ? 5 : 6);
    }
  });

  it('conflicts as much as asked for', () => {
    const conflicting = cone.filter(({ referenced }) => referenced!.state === 'conflicting').length;
    expect(conflicting / options.count).toBeCloseTo(options.conflicts ?? 0, 1);
  });

  it('has the roots that the oracle finds', async () => {
    const { request, response } = lastQuestion(network);
    expect(await whiteFlag(oracleView(network, 1), request)).toMatchObject(response);
  });

  it('is the same from the cache', () => {
    expect(coneNetwork(options)).toEqual(network);
    expect(coneNetwork(options)).toEqual(network);
  });
});
