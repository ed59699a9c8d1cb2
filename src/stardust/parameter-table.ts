/**
 * Protocol parameters by the milestone from which on they are in force (protocol.md G).
 *
 * Milestones announce parameters ahead of time. In force at a milestone is what has the greatest target up to it; the later ones are pending.
 */
import { equalBytes, Refusal } from './bytes.ts';
import type { ProtocolParametersOption } from './milestone.ts';

/** The one protocol version whose rules this is (G). */
const PROTOCOL_VERSION = 2;

export class ParameterTable {
  readonly #byTarget = new Map<number, ProtocolParametersOption>();

  /** All that are known, in order of their targets. */
  get options(): ProtocolParametersOption[] {
    return [...this.#byTarget.values()].sort(
      (a, b) => a.targetMilestoneIndex - b.targetMilestoneIndex,
    );
  }

  /** What is in force at a milestone, or undefined if all that is known comes later. */
  at(index: number): ProtocolParametersOption | undefined {
    return this.options.findLast((option) => option.targetMilestoneIndex <= index);
  }

  /** A protocol version whose rules we do not know and that is in force at the milestone after `index` at the latest, or undefined. */
  unsupportedAfter(index: number): number | undefined {
    return this.options
      .filter(({ targetMilestoneIndex }) => targetMilestoneIndex <= index + 1)
      .find(({ protocolVersion }) => protocolVersion !== PROTOCOL_VERSION)?.protocolVersion;
  }

  /** Takes note of announced parameters; again does no harm. A Refusal if others have the same target: the reference stops there (G). */
  announce(option: ProtocolParametersOption): void {
    this.#refuseAnother(option);
    this.#byTarget.set(option.targetMilestoneIndex, option);
  }

  /** Forgets announced parameters, because the milestone that announced them is rolled back. */
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
    throw new Refusal(
      'G',
      `two different sets of protocol parameters for milestone ${option.targetMilestoneIndex}`,
    );
  }
}
