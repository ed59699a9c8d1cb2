/** Helpers of the catalogue's tests: who takes part, the rules that blocks break, and verdicts. */
import { expect } from 'vitest';
import { README_PARAMETERS as parameters } from '../../../cli/conformance/parameters.ts';
import { admissionFault } from '../../../src/stardust/admission.ts';
import type { ConflictReason } from '../../../src/stardust/semantics/verdict.ts';
import { parseBlock } from '../../../src/stardust/wire/block.ts';
import type { Output } from '../../../src/stardust/wire/output.ts';
import type { ProtocolParameters } from '../../../src/stardust/wire/parameters.ts';
import { blockBytes, brokenRule } from '../payloads/blocks.ts';
import { keyPair } from '../payloads/keys.ts';
import { basic, idOf } from '../payloads/outputs.ts';
import { type TransactionPlan, transactionOf, verdict } from '../payloads/transactions.ts';

export const alice = keyPair('alice');
export const bob = keyPair('bob');
export const carol = keyPair('carol');
export const aliasId = idOf('alias');
export const otherAliasId = idOf('other alias');
export const nftId = idOf('nft');

export const SUPPLY = parameters.tokenSupply;

export const oneInput = [{ output: basic(alice), unlock: alice }];
export const plan = (given: Partial<TransactionPlan>): TransactionPlan => ({
  inputs: oneInput,
  outputs: [basic(alice)],
  ...given,
});
export const blockOf = (given: Partial<TransactionPlan>) =>
  blockBytes({ payload: transactionOf(plan(given)) });

/** The rule that a transaction with these outputs breaks. */
export const withOutputs = (...outputs: Output[]) => brokenRule(blockOf({ outputs }));

/** The rule that the block breaks under the parameters. */
export function inadmissibleRule(
  bytes: Uint8Array,
  given: Partial<ProtocolParameters> = {},
): string | undefined {
  const result = parseBlock(bytes);
  if (!result.ok) throw new Error(result.reason);
  return admissionFault(result.parsed, { ...parameters, ...given })?.split(':')[0];
}

export const admitted = (outputs: Output[], given: Partial<ProtocolParameters> = {}) =>
  inadmissibleRule(blockOf({ outputs }), given);

export const tagged = (tagLength: number, dataLength: number) => ({
  type: 5 as const,
  tag: new Uint8Array(tagLength),
  data: new Uint8Array(dataLength),
});

/** No rule is broken. */
export const OK = undefined;

/** Each transaction has the verdict that is due, in a milestone at that second. */
export function expectVerdicts(
  ...rows: readonly (readonly [due: ConflictReason, plan: TransactionPlan, unixTime?: number])[]
): void {
  for (const [i, [due, plan, unixTime]] of rows.entries())
    expect(verdict(plan, unixTime), `row ${i}`).toBe(due);
}

/** Each of the rules broken is the one that is due. */
export function expectRules(
  ...rows: readonly (readonly [due: string | undefined, broken: string | undefined])[]
): void {
  for (const [i, [due, broken]] of rows.entries()) expect(broken, `row ${i}`).toBe(due);
}
