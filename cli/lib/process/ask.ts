/**
 * Questions to the person who runs a command.
 */
import { createInterface } from 'node:readline/promises';
import { UsageError } from './command-line.ts';

/**
 * Asks the operator; `flag` gives the same answer. Throws a UsageError where nobody can be asked, or
 * sees the question: the answer would never come.
 */
export type Ask = (question: string, flag: string) => Promise<string>;

export const askInTerminal: Ask = async (question, flag) => {
  if (!process.stdin.isTTY)
    throw new UsageError(`${flag} is missing, and there is no terminal to ask in`);
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const { promise: unseen, reject } = Promise.withResolvers<never>();
  const giveUp = () =>
    reject(new UsageError(`${flag} is missing, and the question cannot be printed`));
  process.stdout.once('error', giveUp);
  try {
    return (await Promise.race([terminal.question(`${question} `), unseen])).trim();
  } finally {
    process.stdout.off('error', giveUp);
    terminal.close();
  }
};
