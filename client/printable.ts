/**
 * Text of a node for a terminal. Its control characters could clear the screen, or write sentences
 * that look like those of the script.
 */

/** Control characters, marks that turn the direction or are not seen, separators of lines. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Long enough for an ID and some words about it. */
const MAX_CHARACTERS = 120;

/** The text with such characters as `\u{1b}`, and cut. */
export function printable(text: string, maxCharacters = MAX_CHARACTERS): string {
  const cut = text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text;
  return cut.replaceAll(
    UNPRINTABLE,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}
