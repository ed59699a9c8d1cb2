/**
 * A choice of keys in words, and what is odd about the name that a node gives its network.
 */
import { distance } from 'fastest-levenshtein';
import { KNOWN_NETWORKS, type KnownNetwork } from '../../src/stardust/verifier/known-networks.ts';

export type KeyChoice =
  /** `isDefault`: nobody has chosen yet. */
  | { kind: 'known'; network: KnownNetwork; isDefault: boolean }
  | { kind: 'own'; publicKeys: string; threshold: string };

/** "the keys of Shimmer". */
export function describeKeys(choice: KeyChoice): string {
  return choice.kind === 'known' ? `the keys of ${choice.network.title}` : 'the keys that you gave';
}

/** A sentence on the name of a network, and whether the name misleads. */
export interface NameRemark {
  text: string;
  isOdd: boolean;
}

/**
 * What is to be said of the name that a node gives its network; undefined if nothing is. With keys
 * of their own, visitors know better. A name that nobody knows is no sign of a lie.
 */
export function remarkOnName(name: string, choice: KeyChoice): NameRemark | undefined {
  if (choice.kind === 'own' || name === choice.network.networkName) return undefined;
  const shown = `This node calls its network “${[...name].slice(0, 40).join('')}”`;
  const known = KNOWN_NETWORKS.find(({ networkName }) => networkName === name);
  const odd = (text: string) => ({ text, isOdd: true });
  if (known !== undefined) return odd(`${shown}, and you check against ${describeKeys(choice)}.`);
  const like = KNOWN_NETWORKS.find(({ networkName }) => looksLike(name, networkName));
  return like === undefined
    ? {
        text: `${shown}. To check what it says, the page needs the keys of that network.`,
        isOdd: false,
      }
    : odd(
        `This may be a fake of ${like.title}. ${shown}, which looks like “${like.networkName}” and is another name${foreignLetters(name)}.`,
      );
}

/** Characters that eyes cannot tell from ASCII have a number. */
function foreignLetters(name: string): string {
  const first = name.match(/[^\x20-\x7e]/u)?.[0].codePointAt(0);
  if (first === undefined) return '';
  return `: one of its letters is U+${first.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Letters that a reader may overlook. */
const OVERLOOKED = 2;

function looksLike(name: string, known: string): boolean {
  const folded = name.normalize('NFKD').toLowerCase().slice(0, 100);
  return distance(folded, known) <= OVERLOOKED;
}

/** The choice for a network: unless the visitor chose keys, those that this page knows of it. */
export function choiceFor(choice: KeyChoice, networkName: string): KeyChoice {
  if (choice.kind === 'own' || !choice.isDefault) return choice;
  const network = KNOWN_NETWORKS.find((each) => each.networkName === networkName);
  // the same object for the same keys: what was read and checked by it is not read again
  return network === undefined || network === choice.network
    ? choice
    : { kind: 'known', network, isDefault: true };
}
