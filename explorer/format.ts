/**
 * Numbers, times and IDs as people read them. English, and UTC, whatever the browser's settings: a
 * page that is shared says the same to everybody.
 */
import { parseBoundedJson } from '../src/stardust/encoding/bounded-json.ts';
import { formatAge } from '../src/stardust/provenance/words.ts';

/** `0x0255e848…785aa7`, `smr1qpaj9…rvpn9d`: enough to compare by eye. */
export function shorten(id: string): string {
  return id.length <= 20 ? id : `${id.slice(0, id.startsWith('0x') ? 10 : 9)}…${id.slice(-6)}`;
}

export function formatCount(count: number): string {
  return count.toLocaleString('en');
}

/** A share from 0 to 1, such as "2.5 %". */
export function formatShare(share: number): string {
  return `${(share * 100).toLocaleString('en', { maximumFractionDigits: 2 })} %`;
}

/** "4 years ago", or by a clock that is wrong "4 years from now". */
export function formatSince(seconds: number): string {
  return seconds < 0 ? `${formatAge(-seconds)} from now` : `${formatAge(seconds)} ago`;
}

const RULES = new Intl.PluralRules('en');

/** Nouns whose plural is not made by an s alone. */
const PLURALS: Readonly<Record<string, string>> = {
  alias: 'aliases',
  foundry: 'foundries',
  address: 'addresses',
};

/** "1 block", "2 blocks", "2 aliases". */
export function plural(count: number, noun: string): string {
  const words = RULES.select(count) === 'one' ? noun : (PLURALS[noun] ?? `${noun}s`);
  return `${formatCount(count)} ${words}`;
}

/** The code of a rule, at the beginning or behind another reason. */
const RULE = /(^|: )([A-Z]{1,2}-?\d{1,3}(?:\.\d{1,3}){0,3}): /;

/** A reason with a capital and a full stop; the code of a rule (docs/protocol.md) stands behind it. */
export function asSentence(reason: string): string {
  const text = reason.endsWith('.') ? reason.slice(0, -1) : reason;
  const rule = RULE.exec(text);
  const words =
    rule === null
      ? text
      : `${text.slice(0, rule.index)}${rule[1]}${text.slice(rule.index + rule[0].length)} (rule ${rule[2]})`;
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

/** Characters of a name that anybody wrote, in a heading or a tile. */
export const MAX_NAME = 80;

/** A text of anybody as far as a heading has room for it. */
export function cut(text: string): string {
  const letters = Array.from(text.slice(0, 4 * MAX_NAME));
  return letters.length <= MAX_NAME ? text : `${letters.slice(0, MAX_NAME).join('')}…`;
}

/** JSON in lines; other text as it is. */
export function prettify(text: string): string {
  try {
    return JSON.stringify(parseBoundedJson(text), undefined, 2);
  } catch {
    return text;
  }
}
