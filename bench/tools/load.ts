/**
 * How many answers a second a server gives, asked over so many connections at once, each one question after the other.
 */
import { type Answer, Connection } from './connection.ts';

export interface Load {
  url: string;
  /** Paths to get, one after the other, for ever. */
  next: () => string;
  /** Throws at a wrong answer. */
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
