/** Checks that docstrings begin with their subject or a verb, so that each can be read by itself. */
import type { Sources } from './names.ts';

const PREPOSITIONS =
  'about above after as at before behind below beside between beyond by for from in into like of on since to under until upon with within without';
const PRONOUNS =
  'both everybody he it its nobody none one-that same she somebody that the-same their these they this those what whatever which whichever who whoever whose';

const WORDS = [PREPOSITIONS, PRONOUNS].join(' ').replaceAll(' ', '|').replaceAll('-', '\\s+');

/** The beginning of a docstring that has its subject elsewhere; rules and values are subjects. */
const WITHOUT_SUBJECT = new RegExp(`/\\*\\*\\s+(?:\\* )?(?:${WORDS})\\b(?!-)[^\\n]*`, 'gi');

/** A sentence for each docstring that begins with a pronoun or a preposition. */
export function findWithoutSubject(sources: Sources): string[] {
  return [...sources].flatMap(([file, text]) =>
    Array.from(text.matchAll(WITHOUT_SUBJECT), ({ 0: docstring, index }) => {
      const line = text.slice(0, index).split('\n').length;
      return `${file}:${line}: begin with the subject or a verb: ${docstring.replaceAll(/\s+/g, ' ')}`;
    }),
  );
}
