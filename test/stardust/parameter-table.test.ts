/**
 * Protocol parameters by milestone (docs/protocol.md, G).
 */
import { describe, expect, it } from 'vitest';
import { ParameterTable } from '../../src/stardust/parameter-table.ts';
import type { ProtocolParametersOption } from '../../src/stardust/wire/milestone.ts';

const option = (target: number, content = target): ProtocolParametersOption => ({
  type: 1,
  targetMilestoneIndex: target,
  protocolVersion: 2,
  parameters: Uint8Array.of(content),
});

function tableOf(...targets: number[]): ParameterTable {
  const table = new ParameterTable();
  for (const target of targets) table.announce(option(target));
  return table;
}

describe('ParameterTable', () => {
  it('finds in force the set with the greatest target up to the milestone', () => {
    const table = tableOf(31, 5, 17);
    const inForce = [4, 5, 16, 17, 30, 31, 4_294_967_295].map(
      (index) => table.at(index)?.targetMilestoneIndex,
    );
    expect(inForce).toEqual([undefined, 5, 5, 17, 17, 31, 31]);
  });

  it('lists sets by target, not in the order of announcement', () => {
    const targets = tableOf(256, 2, 17).options.map((each) => each.targetMilestoneIndex);
    expect(targets).toEqual([2, 17, 256]);
  });

  it('accepts the same announcement twice, but no other set with the same target', () => {
    const table = tableOf(5);
    table.announce(option(5));
    expect(() => table.announce(option(5, 99))).toThrow(
      'two different sets of protocol parameters for milestone 5',
    );
    const later = { ...option(5), protocolVersion: 3 };
    expect(() => table.announce(later)).toThrow('two different sets');
    expect(table.options).toEqual([option(5)]);
  });

  it('forgets a withdrawn set, and ignores one that it does not have', () => {
    const table = tableOf(5, 17);
    table.withdraw(option(17));
    table.withdraw(option(31));
    expect(table.options).toEqual([option(5)]);
    expect(() => table.withdraw(option(5, 99))).toThrow('two different sets');
  });
});
