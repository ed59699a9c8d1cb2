/** How many WebSockets the front lets in: each takes 100 KB, however many files may be open. */
import { expect, it } from 'vitest';
import { createTunnelLimit } from '../../../../cli/serve/front/tunnel-limit.ts';
import { clientPath } from '../../../../src/platform/client-path.ts';

it('there are no more than fit into 250 MB, with a rest for clients that have none', () => {
  const limit = createTunnelLimit(
    20_000,
    () => 0,
    (_site, max) => {
      expect(max).toBe(2500);
      return true;
    },
  );
  const openAll = (address: string) => {
    for (let count = 0; ; count++) if (!limit.open(clientPath(address))) return count;
  };
  expect(openAll('192.0.2.1')).toBe(2000);
  // each of these displaces one of the first
  expect(openAll('192.0.2.2')).toBe(500);
  let late = 0;
  while (limit.open(clientPath(`198.51.${late >> 8}.${late & 255}`))) late++;
  expect(late).toBe(625);
});
