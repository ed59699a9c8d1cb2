/**
 * What tests in browsers know of the sample.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from '../../../cli/lib/project.ts';
import { toBech32 } from '../../../src/stardust/bech32.ts';
import { fromHex } from '../../../src/stardust/encoding/bytes.ts';
import { AddressType } from '../../../src/stardust/wire/address.ts';

/** The NFT under which Soonaverse minted most of the sample's: 22 of them. */
export const SAMPLE_ISSUER = 'smr1zq6yg8qf59prjwx72ldzwux0g6se3r5xpt7x3xtc67xlx0p9u63fktney6m';

/** Has a basic output and one with a native token. */
export const SAMPLE_HOLDER = toBech32('smr', {
  type: AddressType.Ed25519,
  id: fromHex('0x74e9dba11353725665a10e21090b15277dff358efb445a4e7538b8ff3b7bd647'),
});

/** Paths of one page of each kind, where every kind of output is indexed. @param nft of the ledger */
export const pagesOf = ({ nftId, outputId }: { nftId: string; outputId: string }) => [
  '/',
  `/nft/${nftId}`,
  `/output/${outputId}`,
  `/address/${SAMPLE_HOLDER}`,
  `/nfts/${SAMPLE_HOLDER}`,
  `/issuer/${SAMPLE_ISSUER}`,
  '/alias/0xb8c4e4f048c52abc2156710ffbe37ec013aeef5d9d9200d857cb9ebe7f916d9b',
  '/foundry/0x0877a4951292b80c2ef0a847a7e730b7929266ca05e3e68c28355036cac314304f0100000000',
  '/block/0xd79a2feb857ffe4791bfae2d2e991463bbcc6d9f9d2eeb1276d0931f16ae14dd',
  '/transaction/0x9d9a3945ad73eba4cbbdaea724d8dacb7c45c4d7500a0d3f16ce40e31803921e',
  '/milestone/17339',
  '/milestones',
  '/nfts',
  '/tokens',
  `/search?q=0x${'5a'.repeat(32)}`,
  '/proposal',
  '/reference',
  '/reference/readNft',
  '/verify',
  '/no/such/page',
];

/** Who signs Shimmer's milestones, in hex; seven of them must. */
export const SAMPLE_KEYS: readonly string[] = JSON.parse(
  readFileSync(join(PROJECT, 'sample/network.json'), 'utf8'),
).milestonePublicKeys;
