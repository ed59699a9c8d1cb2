/**
 * Checks statements of addresses at a final ledger (docs/final-ledger.md), offline, against a final root
 * that the reader chose; in Node, and in browsers as a part of the explorer.
 */
import {
  type Finding,
  joinStatements,
  type Proved,
  provedValue,
  proveStatement,
  refute,
  type Statement,
  tell,
} from '../src/stardust/provenance/statement.ts';
import { findKnownNetwork } from './known-networks.ts';
import { NotVerified } from './node-client.ts';
import { finalWords } from './words/holding.ts';
import { describeLimit, describeStated, describeSums, nameStatement } from './words/statement.ts';

/** What the final root proves of the pages of a statement; and what it does not. */
export interface StatementReport {
  proved: readonly Proved<string>[];
  /** Sentences. */
  open: readonly string[];
}

/**
 * Judges files of statements, offline. Throws a {@link NotVerified} for the first page that is not
 * proved, or does not follow the one before.
 *
 * @param pages JSON, in order
 */
export function reportStatement(pages: readonly unknown[], root: Uint8Array): StatementReport {
  const proofs = pages.map((json) => requireProved(judgeStatement(json, root)));
  const proof = requireProved(joinStatements(proofs));
  const statement = provedValue(proof);
  const words = finalWords(statement.ledger.networkName, statement.prefix);
  const lines = [
    nameStatement(statement, words),
    ...describeSums(statement, words),
    ...statement.outputs.flatMap((stated) => {
      const { title, sentences } = describeStated(stated, words);
      return ['', `${title}:`, ...sentences.map((each) => `  ${each}`)];
    }),
  ];
  return {
    proved: lines.map((line) => tell(proof, () => line)),
    open: describeLimit(statement),
  };
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

function requireProved<T>(finding: Finding<T>): Proved<T> {
  if (finding.standing === 'proved') return finding.proof;
  throw new NotVerified(finding.reason);
}
