import '../vectors-in-workerd.ts';
import { it } from 'vitest';
import { recordedNetwork } from '../network/recorded.ts';
import { randomNetwork } from '../network/random-network.ts';
it('recorded', async () => {
  let t = Date.now();
  const n = recordedNetwork('network-a');
  console.log(n.blocks.size, Date.now() - t); t = Date.now();
  const r = randomNetwork({seed: 'x', milestones: 14, events: 60});
  console.log(r.blocks.size, Date.now() - t);
});
