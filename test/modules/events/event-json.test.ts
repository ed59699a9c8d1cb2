/** The JSON of events, byte for byte as inx-mqtt published it (events.jsonl). */
import { expect, it } from 'vitest';
import {
  blockEventToJson,
  milestoneInfoToJson,
  outputEventToJson,
} from '../../../src/modules/events/event-json.ts';
import { fromHex, toHex } from '../../../src/stardust/encoding/bytes.ts';
import { parseBlock } from '../../../src/stardust/wire/block.ts';
import { decodeOutput } from '../../../src/stardust/wire/ids.ts';
import { readLines } from '../../support/vectors.ts';

interface Line {
  topic: string;
  message: string;
  bytes: string;
}

const lines = readLines('events.jsonl') as Line[];
const digits = (hex: string) => hex.slice(2);

it('of outputs: spent and unspent, of each type, with each unlock condition and feature', () => {
  const outputs = lines.filter(({ topic }) => topic.startsWith('outputs/'));
  expect(outputs.length).toBeGreaterThan(80);
  for (const { message, bytes } of outputs) {
    const { metadata: facts } = JSON.parse(message);
    const index = Uint8Array.of(facts.outputIndex & 0xff, facts.outputIndex >> 8).toHex();
    const event = {
      outputId: digits(facts.transactionId) + index,
      blockId: digits(facts.blockId),
      bookedIndex: facts.milestoneIndexBooked,
      bookedTimestamp: facts.milestoneTimestampBooked,
      ledgerIndex: facts.ledgerIndex,
      spent: facts.isSpent
        ? {
            index: facts.milestoneIndexSpent,
            timestamp: facts.milestoneTimestampSpent,
            transactionId: digits(facts.transactionIdSpent),
          }
        : undefined,
    };
    const json = outputEventToJson(event, decodeOutput(fromHex(bytes)));
    expect(JSON.stringify(json)).toBe(message);
  }
});

it('of blocks: with and without a transaction, each conflict, and milestones', () => {
  const blocks = lines.filter(({ topic }) => topic.startsWith('block-metadata/'));
  expect(blocks.length).toBeGreaterThan(5);
  for (const { message, bytes } of blocks) {
    const facts = JSON.parse(message);
    const result = parseBlock(fromHex(bytes));
    if (!result.ok) throw new Error(result.reason);
    const { id, block, milestone } = result.parsed;
    const isTransaction = block.payload?.type === 6;
    const json = blockEventToJson({
      id: id.toHex(),
      parents: block.parents.map(toHex),
      referenced: {
        index: facts.referencedByMilestoneIndex,
        whiteFlagIndex: facts.whiteFlagIndex,
        reason: isTransaction ? (facts.conflictReason ?? 0) : undefined,
      },
      milestoneIndex: milestone?.value.index,
    });
    expect(JSON.stringify(json)).toBe(message);
  }
});

it('of milestones', () => {
  const id = 'ab'.repeat(32);
  expect(JSON.stringify(milestoneInfoToJson({ index: 7, timestamp: 8, id }))).toBe(
    `{"index":7,"timestamp":8,"milestoneId":"0x${id}"}`,
  );
});
