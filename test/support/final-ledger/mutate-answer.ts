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

/** Changes the answer in place; false where it has nothing of that kind. */
type Mutation = (json: Json, random: Random, tree: FinalTreeName) => boolean;

const inEntry =
  (change: (entry: Entry, random: Random) => boolean): Mutation =>
  (json, random) => {
    const entries = entriesOf(json);
    return entries.length > 0 && change(random.pick(entries), random);
  };

const MUTATIONS: Record<string, Mutation> = {
  record: inEntry((entry, random) => {
    entry.record = flip(entry.record, random);
    return true;
  }),
  'longer record': inEntry((entry) => {
    entry.record += '00';
    return true;
  }),
  sibling: inEntry(({ path }, random) => {
    if (path.length === 0) return false;
    const at = random.below(path.length);
    path[at] = flip(path[at]!, random);
    return true;
  }),
  'no sibling': inEntry(({ path }, random) => {
    if (path.length === 0) return false;
    path.splice(random.below(path.length), 1);
    return true;
  }),
  'one sibling more': inEntry(({ path }, random) => {
    path.splice(random.below(path.length + 1), 0, `0x${'5a'.repeat(32)}`);
    return true;
  }),
  'siblings that change places': inEntry(({ path }, random) => {
    if (path.length < 2) return false;
    const at = random.below(path.length - 1);
    [path[at], path[at + 1]] = [path[at + 1]!, path[at]!];
    return true;
  }),
  // the side of a sibling is a bit of the place
  place: inEntry((entry, random) => {
    const place = entry.position;
    entry.position = random.pick([place + 1, place - 1, place ^ 1, place ^ 2, place + 4, 2 ** 40]);
    return entry.position !== place;
  }),
  count: ({ ledger }, random, tree) => {
    ledger[tree].count += random.pick([1, -1, 2 ** 32]);
    return true;
  },
  'count of the other tree': ({ ledger }, _, tree) => {
    ledger[tree === 'nfts' ? 'outputs' : 'nfts'].count++;
    return true;
  },
  root: ({ ledger }, random) => {
    const tree = random.pick([ledger.outputs, ledger.nfts]);
    tree.root = flip(tree.root, random);
    return true;
  },
  'trees that change places': ({ ledger }) => {
    // two empty trees are the same
    if (ledger.outputs.count === ledger.nfts.count) return false;
    [ledger.outputs, ledger.nfts] = [ledger.nfts, ledger.outputs];
    return true;
  },
  network: ({ ledger }) => {
    ledger.networkName += 'x';
    return true;
  },
  milestone: ({ ledger }, random) => {
    if (random.chance(0.5)) ledger.milestoneIndex++;
    else ledger.milestoneId = flip(ledger.milestoneId, random);
    return true;
  },
  'the other claim': (json) => {
    json.present = !json.present;
    return true;
  },
  'a neighbour left out': (json, random) => {
    const sides = (['before', 'after'] as const).filter((side) => json[side]);
    if (sides.length === 0) return false;
    json[random.pick(sides)] = null;
    return true;
  },
  'neighbours that change places': (json) => {
    if (!json.before && !json.after) return false;
    [json.before, json.after] = [json.after ?? null, json.before ?? null];
    return true;
  },
  'one neighbour twice': (json) => {
    if (!json.before || !json.after) return false;
    json.after = json.before;
    return true;
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
  const json = structuredClone(answer) as unknown as Json;
  return MUTATIONS[name]!(json, random, tree) ? json : undefined;
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
