/**
 * Checks statements of addresses at a final ledger (docs/final-ledger.md), offline, against a final root
 * that the reader chose; in Node, and in browsers as a part of the explorer.
 */

import {
  type Finding,
  joinStatements,
  provedValue,
  proveStatement,
  refute,
  type Statement,
} from '../src/stardust/provenance/statement.ts';
import { findKnownNetwork } from '../src/stardust/verifier/known-networks.ts';
import { requireProved } from './node-client.ts';
import { describeProvedStatement, type StatementWords } from './words/statement.ts';

/**
 * What the final root proves of the pages of a statement, offline; and what it does not. Throws a
 * NotVerified for the first page that is not proved, or does not follow the one before.
 *
 * @param pages JSON, in order
 */
export function reportStatement(pages: readonly unknown[], root: Uint8Array): StatementWords {
  const proofs = pages.map((json) => requireProved(judgeStatement(json, root)));
  return describeProvedStatement(requireProved(joinStatements(proofs)));
}

/** As the root proves it, with addresses as the network writes them, where it is a known one. */
export function judgeStatement(json: unknown, root: Uint8Array): Finding<Statement> {
  const finding = proveStatement(json, root);
  if (finding.standing !== 'proved') return finding;
  const { ledger, prefix } = provedValue(finding.proof);
  const known = findKnownNetwork(ledger.networkName);
  return known === undefined || known.bech32Hrp === prefix
    ? finding
    : refute(`addresses of ${known.networkName} begin with ${known.bech32Hrp}1, not ${prefix}1`);
}
