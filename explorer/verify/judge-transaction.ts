/**
 * Judges what a transaction consumes, and what creates an output, for their pages.
 */
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import {
  type OutputInBlock,
  proveConsumed,
  proveCreated,
} from '../../src/stardust/provenance/outputs.ts';
import { notChecked, provedValue } from '../../src/stardust/provenance/proved.ts';
import type {
  BlockContent,
  Finding,
  Proved,
  Said,
} from '../../src/stardust/provenance/provenance.ts';
import type { ConsumedOutput } from '../../src/stardust/semantics/verdict.ts';
import { consumedIds } from '../../src/stardust/wire/ids.ts';
import type { Output } from '../../src/stardust/wire/output.ts';
import { type LedgerOutputJson, readLedgerOutputs } from '../node/outputs.ts';
import { readBlockContent } from './judge.ts';

export interface JudgedInputs {
  /** What the node says of each input, or why it does not. */
  said: readonly (Said<LedgerOutputJson> | Error)[];
  consumed: Finding<readonly ConsumedOutput[]>;
}

/** Reads the outputs that the inputs name, and holds them against the inputs commitment. */
export async function judgeInputs(block: Proved<BlockContent>): Promise<JudgedInputs> {
  const { transaction } = provedValue(block).parsed;
  const ids = transaction === undefined ? [] : consumedIds(transaction.value.essence);
  const said = await readLedgerOutputs(ids.map(toHex));
  const known = said.flatMap((each) => (each instanceof Error ? [] : [each.said.output]));
  const missing = ids.length - known.length;
  return {
    said,
    consumed:
      missing === 0
        ? proveConsumed(block, known)
        : notChecked(
            ids.length === 1
              ? 'the input, as its output did not come'
              : `the inputs, as ${missing === ids.length ? 'none' : `only ${known.length}`} of their ${ids.length} outputs came`,
          ),
  };
}

/** Whether the block that the node names creates this output, with these bytes. */
export async function judgeCreated(
  blockId: string,
  id: string,
  output: Output,
): Promise<Finding<OutputInBlock>> {
  const block = await readBlockContent(blockId);
  return block.standing === 'proved' ? proveCreated(block.proof, id, output) : block;
}
