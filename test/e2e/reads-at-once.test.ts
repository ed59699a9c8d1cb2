/**
 * Reads that give way to each other in `npm run serve` (src/platform/clock.ts): workerd ends what belongs to a
 * request together with it, so no request may wait by a timer of another one.
 */
import { expect, it } from 'vitest';
import { prepareFollowing } from '../support/edge/follow-network.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';

const READS = 800;
const AT_ONCE = 16;

it('reads that are asked for at once are all answered', async () => {
  const network = new SyntheticNetwork({ seed: 'reads at once' });
  network.milestone();
  await using following = await prepareFollowing(network, { confirmed: 1 });
  const { url } = await following.start({ asServe: true, quiet: true });
  const statuses: Record<number, number> = {};
  let asked = 0;
  const read = async () => {
    while (asked < READS) {
      const id = (++asked).toString(16).padStart(68, '0');
      const { status } = await fetch(`${url}/api/core/v2/outputs/0x${id}`);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, read));
  expect(statuses).toEqual({ 404: READS });
});
