/**
 * The ledger while a snapshot is read: what can be held in memory of it, and the outbox through which the rest leaves.
 */
import { Refusal } from '../bytes.ts';
import { announcedParameters } from '../milestone.ts';
import { ParameterTable, PROTOCOL_VERSION } from '../parameter-table.ts';
import { decodeParameters, type ProtocolParameters } from '../parameters.ts';
import { equalTreasuries, type Treasury, treasuryAfter } from '../treasury.ts';
import type { FullHeader, MilestoneReference } from './snapshot-header.ts';
import type { SnapshotMilestone, SnapshotOutput } from './snapshot-records.ts';
import type { ChangeBatcher } from './snapshot-sink.ts';

export interface Totals {
  /** Unspent outputs. */
  outputs: number;
  /** Those of them that are NFTs. */
  nfts: number;
  /** Base tokens on all of them. */
  amount: bigint;
}

export class SnapshotLedger {
  /** Where the ledger stands. */
  milestone: MilestoneReference;
  treasury: Treasury;
  readonly parameters = new ParameterTable();
  /**
   * Parameters with an earlier target are not taken for those in force: the files may not tell of others that came between. It is the target of the
   * header's, which were in force at the ledger index, or 0 where the files tell of all that was announced since genesis.
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

  /** Counts an output in (1) or out (-1) and does nothing else. */
  count({ value, nftId }: SnapshotOutput, sign: 1 | -1): void {
    this.totals.outputs += sign;
    if (nftId !== undefined) this.totals.nfts += sign;
    this.totals.amount += BigInt(sign) * value.amount;
  }

  /** What a milestone does besides its outputs: the treasury moves, parameters are announced (E.5, G). */
  applyOptions(milestone: SnapshotMilestone, spentTreasury: Treasury | undefined): void {
    const made = treasuryAfter(milestone.value, milestone.id);
    if (made !== undefined && spentTreasury !== undefined) {
      this.#requireTreasury(spentTreasury, milestone);
      this.treasury = made;
    }
    this.announce(milestone);
  }

  /** The reverse of {@link applyOptions}. */
  undoOptions(milestone: SnapshotMilestone, spentTreasury: Treasury | undefined): void {
    const made = treasuryAfter(milestone.value, milestone.id);
    if (made !== undefined && spentTreasury !== undefined) {
      this.#requireTreasury(made, milestone);
      this.treasury = spentTreasury;
    }
    const announced = announcedParameters(milestone.value);
    if (announced !== undefined) this.parameters.withdraw(announced);
  }

  /** Takes note of the protocol parameters that a milestone announces, if it does. */
  announce({ value }: SnapshotMilestone): void {
    const announced = announcedParameters(value);
    if (announced !== undefined) this.parameters.announce(announced);
  }

  #requireTreasury(due: Treasury, { index }: SnapshotMilestone): void {
    if (!equalTreasuries(this.treasury, due)) {
      throw new Refusal(
        '1.5',
        `the treasury in the diff of milestone ${index} is not the one that the ledger holds`,
      );
    }
  }

  /** The parameters in force where the ledger stands. A Refusal if they are missing, of an unknown protocol, or if the supply is not theirs. */
  conclude(): ProtocolParameters {
    const { index } = this.milestone;
    const option = this.parameters.at(index);
    if (option === undefined || option.targetMilestoneIndex < this.leastTarget) {
      throw new Refusal(
        '1.6',
        `the protocol parameters in force at milestone ${index} are not in the file`,
      );
    }
    if (option.protocolVersion !== PROTOCOL_VERSION) {
      throw new Refusal(
        'G',
        `protocol version ${option.protocolVersion} is in force at milestone ${index}`,
      );
    }
    const parameters = decodeParameters(option.parameters);
    this.checkSupply(parameters);
    return parameters;
  }

  /** A Refusal unless outputs and treasury are all the tokens there are (E.5). */
  checkSupply({ tokenSupply }: ProtocolParameters): void {
    const { amount, outputs } = this.totals;
    if (amount + this.treasury.amount !== tokenSupply) {
      const sum = `${outputs} outputs hold ${amount} base tokens, the treasury ${this.treasury.amount}`;
      throw new Refusal('E.5', `${sum}: together not the token supply of ${tokenSupply}`);
    }
  }
}
