/** Helpers of the tests of H.1: transactions in blocks, and the rules that they break. */
import { README_PARAMETERS as parameters } from '../../../scripts/conformance/parameters.ts';
import { admissionFault } from '../../../src/stardust/admission.ts';
import { parseBlock } from '../../../src/stardust/wire/block.ts';
import type { Output } from '../../../src/stardust/wire/output.ts';
import type { ProtocolParameters } from '../../../src/stardust/wire/parameters.ts';
import { blockBytes, brokenRule } from '../payloads/blocks.ts';
import { keyPair } from '../payloads/keys.ts';
import { basic, idOf } from '../payloads/outputs.ts';
import { type TransactionPlan, transactionOf } from '../payloads/transactions.ts';

export const alice = keyPair('alice');
export const bob = keyPair('bob');
export const aliasId = idOf('alias');
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
