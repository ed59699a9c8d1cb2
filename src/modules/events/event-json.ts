/**
 * JSON of TIP-28's events, byte for byte as inx-mqtt writes it
 * (https://github.com/iotaledger/inx-mqtt/blob/v1.0.0-rc.2/core/mqtt/types.go): the order of fields
 * and some of their names differ from those of the REST API.
 */
import type { OutputStatus } from '../../ledger/read/output-status.ts';
import type { BlockReference } from '../../ledger/read/stored-block.ts';
import {
  inclusionStateToJson,
  outputToJson,
  type RestObject,
} from '../../stardust/json/rest-json.ts';
import type { Output } from '../../stardust/wire/output.ts';

/** IDs are hex digits without 0x, times Unix seconds. */
export interface MilestoneInfo {
  index: number;
  timestamp: number;
  id: string;
}

/** Writes the message of `milestone-info/…`: milestoneInfoPayload. */
export function milestoneInfoToJson({ index, timestamp, id }: MilestoneInfo): RestObject {
  return { index, timestamp, milestoneId: `0x${id}` };
}

export interface BlockEvent {
  id: string;
  /** IDs as 0x and hex digits. */
  parents: readonly string[];
  /** Undefined while no milestone references the block. */
  referenced?: BlockReference | undefined;
  /** Index of the milestone that the block carries, once it is referenced. */
  milestoneIndex?: number | undefined;
}

/**
 * Writes the message of `block-metadata/…`: blockMetadataPayload, without `shouldPromote` and
 * `shouldReattach` of unreferenced blocks: this node selects no tips.
 */
export function blockEventToJson({
  id,
  parents,
  referenced,
  milestoneIndex,
}: BlockEvent): RestObject {
  return {
    blockId: `0x${id}`,
    parentBlockIds: parents,
    isSolid: true,
    ...(referenced && { referencedByMilestoneIndex: referenced.index }),
    ...(referenced && milestoneIndex !== undefined && { milestoneIndex }),
    ...(referenced && {
      ...inclusionStateToJson(referenced.reason),
      whiteFlagIndex: referenced.whiteFlagIndex,
    }),
  };
}

/** Writes the message of `outputs/…`: outputPayload. */
export function outputEventToJson(event: Omit<OutputStatus, 'bytes'>, output: Output): RestObject {
  const { outputId, blockId, spent, ledgerIndex } = event;
  const index = Uint8Array.fromHex(outputId.slice(64));
  return {
    metadata: {
      blockId: `0x${blockId}`,
      transactionId: `0x${outputId.slice(0, 64)}`,
      ...(spent && {
        milestoneIndexSpent: spent.index,
        milestoneTimestampSpent: spent.timestamp,
        transactionIdSpent: `0x${spent.transactionId}`,
      }),
      milestoneIndexBooked: event.bookedIndex,
      milestoneTimestampBooked: event.bookedTimestamp,
      ledgerIndex,
      outputIndex: index[0]! + index[1]! * 256,
      isSpent: spent !== undefined,
    },
    output: outputToJson(output),
  };
}
