/**
 * What the records of a snapshot file do to the ledger (formats-and-clients.md 1.6, 1.7).
 *
 * A full snapshot holds the outputs at its ledger index; its diffs go backwards and lead to its target, which is the milestone that solid entry points
 * and delta belong to. The diffs of a delta snapshot go forwards from there.
 */
import { Refusal, Writer } from '../bytes.ts';
import { decodeParameters } from '../parameters.ts';
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

/** Takes the records of one file in their order; a Refusal for what cannot be. */
export interface Merge {
  take(record: SnapshotRecord): Promise<void>;
  /** After the last record. */
  finish(): Promise<void>;
}

const OUTPUT_ID_LENGTH = 34;

/**
 * The most outputs that a diff to be rolled back may create: their IDs are held until its end, 34 MB of them at this number. A milestone that
 * referenced 50,000 blocks, the most that the design considers, would have to create 20 in each.
 */
const MAX_CREATED = 1_000_000;

export class FullMerge implements Merge {
  readonly #header: FullHeader;
  readonly #ledger: SnapshotLedger;
  readonly #rules: ChainRules;
  /** The diff read last. */
  #milestone: SnapshotMilestone | undefined;
  /** IDs of the outputs that it created, side by side. */
  #created = new Writer();
  #solidEntryPoints: Uint8Array[] = [];

  constructor(header: FullHeader, ledger: SnapshotLedger, rules: ChainRules) {
    this.#header = header;
    this.#ledger = ledger;
    this.#rules = rules;
  }

  async take(record: SnapshotRecord): Promise<void> {
    switch (record.kind) {
      case 'output':
        if (record.output.bookedIndex > this.#header.ledgerIndex) {
          throw new Refusal('1.4', `an output booked after milestone ${this.#header.ledgerIndex}`);
        }
        return this.#ledger.add(record.output);
      case 'diff':
        await this.#checkMilestone(record.milestone);
        this.#milestone = record.milestone;
        if (record.milestone.index === this.#header.genesisIndex + 1) this.#ledger.leastTarget = 0;
        if (this.#isRolledBack()) this.#ledger.undoOptions(record.milestone, record.spentTreasury);
        else this.#ledger.announce(record.milestone);
        return;
      case 'created':
        // gone at the end, as one that was consumed at once must come back first
        if (!this.#isRolledBack()) return;
        if (this.#created.length === MAX_CREATED * OUTPUT_ID_LENGTH) {
          throw new Refusal('1.5', `a milestone that creates more than ${MAX_CREATED} outputs`);
        }
        this.#created.put(record.output.outputId);
        return this.#ledger.count(record.output, -1);
      case 'consumed':
        if (this.#isRolledBack()) await this.#ledger.add(record.output);
        return;
      case 'diffEnd':
        if (this.#isRolledBack()) return this.#removeCreated();
        return this.#ledger.changes.keep(this.#milestone!);
      case 'solidEntryPoint':
        this.#solidEntryPoints.push(record.blockId);
    }
  }

  /** Diffs at the target and below are there for the parameters that their milestones announced, and have been applied (1.6). */
  #isRolledBack(): boolean {
    return this.#milestone!.index > this.#header.target.index;
  }

  /** From the ledger index downwards; the milestone after the target leads to the target, of which the header tells. */
  async #checkMilestone(milestone: SnapshotMilestone): Promise<void> {
    const { ledgerIndex, target } = this.#header;
    const due = this.#milestone === undefined ? ledgerIndex : this.#milestone.index - 1;
    if (milestone.index !== due) throw misplaced(milestone, due);
    if (this.#milestone !== undefined) checkLink(milestone, this.#milestone, this.#rules);
    if (milestone.index === target.index + 1) checkLink(target, milestone, this.#rules);
    if (milestone.index === target.index) checkSame(milestone, target, this.#rules);
    await checkSignatures(milestone, this.#rules);
  }

  async #removeCreated(): Promise<void> {
    const ids = this.#created.finish();
    this.#created = new Writer();
    for (let at = 0; at < ids.length; at += OUTPUT_ID_LENGTH) {
      await this.#ledger.changes.remove(ids.subarray(at, at + OUTPUT_ID_LENGTH));
    }
  }

  async finish(): Promise<void> {
    this.#ledger.checkSupply(decodeParameters(this.#header.parameters.parameters));
    this.#ledger.solidEntryPoints = this.#solidEntryPoints;
    // apart from what follows: a delta may bring back what was rolled back
    await this.#ledger.changes.flush();
  }
}

export class DeltaMerge implements Merge {
  readonly #header: DeltaHeader;
  readonly #ledger: SnapshotLedger;
  readonly #rules: ChainRules;
  #solidEntryPoints: Uint8Array[] = [];

  constructor(header: DeltaHeader, ledger: SnapshotLedger, rules: ChainRules) {
    this.#header = header;
    this.#ledger = ledger;
    this.#rules = rules;
  }

  async take(record: SnapshotRecord): Promise<void> {
    switch (record.kind) {
      case 'diff':
        checkLink(this.#ledger.milestone, record.milestone, this.#rules);
        await checkSignatures(record.milestone, this.#rules);
        this.#ledger.applyOptions(record.milestone, record.spentTreasury);
        this.#ledger.milestone = record.milestone;
        return this.#ledger.changes.keep(record.milestone);
      case 'created':
        return this.#ledger.add(record.output);
      case 'consumed':
        return this.#ledger.remove(record.output);
      case 'solidEntryPoint':
        this.#solidEntryPoints.push(record.blockId);
    }
  }

  /** The delta's solid entry points take the place of the full snapshot's. */
  async finish(): Promise<void> {
    const { index, timestamp } = this.#ledger.milestone;
    if (index !== this.#header.targetIndex || timestamp !== this.#header.targetTimestamp) {
      throw new Refusal(
        '1.2',
        `its diffs lead to milestone ${index}, not to the target that the header names`,
      );
    }
    this.#ledger.solidEntryPoints = this.#solidEntryPoints;
    await this.#ledger.changes.flush();
  }
}
