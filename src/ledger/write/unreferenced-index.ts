/**
 * IDs of stored unreferenced blocks, and of the outputs that they mention, with their numbers, in
 * the follower's memory: it stores blocks every two seconds, and need not read all live packs each
 * time. D1 has what is kept here as long as the ledger's generation and index, `dropped` and the
 * next free block number are the same: each change of the unreferenced blocks changes one of these.
 * They are read in the batch that looks up everything else, and the write is fenced on them
 * (store-blocks.ts). If they differ, the index is loaded again.
 */
import type { Database } from '../core/database.ts';
import { LedgerMoved } from '../core/fence.ts';
import { type Head, isSameHead, selectHead } from '../core/head.ts';
import { findReferenced, type KnownBlock } from '../core/id-index.ts';
import { IdMap } from '../core/id-map.ts';
import { readBatch, readQuery } from '../core/read-batch.ts';
import {
  type FoundOutput,
  findLedgerStates,
  type KnownOutput,
  knownOutputs,
  NO_OUTPUTS,
  type Numbering,
  type OutputsToFind,
} from '../intake/known-outputs.ts';
import type { PreparedBlock } from '../intake/prepare-blocks.ts';
import {
  IDS_PAGE,
  type LastPack,
  type PackIds,
  selectLast,
  selectPackIds,
} from '../packs/live-packs.ts';
import { type NextNumbers, nextNumbers, selectGiven } from '../packs/next-numbers.ts';
import type { LeftBlocks } from '../packs/viewed-packs.ts';

/** Finds those of the blocks with these hex IDs that are stored and unreferenced. */
export type FindUnreferenced = (ids: readonly string[]) => Map<string, KnownBlock>;

/** The blocks with these hex IDs that are stored unreferenced, or that a milestone references. */
export async function lookUpBlocks(
  db: Database,
  findUnreferenced: FindUnreferenced,
  ids: readonly string[],
): Promise<Map<string, KnownBlock>> {
  const stored = findUnreferenced(ids);
  const others = ids.filter((id) => !stored.has(id));
  return new Map([...(await readQuery(db, findReferenced(db, others))), ...stored]);
}

/** The unreferenced blocks, and facts about others, all of one moment. */
export interface UnreferencedView {
  head: Head;
  /** The highest next_block of a live pack; null where none is live. */
  stored: number | null;
  /** The named blocks that are known, by hex ID; not those that are staged. */
  named: ReadonlyMap<string, KnownBlock>;
  findUnreferenced: FindUnreferenced;
  /** The number of a block that is staged for the next milestone, by hex ID. */
  stagedNumber(id: string): number | undefined;
  /** The number of the unreferenced block that creates the output with this hex ID. */
  creatorOf(output: string): number | undefined;
  /** The packs to append to: of visible blocks, and of those staged for the next milestone. */
  last: { visible: LastPack | undefined; staged: LastPack | undefined };
  /** Numbers of the requested outputs, without contents; and free numbers. */
  numbering: Omit<Numbering, 'blocks'>;
}

export type UnreferencedIndex = ReturnType<typeof createUnreferencedIndex>;

interface Loaded extends NextNumbers {
  generation: string;
  ledger: number;
  dropped: number;
  stored: number | null;
  visible: IdMap;
  staged: IdMap;
  /** Numbers of outputs, and of the blocks that create them; 0 if unknown. */
  outputs: IdMap;
}

/**
 * Heap of unreferenced blocks, and of the outputs that they mention, at most, measured: in the index
 * of their IDs, in a view, and in what is made of the view to apply a milestone or to drop some.
 */
export const heapOfUnreferenced = ({
  blocks,
  mentions,
}: {
  blocks: number;
  mentions: number;
}): number => 450 * blocks + 125 * mentions;

/** Views begun, or loads for them, from which the unreferenced blocks move away. */
const MAX_TRIES = 6;

