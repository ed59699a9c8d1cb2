/**
 * How many answers a second a server gives over a number of connections. On each of them one
 * request follows the other.
 */
import { type LoadAnswer, LoadConnection } from './connection.ts';

export interface Load {
  url: string;
  /** The next path to get, without end. */
  next: () => string;
  /** Throws if the answer is wrong. */
  check: (path: string, answer: LoadAnswer) => void;
}

/** Answers a second. They are checked after the time: to parse 300 KB takes the client a while. */
export async function measureRate(
  { url, next, check }: Load,
  connections: number,
  ms: number,
): Promise<number> {
  const start = performance.now();
  const lanes = Array.from({ length: connections }, async () => {
    const connection = new LoadConnection(url);
    const answers: [path: string, answer: LoadAnswer][] = [];
    while (performance.now() - start < ms) {
      const path = next();
      answers.push([path, await connection.get(path)]);
    }
    connection.close();
    return answers;
  });
  const answers = (await Promise.all(lanes)).flat();
  const rate = (answers.length * 1000) / (performance.now() - start);
  for (const [path, answer] of answers) check(path, answer);
  return rate;
}
