/**
 * Outputs of an address as a table for other programs (RFC 4180). All of it is digits, hex and our own
 * words: nothing that a spreadsheet would compute.
 */
import { chainOf, outputKind } from '../../client/words/kind.ts';
import { fromHex, toHex } from '../../src/stardust/encoding/bytes.ts';
import type { ListedOutput } from '../node/lists.ts';

const HEAD =
  'output ID,kind,base tokens,native tokens,"alias, foundry or NFT ID",booked in milestone,booked at (UTC)';

export function outputsToCsv(outputs: readonly ListedOutput[]): string {
  const rows = outputs.map(({ outputId, output, metadata }) => [
    outputId,
    outputKind(output),
    output.amount,
    output.nativeTokens.map(({ id, amount }) => `${toHex(id)}:${amount}`).join(' '),
    chainOf(output, fromHex(outputId))?.id ?? '',
    metadata.milestoneIndexBooked,
    new Date(metadata.milestoneTimestampBooked * 1000).toISOString(),
  ]);
  return [HEAD, ...rows.map((row) => row.join())].map((line) => `${line}\r\n`).join('');
}
