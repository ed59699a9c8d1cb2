/**
 * Verdicts on transactions that were stored before an output that they consume was known
 * (docs/storage.md#undecided-verdicts), made and written into the record once all are known.
 *
 * This is upkeep, in steps of one pack that `unresolved` names, so a step that is cut off leaves
 * nothing behind. `unresolved` only finds packs, and does not tell which transactions can be
 * decided: an output that was known when its consumer was stored is not named there, and may be
 * unknown by now, as a milestone referenced its creator in conflict.
 */
import { fromBase64 } from '../../stardust/encoding/base64.ts';
import { concatBytes } from '../../stardust/encoding/bytes.ts';
import type { VerifySignature } from '../../stardust/milestone-keys.ts';
import { type Cone, inputsAt, isUndecidedAt } from '../../stardust/white-flag/cone.ts';
import { parseBlock } from '../../stardust/wire/block.ts';
import { LedgerDamaged } from '../core/checksum.ts';
import { type Database, forEachPiece } from '../core/database.ts';
import { failUnless, runFenced, SAME_HEAD, unlessMoved } from '../core/fence.ts';
import type { Head } from '../core/head.ts';
import { selectIds } from '../core/id-index.ts';
import { many, readQuery, write } from '../core/read-batch.ts';
import { readOutputContents } from '../intake/known-outputs.ts';
import { completeRecord } from '../intake/prepare-blocks.ts';
import { selectUnresolved, selectWaiting, type UnresolvedPack } from '../packs/live-packs.ts';
import { isPartOf } from '../packs/milestone-part.ts';
import { type BlockPlace, selectAt } from '../packs/places.ts';
import { type RecordCone, readCone } from '../packs/record-cone.ts';
import { isBlockAt } from '../packs/viewed-packs.ts';
import { updateRecords } from '../packs/write-pack.ts';
import type { UnreferencedIndex, UnreferencedView } from './unreferenced-index.ts';

export interface ResolveTools {
  index: UnreferencedIndex;
  head: Pick<Head, 'generation' | 'ledger'>;
  verify: VerifySignature;
}

/** Different inputs that one step decides: up to 15 MB of contents. */
const INPUTS_AT_ONCE = 256;

/**
 * Makes verdicts that can be made, in up to `steps` steps of at most one pack, 18 statements and
 * one written row. Returns whether more may be left. Throws a LedgerMoved if the ledger or the pack
 * changed meanwhile; the next call tries again. A damaged pack is skipped for now.
 */
export async function resolveVerdicts(
  db: Database,
  tools: ResolveTools,
  steps: number,
): Promise<boolean> {
  const { index } = tools;
  for (let step = 0; step < steps; step++) {
    const after = index.searchedTo();
    if (after === undefined) return false;
    const packs = await readQuery(db, selectWaiting(db, after));
    const last = packs.at(-1);
    if (last === undefined) {
      index.noteSearched(undefined);
      continue;
    }
    const { creatorOf } = await index.view(db, tools.head, []);
    const outputs = packs.flatMap(({ unresolved }) => unresolved);
    const known = await findKnown(db, creatorOf, outputs);
    const found = packs.find(({ unresolved }) => unresolved.some((id) => known.has(id)));
    if (found === undefined) {
      index.noteSearched(last.key);
      continue;
    }
    try {
      const { isMore } = await resolvePack(db, tools, found.key);
      index.noteSearched(isMore ? found.key - 1 : found.key);
    } catch (error) {
      if (error instanceof LedgerDamaged) index.noteSearched(found.key);
      throw error;
    }
  }
  return index.searchedTo() !== undefined;
}

/** Selects those of the outputs ?1 whose contents the ledger or a kept milestone has. */
const SELECT_HELD = `
  SELECT o.id FROM json_each(?1) j CROSS JOIN output o ON o.id = j.value
  UNION ALL
  SELECT f.id FROM (${selectIds('?1')}) f
  WHERE EXISTS (SELECT 1 FROM milestone_part p WHERE ${isPartOf('p.key', 'f.milestone')})`;

/** Finds those of the outputs, by hex ID, whose contents are known by now. */
async function findKnown(
  db: Database,
  creatorOf: UnreferencedView['creatorOf'],
  outputs: readonly string[],
): Promise<Set<string>> {
  const known = new Set(outputs.filter((id) => creatorOf(id) !== undefined));
  const others = outputs.filter((id) => !known.has(id));
  const held = many(forEachPiece(db, SELECT_HELD, others), (row) => row.text('id'));
  for (const id of await readQuery(db, held)) known.add(id);
  return known;
}

const SAME_LEDGER = failUnless(SAME_HEAD);

/**
 * Makes verdicts on transactions of one pack, in one step of up to 12 statements; writes nothing if
 * none can be made. Throws like {@link resolveVerdicts}.
 *
 * @param blocks numbers of those that need one; by default all
 * @returns how many were made, and whether others can be made in a further step
 */
