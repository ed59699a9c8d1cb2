/**
 * Answers about a final ledger that are changed, so that none of them proves anything any more:
 * records, siblings, places, neighbours, counts, roots.
 */
import { type FinalTreeName, KEY_BYTES } from '../../../src/stardust/proof/final-ledger.ts';
import type { Random } from '../network/random.ts';
import type { MadeLedger } from './made-ledger.ts';

interface Entry {
  position: number;
  record: string;
  path: string[];
}

interface Tree {
  count: number;
  root: string;
}

interface Json {
  ledger: { networkName: string; milestoneIndex: number; milestoneId: string } & Record<
    FinalTreeName,
    Tree
  >;
  present: boolean;
  entry?: Entry;
  before?: Entry | null;
  after?: Entry | null;
}

/** Another hex digit at any place. */
function flip(hex: string, random: Random): string {
  const at = 2 + random.below(hex.length - 2);
  const digit = (Number.parseInt(hex[at]!, 16) ^ (1 + random.below(15))).toString(16);
  return hex.slice(0, at) + digit + hex.slice(at + 1);
}

const entriesOf = ({ entry, before, after }: Json): Entry[] =>
  [entry, before, after].filter((each): each is Entry => each !== undefined && each !== null);

/** Changes the answer in place, or leaves it where it has nothing of that kind. */
type Mutation = (json: Json, random: Random, tree: FinalTreeName) => void;

const inEntry =
  (change: (entry: Entry, random: Random) => void): Mutation =>
  (json, random) => {
    const entries = entriesOf(json);
    if (entries.length > 0) change(random.pick(entries), random);
  };

const MUTATIONS: Record<string, Mutation> = {
  record: inEntry((entry, random) => {
    entry.record = flip(entry.record, random);
  }),
  'longer record': inEntry((entry) => {
    entry.record += '00';
  }),
  sibling: inEntry(({ path }, random) => {
    const at = random.below(path.length);
    if (path.length > 0) path[at] = flip(path[at]!, random);
  }),
  'no sibling': inEntry(({ path }, random) => {
    path.splice(random.below(path.length), 1);
  }),
  'one sibling more': inEntry(({ path }, random) => {
    path.splice(random.below(path.length + 1), 0, `0x${'5a'.repeat(32)}`);
  }),
  'siblings that change places': inEntry(({ path }, random) => {
    const at = random.below(path.length - 1);
    if (path.length > 1) path.splice(at, 2, path[at + 1]!, path[at]!);
  }),
  // the side of a sibling is a bit of the place
  place: inEntry((entry, random) => {
    const place = entry.position;
    entry.position = random.pick([place + 1, place - 1, place ^ 1, place ^ 2, place + 4, 2 ** 40]);
  }),
  count: ({ ledger }, random, tree) => {
    ledger[tree].count += random.pick([1, -1, 2 ** 32]);
  },
  'count of the other tree': ({ ledger }, _, tree) => {
    ledger[tree === 'nfts' ? 'outputs' : 'nfts'].count++;
  },
  root: ({ ledger }, random) => {
    const tree = random.pick([ledger.outputs, ledger.nfts]);
    tree.root = flip(tree.root, random);
  },
  // two empty trees are the same
  'trees that change places': ({ ledger }) => {
    [ledger.outputs, ledger.nfts] = [ledger.nfts, ledger.outputs];
  },
  network: ({ ledger }) => {
    ledger.networkName += 'x';
  },
  milestone: ({ ledger }, random) => {
    if (random.chance(0.5)) ledger.milestoneIndex++;
    else ledger.milestoneId = flip(ledger.milestoneId, random);
  },
  'the other claim': (json) => {
    json.present = !json.present;
  },
  'a neighbour left out': (json, random) => {
    const sides = (['before', 'after'] as const).filter((side) => json[side]);
    if (sides.length > 0) json[random.pick(sides)] = null;
  },
  'neighbours that change places': (json) => {
    if (json.before || json.after)
      [json.before, json.after] = [json.after ?? null, json.before ?? null];
  },
  'one neighbour twice': (json) => {
    if (json.before && json.after) json.after = json.before;
  },
};

export const MUTATION_NAMES = Object.keys(MUTATIONS);

/** Undefined where the answer has nothing of that kind. */
export function mutateAnswer(
  answer: Record<string, unknown>,
  name: string,
  tree: FinalTreeName,
  random: Random,
): unknown {
  const json = structuredClone(answer);
  MUTATIONS[name]!(json as unknown as Json, random, tree);
  return JSON.stringify(json) === JSON.stringify(answer) ? undefined : json;
}

/**
 * The forgery that needs no mistake in a hash: real records of the ledger, with real paths, on both
 * sides of a key, and not adjacent; or one that is not at an end, alone.
 *
 * @param key that the ledger may well have
 */
export async function forgeAbsence(
  { keys, ask }: MadeLedger,
  tree: FinalTreeName,
  key: string,
  random: Random,
): Promise<Record<string, unknown> | undefined> {
  const all = keys[tree];
  const entryAt = async (place: number) => (await ask(tree, all[place]!)).entry;
  const next = all.findIndex((each) => each > key);
  const upper = next < 0 ? all.length : next;
  const lower = all.findLastIndex((each) => each < key);
  // two steps apart at least: those between are left out
  const before = lower - random.below(3);
  const after = upper + random.below(3);
  if (after - before < 2 || before < -1 || after > all.length) return undefined;
  const { ledger } = await ask(tree, '0'.repeat(2 * KEY_BYTES[tree]));
  return {
    ledger,
    present: false,
    before: before < 0 ? null : await entryAt(before),
    after: after >= all.length ? null : await entryAt(after),
  };
}
