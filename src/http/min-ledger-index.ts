/**
 * X-Min-Ledger-Index: a client that has seen a later ledger asks for that one at least
 * (docs/contract.md#headers).
 */
import { HttpError } from './errors.ts';
import { parseMilestoneIndex } from './schemas.ts';

export const MIN_LEDGER_INDEX = 'x-min-ledger-index';

/** 0 where any ledger will do. Throws an HttpError 400. */
export function readMinLedgerIndex({ headers }: Request): number {
  const asked = headers.get(MIN_LEDGER_INDEX);
  return asked === null ? 0 : parseMilestoneIndex(asked, 'X-Min-Ledger-Index');
}

/** Throws an HttpError 404 where the ledger has not come so far. */
export function requireLedgerIndex(ledgerIndex: number, minLedgerIndex: number): void {
  if (ledgerIndex >= minLedgerIndex) return;
  throw new HttpError(
    404,
    `the ledger is at ${ledgerIndex}, before the milestone that was asked for`,
  );
}
