/** Questions put to a ledger whose network knows the right answer. */
import { expect } from 'vitest';
import type { SyntheticNetwork } from '../network/synthetic-network.ts';
import { type AskOptions, ask, questionOf, type Rig } from './ledger-harness.ts';

/** A proposal over these parents, or over some tips, has the roots that the network expects. */
export async function expectRoots(
  rig: Rig,
  network: SyntheticNetwork,
  parents?: readonly string[],
  options?: AskOptions,
): Promise<void> {
  const { request, response } = network.propose(parents === undefined ? {} : { parents });
  expect(await ask(rig, request, options)).toEqual(response);
}

/** The milestone's own question has the roots that its coordinator signed. */
export async function expectAudit(rig: Rig, index: number, options?: AskOptions): Promise<void> {
  const { question, answer } = questionOf(rig.network, index);
  expect(await ask(rig, question, options)).toEqual(answer);
}
