/**
 * A difference as a vector (test/vectors/README.md): the smallest one that shows it. What is wrong
 * with a block is a line of parsing.jsonl, with a verdict one of semantics.jsonl; all else is the
 * network, cut after it, without what it does not need.
 */
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { parseBlock } from '../../../src/stardust/wire/block.ts';
import { consumedIds, outputBytes, outputId } from '../../../src/stardust/wire/ids.ts';
import { compareAnswers, type Difference } from './compare-answers.ts';
import { type Answer, judge } from './judge-answers.ts';
import type { Line } from './network-file.ts';

export interface Kept {
  /** Which file of vectors has such lines. */
  kind: 'parsing' | 'semantics' | 'network';
  lines: readonly unknown[];
}

/**
 * @param lines of one network, which begins with the first of them
 * @param answers to all but the first
 */
export async function keepDifference(
  lines: readonly Line[],
  answers: readonly Answer[],
  { line: place, text }: Difference,
  program: string,
): Promise<Kept> {
  const line = lines[place]!;
  const answer = answers[place - 1]!;
  if (line.type === 'block' && answer.type === 'block') {
    const { valid, id: blockId, payloadId, json } = answer;
    const facts = valid ? { blockId, payloadId, json } : {};
    return { kind: 'parsing', lines: [{ name: text, block: `0x${line.bytes}`, valid, ...facts }] };
  }
  const single = singleVerdict(lines, answers, place);
  if (single !== undefined) return { kind: 'semantics', lines: [{ name: text, ...single }] };
  return { kind: 'network', lines: await smallNetwork(lines, place, program) };
}

/** The first verdict that differs, if it depends on its transaction alone. */
function singleVerdict(lines: readonly Line[], answers: readonly Answer[], place: number) {
  const line = lines[place]!;
  const answer = answers[place - 1]!;
  if (line.type !== 'milestone' || answer.type !== 'milestone') return undefined;
  const i = line.cone.findIndex(({ conflict }, i) => {
    const theirs = answer.cone[i];
    return theirs !== undefined && ![theirs.conflict, ...(theirs.also ?? [])].includes(conflict);
  });
  const [ours, theirs] = [line.cone[i], answer.cone[i]];
  // 1 to 3 are about the ledger
  if (ours === undefined || theirs === undefined || ours.id !== theirs.id) return undefined;
  if ([ours, theirs].some(({ conflict }) => conflict > 0 && conflict < 4)) return undefined;
  const contents = contentsOf(lines);
  const carrier = lines.find((each) => each.type === 'block' && each.id === ours.id);
  if (carrier?.type !== 'block') return undefined;
  const parsed = parseBlock(Uint8Array.fromHex(carrier.bytes));
  const transaction = parsed.ok ? parsed.parsed.transaction : undefined;
  if (transaction === undefined || !parsed.ok) return undefined;
  const { block, bytes } = parsed.parsed;
  const payload = bytes.subarray(2 + 32 * block.parents.length + 4, -8);
  return {
    unixTime: line.timestamp,
    inputs: consumedIds(transaction.value.essence).map((id) => [
      toHex(id),
      contents.get(toHex(id)),
    ]),
    transaction: toHex(payload),
    transactionId: toHex(transaction.id),
    conflict: theirs.conflict,
  };
}

/** The bytes of all outputs that the lines name or would make, by ID. */
function contentsOf(lines: readonly Line[]): Map<string, string> {
  const contents = new Map<string, string>();
  for (const line of lines) {
    if (line.type === 'output') contents.set(line.outputId, `0x${line.bytes}`);
    if (line.type !== 'block') continue;
    const result = parseBlock(Uint8Array.fromHex(line.bytes));
    const transaction = result.ok ? result.parsed.transaction : undefined;
    transaction?.value.essence.outputs.forEach((output, i) => {
      contents.set(toHex(outputId(transaction.id, i)), toHex(outputBytes(output)));
    });
  }
  return contents;
}

async function smallNetwork(
  lines: readonly Line[],
  place: number,
  program: string,
): Promise<readonly Line[]> {
  const differs = async (some: readonly Line[]) =>
    (await compareAnswers(some, await judge(program, some))).length > 0;
  const needed = new Set(
    lines.flatMap((line) => (line.type === 'milestone' ? line.cone.map(({ id }) => id) : [])),
  );
  const cut = lines.slice(0, place + 1);
  const attempts = [
    cut.filter((line, i) => {
      if (i === place) return true;
      if (line.type === 'block') return needed.has(line.id);
      return line.type !== 'proposal' && line.type !== 'state';
    }),
    cut.filter((line) => line.type !== 'block' || line.refused !== true),
    cut,
  ];
  for (const some of attempts) if (await differs(some)) return some;
  return lines;
}
