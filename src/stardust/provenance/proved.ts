/**
 * Proved values, kept apart from a node's word. A {@link Proved} is made by the judges of this
 * folder and by nothing else: it is an empty object, and its value is in a map of this module. So
 * neither a cast nor JSON of a node makes one. test/stardust/provenance/provenance.test.ts checks
 * that no module outside this folder imports `prove`.
 */

declare const OF: unique symbol;

/** Evidence for a value: bytes of a node hashed to it, by keys or roots of the reader. */
export interface Proved<out T> {
  readonly [OF]: T;
}

/** A value for which there is only the word of a node. */
export interface Said<out T> {
  readonly said: T;
}

/** Outcome of a check. */
export type Finding<T> =
  | { readonly standing: 'proved'; readonly proof: Proved<T> }
  | {
      readonly standing: 'refuted';
      /** A sentence without its full stop. */
      readonly reason: string;
      /** IDs of the blocks where it is wrong, as far as that can be told. */
      readonly blocks: readonly string[];
    }
  /** Nothing speaks for it and nothing against it. */
  | { readonly standing: 'not-checked'; readonly reason: string };

const values = new WeakMap<object, unknown>();

/** Makes a proof: for the judges of this folder only. */
export function prove<T>(value: T): { standing: 'proved'; proof: Proved<T> } {
  const proof = Object.freeze({});
  values.set(proof, value);
  return { standing: 'proved', proof: proof as Proved<T> };
}

export function refute(
  reason: string,
  blocks: readonly string[] = [],
): { standing: 'refuted'; reason: string; blocks: readonly string[] } {
  return { standing: 'refuted', reason, blocks };
}

export function notChecked(reason: string): { standing: 'not-checked'; reason: string } {
  return { standing: 'not-checked', reason };
}

/** The value that was proved. Throws a TypeError for anything that no judge made. */
export function provedValue<T>(proof: Proved<T>): T {
  if (!values.has(proof)) throw new TypeError('this was never proved');
  return values.get(proof) as T;
}

/** A sentence about what was proved, which is as good as that. */
export function tell<T>(proof: Proved<T>, words: (value: T) => string): Proved<string> {
  return prove(words(provedValue(proof))).proof;
}