export function createUnreferencedIndex() {
  let held: Loaded | undefined;
  /** The load under way, for all who need it meanwhile: each takes as much heap as what is held. */
  let loading: ReturnType<typeof load> | undefined;
  let searched: number | undefined = 0;
  /** Whether a search that is under way begins again once it has ended, and not before. */
  let isDueAgain = false;

  function shareLoad(db: Database): ReturnType<typeof load> {
    loading ??= load(db).finally(() => {
      loading = undefined;
    });
    return loading;
  }

  function searchAgain(): void {
    if (searched === undefined) searched = 0;
    else isDueAgain = searched > 0;
  }

  return {
    heap() {
      if (held === undefined) return 0;
      const { visible, staged, outputs } = held;
      return heapOfUnreferenced({ blocks: visible.size + staged.size, mentions: outputs.size });
    },
    /**
     * Reads facts about blocks and outputs. Throws a LedgerMoved if an import has replaced the
     * ledger, or if the unreferenced blocks change whenever they are read.
     *
     * @param before the head as it was read last; the ledger may be beyond it by now
     * @param named hex IDs of blocks
     */
    async view(
      db: Database,
      before: Asked['before'],
      named: readonly string[],
      outputs = NO_OUTPUTS,
    ): Promise<UnreferencedView> {
      for (let tries = 1; tries <= MAX_TRIES; tries++) {
        held ??= await shareLoad(db);
        const known = held;
        const view = known && (await viewWith(db, known, { before, named, outputs }));
        if (view !== undefined && view !== 'again') return view;
        if (view === undefined && held === known)
          [held, isDueAgain, searched] = [undefined, searched !== undefined, searched ?? 0];
      }
      throw new LedgerMoved('the unreferenced blocks change whenever they are read');
    },
    /** Notes what was stored behind that view. */
    stored(
      view: UnreferencedView,
      blocks: readonly PreparedBlock[],
      staged: ReadonlySet<string>,
      { nextBlock, nextOutput }: NextNumbers,
    ) {
      if (held === undefined || !isStillTrue(held, view.head, view.stored)) return;
      for (const { id, number, consumed, created, isLeft } of blocks) {
        if (isLeft) searchAgain();
        (staged.has(id) ? held.staged : held.visible).set(id, number);
        for (const output of consumed) held.outputs.set(output.id, output.number);
        for (const output of created) {
          if (held.outputs.has(output.id)) searchAgain();
          held.outputs.set(output.id, output.number, number);
        }
      }
      Object.assign(held, { nextBlock, nextOutput, stored: nextBlock });
    },
    /**
     * Notes that blocks left: a milestone referenced them, or they were dropped.
     *
     * @param before head and next_block of the view from which the blocks were removed. If the index
     * is not at that state, it is loaded again.
     * @param after the head since then, and the highest next_block of a live pack
     */
    retain(
      before: Pick<UnreferencedView, 'head' | 'stored'>,
      after: Pick<Loaded, 'ledger' | 'dropped' | 'stored'>,
      left: LeftBlocks,
    ) {
      searchAgain();
      if (held === undefined || !isStillTrue(held, before.head, before.stored)) {
        held = undefined;
        return;
      }
      held.staged.retain(left.hasBlock);
      if (after.ledger !== before.head.ledger && held.staged.size > 0) {
        // the milestone left them out: they are deleted, or visible now
        held = undefined;
        return;
      }
      held.visible.retain(left.hasBlock);
      held.outputs.retain(left.mentions, left.creatorOf);
      Object.assign(held, after);
    },
    /**
     * Returns the key up to which packs were searched for verdicts that can be made
     * (resolve-verdicts.ts); undefined if all were. Once it has come to its end, the search begins
     * again if the index was loaded again, if blocks left, or if a block was stored that creates an
     * output which another one mentions, or whose contents were left unread.
     */
    searchedTo: () => searched,
    noteSearched(key: number | undefined) {
      searched = key ?? (isDueAgain ? 0 : undefined);
      isDueAgain &&= key !== undefined;
    },
  };
}