async function resolvePack(
  db: Database,
  { index, head, verify }: ResolveTools,
  key: number,
  blocks?: readonly number[],
): Promise<{ made: number; isMore: boolean }> {
  const view = await index.view(db, head, []);
  const resolve = () => resolveIn(db, view, { key, blocks }, verify);
  return unlessMoved(db, view.head, view.head.ledger, resolve);
}

/**
 * Makes the verdicts on these blocks that can be made. Throws like {@link resolveVerdicts}.
 *
 * @param blocks their numbers, by the keys of their packs
 * @param takeStep has one step wait its turn
 * @returns how many were made, and whether a step was due that may not be taken
 */
export async function resolveBlocks(
  db: Database,
  tools: ResolveTools,
  blocks: readonly [pack: number, blocks: number[]][],
  takeStep: <T>(work: () => Promise<T>) => Promise<T>,
  mayTake: () => boolean,
): Promise<{ made: number; isCutOff: boolean }> {
  let made = 0;
  for (const [key, some] of blocks) {
    for (let isMore = true; isMore; ) {
      if (!mayTake()) return { made, isCutOff: true };
      const step = await takeStep(() => resolvePack(db, tools, key, some));
      made += step.made;
      isMore = step.isMore;
    }
  }
  return { made, isCutOff: false };
}

async function resolveIn(
  db: Database,
  view: UnreferencedView,
  { key, blocks }: { key: number; blocks: readonly number[] | undefined },
  verify: VerifySignature,
): Promise<{ made: number; isMore: boolean }> {
  const pack = await readQuery(db, selectUnresolved(db, key));
  if (pack === undefined) return { made: 0, isMore: false };
  const cone = readCone([pack.records]);
  const waiting = waitingIn(pack, cone);
  const wanted = waiting.filter(({ at }) => blocks?.includes(cone.numberAt(at)) ?? true);
  const consumed = new Set(wanted.flatMap(({ inputs }) => inputs));
  const known = await findKnown(db, view.creatorOf, [...consumed]);
  const ready = wanted.filter(({ inputs }) => inputs.every((id) => known.has(id)));
  const chosen = chooseSome(ready);
  const completed = await complete(db, view, { key, cone }, chosen, verify);
  if (completed.size === 0) return { made: 0, isMore: false };
  const isMore = chosen.length < ready.length;
  const left = waiting.filter(({ at }) => !completed.has(at));
  const leftInputs = new Set(left.flatMap(({ inputs }) => inputs));
  const records = concatBytes(
    ...Array.from({ length: cone.size }, (_, at) => completed.get(at) ?? cone.recordAt(at)),
  );
  const update = updateRecords(db, pack, records, pack.unresolved.intersection(leftInputs));
  const { generation, ledger, dropped } = view.head;
  const same = db.prepare(SAME_LEDGER).bind(generation, ledger, dropped);
  await runFenced(db, { writes: write([same, update]) });
  return { made: completed.size, isMore };
}

/** A transaction without a verdict: its place in the pack, and what it consumes. */
interface Waiting {
  at: number;
  /** Hex IDs. */
  inputs: string[];
}

function waitingIn({ outputs }: UnresolvedPack, cone: Cone): Waiting[] {
  const waiting: Waiting[] = [];
  for (let at = 0; at < cone.size; at++) {
    if (!isUndecidedAt(cone, at)) continue;
    const count = inputsAt(cone, at).length;
    waiting.push({ at, inputs: outputs[at]!.slice(0, count).map(([, id]) => id) });
  }
  return waiting;
}

/** Returns as many as one step decides, one at least: of rivals many consume the same. */
function chooseSome(ready: readonly Waiting[]): Waiting[] {
  let consumed = new Set<string>();
  return ready.filter(({ inputs }) => {
    const all = consumed.union(new Set(inputs));
    if (consumed.size > 0 && all.size > INPUTS_AT_ONCE) return false;
    consumed = all;
    return true;
  });
}

/** Completes the records of transactions on which a verdict can be made, by place. */
async function complete(
  db: Database,
  { creatorOf }: UnreferencedView,
  { key, cone }: { key: number; cone: RecordCone },
  chosen: readonly Waiting[],
  verify: VerifySignature,
): Promise<Map<number, Uint8Array>> {
  const places = chosen.map(({ at }): BlockPlace => [key, at]);
  const blocks = selectAt(db, 'bytes', places, (row) => {
    const at = row.integer('at');
    const parsed = parseBlock(fromBase64(row.text('value')));
    if (!parsed.ok || !isBlockAt(cone, at, parsed.parsed.id))
      throw new LedgerDamaged(`bytes of block number ${cone.numberAt(at)}`);
    return [at, parsed.parsed] as const;
  });
  const consumed = [...new Set(chosen.flatMap(({ inputs }) => inputs))];
  const contents = await readOutputContents(db, consumed, creatorOf);
  const completed = new Map<number, Uint8Array>();
  for (const [at, block] of await readQuery(db, blocks)) {
    const record = await completeRecord(cone.recordAt(at), block, contents, verify);
    if (record !== undefined) completed.set(at, record);
  }
  return completed;
}
