/**
 * What requests must look like (TIP-25, TIP-26; docs/contract.md). The same schemas check requests
 * and describe them in openapi.json.
 */
import * as v from 'valibot';
import type { WhiteFlagRequest } from '../node/edge-node.ts';
import { digitsOf, hex, MAX_UINT32, uint32 } from '../schemas.ts';
import { HttpError } from './errors.ts';

const MAX_PARENTS = 8;
const ZERO_ID = '0'.repeat(64);

/** 32 bytes: blocks, milestones, NFTs. */
export const Id = hex(64);
/** 34 bytes: transaction ID and index. */
export const OutputId = hex(68);
/** In a path or a header: digits and nothing else. */
export const MilestoneIndex = v.pipe(
  v.string(),
  v.regex(/^\d{1,10}$/),
  v.transform(Number),
  v.maxValue(MAX_UINT32),
);

export const WhiteFlagBody = v.object(
  {
    // the genesis index is 0 or more, and the first milestone comes after it
    index: v.message(
      v.pipe(uint32, v.minValue(1)),
      `index must be an integer from 1 to ${MAX_UINT32}`,
    ),
    timestamp: v.message(uint32, `timestamp must be an integer from 0 to ${MAX_UINT32}`),
    parents: v.pipe(
      v.message(
        v.pipe(
          v.array(Id),
          v.minLength(1),
          v.description(
            `Block IDs, 1 to ${MAX_PARENTS} distinct ones; repeats are dropped, the order decides.`,
          ),
        ),
        'parents must be a list of block IDs, each 0x and 64 hex digits, at least one',
      ),
      v.transform((parents) => [...new Set(parents.map(digitsOf))]),
      v.maxLength(MAX_PARENTS, `parents must have at most ${MAX_PARENTS} distinct values`),
    ),
    previousMilestoneId: v.message(
      v.pipe(
        v.nullish(v.union([Id, v.literal('')]), ''),
        v.transform((id) => (id === '' ? ZERO_ID : digitsOf(id))),
      ),
      'previousMilestoneId must be 0x and 64 hex digits, or be left out',
    ),
  },
  'index, timestamp and parents must be given',
);

export function parseWhiteFlagBody(body: object): WhiteFlagRequest {
  const result = v.safeParse(WhiteFlagBody, body, { abortEarly: true });
  if (!result.success) throw new HttpError(400, result.issues[0].message);
  return result.output;
}

/** The digits of an ID in a path. */
export function parseId(schema: typeof Id, id: string | undefined, name: string): string {
  if (!v.is(schema, id))
    throw new HttpError(400, `${name} is not 0x and hex digits of the right number`);
  return digitsOf(id);
}

export function parseMilestoneIndex(text: string | undefined, name: string): number {
  const result = v.safeParse(MilestoneIndex, text);
  if (!result.success)
    throw new HttpError(400, `${name} is not an integer from 0 to ${MAX_UINT32}`);
  return result.output;
}