/** Undefined where the ledger moved meanwhile. */
async function load(db: Database): Promise<Loaded | undefined> {
  const visible = new IdMap(32);
  const staged = new IdMap(32);
  const outputs = new IdMap(34, 2);
  const readMoment = () => readBatch(db, { head: selectHead(db), given: selectGiven(db) });
  const { head, given } = await readMoment();
  if (head === undefined) throw new LedgerMoved('there is no ledger any more');
  for (let after = 0, read = IDS_PAGE; read === IDS_PAGE; ) {
    const packs = await readQuery(db, selectPackIds(db, after));
    for (const pack of packs) addPack(pack, head.ledger + 1, { visible, staged, outputs });
    read = packs.length;
    after = packs.at(-1)?.key ?? 0;
  }
  // each of these numbers only grows
  const ended = await readMoment();
  const isUnchanged = ended.given.nextBlock === given.nextBlock;
  if (!isUnchanged || !ended.head || !isSameHead(ended.head, head)) return undefined;
  const { generation, ledger, dropped } = head;
  const at = { generation, ledger, dropped, stored: given.nextBlock };
  return { ...at, ...nextNumbers(head, given), visible, staged, outputs };
}

function addPack(
  { staged: milestone, statuses, blocks, outputs: mentioned }: PackIds,
  next: number,
  { visible, staged, outputs }: Pick<Loaded, 'visible' | 'staged' | 'outputs'>,
): void {
  if (milestone !== null && milestone !== next) return;
  const ids = milestone === null ? visible : staged;
  for (const [at, [number, id]] of blocks.entries())
    if (statuses.milestoneAt(at) === 0) ids.set(id, number);
  for (const [at, number, id, , isCreated] of mentioned) {
    if (statuses.milestoneAt(at) !== 0) continue;
    if (isCreated === 1) outputs.set(id, number, blocks[at]![0]);
    else outputs.set(id, number);
  }
}

const isStillTrue = (known: Loaded, head: Head, stored: number | null): boolean =>
  stored === known.stored && isSameHead(known, head);

interface Asked {
  before: Pick<Head, 'generation' | 'ledger'>;
  named: readonly string[];
  outputs: OutputsToFind;
}

/** Undefined where D1 has not what was loaded; `again` where it has, but blocks left meanwhile. */
async function viewWith(
  db: Database,
  known: Loaded,
  { before, named, outputs }: Asked,
): Promise<UnreferencedView | 'again' | undefined> {
  const wereVisible = new Set(named.filter((id) => known.visible.has(id)));
  const others = named.filter((id) => !wereVisible.has(id));
  const { head, given, visible, staged, referenced, found } = await readBatch(db, {
    head: selectHead(db),
    given: selectGiven(db),
    visible: selectLast(db, null),
    staged: selectLast(db, known.ledger + 1),
    referenced: findReferenced(db, others),
    found: findLedgerStates(db, outputs.consumed),
  });
  if (head?.generation !== before.generation) throw new LedgerMoved('the ledger was replaced');
  const stored = given.nextBlock;
  if (!isStillTrue(known, head, stored)) return undefined;
  // one that left the index meanwhile was not looked up among those that milestones reference
  if (wereVisible.values().some((id) => !known.visible.has(id))) return 'again';
  const findUnreferenced: FindUnreferenced = (ids) =>
    new Map(
      ids.flatMap((id): [string, KnownBlock][] => {
        const number = known.visible.get(id);
        return number === undefined ? [] : [[id, { number, milestone: null }]];
      }),
    );
  return {
    head,
    stored,
    named: new Map([...findUnreferenced(named), ...referenced]),
    findUnreferenced,
    stagedNumber: (id) => known.staged.get(id),
    creatorOf: (output) => known.outputs.getSecond(output) || undefined,
    last: { visible, staged },
    numbering: numberWith(known, outputs, found),
  };
}

function numberWith(
  known: Loaded,
  { mentioned }: OutputsToFind,
  rows: readonly FoundOutput[],
): Omit<Numbering, 'blocks'> {
  const { nextBlock } = known;
  let { nextOutput } = known;
  const outputs = new Map<string, KnownOutput>();
  for (const id of mentioned) {
    const number = known.outputs.get(id);
    if (number !== undefined) outputs.set(id, { number });
  }
  const found = knownOutputs(rows, (id) => outputs.get(id)?.number ?? nextOutput++);
  for (const [id, output] of found) outputs.set(id, output);
  return { outputs, nextBlock, nextOutput };
}
