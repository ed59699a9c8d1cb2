/**
 * JSON of anybody: no deeper than a bound, and with no more values. Engines parse any depth, but
 * JSON.stringify of it runs out of stack; and 16 MiB of `{},` become 700 MiB of objects.
 */

/** A Merkle path of 32 levels (B.13) within an answer; all else is shallower. */
const MAX_DEPTH = 64;

/** An explanation has one in 35 bytes, which is fewer in 16 MiB. */
const MAX_VALUES = 500_000;

/** Throws a SyntaxError where the text is no JSON, or has more than 64 levels or `maxValues`. */
export function parseBoundedJson(text: string, maxValues = MAX_VALUES): unknown {
  let depth = 0;
  let values = 1;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (character === '"') i = endOfString(text, i);
    else if (character === '[' || character === '{') {
      values++;
      if (++depth > MAX_DEPTH) throw new SyntaxError(`JSON of more than ${MAX_DEPTH} levels`);
    } else if (character === ']' || character === '}') depth--;
    else if (character === ',') values++;
    if (values > maxValues) throw new SyntaxError(`JSON of more than ${maxValues} values`);
  }
  return JSON.parse(text);
}

/** The place of the quote that ends the string which begins at `start`. */
function endOfString(text: string, start: number): number {
  let i = start + 1;
  while (i < text.length && text[i] !== '"') i += text[i] === '\\' ? 2 : 1;
  return i;
}
