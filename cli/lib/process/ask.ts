/**
 * Questions to the person who runs a command.
 */
import { createInterface } from 'node:readline/promises';
import { UsageError } from './command-line.ts';

/**
 * Asks the operator; `flag` gives the same answer. Throws a UsageError where nobody can be asked.
 */
export type Ask = (question: string, flag: string) => Promise<string>;

export const askInTerminal: Ask = async (question, flag) => {
  if (!process.stdin.isTTY)
    throw new UsageError(`${flag} is missing, and there is no terminal to ask in`);
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return (await terminal.question(`${question} `)).trim();
  } finally {
    terminal.close();
  }
};
