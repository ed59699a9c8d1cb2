/**
 * What tools/judge answers, and the process that does.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { InclusionState } from '../../support/network/network-model.ts';
import type { Line } from './network-file.ts';

interface Roots {
  inclusionMerkleRoot?: string;
  appliedMerkleRoot?: string;
}

export interface JudgedBlock {
  id: string;
  state: InclusionState;
  conflict: number;
  /** Other reasons that the reference gave for the same verdict: which one it names is chance. */
  also?: number[];
}

export type Answer =
  | { type: 'output'; outputId: string; minimumDeposit: string; json: unknown }
  | {
      type: 'block';
      id: string;
      valid: boolean;
      error?: string;
      milestone?: boolean;
      payloadId?: string;
      json?: unknown;
      minimumDeposits?: string[];
    }
  | ({ type: 'milestone'; index: number; id: string; error?: string; cone: JudgedBlock[] } & Roots)
  | ({ type: 'proposal'; index: number; error?: string } & Roots)
  | { type: 'state'; index: number; stateHash: string };

/** The answer of a line of this type. */
export type AnswerTo<L extends Line> = Extract<Answer, { type: L['type'] }>;

/**
 * The answers to all lines but those that begin a network, in their order. Rejects if the judge
 * cannot read the lines.
 *
 * @param program what `go build` makes of tools/judge
 */
export async function judge(program: string, lines: Iterable<Line>): Promise<Answer[]> {
  const child = spawn(program, { stdio: ['pipe', 'pipe', 'pipe'] });
  const closed = once(child, 'close');
  let said = '';
  child.stderr.on('data', (data) => {
    said += data;
  });
  // it may end before it has read all, and says why
  child.stdin.on('error', () => {});
  const feed = async () => {
    for (const line of lines) {
      if (child.stdin.destroyed) return;
      if (child.stdin.write(`${JSON.stringify(line)}\n`)) continue;
      const drained = Promise.withResolvers<void>();
      child.stdin.once('drain', drained.resolve);
      await Promise.race([drained.promise, closed]);
    }
    child.stdin.end();
  };
  const answers: Answer[] = [];
  const read = async () => {
    for await (const line of createInterface({ input: child.stdout }))
      answers.push(JSON.parse(line));
  };
  await Promise.all([feed(), read()]);
  const [code] = await closed;
  if (code !== 0) throw new Error(`the judge ended with ${code}: ${said.trim()}`);
  return answers;
}
