/**
 * The protocol parameters for vectors: those of the recorded ones (test/vectors/README.md), or
 * those that a node's `info` route returns.
 */
import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import type { ProtocolParameters } from '../../src/stardust/block.ts';

export const README_PARAMETERS: ProtocolParameters = {
  version: 2,
  networkName: 'private_tangle1',
  bech32Hrp: 'tst',
  minPowScore: 0,
  belowMaxDepth: 15,
  rentStructure: { vByteCost: 500, vByteFactorData: 1, vByteFactorKey: 10 },
  tokenSupply: 2779530283277761n,
};

const unsigned = (max: number) => v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(max));

const info = v.object({
  protocol: v.object({
    version: unsigned(0xff),
    networkName: v.string(),
    bech32Hrp: v.string(),
    minPowScore: unsigned(0xffffffff),
    belowMaxDepth: unsigned(0xff),
    rentStructure: v.object({
      vByteCost: unsigned(0xffffffff),
      vByteFactorData: unsigned(0xff),
      vByteFactorKey: unsigned(0xff),
    }),
    tokenSupply: v.pipe(
      v.string(),
      v.regex(/^\d{1,20}$/),
      v.transform((digits) => BigInt(digits)),
    ),
  }),
});

/**
 * The `protocol` of a JSON file such as info.json. Throws an Error that says what is wrong with it.
 */
export async function readParameterFile(path: string): Promise<ProtocolParameters> {
  const result = v.safeParse(info, JSON.parse(await readFile(path, 'utf8')));
  if (result.success) return result.output.protocol;
  const issue = result.issues[0];
  throw new Error(`${path}: ${v.getDotPath(issue) ?? 'the file'}: ${issue.message}`);
}
