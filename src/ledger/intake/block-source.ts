/** Needs of requests that the follower can meet, and the error if it cannot. */

/**
 * `unknown-block`: neither we nor an upstream know a block of the cone. `referenced-before`: an
 * upstream says that an earlier milestone references a block which we do not know
 * (docs/architecture.md#the-trap). `too-large`: more blocks than can be walked at once.
 * `over-budget`: more blocks than may be fetched.
 */
export type ConeFault = 'unknown-block' | 'referenced-before' | 'too-large' | 'over-budget';

/** Data that a request needs and D1 lacks. */
export interface WantedOfFollower {
  /** Hex IDs of blocks to be stored, eight at most, with all that lies below them. */
  blocks: readonly string[];
  /** Numbers of blocks whose transactions have no verdict, by the keys of their packs. */
  undecided: readonly [pack: number, blocks: number[]][];
}

/** Reason why the follower did not write what a request needs; `detail` is ASCII for people. */
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
