/** Names and parameters of a network, by its protocol parameters (docs/protocol.md, G). */
import { StardustError } from '../../stardust/error.ts';
import { type ParameterTable, PROTOCOL_VERSION } from '../../stardust/parameter-table.ts';
import { decodeParameters, type ProtocolParameters } from '../../stardust/wire/parameters.ts';

/** The network's names, past, present and announced, in order of their targets. */
export function networkNames(table: ParameterTable): string[] {
  return parameterSets(table).map(({ networkName }) => networkName);
}

/**
 * The network's parameters, past, present and announced, in order of their targets. A pending set
 * may be invalid: the reference reads it only once it is due (G).
 */
export function parameterSets(table: ParameterTable): ProtocolParameters[] {
  return table.options
    .filter(({ protocolVersion }) => protocolVersion === PROTOCOL_VERSION)
    .map(({ parameters }) => readIfValid(parameters))
    .filter((read) => read !== undefined);
}

function readIfValid(parameters: Uint8Array): ProtocolParameters | undefined {
  try {
    return decodeParameters(parameters);
  } catch (error) {
    if (error instanceof StardustError) return undefined;
    throw error;
  }
}
