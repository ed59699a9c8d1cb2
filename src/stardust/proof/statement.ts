/**
 * A statement of an address at a final ledger (docs/final-ledger.md#a-statement-of-an-address): its
 * unspent outputs, each with the entry that proves it, and their sums. Statements come from
 * untrusted files. All but its place among the pages follows from its address and its proved
 * records, so the verifier makes all of it again, and refuses a file that differs.
 */
import { parseBech32Address, toBech32 } from '../bech32.ts';
import { toHex, toHexDigits } from '../encoding/bytes.ts';
import { caughtRefusal, StardustError } from '../error.ts';
import { type Address, type AddressKey, addressKey } from '../wire/address.ts';
import { decodeOutput } from '../wire/ids.ts';
import { decodeLedgerOutput, type LedgerOutput } from '../wire/ledger-output.ts';
import { type Output, OutputType } from '../wire/output.ts';
import { addressIn, findCondition, UnlockConditionType } from '../wire/unlock-condition.ts';
import {
  type FinalEntry,
  type FinalLedger,
  finalEntryFromJson,
  finalEntryToJson,
  finalLedgerToJson,
  jsonObject,
  refuseProof,
  requireEntry,
  requireLedger,
} from './final-ledger.ts';

/** The first field of a file, by which it is recognised. */
export const STATEMENT_FORMAT = 'stardust-statement-1';

export const STATEMENT_PROVES =
  'Each output in this file is in the ledger with which the network ended, unspent: its record is in the tree that the final root commits to.';
export const STATEMENT_LIMIT =
  'This file does not prove that the address had no other outputs. The tree is in the order of output IDs, not of addresses, so whoever made the file may have left some out. For an output ID that you name, a node proves that the ledger has it, or has not.';

/**
 * Kinds of outputs by what they are to the address. Which of two addresses an expiration leaves one
 * to depends on the time, which the final root does not have.
 *
 * - `own`: the address's; an alias whose state it controls, whoever governs that.
 * - `untilExpiration`: the address's, until the output expires.
 * - `fromExpiration`: the address's, once the output has expired.
 * - `governed`: an alias that it governs, and whose state another address controls.
 * - `depositReturn`: whoever else unlocks it must return a deposit to it.
 */
export const STATEMENT_PARTS = [
  'own',
  'untilExpiration',
  'fromExpiration',
  'governed',
  'depositReturn',
] as const;

export type StatementPart = (typeof STATEMENT_PARTS)[number];

/** Sums over the outputs of a part. */
export interface StatementSum {
  outputs: number;
  /** Base tokens on them; of `depositReturn` only what is to be returned. */
  amount: bigint;
  /** Base tokens of `amount` that must be returned to others. */
  depositReturn: bigint;
  /** Base tokens of `amount` on outputs with a timelock, over or not. */
  timelocked: bigint;
  /** Native tokens by ID, 76 hex digits. None of `depositReturn`. */
  nativeTokens: ReadonlyMap<string, bigint>;
}

export type StatementTotals = Readonly<Record<StatementPart, StatementSum>>;

export interface StatedOutput extends LedgerOutput {
  part: StatementPart;
  output: Output;
}

export interface Statement {
  address: Address;
  /** Prefix of addresses, as the file says. No root has it. */
  prefix: string;
  ledger: FinalLedger;
  /** Outputs in the order of the lists: by time of creation, then by ID. */
  outputs: readonly StatedOutput[];
  totals: StatementTotals;
  /** Cursor of the page before this one; undefined on the first page, as its maker says. */
  after: string | undefined;
  /** Cursor of the next page, that of the last output; undefined on the last, as its maker says. */
  next: string | undefined;
}

export type StatementParts = Pick<Statement, 'address' | 'prefix' | 'ledger' | 'after' | 'next'> & {
  entries: readonly FinalEntry[];
};

/** The place of an output in the order of lists: digits of its time of creation, and of its ID. */
export function statementCursor({
  bookedTimestamp,
  outputId,
}: Pick<LedgerOutput, 'bookedTimestamp' | 'outputId'>): string {
  return bookedTimestamp.toString(16).padStart(8, '0') + toHexDigits(outputId);
}

/** Returns the first part that the output is to the address; undefined if nothing. */
export function partOf(output: Output, key: AddressKey): StatementPart | undefined {
  const isKey = (address: Address | undefined) =>
    address !== undefined && addressKey(address) === key;
  switch (output.type) {
    case OutputType.Alias:
      if (isKey(addressIn(output, UnlockConditionType.StateController))) return 'own';
      return isKey(addressIn(output, UnlockConditionType.Governor)) ? 'governed' : undefined;
    case OutputType.Foundry:
      return isKey(addressIn(output, UnlockConditionType.ImmutableAlias)) ? 'own' : undefined;
    default: {
      const expiration = findCondition(output, UnlockConditionType.Expiration);
      const deposit = findCondition(output, UnlockConditionType.StorageDepositReturn);
      if (isKey(addressIn(output, UnlockConditionType.Address)))
        return expiration === undefined || isKey(expiration.returnAddress)
          ? 'own'
          : 'untilExpiration';
      if (isKey(expiration?.returnAddress)) return 'fromExpiration';
      return isKey(deposit?.returnAddress) ? 'depositReturn' : undefined;
    }
  }
}

export function sumStated(outputs: readonly StatedOutput[], key: AddressKey): StatementTotals {
  const sums = STATEMENT_PARTS.map(
    (part) => [part, sumOfPart(outputs, part, key)] satisfies [StatementPart, StatementSum],
  );
  return Object.fromEntries(sums) as Record<StatementPart, StatementSum>;
}

