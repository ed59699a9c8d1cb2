/**
 * An upstream node, as the follower and requests query it (docs/architecture.md#the-follower):
 * rest-upstream.ts over HORNET's REST API, the sample and tests in memory. Nothing that it says is
 * believed: callers hash and parse bytes. The answer is undefined if it does not have a thing;
 * every other way of not answering throws an UpstreamFailure.
 */
import type { BaseToken } from '../platform/json-schemas.ts';
import type { ProtocolParameters } from '../stardust/wire/parameters.ts';

export interface Upstream {
  /** Host, and place if another one has it: for logs, and what it says is kept by it. */
  readonly name: string;
  readHeads(): Promise<UpstreamHeads>;
  /** The payload of a milestone, its type number first. */
  readMilestone(index: number): Promise<Uint8Array | undefined>;
  /** The bytes of a block, by 64 hex digits. */
  readBlock(id: string): Promise<Uint8Array | undefined>;
  /** The milestone that references a block, by 64 hex digits; null while none does. */
  readReference(id: string): Promise<number | null | undefined>;
  /** Hex IDs of the blocks without children. */
  readTips(): Promise<string[]>;
}

export interface UpstreamHeads {
  /** Index of the newest milestone whose past cone the upstream has whole. */
  confirmed: number;
  /** The newest milestone that it has heard of; Unix seconds, 64 hex digits. */
  latest: { index: number; timestamp: number; milestoneId: string };
  /** Name of its network, if it says so. */
  networkName?: string | undefined;
  /** Protocol parameters at its confirmed milestone, if it says all of them. */
  parameters?: ProtocolParameters | undefined;
  /** Token of its network, if it names one. */
  baseToken?: BaseToken | undefined;
}

/** Characters of a message, which may quote the upstream: it is kept, and written to D1. */
const MAX_MESSAGE_LENGTH = 500;

/** An upstream did not answer, or not as its API does. The message names it, for logs only. */
export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure';
  /** Whether it may be up and have the answer: it was late, or had too many requests. */
  readonly isBusy: boolean;

  constructor(message: string, isBusy = false) {
    super(message.slice(0, MAX_MESSAGE_LENGTH));
    this.isBusy = isBusy;
  }
}
