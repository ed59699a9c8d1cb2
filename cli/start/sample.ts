/**
 * The sample: a snapshot of the Shimmer mainnet and the two milestones after it (sample/README.md),
 * also as an upstream node that has only these.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { blockId } from '../../src/stardust/block.ts';
import { fromHex, toHexDigits } from '../../src/stardust/encoding/bytes.ts';
import { decodeMilestone } from '../../src/stardust/milestone.ts';
import type { Upstream } from '../../src/upstream/upstream.ts';
import { PROJECT } from '../lib/project.ts';

export const SAMPLE = join(PROJECT, 'sample');

export const SNAPSHOT = join(SAMPLE, 'snapshot-17338.bin');

/** The milestone of the snapshot. */
export const IMPORTED = 17338;

/** The milestone that is applied, and the next one, whose blocks are stored. */
export const CONFIRMED = 17339;
export const PROPOSED = 17340;

/** network.json */
export interface SampleNetwork {
  name: string;
  /** 0x-hex. */
  milestonePublicKeys: string[];
  milestoneThreshold: number;
}

/** milestone-N.json.gz; 0x-hex */
export interface SampleMilestone {
  payload: string;
  /** The blocks that it references, in white-flag order. */
  blocks: string[];
}

/** A white-flag request, as its body. */
export interface SampleRequest {
  index: number;
  timestamp: number;
  parents: string[];
  previousMilestoneId: string;
}

function readJson<T>(name: string): T {
  const bytes = readFileSync(join(SAMPLE, name));
  return JSON.parse((name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()) as T;
}

export function readNetwork(): SampleNetwork {
  return readJson('network.json');
}

export function readSampleMilestone(index: number): SampleMilestone {
  return readJson(`milestone-${index}.json.gz`);
}

/** The request that the coordinator could have sent for the next milestone, and its answer. */
export function readWhiteFlag(): { request: SampleRequest; expected: unknown } {
  return {
    request: readJson(`whiteflag-${PROPOSED}.request.json`),
    expected: readJson(`whiteflag-${PROPOSED}.expected.json`),
  };
}

/** A node that has confirmed the first milestone and knows the blocks of the second. */
export function sampleUpstream(): Upstream {
  const confirmed = readSampleMilestone(CONFIRMED);
  const payload = fromHex(confirmed.payload);
  const { value, id } = decodeMilestone(payload);
  const blocks = new Map<string, { bytes: Uint8Array; reference: number | null }>();
  const add = (hex: string, reference: number | null) => {
    const bytes = fromHex(hex);
    blocks.set(toHexDigits(blockId(bytes)), { bytes, reference });
  };
  for (const block of confirmed.blocks) add(block, CONFIRMED);
  for (const block of readSampleMilestone(PROPOSED).blocks) add(block, null);
  const latest = {
    index: CONFIRMED,
    timestamp: value.timestamp,
    milestoneId: toHexDigits(id),
  };
  return {
    name: 'sample',
    readHeads: async () => ({ confirmed: CONFIRMED, latest }),
    readMilestone: async (index) => (index === CONFIRMED ? payload : undefined),
    readBlock: async (id) => blocks.get(id)?.bytes,
    readReference: async (id) => blocks.get(id)?.reference,
    readTips: async () => readWhiteFlag().request.parents.map((id) => toHexDigits(fromHex(id))),
  };
}
