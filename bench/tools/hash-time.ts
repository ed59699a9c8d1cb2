/**
 * The time of one hash of 65 bytes, a node of a Merkle tree, in the Worker's runtime: microseconds,
 * bytes in, bytes out.
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
