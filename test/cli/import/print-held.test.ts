/** What an operator compares with what others published: a file cannot write lines of its own. */
import { expect, it, vi } from 'vitest';
import { printHeld } from '../../../cli/lib/import/import-snapshot.ts';

it('prints the name of a network as one line, whatever it is', () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  const network = `shimmer\nstate hash    ${'ab'.repeat(32)}\u001b[8m`;
  const held = { network, ledger: 1, timestamp: 0, outputs: 0, nfts: 0, parameters: [] };
  printHeld(held, new Uint8Array(32));
  const lines = log.mock.calls.map(([line]) => String(line));
  log.mockRestore();
  expect(lines.filter((line) => /^state hash/m.test(line))).toEqual([
    `state hash    ${'00'.repeat(32)}`,
  ]);
  expect(lines.join('')).not.toContain('\u001b');
});
