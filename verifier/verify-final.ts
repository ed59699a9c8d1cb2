/**
 * Checks what an edge node says of a final ledger (docs/final-ledger.md), against a final root that
 * the reader chose. It runs in Node, and in browsers as a part of the explorer. It only asks: what
 * the answers prove is judged by src/stardust/provenance/.
 */
import * as v from 'valibot';
import { fromHex } from '../src/stardust/encoding/bytes.ts';
import type { Statement } from '../src/stardust/final.ts';
import {
  type FinalRecord,
  type Finding,
  joinStatements,
  type Proved,
  provedValue,
  proveFinalLedger,
  proveFinalRecord,
  proveStatement,
  refute,
  tell,
  treeOfId,
} from '../src/stardust/provenance/provenance.ts';
import { findKnownNetwork } from './known-networks.ts';
import { type NodeClient, requestJson } from './node-client.ts';
import { NotVerified } from './verify-node.ts';
import { describeHolding, finalWords } from './words/holding.ts';
import { describeLimit, describeStated, describeSums, nameStatement } from './words/statement.ts';

const PATH = '/api/edge/v1/final';

/** What a node proves of an ID. @param id 0x… of an output or an NFT */
export async function askFinalRecord(
  node: NodeClient,
  root: Uint8Array,
  id: string,
): Promise<Finding<FinalRecord>> {
  const tree = treeOfId(id);
  if (tree === undefined) throw new Error(`${id} is neither an output ID nor an NFT ID`);
  const answer = await requestJson(node, `${PATH}/${tree}/${id}`, v.unknown());
  return proveFinalRecord(answer, tree, fromHex(id), root);
}

/**
 * Yields what was proved, each as a sentence. Throws a {@link NotVerified} for the first answer that
 * proves nothing, and an Error where the node does not answer.
 *
 * @param root the final root that the reader trusts: 32 bytes
 * @param ids of outputs and NFTs, 0x…
 */
export async function* proveFinalRecords(
  node: NodeClient,
  root: Uint8Array,
  ids: readonly string[],
): AsyncGenerator<Proved<string>, void> {
  const ledger = proveFinalLedger(await requestJson(node, PATH, v.unknown()), root);
  if (ledger.standing !== 'proved') throw new NotVerified(ledger.reason);
  yield tell(ledger.proof, ({ outputs, nfts, networkName, milestoneIndex }) => {
    const what = `${outputs.count} outputs and ${nfts.count} NFTs of ${networkName}`;
    return `The final root commits to ${what} at milestone ${milestoneIndex}.`;
  });
  for (const id of ids) {
    const record = await askFinalRecord(node, root, id);
    if (record.standing !== 'proved') throw new NotVerified(record.reason);
    yield tell(record.proof, describeRecord);
    const value = provedValue(record.proof);
    const held =
      value.tree === 'nfts' && value.present
        ? await askFinalRecord(node, root, value.outputId)
        : record;
    if (held.standing !== 'proved') throw new NotVerified(held.reason);
    const output = provedValue(held.proof);
    if (output.tree !== 'outputs' || !output.present) continue;
    const words = finalWords(provedValue(ledger.proof).networkName);
    for (const sentence of describeHolding(output, words)) yield tell(held.proof, () => sentence);
  }
}

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

function describeRecord(record: FinalRecord): string {
  const name = `${record.tree === 'nfts' ? 'NFT' : 'Output'} ${record.id}`;
  if (!record.present) return `${name} is not in the ledger.`;
  return record.tree === 'outputs'
    ? `${name} is in the ledger, unspent.`
    : `${name} is in the ledger, in output ${record.outputId}.`;
}
