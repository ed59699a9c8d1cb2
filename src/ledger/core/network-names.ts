/**
 * The names of a network, by its protocol parameters (docs/protocol.md, G).
 */
import { StardustError } from '../../stardust/error.ts';
import { type ParameterTable, PROTOCOL_VERSION } from '../../stardust/parameter-table.ts';
import { decodeParameters } from '../../stardust/wire/parameters.ts';

/**
 * What the network is or was called, and will be, as far as announced: in order of the targets. A
 * pending set may be no parameters at all: the reference reads one only once it is due (G).
 */
export function networkNames(table: ParameterTable): string[] {
  return table.options
    .filter(({ protocolVersion }) => protocolVersion === PROTOCOL_VERSION)
    .map(({ parameters }) => nameIn(parameters))
    .filter((name) => name !== undefined);
}

function nameIn(parameters: Uint8Array): string | undefined {
  try {
    return decodeParameters(parameters).networkName;
  } catch (error) {
    if (error instanceof StardustError) return undefined;
    throw error;
  }
}
