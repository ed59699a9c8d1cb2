/**
 * The query parameters of `outputs/nft` (TIP-26) for openapi.json. The Worker reads them as the
 * reference does (src/http/routes/indexer/nft-query.ts), which is more tolerant than what is
 * described here.
 */
import { MAX_PAGE_SIZE } from '../../src/http/routes/indexer/nft-query.ts';

const address = { type: 'string', description: 'A bech32 address of the network.' };
const boolean = { type: 'boolean' };
const tokens = { type: 'integer', minimum: 0, maximum: 64 };
const time = { type: 'integer', minimum: 0, maximum: 0xffff_ffff, description: 'Unix seconds.' };

const PARAMETERS: readonly [name: string, schema: object, description: string][] = [
  ['address', address, 'The address of the address unlock condition.'],
  [
    'unlockableByAddress',
    address,
    'That address, or a return address of the expiration or storage deposit.',
  ],
  ['issuer', address, 'The issuer, an immutable feature.'],
  ['sender', address, 'The sender feature.'],
  ['tag', { type: 'string', pattern: '^0[xX]([0-9a-fA-F]{2}){0,64}$' }, 'The tag feature.'],
  ['hasStorageDepositReturn', boolean, 'Whether a storage deposit is to be returned.'],
  ['storageDepositReturnAddress', address, 'To whom it is to be returned.'],
  ['hasTimelock', boolean, 'Whether there is a timelock, over or not.'],
  ['timelockedBefore', time, 'The timelock ends before.'],
  ['timelockedAfter', time, 'The timelock ends after.'],
  ['hasExpiration', boolean, 'Whether there is an expiration, passed or not.'],
  ['expiresBefore', time, 'The output expires before.'],
  ['expiresAfter', time, 'The output expires after.'],
  ['expirationReturnAddress', address, 'To whom it goes then.'],
  ['hasNativeTokens', boolean, 'Whether the output holds native tokens.'],
  ['minNativeTokenCount', tokens, 'The fewest kinds of native tokens.'],
  ['maxNativeTokenCount', tokens, 'The most kinds of native tokens.'],
  ['createdBefore', time, 'Before this time of the milestone that created the output.'],
  ['createdAfter', time, 'After this time of that milestone.'],
  [
    'pageSize',
    { type: 'integer', minimum: 1, maximum: MAX_PAGE_SIZE, default: MAX_PAGE_SIZE },
    'The most items of the answer.',
  ],
  [
    'cursor',
    { type: 'string', pattern: '^[0-9a-f]{76}\\.\\d+$' },
    "Another answer's cursor; its page size counts instead of pageSize.",
  ],
];

export function nftParameters(): Record<string, unknown>[] {
  return PARAMETERS.map(([name, schema, description]) => {
    return { name, in: 'query', required: false, description, schema };
  });
}
