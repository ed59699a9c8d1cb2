/**
 * The packs of a milestone: its blocks in white-flag order, and the outputs that it spent.
 */
import { concatBytes, toBase64 } from '../stardust/bytes.ts';
import { inputsAt, readCone } from '../stardust/white-flag/cone.ts';
import type { Database } from './database.ts';
import { bytesOf, lengthOf, type OpenBlock } from './open-packs.ts';
import {
  type Mention,
  type OutputState,
  PARTS,
  packKey,
  type SpentOutput,
  splitIntoParts,
  writePackedBlocks,
  writeSpentOutput,
  writeStates,
} from './packs.ts';

export interface BlockOfMilestone extends OpenBlock {
  /** Of a transaction: 0 where it is applied. Undefined for the other blocks. */
  reason: number | undefined;
}

/**
 * Statements that insert the packs. Open packs that bytes are taken from must go behind them.
 *
 * @param stateOf as of the milestone
 */
export function insertPacks(
  db: Database,
  milestone: number,
  blocks: readonly BlockOfMilestone[],
  spent: readonly SpentOutput[],
  stateOf: (output: number) => OutputState | undefined,
): D1PreparedStatement[] {
  const blockParts = splitIntoParts(blocks, lengthOf);
  const most = Number.POSITIVE_INFINITY;
  // written twice, as all of them at once would be tens of megabytes where a milestone is large
  const spentParts = splitIntoParts(spent, (output) => writeSpentOutput(output).length + 1, {
    most,
  });
  const count = Math.max(blockParts.length, spentParts.length);
  if (count > PARTS) throw new Error(`milestone ${milestone} is too large for ${PARTS} packs`);
  return Array.from({ length: count }, (_, part) => {
    const own = blockParts[part] ?? [];
    const bytes = bytesOf(own, '?7');
    const sql = `
      INSERT INTO pack (key, records, states, mentions, blocks, spent, bytes)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ${bytes.sql})`;
    return db
      .prepare(sql)
      .bind(
        packKey(milestone, part),
        toBase64(concatBytes(...own.map(({ record }) => record))),
        writeStates(inputStates(own, stateOf)),
        JSON.stringify(mentionsOf(own)),
        writePackedBlocks(own),
        `[${(spentParts[part] ?? []).map(writeSpentOutput).join()}]`,
        bytes.value,
      );
  });
}

function inputStates(
  blocks: readonly OpenBlock[],
  stateOf: (output: number) => OutputState | undefined,
): Map<number, OutputState> {
  const states = new Map<number, OutputState>();
  const cone = readCone(blocks.map(({ record }) => record));
  for (let position = 0; position < cone.size; position++) {
    for (const input of inputsAt(cone, position)) {
      const state = stateOf(input);
      if (state !== undefined) states.set(input, state);
    }
  }
  return states;
}

function mentionsOf(blocks: readonly OpenBlock[]): Mention[] {
  const mentions = new Map<number, string>();
  for (const block of blocks) for (const { number, id } of block.mentions) mentions.set(number, id);
  return [...mentions];
}
