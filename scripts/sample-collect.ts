/**
 * `node scripts/sample-collect.ts DIR`: makes sample/ of recorded Shimmer data in the layout of data/README.md (`shimmer/`). Kept so that it can be seen where sample/ comes from.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { SAMPLE, type SampleMilestone, type SampleNetwork } from './lib/sample.ts';

interface RecordedConfig {
  protocol: { network_name: string };
  nodeConfig: {
    milestone_public_key_count: number;
    milestone_key_ranges: { public_key: string }[];
  };
}

const source = process.argv[2];
if (source === undefined) throw new Error('Usage: node scripts/sample-collect.ts DIR');

/** Without its mode: what is recorded cannot be written. */
function copy(from: string, to: string): void {
  writeFileSync(join(SAMPLE, to), readFileSync(join(source!, from)));
}

const config = JSON.parse(
  readFileSync(join(source, 'protocol-and-node-config.json'), 'utf8'),
) as RecordedConfig;
const network: SampleNetwork = {
  name: config.protocol.network_name,
  milestonePublicKeys: config.nodeConfig.milestone_key_ranges.map((range) => range.public_key),
  milestoneThreshold: config.nodeConfig.milestone_public_key_count,
};
writeFileSync(join(SAMPLE, 'network.json'), `${JSON.stringify(network, null, 2)}\n`);
copy('full_target17338_ledger17338.bin', 'snapshot-17338.bin');

for (const index of ['17339', '17340']) {
  const folder = join(source, index);
  const hexOf = (...path: string[]) => `0x${readFileSync(join(folder, ...path)).toHex()}`;
  const milestone: SampleMilestone = {
    payload: hexOf('milestone.payload.bin'),
    blocks: readdirSync(join(folder, 'blocks'))
      .sort()
      .map((name) => hexOf('blocks', name)),
  };
  writeFileSync(
    join(SAMPLE, `milestone-${index}.json.gz`),
    gzipSync(JSON.stringify(milestone), { level: 9 }),
  );
}
for (const part of ['request', 'expected']) {
  copy(join('17340', `whiteflag.${part}.json`), `whiteflag-17340.${part}.json`);
}
