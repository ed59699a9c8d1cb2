/**
 * Protocol parameters in D1, by the milestone from which on they are in force (docs/protocol.md,
 * G).
 */
import { fromBase64, Reader } from '../../stardust/encoding/bytes.ts';
import { decode } from '../../stardust/encoding/codec.ts';
import { ParameterTable, PROTOCOL_VERSION } from '../../stardust/parameter-table.ts';
import {
  type ProtocolParametersOption,
  protocolParametersOption,
} from '../../stardust/wire/milestone.ts';
import { decodeParameters, type ProtocolParameters } from '../../stardust/wire/parameters.ts';
import type { Database } from './database.ts';
import { many, type Query, readAlone } from './read-batch.ts';

export const SELECT_PARAMETERS = 'SELECT bytes FROM parameters ORDER BY target';

/** All parameters, those that are not in force any more and those that are pending too. */
export function selectParameters(db: Database): Query<ParameterTable> {
  const { statements, read } = many(db.prepare(SELECT_PARAMETERS), (row) => row.text('bytes'));
  return { statements, read: (results) => parameterTable(read(results)) };
}

/** @param options base64 of the milestone options, in the order of their targets */
export function parameterTable(options: readonly string[]): ParameterTable {
  const table = new ParameterTable();
  for (const bytes of options)
    table.announce(decode(protocolParametersOption, new Reader(fromBase64(bytes))));
  return table;
}

export function readParameters(db: Database): Promise<ParameterTable> {
  return readAlone(selectParameters(db));
}

/**
 * What is in force at a milestone. Throws when nothing is: the import brought what was in force
 * then.
 */
export function parametersAt(table: ParameterTable, index: number): ProtocolParameters {
  const option = table.at(index);
  if (option === undefined) throw new Error(`no protocol parameters for milestone ${index}`);
  return decodeParameters(option.parameters);
}

/**
 * Every set that a block may have been admitted under at this ledger index, the current one first;
 * what is pending counts for nobody yet.
 */
export function admittingParameters(table: ParameterTable, index: number): ProtocolParameters[] {
  return table.options
    .filter((option: ProtocolParametersOption) => option.targetMilestoneIndex <= index)
    .reverse()
    .map((option) => decodeParameters(option.parameters));
}

/** What the network is or was called, and will be, as far as announced: in order of the targets. */
export function networkNames(table: ParameterTable): string[] {
  return table.options
    .filter(({ protocolVersion }) => protocolVersion === PROTOCOL_VERSION)
    .map(({ parameters }) => decodeParameters(parameters).networkName);
}
