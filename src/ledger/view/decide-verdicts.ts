/**
 * What the records of a cone leave undecided, decided where a walk meets it: verdicts on
 * transactions that consume an output which was not known when their blocks came in; milestones
 * that were not verified then, and admission under protocol parameters that were not known then.
 */
import { admissionFault } from '../../stardust/admission.ts';
import { fromBase64, toHexDigits } from '../../stardust/encoding/bytes.ts';
import { isMilestoneBlock } from '../../stardust/milestone-keys.ts';
import { type Cone, extendCone, inputsAt, outputsAt } from '../../stardust/white-flag/cone.ts';
import { type Proposal, type WhiteFlag, walkCone } from '../../stardust/white-flag/walk.ts';
import { type ParsedBlock, parseBlock } from '../../stardust/wire/block.ts';
import { outputBytes, outputId } from '../../stardust/wire/ids.ts';
import { type Database, forEachPiece } from '../core/database.ts';
import { LedgerMoved } from '../core/fence.ts';
import { concat, many, readQuery } from '../core/read-batch.ts';
import type { AdmissionRules } from '../intake/admission-rules.ts';
import { ConeUnavailable } from '../intake/block-source.ts';
import {
  findLedgerOutputs,
  findMentioned,
  type KnownOutput,
  knownOutputs,
} from '../intake/known-outputs.ts';
import { completeRecord, outputsToFind } from '../intake/prepare-blocks.ts';
import type { LoadedCone } from './consistent-view.ts';
import { isBlockAt, packAt } from './viewed-packs.ts';

/**
 * Decides what the walk left undecided, and walks again. A verdict that is made can put another
 * transaction's inputs in reach, so this may take several rounds; each decides all that it found.
 *
 * @param walked the outcome of the walk over the loaded cone
 * @returns the cone with the new verdicts, and the outcome of the walk over it. Its positions are
 *   not those of the loaded one. Throws a LedgerMoved where a block has left the pack that it was
 *   seen in.
 */
export async function decideVerdicts(
  db: Database,
  loaded: LoadedCone,
  proposal: Proposal,
  walked: WhiteFlag,
  rules: () => Promise<AdmissionRules>,
): Promise<{ cone: Cone; whiteFlag: WhiteFlag }> {
  let cone = loaded.cone;
  let whiteFlag = walked;
  while (whiteFlag.undecided.length > 0) {
    const undecided = whiteFlag.undecided.map((position) => cone.recordAt(position));
    const numbers = whiteFlag.undecided.map((position) => cone.numberAt(position));
    const blocks = await readBlocks(db, loaded, numbers);
    const { verify } = await rules();
    const contents = new Map([
      ...(await readContents(db, blocks, loaded.numbering.outputs)),
      ...contentsCreated(await readBlocks(db, loaded, producersOf(cone, whiteFlag.undecided))),
    ]);
    const completed: Uint8Array[] = [];
    for (const [i, block] of blocks.entries()) {
      const record = await completeRecord(undecided[i]!, block, contents, verify);
      if (record === undefined)
        throw new Error(`no verdict on the transaction of block number ${numbers[i]}`);
      completed.push(record);
    }
    cone = extendCone(cone, completed);
    whiteFlag = walkCone(cone, loaded.view.states, proposal);
  }
  return { cone, whiteFlag };
}

/** Blocks that carry the previous milestone's payload and are verified in one request. */
const MAX_VERIFIED = 100;

/**
 * Whether one of the blocks that carry the previous milestone's payload, unverified so far,
 * properly carries it (M-2 to M-5).
 */
export async function meetsPreviousMilestone(
  db: Database,
  loaded: LoadedCone,
  cone: Cone,
  { metPreviousMilestone, unverified }: WhiteFlag,
  rules: () => Promise<AdmissionRules>,
): Promise<boolean> {
  if (metPreviousMilestone || unverified.length === 0) return metPreviousMilestone;
  if (unverified.length > MAX_VERIFIED) {
    const reason = `more than ${MAX_VERIFIED} blocks carry the previous milestone, none was verified`;
    throw new ConeUnavailable('too-large', reason);
  }
  const { keys, verify } = await rules();
  const numbers = unverified.map((position) => cone.numberAt(position));
  for (const block of await readBlocks(db, loaded, numbers))
    if (await isMilestoneBlock(block, keys, verify)) return true;
  return false;
}

/** Blocks whose admission is examined again in one request. */
const MAX_EXAMINED = 1000;

/**
 * Whether the walk met a block that the reference would not have stored (C-4 to C-19), under the
 * parameters that are known now: then the reference could not have answered. A block that a
 * milestone references was admitted, under whatever parameters.
 */
