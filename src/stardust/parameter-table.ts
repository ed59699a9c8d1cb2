/**
 * Protocol parameters by the milestone from which on they are in force (docs/protocol.md, G).
 * Milestones announce sets ahead of time, each with a target milestone. The set with the greatest
 * target up to a milestone is in force there; later ones are pending.
 */
import { equalBytes } from './encoding/bytes.ts';
import { refusal } from './error.ts';
import type { ProtocolParametersOption } from './wire/milestone.ts';

/** The protocol version whose rules this program knows (G). */
export const PROTOCOL_VERSION = 2;

export class ParameterTable {
  readonly #byTarget = new Map<number, ProtocolParametersOption>();

  /** All known sets, in order of their targets. */
  get options(): ProtocolParametersOption[] {
    return [...this.#byTarget.values()].sort(
      (a, b) => a.targetMilestoneIndex - b.targetMilestoneIndex,
    );
  }

  /** The set in force at a milestone; undefined if all known sets have later targets. */
  at(index: number): ProtocolParametersOption | undefined {
    return this.options.findLast((option) => option.targetMilestoneIndex <= index);
  }

  /**
   * Returns another version than {@link PROTOCOL_VERSION} in force right after `index` or before.
   */
  unsupportedAfter(index: number): number | undefined {
    return this.options
      .filter(({ targetMilestoneIndex }) => targetMilestoneIndex <= index + 1)
      .find(({ protocolVersion }) => protocolVersion !== PROTOCOL_VERSION)?.protocolVersion;
  }

  /**
   * Adds announced parameters; the same ones again change nothing. Throws a StardustError if others
   * have the same target: the reference stops there (G).
   */
  announce(option: ProtocolParametersOption): void {
    this.#refuseAnother(option);
    this.#byTarget.set(option.targetMilestoneIndex, option);
  }

  /** Removes announced parameters, because the milestone that announced them is rolled back. */
  withdraw(option: ProtocolParametersOption): void {
    this.#refuseAnother(option);
    this.#byTarget.delete(option.targetMilestoneIndex);
  }

  #refuseAnother(option: ProtocolParametersOption): void {
    const known = this.#byTarget.get(option.targetMilestoneIndex);
    if (known === undefined) return;
    if (
      known.protocolVersion === option.protocolVersion &&
      equalBytes(known.parameters, option.parameters)
    )
      return;
    throw refusal(
      'G',
      `two different sets of protocol parameters for milestone ${option.targetMilestoneIndex}`,
    );
  }
}
