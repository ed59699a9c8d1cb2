/** The one error of the protocol: bytes, JSON or files that break a rule; which, and where. */

export interface Place {
  path?: string;
  offset?: number;
  cause?: unknown;
}

/**
 * @example
 * ```ts
 * import { decodeBlock } from '@stardust-edge/protocol/block';
 * import { StardustError } from '@stardust-edge/protocol/error';
 *
 * try {
 *   decodeBlock(new Uint8Array(46));
 * } catch (error) {
 *   if (!(error instanceof StardustError)) throw error;
 *   console.log(error.rule, error.path, error.offset); // C-2 parents 1
 * }
 * ```
 */
export class StardustError extends Error {
  override readonly name = 'StardustError';
  /**
   * Number of the rule in docs/protocol.md or docs/snapshot-format.md, such as `C-33`; or a TIP as
   * a whole: `TIP-25` for JSON that has not its form, `TIP-35` for files.
   */
  readonly rule: string;
  /** Fault, without the place. */
  readonly reason: string;
  /** Where in the value, such as `payload.essence.outputs[3].unlockConditions[0]`; may be empty. */
  path: string;
  /** Bytes from the start of what was decoded to the part that is wrong, if that is known. */
  offset: number | undefined;

  constructor(rule: string, reason: string, { path = '', offset, cause }: Place = {}) {
    super(reason, cause === undefined ? {} : { cause });
    this.rule = rule;
    this.reason = reason;
    this.path = path;
    this.offset = offset;
    this.#describe();
  }

  /** Notes that the value is a part of another one: a field, an element or a path of them. */
  within(part: string | number, offset?: number): this {
    const name = typeof part === 'number' ? `[${part}]` : part;
    const dot = this.path === '' || this.path.startsWith('[') ? '' : '.';
    this.path = `${name}${dot}${this.path}`;
    this.offset ??= offset;
    this.#describe();
    return this;
  }

  #describe(): void {
    const place = [this.path, this.offset === undefined ? '' : `offset ${this.offset}`];
    this.message = [place.filter((each) => each !== '').join(', '), this.reason]
      .filter((each) => each !== '')
      .join(': ');
  }
}

/** Returns what was caught if it is a StardustError; throws any other error again. */
export function caughtRefusal(error: unknown): StardustError {
  if (error instanceof StardustError) return error;
  throw error;
}

/** The error for a broken rule that has a number, which the reason begins with. */
export function refusal(rule: string, reason: string, place?: Place): StardustError {
  return new StardustError(rule, `${rule}: ${reason}`, place);
}

/**
 * Adds the place of a part to a StardustError that was thrown while the part was read, checked or
 * written; returns any other error as it is.
 */
export function located(error: unknown, part: string | number, offset?: number): unknown {
  return error instanceof StardustError ? error.within(part, offset) : error;
}
