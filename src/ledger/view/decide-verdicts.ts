/**
 * What the records of a cone leave undecided, decided where a walk meets it: verdicts on
 * transactions that consume an output which was not known when their blocks came in; milestones
 * that were not verified then, and admission under protocol parameters that were not known then.
 */
import { admissionFault } from '../../stardust/admission.ts';
import { fromBase64, toHexDigits } from '../../stardust/encoding/bytes.ts';
import { isMilestoneBlock } from '../../stardust/milestone-keys.ts';
import { inputsAt, outputsAt } from '../../stardust/white-flag/cone.ts';
import { type Proposal, type WhiteFlag, walkCone } from '../../stardust/white-flag/walk.ts';
import { type ParsedBlock, parseBlock } from '../../stardust/wire/block.ts';
import { outputBytes, outputId } from '../../stardust/wire/ids.ts';
import { LedgerDamaged } from '../core/checksum.ts';
import { type Database, forEachPiece } from '../core/database.ts';
import { concat, many, one, readAlone, readQuery } from '../core/read-batch.ts';
import type { AdmissionRules } from '../intake/admission-rules.ts';
import { ConeUnavailable } from '../intake/block-source.ts';
import { findLedgerOutputs, findMentioned, knownOutputs } from '../intake/known-outputs.ts';
import { completeRecord, outputsToFind } from '../intake/prepare-blocks.ts';
import { extendCone, type RecordCone } from '../record/read-cone.ts';
import type { LoadedCone } from './consistent-view.ts';
import { isBlockAt, packAt } from './viewed-packs.ts';

/**
 * Inputs of the transactions that are decided in one request. The follower makes these verdicts
 * too, some seconds after the blocks came (resolve-verdicts.ts), so few are left to requests. An
 * output has up to 21 KB: their contents take up to 15 MB. There are not more signatures than
 * inputs, which take 0.1 s.
 */
const MAX_DECIDED_INPUTS = 256;

/**
 * Decides what the walk left undecided, and walks again. A verdict that is made can put another
 * transaction's inputs in reach, so this may take several rounds; each decides all that it found.
 *
 * @param walked the outcome of the walk over the loaded cone
 * @returns the cone with the new verdicts, and the outcome of the walk over it. Its positions are
 *   not those of the loaded one. Throws a ConeUnavailable, `too-large`, where that takes more than
 *   {@link MAX_DECIDED_INPUTS}, and a LedgerDamaged where a block or what it consumes is not
 *   there. Run it in {@link unlessMoved}.
 */
