/**
 * JSON of anybody: nested no deeper than a bound. Engines parse any depth, but what walks over the
 * value afterwards, such as JSON.stringify, runs out of stack.
 */

/** A Merkle path of 32 levels (B.13) within an answer; all else is shallower. */
const MAX_DEPTH = 64;

/** Throws a SyntaxError where the text is no JSON, or is deeper than 64 levels. */
export function parseBoundedJson(text: string): unknown {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (character === '"') i = endOfString(text, i);
    else if (character === '[' || character === '{') {
      if (++depth > MAX_DEPTH) throw new SyntaxError(`JSON of more than ${MAX_DEPTH} levels`);
    } else if (character === ']' || character === '}') depth--;
  }
  return JSON.parse(text);
}

/** The place of the quote that ends the string which begins at `start`. */
function endOfString(text: string, start: number): number {
  let i = start + 1;
  while (i < text.length && text[i] !== '"') i += text[i] === '\\' ? 2 : 1;
  return i;
}
