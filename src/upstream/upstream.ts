/**
 * What the follower and a request ask of an upstream node (design §5). rest-upstream.ts asks HORNET's REST, the sample asks files.
 *
 * Nothing that an upstream says is believed: bytes are hashed and parsed by whoever asked for them. Where it says that it does not have a thing the
 * answer is undefined; every other way of not answering throws an UpstreamFailure.
 */
export interface Upstream {
  /** For logs. */
  readonly name: string;
  /** The newest milestone whose cone it has whole, and the newest that it has heard of. */
  readHeads(): Promise<UpstreamHeads>;
  /** The payload of a milestone, its type number first. */
  readMilestone(index: number): Promise<Uint8Array | undefined>;
  /** A block's bytes, by hex ID. */
  readBlock(id: string): Promise<Uint8Array | undefined>;
  /** The milestone that references a block, by hex ID, or null while none does. */
  readReference(id: string): Promise<number | null | undefined>;
  /** Hex IDs of blocks without children. */
  readTips(): Promise<string[]>;
}

export interface UpstreamHeads {
  confirmed: number;
  latest: { index: number; timestamp: number; milestoneId: string };
}

/** An upstream did not answer, or not as its API does. The message names it and what it did; it goes into logs only. */
export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure';
}
