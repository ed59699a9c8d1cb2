/**
 * `node tools/run.js cli/start/collect-sample.ts DIR`: makes the files of sample/ from recorded data
 * of Shimmer. Kept in the project to show where sample/ comes from.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { runMain, UsageError } from '../lib/process/command-line.ts';
import { CONFIRMED, PROPOSED, SAMPLE, type SampleMilestone, type SampleNetwork } from './sample.ts';

const USAGE = `Usage: node tools/run.js cli/start/collect-sample.ts DIR

Makes the files of sample/ from the recorded data in DIR, whose layout is described in
test/vectors/README.md, section Shimmer.`;

interface RecordedConfig {
  protocol: { network_name: string };
  nodeConfig: {
    milestone_public_key_count: number;
    milestone_key_ranges: { public_key: string }[];
  };
}

function collect(source: string): void {
  writeJson('network.json', readNetwork(source));
  copy(join(source, 'full_target17338_ledger17338.bin'), 'snapshot-17338.bin');
  for (const index of [CONFIRMED, PROPOSED]) {
    const milestone = JSON.stringify(readMilestone(join(source, String(index))));
    write(`milestone-${index}.json.gz`, gzipSync(milestone, { level: 9 }));
  }
  for (const part of ['request', 'expected'])
    copy(join(source, `${PROPOSED}/whiteflag.${part}.json`), `whiteflag-${PROPOSED}.${part}.json`);
}

function readNetwork(source: string): SampleNetwork {
  const path = join(source, 'protocol-and-node-config.json');
  const { protocol, nodeConfig }: RecordedConfig = JSON.parse(readFileSync(path, 'utf8'));
  return {
    name: protocol.network_name,
    milestonePublicKeys: nodeConfig.milestone_key_ranges.map((range) => range.public_key),
    milestoneThreshold: nodeConfig.milestone_public_key_count,
  };
}

function readMilestone(folder: string): SampleMilestone {
  const hexOf = (path: string) => `0x${readFileSync(join(folder, path)).toHex()}`;
  const names = readdirSync(join(folder, 'blocks')).sort();
  return {
    payload: hexOf('milestone.payload.bin'),
    blocks: names.map((name) => hexOf(join('blocks', name))),
  };
}

/** Copies the bytes without the file's mode: recorded files are read-only. */
function copy(from: string, name: string): void {
  write(name, readFileSync(from));
}

function writeJson(name: string, value: unknown): void {
  write(name, `${JSON.stringify(value, null, 2)}\n`);
}

function write(name: string, content: string | Uint8Array): void {
  writeFileSync(join(SAMPLE, name), content);
}

await runMain(USAGE, (args) => {
  const [source, ...others] = parseArgs({ args, allowPositionals: true }).positionals;
  if (source === undefined || others.length > 0) throw new UsageError('one folder must be given');
  collect(source);
  return 0;
});
