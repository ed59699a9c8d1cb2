/**
 * How many answers a second a server gives over a number of connections. On each of them one
 * request follows the other.
 */
import { type Answer, Connection } from './connection.ts';

export interface Load {
  url: string;
  /** The next path to get, without end. */
  next: () => string;
  /** Throws if the answer is wrong. */
  check: (path: string, answer: Answer) => void;
}

/** Answers a second. */
export async function measureRate(
  { url, next, check }: Load,
  connections: number,
  ms: number,
): Promise<number> {
  const start = performance.now();
  const lanes = Array.from({ length: connections }, async () => {
    const connection = new Connection(url);
    let answers = 0;
    while (performance.now() - start < ms) {
      const path = next();
      check(path, await connection.get(path));
      answers++;
    }
    connection.close();
    return answers;
  });
  const answers = await Promise.all(lanes);
  return (answers.reduce((sum, each) => sum + each, 0) * 1000) / (performance.now() - start);
}
