/** Protocol parameters in D1, by the milestone that they are in force from (docs/protocol.md, G). */
import { fromBase64, toBase64 } from '../../stardust/encoding/base64.ts';
import { decode, encode } from '../../stardust/encoding/codec.ts';
import { StardustError } from '../../stardust/error.ts';
import { ParameterTable, PROTOCOL_VERSION } from '../../stardust/parameter-table.ts';
import {
  type ProtocolParametersOption,
  protocolParametersOption,
} from '../../stardust/wire/milestone.ts';
import { decodeParameters, type ProtocolParameters } from '../../stardust/wire/parameters.ts';
import { LedgerDamaged } from './checksum.ts';
import type { Database } from './database.ts';
import { many, type Query, readAlone } from './read-batch.ts';
import { type FingerprintMover, rowSum } from './row-sum.ts';

export const SELECT_PARAMETERS = 'SELECT * FROM parameters ORDER BY target';

/** All parameters, those that are not in force any more and those that are pending too. */
export function selectParameters(db: Database): Query<ParameterTable> {
  const { statements, read } = many(db.prepare(SELECT_PARAMETERS), (row) => {
    row.requireSum('parameters');
    return row.text('bytes');
  });
  return { statements, read: (results) => parameterTable(read(results)) };
}

/** @param table parameters, or the staging table of an import */
export function insertParameters(
  db: Database,
  fingerprints: FingerprintMover,
  option: ProtocolParametersOption,
  table = 'parameters',
): D1PreparedStatement {
  const bytes = toBase64(encode(protocolParametersOption, option));
  const cells = [option.targetMilestoneIndex, bytes];
  const sum = rowSum(cells);
  fingerprints.move('parameters', '', sum);
  return db
    .prepare(`INSERT INTO ${table} (target, bytes, sum) VALUES (?1, ?2, ?3)`)
    .bind(...cells, sum);
}

/** @param options base64 of the milestone options, in the order of their targets */
export function parameterTable(options: readonly string[]): ParameterTable {
  const table = new ParameterTable();
  for (const bytes of options) table.announce(decode(protocolParametersOption, fromBase64(bytes)));
  return table;
}

export const readParameters = (db: Database): Promise<ParameterTable> =>
  readAlone(selectParameters(db));

/** Returns the parameters in force at a milestone. Throws a LedgerDamaged if they are not there. */
export function parametersAt(table: ParameterTable, index: number): ProtocolParameters {
  const option = table.at(index);
  if (option === undefined) throw new LedgerDamaged('rows of the table parameters');
  return decodeParameters(option.parameters);
}

/**
 * Returns every set under which a block may have been admitted at this ledger index, the current
 * one first; pending sets do not count.
 */
export function admittingParameters(table: ParameterTable, index: number): ProtocolParameters[] {
  return table.options
    .filter((option) => option.targetMilestoneIndex <= index && isKnown(option))
    .reverse()
    .map((option) => decodeParameters(option.parameters));
}

/** The network's names, past, present and announced, in order of their targets. */
export const networkNames = (table: ParameterTable): string[] =>
  parameterSets(table).map(({ networkName }) => networkName);

/**
 * The network's parameters, past, present and announced, in order of their targets. A pending set
 * may be invalid: the reference reads it only once it is due (G).
 */
export function parameterSets(table: ParameterTable): ProtocolParameters[] {
  return table.options
    .filter(isKnown)
    .map(({ parameters }) => readIfValid(parameters))
    .filter((read) => read !== undefined);
}

const isKnown = (option: ProtocolParametersOption) => option.protocolVersion === PROTOCOL_VERSION;

function readIfValid(parameters: Uint8Array): ProtocolParameters | undefined {
  try {
    return decodeParameters(parameters);
  } catch (error) {
    if (error instanceof StardustError) return undefined;
    throw error;
  }
}
