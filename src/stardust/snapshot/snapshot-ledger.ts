/**
 * The ledger while a snapshot is read: the parts of it that fit into memory, and the batches of
 * changes to its outputs.
 */
import { refusal } from '../error.ts';
import { ParameterTable, PROTOCOL_VERSION } from '../parameter-table.ts';
import { announcedParameters } from '../wire/milestone.ts';
import { OutputType } from '../wire/output.ts';
import { decodeParameters, type ProtocolParameters } from '../wire/parameters.ts';
import { equalTreasuries, type Treasury, treasuryAfter } from '../wire/receipt.ts';
import type { FullHeader } from './snapshot-header.ts';
import type { MilestoneReference, SnapshotMilestone, SnapshotOutput } from './snapshot-records.ts';
import type { ChangeBatcher } from './snapshot-sink.ts';

export interface Totals {
  /** Unspent outputs. */
  outputs: number;
  /** Number of outputs that are NFTs. */
  nfts: number;
  /** Base tokens on all of them. */
  amount: bigint;
}

export class SnapshotLedger {
  /** The milestone at which the ledger is. */
  milestone: MilestoneReference;
  treasury: Treasury;
  readonly parameters = new ParameterTable();
  /**
   * Target below which parameters do not count as those in force, as the files may lack others with
   * a later target: that of the header's parameters, or 0 if the files hold all since genesis.
   */
  leastTarget: number;
  readonly totals: Totals = { outputs: 0, nfts: 0, amount: 0n };
  solidEntryPoints: Uint8Array[] = [];
  readonly changes: ChangeBatcher;

  constructor({ target, treasury, parameters }: FullHeader, changes: ChangeBatcher) {
    this.milestone = target;
    this.treasury = treasury;
    this.parameters.announce(parameters);
    this.leastTarget = parameters.targetMilestoneIndex;
    this.changes = changes;
  }

  async add(output: SnapshotOutput): Promise<void> {
    this.count(output, 1);
    await this.changes.add(output);
  }

  async remove(output: SnapshotOutput): Promise<void> {
    this.count(output, -1);
    await this.changes.remove(output.outputId);
  }

  /** Adds an output to the totals (1) or takes it off (-1), and does nothing else. */
  count({ value }: SnapshotOutput, sign: 1 | -1): void {
    this.totals.outputs += sign;
    if (value.type === OutputType.Nft) this.totals.nfts += sign;
    this.totals.amount += BigInt(sign) * value.amount;
  }

  /** Applies a milestone's changes besides outputs: treasury and announced parameters (E.5, G). */
  applyOptions(milestone: SnapshotMilestone, spentTreasury: Treasury | undefined): void {
    const made = treasuryAfter(milestone.value, milestone.id);
    if (made !== undefined && spentTreasury !== undefined) {
      this.#requireTreasury(spentTreasury, milestone);
      this.treasury = made;
    }
    this.announce(milestone);
  }

  /** Rolls back what {@link applyOptions} does. */
  undoOptions(milestone: SnapshotMilestone, spentTreasury: Treasury | undefined): void {
    const made = treasuryAfter(milestone.value, milestone.id);
    if (made !== undefined && spentTreasury !== undefined) {
      this.#requireTreasury(made, milestone);
      this.treasury = spentTreasury;
    }
    const announced = announcedParameters(milestone.value);
    if (announced !== undefined) this.parameters.withdraw(announced);
  }

  /** Adds the protocol parameters that a milestone announces, if it does. */
  announce({ value }: SnapshotMilestone): void {
    const announced = announcedParameters(value);
    if (announced !== undefined) this.parameters.announce(announced);
  }

  #requireTreasury(due: Treasury, { index }: SnapshotMilestone): void {
    if (!equalTreasuries(this.treasury, due))
      throw refusal(
        '1.5',
        `the treasury in the diff of milestone ${index} is not the one that the ledger holds`,
      );
  }

  /**
   * Returns the parameters in force at the ledger's milestone. Throws a StardustError if the files
   * lack them, their protocol version is unknown, or the ledger does not hold their token supply.
   */
  conclude(): ProtocolParameters {
    const { index } = this.milestone;
    const option = this.parameters.at(index);
    if (option === undefined || option.targetMilestoneIndex < this.leastTarget)
      throw refusal(
        '1.6',
        `the protocol parameters in force at milestone ${index} are not in the file`,
      );
    if (option.protocolVersion !== PROTOCOL_VERSION)
      throw refusal(
        'G',
        `protocol version ${option.protocolVersion} is in force at milestone ${index}`,
      );
    const parameters = decodeParameters(option.parameters);
    this.checkSupply(parameters);
    return parameters;
  }

  /** Throws a StardustError unless outputs and treasury together hold the token supply (E.5). */
  checkSupply({ tokenSupply }: ProtocolParameters): void {
    const { amount, outputs } = this.totals;
    // in uint64, as receipts are
    if (BigInt.asUintN(64, amount + this.treasury.amount) !== tokenSupply) {
      const held = `${outputs} outputs hold ${amount} base tokens`;
      const sum = `${held}, the treasury ${this.treasury.amount}`;
      throw refusal('E.5', `${sum}: together not the token supply of ${tokenSupply}`);
    }
  }
}
