/**
 * The unit of measure: microseconds of one hash of 65 bytes, the node of a Merkle tree, in the same runtime, bytes in, bytes out, by our own function.
 */
import type { Edge } from '../../test/support/edge/edge.ts';
import { Connection } from './connection.ts';
import { median, time } from './measure.ts';

const COUNT = 20_000;

export async function measureHash(
  probe: Edge,
  path: '/hash' | '/hash-noble' = '/hash',
): Promise<number> {
  const connection = new Connection(probe.url);
  const requestOf = (count: number) => connection.encode('GET', `${path}?count=${count}`);
  const times: number[] = [];
  for (let i = 0; i < 15; i++) {
    const without = await time(() => connection.send(requestOf(0)));
    times.push((await time(() => connection.send(requestOf(COUNT)))) - without);
  }
  connection.close();
  return (median(times.slice(5)) * 1000) / COUNT;
}
