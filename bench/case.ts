/** A named, repeatable measurement. */
export interface BenchCase {
  name: string;
  /** The most that one run may take once warm, in milliseconds. */
  limit: number;
  /** Gets everything ready, asserts that what is to be timed is right, and returns it. */
  prepare(): () => unknown;
}
