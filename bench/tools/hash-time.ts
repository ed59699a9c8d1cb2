/**
 * The unit of measure: microseconds that the hash of one node of a Merkle tree takes in the same
 * runtime.
 */
import type { Edge } from '../../test/support/edge/edge.ts';
import { LoadConnection } from './connection.ts';
import { median, time } from './measure.ts';

const COUNT = 20_000;

export async function measureHash(probe: Edge): Promise<number> {
  const connection = new LoadConnection(probe.url);
  const requestOf = (count: number) => connection.encode('GET', `/hash?count=${count}`);
  const times: number[] = [];
  for (let i = 0; i < 15; i++) {
    const without = await time(() => connection.send(requestOf(0)));
    times.push((await time(() => connection.send(requestOf(COUNT)))) - without);
  }
  connection.close();
  return (median(times.slice(5)) * 1000) / COUNT;
}
