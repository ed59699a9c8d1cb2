/**
 * White-flag computations: `{request, response, whiteFlagOrder, ledgerInputs,
 * inputsNotUnspentInLedger, genesisMilestoneIndex}` (docs/protocol.md D.1, E).
 */

import { type ParsedBlock, parseBlock } from '../../src/stardust/block.ts';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import {
  array,
  asObject,
  bytes,
  flag,
  integer,
  type JsonObject,
  text,
} from '../../src/stardust/encoding/json-object.ts';
import { StardustError } from '../../src/stardust/error.ts';
import { ConflictReason } from '../../src/stardust/judge.ts';
import { firstDifference } from './compare.ts';

/**
 * All that a computation needs. Parents that are not among the blocks are solid entry points, and
 * every milestone block counts as signed.
 */
export interface WhiteFlagCase {
  index: number;
  timestamp: number;
  /** Hex IDs, in the order of the request. */
  parents: readonly string[];
  /** Hex; all zero for the first milestone. */
  previousMilestoneId: string;
  genesisMilestoneIndex: number;
  /** By hex ID, parents before children. */
  blocks: ReadonlyMap<string, ParsedBlock>;
  /** Unspent outputs of the ledger, their bytes by hex ID. */
  unspent: ReadonlyMap<string, Uint8Array>;
  /** Hex IDs of spent outputs. */
  spent: ReadonlySet<string>;
}

export interface WhiteFlagOutcome {
  /** In white-flag order; `reason` 0 also where there is no transaction. */
  order: readonly { blockId: string; isTransaction: boolean; conflictReason: number }[];
  inclusionMerkleRoot: string;
  appliedMerkleRoot: string;
  metPreviousMilestone: boolean;
}

/** The implementation under test. */
export type ComputeWhiteFlag = (given: WhiteFlagCase) => Promise<WhiteFlagOutcome>;

export async function runWhiteFlag(
  vector: JsonObject,
  compute: ComputeWhiteFlag,
): Promise<string | undefined> {
  const given = readCase(vector);
  const expected = array(vector, 'whiteFlagOrder').map(readOrdered);
  const { order, inclusionMerkleRoot, appliedMerkleRoot, metPreviousMilestone } =
    await compute(given);
  if (!metPreviousMilestone) return 'the previous milestone is not met';
  const agreed = order.map((block, i) => (sameOutcome(block, expected[i]) ? expected[i] : block));
  return (
    firstDifference(agreed, expected, 'whiteFlagOrder') ??
    firstDifference(
      { inclusionMerkleRoot, appliedMerkleRoot },
      asObject(vector.response),
      'response',
    )
  );
}

type Ordered = WhiteFlagOutcome['order'][number];

function readOrdered(block: unknown): Ordered {
  const object = asObject(block);
  return {
    blockId: text(object, 'blockId'),
    isTransaction: flag(object, 'isTransaction'),
    conflictReason: integer(object, 'conflictReason', 255),
  };
}

/**
 * `inputsNotUnspentInLedger` has spent and unknown outputs alike. So where we report that an input
 * is spent, the reference may report that it is unknown.
 */
function sameOutcome(ours: Ordered, theirs: Ordered | undefined): boolean {
  return (
    ours.blockId === theirs?.blockId &&
    ours.conflictReason === ConflictReason.InputAlreadySpent &&
    theirs.conflictReason === ConflictReason.InputNotFound
  );
}

function readCase(vector: JsonObject): WhiteFlagCase {
  const request = asObject(vector.request);
  return {
    index: integer(request, 'index'),
    timestamp: integer(request, 'timestamp'),
    parents: array(request, 'parents').map((parent) => toHex(bytes({ parent }, 'parent'))),
    previousMilestoneId: toHex(bytes(request, 'previousMilestoneId')),
    genesisMilestoneIndex: integer(vector, 'genesisMilestoneIndex'),
    blocks: new Map(array(vector, 'whiteFlagOrder').map(readBlock)),
    unspent: new Map(
      array(vector, 'ledgerInputs').map((input) => [
        toHex(bytes(asObject(input), 'outputId')),
        bytes(asObject(input), 'raw'),
      ]),
    ),
    spent: new Set(
      array(vector, 'inputsNotUnspentInLedger').map((outputId) =>
        toHex(bytes({ outputId }, 'outputId')),
      ),
    ),
  };
}

function readBlock(block: unknown): [id: string, parsed: ParsedBlock] {
  const result = parseBlock(bytes(asObject(block), 'raw'));
  if (!result.ok)
    throw new StardustError('TIP-25', `a block of the cone is refused: ${result.reason}`);
  return [toHex(result.parsed.id), result.parsed];
}