function sumOfPart(
  outputs: readonly StatedOutput[],
  wanted: StatementPart,
  key: AddressKey,
): StatementSum {
  const tokens = new Map<string, bigint>();
  const sum = { outputs: 0, amount: 0n, depositReturn: 0n, timelocked: 0n };
  for (const { part, output } of outputs) {
    if (part !== wanted) continue;
    const deposit = findCondition(output, UnlockConditionType.StorageDepositReturn);
    const isRefund = part === 'depositReturn';
    const amount = isRefund ? deposit!.amount : output.amount;
    sum.outputs++;
    sum.amount += amount;
    if (deposit !== undefined && addressKey(deposit.returnAddress) !== key)
      sum.depositReturn += deposit.amount;
    if (findCondition(output, UnlockConditionType.Timelock) !== undefined) sum.timelocked += amount;
    if (isRefund) continue;
    for (const token of output.nativeTokens) {
      const id = toHexDigits(token.id);
      tokens.set(id, (tokens.get(id) ?? 0n) + token.amount);
    }
  }
  return { ...sum, nativeTokens: new Map([...tokens].sort(([a], [b]) => (a < b ? -1 : 1))) };
}

/**
 * Makes the statement of these entries. Throws a {@link StardustError} if an entry does not lead to
 * the root of the ledger, is not of the address, or is out of order.
 */
export function makeStatement(parts: StatementParts): Statement {
  const { entries, ...rest } = parts;
  const { address, ledger, after, next } = rest;
  const key = addressKey(address);
  const outputs = entries.map((entry, i) => {
    try {
      requireEntry(entry, 'outputs', ledger);
      return readStated(entry.record, key);
    } catch (error) {
      throw error instanceof StardustError ? error.within(i).within('outputs') : error;
    }
  });
  const cursors = outputs.map(statementCursor);
  cursors.forEach((cursor, i) => {
    const before = cursors[i - 1] ?? after;
    if (before !== undefined && before >= cursor) throw refuseProof('outputs are not in order');
  });
  if (next !== undefined && next !== cursors.at(-1))
    throw refuseProof('the next page does not begin behind the last output');
  return { ...rest, outputs, totals: sumStated(outputs, key) };
}

function readStated(record: Uint8Array, key: AddressKey): StatedOutput {
  const booked = decodeLedgerOutput(record);
  const output = decodeOutput(booked.bytes);
  const part = partOf(output, key);
  if (part === undefined)
    throw refuseProof(`output ${toHex(booked.outputId)} is of other addresses`);
  return { ...booked, output, part };
}

export function statementToJson(parts: StatementParts, { totals, outputs }: Statement) {
  return {
    format: STATEMENT_FORMAT,
    address: toBech32(parts.prefix, parts.address),
    ledger: finalLedgerToJson(parts.ledger),
    proves: STATEMENT_PROVES,
    doesNotProve: STATEMENT_LIMIT,
    after: parts.after ?? null,
    next: parts.next ?? null,
    totals: {
      outputs: outputs.length,
      own: sumToJson(totals.own),
      untilExpiration: sumToJson(totals.untilExpiration),
      fromExpiration: sumToJson(totals.fromExpiration),
      governed: sumToJson(totals.governed),
      depositReturn: sumToJson(totals.depositReturn),
    },
    outputs: parts.entries.map(finalEntryToJson),
  };
}

function sumToJson({ outputs, amount, depositReturn, timelocked, nativeTokens }: StatementSum) {
  return {
    outputs,
    amount: String(amount),
    depositReturn: String(depositReturn),
    timelocked: String(timelocked),
    nativeTokens: [...nativeTokens].map(([id, held]) => ({
      id: `0x${id}`,
      amount: `0x${held.toString(16)}`,
    })),
  };
}

export type StatementVerdict = { ok: true; statement: Statement } | { ok: false; reason: string };

/**
 * Returns what a statement, untrusted JSON with fields in any order, proves.
 *
 * @param root the final root that the caller trusts: 32 bytes
 */
export function verifyStatement(json: unknown, root: Uint8Array): StatementVerdict {
  try {
    const parts = statementPartsFromJson(json, root);
    const statement = makeStatement(parts);
    if (!isSameJson(json, statementToJson(parts, statement)))
      throw refuseProof('something else is in it than what its outputs lead to');
    return { ok: true, statement };
  } catch (error) {
    return { ok: false, reason: caughtRefusal(error).message };
  }
}

function statementPartsFromJson(json: unknown, root: Uint8Array): StatementParts {
  const { format, address: text, ledger, after, next, outputs } = jsonObject(json);
  if (format !== STATEMENT_FORMAT) throw refuseProof('it is no statement of an address');
  const parsed = typeof text === 'string' ? parseBech32Address(text) : undefined;
  if (parsed === undefined) throw refuseProof('the address is no bech32 address');
  if (!Array.isArray(outputs)) throw refuseProof('the outputs are no list');
  return {
    ...parsed,
    ledger: requireLedger(ledger, root),
    after: readStatementCursor(after),
    next: readStatementCursor(next),
    entries: outputs.map(finalEntryFromJson),
  };
}

function readStatementCursor(json: unknown): string | undefined {
  if (json === null) return undefined;
  if (typeof json === 'string' && /^[0-9a-f]{76}$/.test(json)) return json;
  throw refuseProof('a cursor is no cursor');
}

function isSameJson(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return one === other;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [keys, others] = [Object.keys(one), Object.keys(other)];
  return (
    keys.length === others.length &&
    others.every(
      (key) =>
        Object.hasOwn(one, key) &&
        isSameJson((one as Record<string, unknown>)[key], (other as Record<string, unknown>)[key]),
    )
  );
}
