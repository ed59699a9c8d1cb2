/**
 * A tree over a final ledger in D1 (docs/storage.md#the-final-ledger), read as far as proofs need:
 * ranges of pages, groups of ranges, leaves of groups, each by one statement for all keys.
 */
import { LedgerDamaged } from '../../ledger/core/checksum.ts';
import { type Database, forEachPiece } from '../../ledger/core/database.ts';
import { combine, many, type Query, type Row, readQuery } from '../../ledger/core/read-batch.ts';
import {
  type FinalEntry,
  type FinalTreeName,
  pathThrough,
  treeLevels,
} from '../../stardust/proof/final-ledger.ts';
import { leafHash } from '../../stardust/proof/merkle.ts';
import {
  type FinalPage,
  type Layout,
  LEAVES,
  type Leaf,
  readSubtrees,
  type Subtree,
} from './final-tables.ts';

/** Nodes of a tree beside each other, with all hashes over them. */
interface Siblings<T> {
  nodes: readonly T[];
  levels: readonly (readonly Uint8Array[])[];
}

export interface StoredTree {
  db: Database;
  finalMilestone: number;
  tree: FinalTreeName;
  layout: Layout;
  pages: Siblings<FinalPage>;
  /** Ranges of the pages that were read, by page. */
  ranges: Map<number, Siblings<Subtree>>;
  /** Groups of the ranges that were read, by the range's first key. */
  groups: Map<string, Siblings<Subtree>>;
  /** Leaves of the groups that were read, by the group's first key. */
  leaves: Map<string, Siblings<Leaf>>;
}

export function openStoredTree(
  stored: Pick<StoredTree, 'db' | 'finalMilestone' | 'tree' | 'layout'>,
  pages: readonly FinalPage[],
): StoredTree {
  const opened = { ranges: new Map(), groups: new Map(), leaves: new Map() };
  return { ...stored, ...opened, pages: siblings(pages) };
}

/** Where leaves are: page, range of the page, group of the range. */
interface GroupPlace {
  page: number;
  range: number;
  group: number;
}

const SELECT_RANGES = `
  SELECT page, ranges FROM final_page
  WHERE milestone = ?2 AND tree = ?3 AND page IN (SELECT value FROM json_each(?1))`;

const SELECT_GROUPS = `
  SELECT first, groups FROM final_range
  WHERE milestone = ?2 AND tree = ?3 AND first IN (SELECT value FROM json_each(?1))`;

/** SQL: ranges of the page with the key ?3, or the place where it would be. */
const SELECT_RANGES_OF = `
  SELECT page, ranges FROM final_page WHERE milestone = ?1 AND tree = ?2 AND first <= ?3
  ORDER BY page DESC LIMIT 1`;

const SELECT_GROUPS_OF = `
  SELECT first, groups FROM final_range WHERE milestone = ?1 AND tree = ?2 AND first <= ?3
  ORDER BY first DESC LIMIT 1`;

/** Selects what a proof of one key needs except leaves; for a batch that reads the pages too. */
export function selectUpperLevels(
  db: Database,
  finalMilestone: number,
  tree: FinalTreeName,
  key: string,
): Query<Pick<StoredTree, 'ranges' | 'groups'>> {
  const bound = (sql: string) => db.prepare(sql).bind(finalMilestone, tree, key);
  return combine(
    {
      ranges: many(bound(SELECT_RANGES_OF), rangesReader(tree)),
      groups: many(bound(SELECT_GROUPS_OF), groupsReader(tree)),
    },
    ({ ranges, groups }) => ({ ranges: new Map(ranges), groups: new Map(groups) }),
  );
}

const rangesReader = (tree: FinalTreeName) => (row: Row) =>
  [row.integer('page'), siblings(readSubtrees(row.text('ranges'), tree))] as const;

const groupsReader = (tree: FinalTreeName) => (row: Row) =>
  [row.text('first'), siblings(readSubtrees(row.text('groups'), tree))] as const;

/**
 * Finds the places in the tree of the last leaves whose keys are not behind these; -1 if all are.
 * Reads what it needs, leaves included.
 *
 * @param keys lower-case hex digits
 */
export async function findPositions(
  stored: StoredTree,
  keys: readonly string[],
): Promise<number[]> {
  const { pages, groups, layout } = stored;
  const inPages = keys.map((key) => ({ key, page: lastUpTo(pages.nodes, key) }));
  const found = inPages.filter(({ page }) => page >= 0);
  const foundPages = found.map(({ page }) => page);
  await readRanges(stored, foundPages);
  const inRanges = found.map(({ key, page }) => {
    const { nodes } = rangesOf(stored, page);
    const range = lastUpTo(nodes, key);
    return { key, page, range, first: (nodes[range] ?? damagedTree(stored.tree)).first };
  });
  const foundRanges = inRanges.map(({ first }) => first);
  await readGroups(stored, foundRanges);
  const places = inRanges.map(({ key, page, range, first }) => {
    const group = lastUpTo((groups.get(first) ?? damagedTree(stored.tree)).nodes, key);
    return { page, range, group };
  });
  await readLeaves(stored, places);
  const positions = places.map((place, i) => {
    const { nodes } = leavesOf(stored, place);
    const index = nodes.findLastIndex((leaf) => leaf.key <= inRanges[i]!.key);
    const { rangeGroups, pageRanges, groupLeaves } = layout;
    const group = (place.page * pageRanges + place.range) * rangeGroups + place.group;
    return group * groupLeaves + (index < 0 ? damagedTree(stored.tree) : index);
  });
  let at = 0;
  return inPages.map(({ page }) => (page < 0 ? -1 : positions[at++]!));
}

