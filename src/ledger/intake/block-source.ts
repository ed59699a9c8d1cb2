/** The one error that says why a cone cannot be had. */

/**
 * `unknown-block`: neither we nor upstream know a block of the cone.
 * `referenced-before`: upstream says that an earlier milestone references a block which we do not
 * know (docs/architecture.md#the-trap).
 * `too-large`: more blocks than can be walked at once.
 * `over-budget`: more blocks would have to be fetched than may be.
 */
export type ConeFault = 'unknown-block' | 'referenced-before' | 'too-large' | 'over-budget';

/** What a request needs and D1 lacks. */
export interface WantedOfFollower {
  /** Hex IDs of blocks to be stored, eight at most, with all that lies below them. */
  blocks: readonly string[];
  /** Keys of packs with transactions that have no verdict. */
  packs: readonly number[];
}

/** Why the follower did not write what a request needs; `detail` is as of a message below. */
export interface NotBrought {
  fault: ConeFault | 'upstream-failed';
  detail: string;
}

/** A cone cannot be had. The message is for people: ASCII, nothing internal. */
export class ConeUnavailable extends Error {
  override readonly name = 'ConeUnavailable';
  readonly fault: ConeFault;

  constructor(fault: ConeFault, message: string) {
    super(message);
    this.fault = fault;
  }
}
