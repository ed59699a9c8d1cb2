/**
 * The kinds of outputs, by their names in paths of the API, and which of them a ledger's lists have
 * (docs/storage.md#lists).
 */
import { OutputType } from '../../stardust/wire/output.ts';
import type { Database } from '../core/database.ts';
import { ALL_INDEXED, type Head, readHead } from '../core/head.ts';

export const KINDS = {
  basic: OutputType.Basic,
  alias: OutputType.Alias,
  foundry: OutputType.Foundry,
  nft: OutputType.Nft,
} as const;

export type Kind = keyof typeof KINDS;

export const ALL_KINDS = Object.keys(KINDS) as Kind[];

/** `not indexed`: the ledger indexes NFTs alone. `filling`: it does not yet index all outputs. */
export interface NotIndexed {
  ledgerIndex: number;
  ok: false;
  why: 'not indexed' | 'filling';
}

/** Settings that decide whether the lists of a ledger have every kind of output. */
export interface IndexSettings {
  indexAll: boolean;
  /** Milestone at which the network ended: lists of such a ledger have every kind. */
  finalMilestone: number | undefined;
}

/** Whether every kind is to be in lists: until it is, there is nothing to tell of them. */
export const wantsIndex = (ledger: number, settings: IndexSettings): boolean =>
  settings.indexAll || ledger === settings.finalMilestone;

/** Whether the kind's outputs are in lists only of a ledger that indexes all kinds. */
export const needsIndex = (kind: Kind): boolean => kind !== 'nft';

/** Undefined where the ledger indexes every kind of output. */
export function indexMissing({ indexed, ledger: ledgerIndex }: Head): NotIndexed | undefined {
  if (indexed === ALL_INDEXED) return undefined;
  return { ledgerIndex, ok: false, why: indexed === '' ? 'not indexed' : 'filling' };
}

/** The kinds of outputs that are in lists; none where there is no ledger. */
export async function readIndexedKinds(db: Database): Promise<readonly Kind[]> {
  const head = await readHead(db);
  if (head === undefined) return [];
  return indexMissing(head) ? ALL_KINDS.filter((kind) => !needsIndex(kind)) : ALL_KINDS;
}
