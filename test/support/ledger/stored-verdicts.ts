/**
 * The verdicts that were made at intake and stand in D1, against the judge of the oracle.
 */

import { expect } from 'vitest';
import type { Database } from '../../../src/ledger/core/database.ts';
import { readCone } from '../../../src/ledger/packs/record-cone.ts';
import { verifySignature } from '../../../src/platform/verify-signature.ts';
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { judgeAt } from '../../../src/stardust/semantics/judge.ts';
import { verifySignatures } from '../../../src/stardust/semantics/signatures.ts';
import { isUndecidedAt } from '../../../src/stardust/white-flag/cone.ts';
import type { ParsedBlock } from '../../../src/stardust/wire/block.ts';
import { decodeOutput, outputBytes, outputId } from '../../../src/stardust/wire/ids.ts';
import type { Output } from '../../../src/stardust/wire/output.ts';
import type { Network } from '../network/network-model.ts';
import { storedBlocks } from './stored-blocks.ts';

/**
 * How many verdicts were compared, each at many times.
 *
 * @param delays seconds after every milestone
 */
export async function compareVerdicts(
  db: Database,
  network: Network,
  parsed: ReadonlyMap<string, ParsedBlock>,
  delays: readonly number[],
): Promise<number> {
  const contents = new Map([...network.outputs].map(([id, { bytes }]) => [id, bytes]));
  for (const { transaction } of parsed.values()) {
    transaction?.value.essence.outputs.forEach((output, i) => {
      contents.set(toHex(outputId(transaction.id, i)), outputBytes(output));
    });
  }
  const milestones = [network.genesis, ...network.milestones];
  const times = [
    0,
    0xffff_ffff,
    ...milestones.flatMap(({ timestamp }) => delays.map((delay) => timestamp + delay)),
  ];
  const judged = (await storedBlocks(db)).filter(
    ({ payload, record }) => payload === 6 && !isUndecidedAt(readCone([record]), 0),
  );
  for (const { id, record } of judged) {
    const transaction = parsed.get(`0x${id}`)!.transaction!;
    const consumed = transaction.value.essence.inputs.map((input) => {
      const own = outputId(input.transactionId, input.outputIndex);
      const bytes = contents.get(toHex(own))!;
      return { id: own, bytes, output: decodeOutput(bytes) };
    });
    const validSignatures = await verifySignatures(transaction, verifySignature);
    const verdict = readCone([record]).transactionAt(0);
    // it depends on the time by these alone (docs/protocol.md, D.2): in between once is enough
    const turns = turningPoints(consumed.map(({ output }) => output));
    const around = [...times, ...turns.flatMap((turn) => [turn - 1, turn])].sort((a, b) => a - b);
    const reasons = new Map<number, number>();
    const due = around.map((time) => {
      const passed = turns.filter((turn) => turn <= time).length;
      const reason =
        reasons.get(passed) ?? judgeAt({ ...transaction, validSignatures }, consumed, time);
      reasons.set(passed, reason);
      return reason;
    });
    const made = around.map((time) => verdict.reasonAt(time));
    // texts, as comparing long lists of numbers takes vitest long
    expect(`${id} ${made}`).toBe(`${id} ${due}`);
  }
  return judged.length;
}

/** Unix seconds at which timelocks and expirations of the outputs end. */
function turningPoints(outputs: readonly Output[]): number[] {
  return outputs.flatMap(({ unlockConditions }) =>
    unlockConditions.flatMap((condition) => ('unixTime' in condition ? [condition.unixTime] : [])),
  );
}
