/**
 * Verdicts that stand undecided in the records of a cone: an output that the transaction consumes
 * was not known when its block came in. Where a walk meets such a transaction, the verdict is made
 * now.
 */
import { type ParsedBlock, parseBlock } from '../stardust/block.ts';
import { equalBytes, fromBase64, toHexDigits } from '../stardust/bytes.ts';
import { outputBytes, outputId } from '../stardust/ids.ts';
import { leafHash } from '../stardust/merkle.ts';
import { type Cone, inputsAt, outputsAt, readCone } from '../stardust/white-flag/cone.ts';
import { type Proposal, type WhiteFlag, walkCone } from '../stardust/white-flag/walk.ts';
import type { AdmissionRules } from './admission-rules.ts';
import type { LoadedCone } from './consistent-view.ts';
import { type Database, runBatch } from './database.ts';
import { LedgerMoved } from './fence.ts';
import { findOutputs, type KnownOutput, knownOutputs } from './known-outputs.ts';
import { completeRecord, outputsToFind } from './prepare-blocks.ts';
import { placesOf } from './viewed-packs.ts';

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
    cone = readCone([cone.bytes, ...completed]);
    whiteFlag = walkCone(cone, loaded.view.states, proposal);
  }
  return { cone, whiteFlag };
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

const SELECT_BYTES = `
  SELECT 'open' AS name, key, bytes FROM open WHERE key IN (SELECT value FROM json_each(?1))
  UNION ALL SELECT 'pack', key, bytes FROM pack WHERE key IN (SELECT value FROM json_each(?2))`;

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
  if (stored.length > 0) {
    const places = placesOf(view);
    const placeOf = (number: number) => places[view.cone.find(number)]!;
    const used = new Set(stored.map((number) => view.packs[placeOf(number).pack]!));
    const keys = (table: string) =>
      JSON.stringify([...used].filter((pack) => pack.table === table).map(({ key }) => key));
    const [rows] = await runBatch(db, [db.prepare(SELECT_BYTES).bind(keys('open'), keys('pack'))]);
    const texts = new Map(
      rows!.map(({ name, key, bytes }) => [
        `${name} ${key}`,
        JSON.parse(String(bytes)) as string[],
      ]),
    );
    for (const number of stored) {
      const { pack, at } = placeOf(number);
      const { table, key } = view.packs[pack]!;
      const text = texts.get(`${table} ${key}`)?.[at];
      if (text !== undefined) bytesOf.set(number, fromBase64(text));
    }
  }
  return numbers.map((number) => parseSame(bytesOf.get(number), view.cone, number));
}

/** The block behind these bytes, if it is the one that the cone has under this number. */
function parseSame(bytes: Uint8Array | undefined, cone: Cone, number: number): ParsedBlock {
  const result = bytes && parseBlock(bytes);
  const position = cone.find(number);
  if (result?.ok && (position < 0 || isLeaf(cone, position, result.parsed.id))) {
    return result.parsed;
  }
  throw new LedgerMoved(`block number ${number} has left its pack`);
}

function isLeaf(cone: Cone, position: number, id: Uint8Array): boolean {
  const words = new Uint32Array(8);
  cone.copyLeaf(position, words, 0);
  return equalBytes(new Uint8Array(words.buffer), leafHash(id));
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
  const rows = await runBatch(db, findOutputs(db, { mentioned: missing, consumed: missing }));
  return new Map([...known, ...knownOutputs(rows.flat(), () => 0)]);
}
