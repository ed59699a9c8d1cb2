/**
 * The version of the tables, and the refusal of a ledger that has another one (docs/operations.md#upgrade).
 *
 * A migration that changes the meaning of stored rows raises the version. A ledger of another
 * version is not read: its rows would be misread.
 */

/** The value of `head.schema`: a small integer. */
export const SCHEMA = 1;

/** D1 holds a ledger that this version does not read. The message is for people, in ASCII. */
export class LedgerUnreadable extends Error {
  override readonly name = 'LedgerUnreadable';
}

/** Throws a LedgerUnreadable unless `schema`, the value of `head.schema`, is {@link SCHEMA}. */
export function requireSchema(schema: unknown): void {
  if (schema === SCHEMA) return;
  throw new LedgerUnreadable(
    `ledger schema ${schema} is not supported by this version, which reads ${SCHEMA}: ` +
      'import the snapshot again (docs/operations.md#upgrade)',
  );
}
