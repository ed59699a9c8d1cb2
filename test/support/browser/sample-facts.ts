/**
 * What tests in browsers know of the sample.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from '../../../cli/lib/project.ts';

/** The NFT under which Soonaverse minted most of the sample's: 22 of them. */
export const SAMPLE_ISSUER = 'smr1zq6yg8qf59prjwx72ldzwux0g6se3r5xpt7x3xtc67xlx0p9u63fktney6m';

/** Who signs Shimmer's milestones, in hex; seven of them must. */
export const SAMPLE_KEYS: readonly string[] = JSON.parse(
  readFileSync(join(PROJECT, 'sample/network.json'), 'utf8'),
).milestonePublicKeys;
