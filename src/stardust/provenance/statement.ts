/**
 * Judges statements of addresses at a final ledger (docs/final-ledger.md), by a final root from a
 * source that the reader trusts. The subpath `/statement` of the package (../README.md).
 */
import { equalBytes } from '../encoding/bytes.ts';
import { finalRoot } from '../proof/final-ledger.ts';
import { type Statement, sumStated, verifyStatement } from '../proof/statement.ts';
import { addressKey } from '../wire/address.ts';
import { type Finding, notChecked, type Proved, prove, provedValue, refute } from './proved.ts';

/** @param json a page of the statement of an address, of anybody */
export function proveStatement(json: unknown, root: Uint8Array): Finding<Statement> {
  const verdict = verifyStatement(json, root);
  return verdict.ok
    ? prove(verdict.statement)
    : refute(`the statement is not proved: ${verdict.reason}`);
}

/** Joins pages of one statement. Its parts are added up again; the rest was proved. */
export function joinStatements(pages: readonly Proved<Statement>[]): Finding<Statement> {
  const [first, ...more] = pages.map(provedValue);
  if (first === undefined) return notChecked('a statement without pages');
  const key = addressKey(first.address);
  let joined = first;
  for (const [i, page] of more.entries()) {
    const isSame =
      addressKey(page.address) === key &&
      page.prefix === first.prefix &&
      equalBytes(finalRoot(page.ledger), finalRoot(first.ledger));
    if (!isSame) return refute(`file ${i + 2} is of another address or ledger than the first`);
    if (page.after === undefined || page.after !== joined.next)
      return refute(`file ${i + 2} is not the page behind file ${i + 1}`);
    joined = { ...joined, outputs: [...joined.outputs, ...page.outputs], next: page.next };
  }
  return prove({ ...joined, totals: sumStated(joined.outputs, key) });
}

export {
  STATEMENT_LIMIT,
  STATEMENT_PARTS,
  type StatedOutput,
  type Statement,
  type StatementPart,
  type StatementSum,
} from '../proof/statement.ts';
export { type Finding, type Proved, provedValue, refute, tell } from './proved.ts';
export { formatTime } from './words.ts';
