/**
 * How large an answer of a node may be, to scripts and to the page.
 */

/** The largest JSON is the explanation of a milestone: some 250 bytes for each of its blocks. */
const MAX_JSON_BYTES = 16 * 1024 * 1024;

/** C-1: a block has at most so many, and a milestone is a part of one. */
const MAX_RAW_BYTES = 32_768;

/** The most bytes of an answer, by the form that was asked for: none is JSON. */
export function maxAnswerBytes(accept: string | undefined): number {
  return accept === undefined ? MAX_JSON_BYTES : MAX_RAW_BYTES;
}
