/**
 * The ledger's state hash: one SHA-256 over all that the ledger holds, to compare ledgers by
 * (docs/snapshot-format.md#state-hash).
 *
 *  ledger index u32 | treasury's milestone ID 32 | treasury's amount u64
 *  | every unspent output, in order of ID, as in ledger-output.ts
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { compareBytes, Writer } from './encoding/bytes.ts';
import { type LedgerOutput, putLedgerOutput } from './wire/ledger-output.ts';
import type { Treasury } from './wire/receipt.ts';

/**
 * The 32-byte hash. `outputs` must come in ascending order of their IDs; an Error otherwise, as the
 * hash would be of no ledger. They are read once.
 *
 * @example
 * ```ts
 * import { toHex } from '@stardust-edge/protocol/bytes';
 * import { stateHash } from '@stardust-edge/protocol/state-hash';
 *
 * const treasury = { milestoneId: new Uint8Array(32), amount: 0n };
 * console.log(toHex(await stateHash(0, treasury, [])).length); // 66
 * ```
 */
export async function stateHash(
  ledgerIndex: number,
  treasury: Treasury,
  outputs: AsyncIterable<LedgerOutput> | Iterable<LedgerOutput>,
): Promise<Uint8Array> {
  const hash = sha256.create();
  hash.update(
    new Writer().u32(ledgerIndex).put(treasury.milestoneId).u64(treasury.amount).finish(),
  );
  let previous: Uint8Array | undefined;
  for await (const output of outputs) {
    if (previous !== undefined && compareBytes(previous, output.outputId) >= 0)
      throw new Error('state hash: the outputs are not in ascending order of their IDs');
    previous = output.outputId;
    const writer = new Writer();
    putLedgerOutput(writer, output);
    hash.update(writer.finish());
  }
  return hash.digest();
}
