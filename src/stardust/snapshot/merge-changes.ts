/**
 * Changes of the ledger by the records of a snapshot file
 * (docs/snapshot-format.md#reading-a-full-snapshot and
 * docs/snapshot-format.md#applying-a-delta-snapshot, rules 1.6 and 1.7). A full snapshot holds the
 * outputs at its ledger index. Its diffs are applied backwards and lead to its target milestone, to
 * which its solid entry points belong. The diffs of a delta snapshot are applied forwards from that
 * target.
 */
import { Writer } from '../encoding/bytes.ts';
import { refusal } from '../error.ts';
import { decodeParameters } from '../wire/parameters.ts';
import {
  type ChainRules,
  checkLink,
  checkSame,
  checkSignatures,
  misplaced,
} from './milestone-chain.ts';
import type { DeltaHeader, FullHeader } from './snapshot-header.ts';
import type { SnapshotLedger } from './snapshot-ledger.ts';
import type { SnapshotMilestone, SnapshotRecord } from './snapshot-records.ts';

/** Applies the records of one file. Throws a StardustError if they contradict each other. */
export abstract class Merge<Header = unknown> {
  protected readonly header: Header;
  protected readonly ledger: SnapshotLedger;
  protected readonly rules: ChainRules;
  protected readonly solidEntryPoints: Uint8Array[] = [];

  constructor(header: Header, ledger: SnapshotLedger, rules: ChainRules) {
    this.header = header;
    this.ledger = ledger;
    this.rules = rules;
  }

  abstract take(record: SnapshotRecord): Promise<void>;
  /** Called after the last record. */
  abstract finish(): Promise<void>;
}

const OUTPUT_ID_LENGTH = 34;

/**
 * Most outputs that a diff to be rolled back may create. Their IDs are in memory until the diff
 * ends: 34 MB. A milestone of 50,000 blocks, the largest measured, may have 20 outputs a block.
 */
const MAX_CREATED = 1_000_000;

export class FullMerge extends Merge<FullHeader> {
  /** The milestone of the diff read last. */
  #milestone: SnapshotMilestone | undefined;
  #created = new Writer();

  override async take(record: SnapshotRecord): Promise<void> {
    switch (record.kind) {
      case 'output':
        if (record.output.bookedIndex > this.header.ledgerIndex)
          throw refusal('1.4', `an output booked after milestone ${this.header.ledgerIndex}`);
        return this.ledger.add(record.output);
      case 'diff':
        await this.#checkMilestone(record.milestone);
        this.#milestone = record.milestone;
        if (record.milestone.index === this.header.genesisIndex + 1) this.ledger.leastTarget = 0;
        if (this.#isRolledBack()) this.ledger.undoOptions(record.milestone, record.spentTreasury);
        else this.ledger.announce(record.milestone);
        return;
      case 'created':
        // Removed when the diff ends: an output that it created and consumed must be added back
        // first.
        if (!this.#isRolledBack()) return;
        if (this.#created.length === MAX_CREATED * OUTPUT_ID_LENGTH)
          throw refusal('1.5', `a milestone that creates more than ${MAX_CREATED} outputs`);
        this.#created.put(record.output.outputId);
        return this.ledger.count(record.output, -1);
      case 'consumed':
        if (this.#isRolledBack()) await this.ledger.add(record.output);
        return;
      case 'diffEnd':
        if (this.#isRolledBack()) return this.#removeCreated();
        return this.ledger.changes.keep(this.#milestone!);
      case 'solidEntryPoint':
        this.solidEntryPoints.push(record.blockId);
    }
  }

  /** 1.6: only diffs after the target are rolled back; earlier ones announce parameters. */
  #isRolledBack(): boolean {
    return this.#milestone!.index > this.header.target.index;
  }

  /**
   * Milestones must descend one by one from the ledger index. The one after the target must link to
   * the target that the header names.
   */
  async #checkMilestone(milestone: SnapshotMilestone): Promise<void> {
    const { ledgerIndex, target } = this.header;
    const due = this.#milestone === undefined ? ledgerIndex : this.#milestone.index - 1;
    if (milestone.index !== due) throw misplaced(milestone, due);
    if (this.#milestone !== undefined) checkLink(milestone, this.#milestone, this.rules);
    if (milestone.index === target.index + 1) checkLink(target, milestone, this.rules);
    if (milestone.index === target.index) checkSame(milestone, target, this.rules);
    await checkSignatures(milestone, this.rules);
  }

  async #removeCreated(): Promise<void> {
    const ids = this.#created.finish();
    this.#created = new Writer();
    for (let at = 0; at < ids.length; at += OUTPUT_ID_LENGTH)
      await this.ledger.changes.remove(ids.subarray(at, at + OUTPUT_ID_LENGTH));
  }

  override async finish(): Promise<void> {
    this.ledger.checkSupply(decodeParameters(this.header.parameters.parameters));
    this.ledger.solidEntryPoints = this.solidEntryPoints;
    // Flushed before a delta begins, which may add an output again that was rolled back.
    await this.ledger.changes.flush();
  }
}

export class DeltaMerge extends Merge<DeltaHeader> {
  override async take(record: SnapshotRecord): Promise<void> {
    switch (record.kind) {
      case 'diff':
        checkLink(this.ledger.milestone, record.milestone, this.rules);
        await checkSignatures(record.milestone, this.rules);
        this.ledger.applyOptions(record.milestone, record.spentTreasury);
        this.ledger.milestone = record.milestone;
        return this.ledger.changes.keep(record.milestone);
      case 'created':
        return this.ledger.add(record.output);
      case 'consumed':
        return this.ledger.remove(record.output);
      case 'solidEntryPoint':
        this.solidEntryPoints.push(record.blockId);
    }
  }

  /** The delta's solid entry points replace those of the full snapshot. */
  override async finish(): Promise<void> {
    const { index, timestamp } = this.ledger.milestone;
    // one diff for each milestone up to its target: refuseForeignDelta
    if (timestamp !== this.header.targetTimestamp)
      throw refusal(
        '1.2',
        `its diffs lead to milestone ${index}, not to the target that the header names`,
      );
    this.ledger.solidEntryPoints = this.solidEntryPoints;
    await this.ledger.changes.flush();
  }
}