export async function meetsInadmissible(
  db: Database,
  loaded: LoadedCone,
  cone: Cone,
  { order }: WhiteFlag,
  rules: () => Promise<AdmissionRules>,
): Promise<boolean> {
  const numbers: number[] = [];
  for (const position of order) {
    if (!cone.inadmissibleAt(position)) continue;
    const number = cone.numberAt(position);
    if (!isReferenced(loaded.view, number)) numbers.push(number);
  }
  if (numbers.length === 0) return false;
  if (numbers.length > MAX_EXAMINED) return true;
  const { parameters } = await rules();
  const blocks = await readBlocks(db, loaded, numbers);
  return blocks.some((block) => parameters.every((each) => admissionFault(block, each)));
}

function isReferenced({ cone, packs }: LoadedCone['view'], number: number): boolean {
  const position = cone.find(number);
  if (position < 0) return false;
  const { statuses, first } = packs[packAt(packs, position)]!;
  return statuses.milestoneAt(position - first) !== 0;
}

/**
 * Numbers of the blocks of the cone that create what these transactions consume. Where a milestone
 * found such a block in conflict, the content of what it creates stands nowhere but in its bytes.
 */
function producersOf(cone: Cone, positions: readonly number[]): number[] {
  const inputs = new Set(positions.flatMap((position) => inputsAt(cone, position)));
  const producers = new Set<number>();
  for (let position = 0; position < cone.size; position++) {
    if (outputsAt(cone, position).some((output) => inputs.has(output)))
      producers.add(cone.numberAt(position));
  }
  return [...producers];
}

/** By hex ID, what the blocks' transactions create. */
export function contentsCreated(
  blocks: readonly ParsedBlock[],
): Map<string, { bytes: Uint8Array }> {
  return new Map(
    blocks.flatMap(({ transaction }) =>
      (transaction?.value.essence.outputs ?? []).map((output, i) => {
        const id = toHexDigits(outputId(transaction!.id, i));
        return [id, { bytes: outputBytes(output) }] as const;
      }),
    ),
  );
}

/** ?1 rows of pack and place. */
const SELECT_BYTES = `
  WITH named AS MATERIALIZED (SELECT value ->> 0 AS pack, value ->> 1 AS at FROM json_each(?1))
  SELECT p.key, b.key AS at, b.value AS bytes FROM pack_content p CROSS JOIN json_each(p.bytes) b
  WHERE p.key IN (SELECT pack FROM named) AND (p.key, b.key) IN (SELECT pack, at FROM named)`;

/**
 * Blocks of the cone, by their numbers: fetched ones, or from where the view saw them stand. Throws
 * a LedgerMoved where one has left the pack that it was seen in.
 */
export async function readBlocks(
  db: Database,
  { view, fetched }: LoadedCone,
  numbers: readonly number[],
): Promise<ParsedBlock[]> {
  const bytesOf = new Map(fetched.map(({ number, bytes }) => [number, bytes]));
  const stored = numbers.filter((number) => !bytesOf.has(number));
  const places = new Map(stored.map((number) => [placeOf(view, number).join(), number]));
  const named = Array.from(places.keys(), (place) => place.split(',').map(Number));
  for (const statement of forEachPiece(db, SELECT_BYTES, named)) {
    const query = many(statement, (row) => {
      const number = places.get(`${row.integer('key')},${row.integer('at')}`)!;
      return [number, fromBase64(row.text('bytes'))] as const;
    });
    for (const [number, bytes] of await readQuery(db, query)) bytesOf.set(number, bytes);
  }
  return numbers.map((number) => parseSame(bytesOf.get(number), view.cone, number));
}

/** The pack that holds the block, and its position there. */
function placeOf({ cone, packs }: LoadedCone['view'], number: number): [pack: number, at: number] {
  const position = cone.find(number);
  const { key, first } = packs[packAt(packs, position)]!;
  return [key, position - first];
}

/** The block behind these bytes, if it is the one that the cone has under this number. */
function parseSame(bytes: Uint8Array | undefined, cone: Cone, number: number): ParsedBlock {
  const result = bytes && parseBlock(bytes);
  const position = cone.find(number);
  if (result?.ok && (position < 0 || isBlockAt(cone, position, result.parsed.id))) {
    return result.parsed;
  }
  throw new LedgerMoved(`block number ${number} has left its pack`);
}

/**
 * What the blocks' transactions consume. IDs fix contents, so it does not matter when it is read.
 */
export async function readContents(
  db: Database,
  blocks: readonly ParsedBlock[],
  known: ReadonlyMap<string, KnownOutput> = new Map(),
): Promise<Map<string, { bytes?: Uint8Array }>> {
  const { consumed } = outputsToFind(blocks);
  const missing = consumed.filter((id) => known.get(id)?.bytes === undefined);
  const query = concat(findMentioned(db, missing), findLedgerOutputs(db, missing));
  return new Map([...known, ...knownOutputs(await readQuery(db, query), () => 0)]);
}
