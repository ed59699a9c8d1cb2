/**
 * A node without a ledger: nothing was imported. It cannot say "not found" at any ledger index. So
 * it answers 500.
 */
import { HttpError } from './errors.ts';

export function noLedger(): HttpError {
  return new HttpError(500, 'no ledger was imported yet');
}