export async function decideVerdicts(
  db: Database,
  loaded: LoadedCone,
  proposal: Proposal,
  walked: WhiteFlag,
  rules: () => Promise<AdmissionRules>,
): Promise<{ cone: RecordCone; whiteFlag: WhiteFlag }> {
  let cone = loaded.cone;
  let whiteFlag = walked;
  let inputs = 0;
  while (whiteFlag.undecided.length > 0) {
    for (const position of whiteFlag.undecided) inputs += inputsAt(cone, position).length;
    if (inputs > MAX_DECIDED_INPUTS) {
      const reason = `more than ${MAX_DECIDED_INPUTS} inputs of transactions without a verdict yet`;
      throw new ConeUnavailable('too-large', reason);
    }
    const undecided = whiteFlag.undecided.map((position) => cone.recordAt(position));
    const numbers = whiteFlag.undecided.map((position) => cone.numberAt(position));
    const blocks = await readBlocks(db, loaded, numbers);
    const { verify } = await rules();
    const contents = new Map([
      ...(await readContents(db, blocks)),
      ...contentsCreated(await readBlocks(db, loaded, producersOf(cone, whiteFlag.undecided))),
    ]);
    const completed: Uint8Array[] = [];
    for (const [i, block] of blocks.entries()) {
      const record = await completeRecord(undecided[i]!, block, contents, verify);
      if (record === undefined)
        throw new LedgerDamaged(`outputs that block number ${numbers[i]} consumes`);
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
  cone: RecordCone,
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
  cone: RecordCone,
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
 * Blocks that earlier milestones reference are left out: what they created is in the ledger.
 */
export function producersOf(cone: RecordCone, positions: readonly number[]): number[] {
  const wanted = new Set(positions.flatMap((position) => inputsAt(cone, position)));
  const producers = new Set<number>();
  for (let position = 0; position < cone.size; position++) {
    const number = cone.numberAt(position);
    if (cone.find(number) !== position) continue;
    // one block for each output: a transaction may be in many
    for (const output of outputsAt(cone, position))
      if (wanted.delete(output)) producers.add(number);
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
 * Blocks of the cone, by their numbers, from where the view saw them. Throws a LedgerDamaged where one
 * is not there.
 */
export async function readBlocks(
  db: Database,
  { view }: LoadedCone,
  numbers: readonly number[],
): Promise<ParsedBlock[]> {
  const bytesOf = new Map<number, Uint8Array>();
  const places = new Map(numbers.map((number) => [placeOf(view, number).join(), number]));
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

/** Packs whose blocks are read at once: up to 800,000 characters each, and 10 MB when parsed. */
const PACKS_AT_ONCE = 4;

/**
 * The same in steps, for those who need each block for a moment: in the order of the packs, each with
 * its place among the numbers.
 */
export async function* readBlocksInSteps(
  db: Database,
  loaded: LoadedCone,
  numbers: readonly number[],
): AsyncGenerator<[place: number, block: ParsedBlock][]> {
  const places = [...placesByPack(loaded, numbers).values()];
  for (let first = 0; first < places.length; first += PACKS_AT_ONCE) {
    const some = places.slice(first, first + PACKS_AT_ONCE).flat();
    const blocks = await readBlocks(
      db,
      loaded,
      some.map((place) => numbers[place]!),
    );
    yield some.map((place, i) => [place, blocks[i]!]);
  }
}

const SELECT_SIZE = `
  SELECT coalesce(sum(octet_length(bytes)), 0) AS length FROM pack_content
  WHERE key IN (SELECT value FROM json_each(?1))`;

/** Characters that have to be read for the bytes of these blocks: those of their packs. */
export async function measureBlocks(
  db: Database,
  loaded: LoadedCone,
  numbers: readonly number[],
): Promise<number> {
  const keys = JSON.stringify([...placesByPack(loaded, numbers).keys()]);
  return readAlone(one(db.prepare(SELECT_SIZE).bind(keys), (row) => row.integer('length')));
}

/** Places among the numbers, by the key of the pack that holds the block. */
function placesByPack({ view }: LoadedCone, numbers: readonly number[]): Map<number, number[]> {
  const places = new Map<number, number[]>();
  for (const [place, number] of numbers.entries()) {
    const [key] = placeOf(view, number);
    const known = places.get(key);
    if (known === undefined) places.set(key, [place]);
    else known.push(place);
  }
  return places;
}

/** The pack that holds the block, and its position there. */
function placeOf({ cone, packs }: LoadedCone['view'], number: number): [pack: number, at: number] {
  const position = cone.find(number);
  const { key, first } = packs[packAt(packs, position)]!;
  return [key, position - first];
}

/** The block behind these bytes, if it is the one that the cone has under this number. */
function parseSame(bytes: Uint8Array | undefined, cone: RecordCone, number: number): ParsedBlock {
  const result = bytes && parseBlock(bytes);
  const position = cone.find(number);
  if (result?.ok && (position < 0 || isBlockAt(cone, position, result.parsed.id))) {
    return result.parsed;
  }
  throw new LedgerDamaged(`bytes of block number ${number}`);
}

/**
 * What the blocks' transactions consume. IDs fix contents, so it does not matter when it is read.
 */
export async function readContents(
  db: Database,
  blocks: readonly ParsedBlock[],
): Promise<Map<string, { bytes?: Uint8Array }>> {
  const { consumed } = outputsToFind(blocks);
  const query = concat(findMentioned(db, consumed), findLedgerOutputs(db, consumed));
  return knownOutputs(await readQuery(db, query), () => 0);
}