/** The entry at a place, of which everything is read that was not. */
export async function readEntryAt(stored: StoredTree, position: number): Promise<FinalEntry> {
  const place = placeOf(stored, position);
  await readRanges(stored, [place.page]);
  await readGroups(stored, [firstOfRange(stored, place)]);
  await readLeaves(stored, [place]);
  return entryAt(stored, position);
}

/** The entry at a place that {@link findPositions} found. */
export function entryAt(stored: StoredTree, position: number): FinalEntry {
  const place = placeOf(stored, position);
  const { page, range, group } = place;
  const index = position % stored.layout.groupLeaves;
  const leaves = leavesOf(stored, place);
  const { record } = leaves.nodes[index] ?? damagedTree(stored.tree);
  const path = [
    ...pathThrough(leaves.levels, index),
    ...pathThrough(groupsOf(stored, place).levels, group),
    ...pathThrough(rangesOf(stored, page).levels, range),
    ...pathThrough(stored.pages.levels, page),
  ];
  return { position, record, path };
}

export function keyAt(stored: StoredTree, position: number): string {
  const { nodes } = leavesOf(stored, placeOf(stored, position));
  return (nodes[position % stored.layout.groupLeaves] ?? damagedTree(stored.tree)).key;
}

function placeOf({ layout }: StoredTree, position: number): GroupPlace {
  const { groupLeaves, rangeGroups, pageRanges } = layout;
  const group = Math.floor(position / groupLeaves);
  const range = Math.floor(group / rangeGroups);
  const page = Math.floor(range / pageRanges);
  return { page, range: range % pageRanges, group: group % rangeGroups };
}

const readRanges = (stored: StoredTree, pages: readonly number[]): Promise<void> =>
  readMissing(stored, stored.ranges, pages, SELECT_RANGES, rangesReader(stored.tree));

const readGroups = (stored: StoredTree, ranges: readonly string[]): Promise<void> =>
  readMissing(stored, stored.groups, ranges, SELECT_GROUPS, groupsReader(stored.tree));

async function readMissing<K, V>(
  { db, finalMilestone, tree }: StoredTree,
  known: Map<K, V>,
  wanted: readonly K[],
  sql: string,
  parse: (row: Row) => readonly [K, V],
): Promise<void> {
  const missing = [...new Set(wanted)].filter((key) => !known.has(key));
  const statements = forEachPiece(db, sql, missing, finalMilestone, tree);
  for (const [key, read] of await readQuery(db, many(statements, parse))) known.set(key, read);
}

async function readLeaves(stored: StoredTree, places: readonly GroupPlace[]): Promise<void> {
  const { db, tree, leaves } = stored;
  const missing = new Map(
    places
      .map((place) => [firstOfGroup(stored, place), endOfGroup(stored, place)] as const)
      .filter(([first]) => !leaves.has(first)),
  );
  const statements = forEachPiece(db, LEAVES[tree].within, missing);
  const found = await readQuery(db, many(statements, LEAVES[tree].parse));
  found.sort((a, b) => (a.key < b.key ? -1 : 1));
  const firsts = [...missing.keys()].sort();
  let at = 0;
  for (const first of firsts) {
    const end = missing.get(first)!;
    const own: Leaf[] = [];
    while (found[at] !== undefined && found[at]!.key < end) own.push(found[at++]!);
    const levels = treeLevels(own.map(({ record }) => leafHash(record)));
    leaves.set(first, { nodes: own, levels });
  }
}

function firstOfRange(stored: StoredTree, { page, range }: GroupPlace): string {
  return (rangesOf(stored, page).nodes[range] ?? damagedTree(stored.tree)).first;
}

const firstOfGroup = (stored: StoredTree, place: GroupPlace): string =>
  (groupsOf(stored, place).nodes[place.group] ?? damagedTree(stored.tree)).first;

/** A text behind every key. */
const END = 'g';

function endOfGroup(stored: StoredTree, place: GroupPlace): string {
  const { page, range, group } = place;
  const next =
    groupsOf(stored, place).nodes[group + 1] ??
    rangesOf(stored, page).nodes[range + 1] ??
    stored.pages.nodes[page + 1];
  return next?.first ?? END;
}

function rangesOf({ ranges, tree }: StoredTree, page: number): Siblings<Subtree> {
  return ranges.get(page) ?? damagedTree(tree);
}

const groupsOf = (stored: StoredTree, place: GroupPlace): Siblings<Subtree> =>
  stored.groups.get(firstOfRange(stored, place)) ?? damagedTree(stored.tree);

const leavesOf = (stored: StoredTree, place: GroupPlace): Siblings<Leaf> =>
  stored.leaves.get(firstOfGroup(stored, place)) ?? damagedTree(stored.tree);

function siblings<T extends { root: Uint8Array }>(nodes: readonly T[]): Siblings<T> {
  return { nodes, levels: treeLevels(nodes.map(({ root }) => root)) };
}

/** Returns the index of the last node whose first key is not behind this one; -1 if all are. */
function lastUpTo(nodes: readonly { first: string }[], key: string): number {
  return nodes.findLastIndex(({ first }) => first <= key);
}

export function damagedTree(tree: FinalTreeName): never {
  throw new LedgerDamaged(`rows of the tree over final ${tree}`);
}
