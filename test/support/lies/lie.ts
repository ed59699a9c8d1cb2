/**
 * One row of the table of lies: what a node changes, and what a visitor and a caller of
 * `stardust-edge verify` must then be told.
 *
 * Every row has a condition that it need not name: what is shown or printed as proved is proved by
 * the honest node, too.
 */
import type { Rule, Upgrade } from './lying-node.ts';

export interface FinalQuestion {
  root: string;
  id: string;
}

export interface Lie {
  name: string;
  /** What is changed. */
  rules: readonly Rule[];
  /** What the honest node is, where it is not the sample as it stands. */
  truth?: readonly Rule[];
  /** The node has events, of this kind. */
  upgrade?: Upgrade;
  /** Fragment of the page on which it is told. */
  page: string;
  /** What the visitor asks of a final ledger on the verify page. */
  final?: FinalQuestion;
  /** What the page must say is false, is not checked, or is the word of the node. */
  refuted?: RegExp;
  /** It is about whose keys the page chooses by itself: the command is told its keys. */
  ofChosenKeys?: true;
  notChecked?: RegExp;
  said?: RegExp;
  /** What it must show, wherever that is. */
  shows?: RegExp;
  /** What it must not show at all. */
  hides?: RegExp;
  /** Places of the blocks that are marked, in the graph and in the table. */
  marks?: readonly number[];
  /** True sentences that are proved of the changed answer, and not of the honest one. */
  alsoProved?: RegExp;
  /** The page does not read what is changed. */
  isUnheard?: true;
  /** Requests do not end: the page comes to its end when their time limit is over. */
  waits?: true;
}

/** A row that may leave its page to the table that it is in. */
type Row = Omit<Lie, 'page'> & { page?: string };

/** @param words what must be told */
export function lie<const Words extends object>(
  name: string,
  rules: Rule | readonly Rule[],
  words: Words,
) {
  return { name, rules: [rules].flat(), ...words };
}

/** Rows, of which each is told on this page unless it names another, with words that they share. */
export const onPage = (page: string, rows: readonly Row[], shared: Partial<Lie> = {}): Lie[] =>
  rows.map((row) => ({ page, ...shared, ...row }));
