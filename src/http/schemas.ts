/**
 * Parameters of paths (TIP-25, TIP-26; docs/contract.md). The same schemas check requests and
 * describe them in openapi.json.
 */
import * as v from 'valibot';
import { digitsOf, hex, MAX_UINT32 } from '../platform/json-schemas.ts';
import { HttpError } from './errors.ts';

/** 32 bytes: blocks, milestones, NFTs, aliases. */
export const Id = hex(64);
export const OutputId = hex(68);
/** 38 bytes: alias address, serial number, type of the token scheme (B.7). */
export const FoundryId = hex(76);
/** Index in a path or a header: digits and nothing else. */
export const MilestoneIndex = v.pipe(
  v.string(),
  v.regex(/^\d{1,10}$/),
  v.transform(Number),
  v.maxValue(MAX_UINT32),
);

export function parseId(
  schema: v.GenericSchema<string>,
  id: string | undefined,
  name: string,
): string {
  if (!v.is(schema, id)) {
    const isSlashed = v.is(schema, String(id).replace(/\/$/, ''));
    const fault = isSlashed ? 'ends with a slash' : 'is not 0x and hex digits of the right number';
    throw new HttpError(400, `${name} ${fault}`);
  }
  return digitsOf(id);
}

export function parseMilestoneIndex(text: string | undefined, name: string): number {
  const result = v.safeParse(MilestoneIndex, text);
  if (!result.success)
    throw new HttpError(400, `${name} is not an integer from 0 to ${MAX_UINT32}`);
  return result.output;
}
