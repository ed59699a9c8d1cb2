/**
 * A process of its own that is the upstream of a bench: a double of a node that has a network's
 * first milestone, and when it is told to pushes the rest at its pace, as a node would that hears
 * of it. `fork` it with the file of the flow and blocks a second (steady-flow.ts).
 */
import { strict as assert } from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import { NodeDouble } from '../../test/support/hornet-double/hornet-double.ts';
import type {
  NetworkBlock,
  NetworkMilestone,
  NetworkOutput,
} from '../../test/support/network/network-model.ts';
import { readSteadyFlow } from './steady-flow.ts';

/** What the process says. */
export type PushReport =
  | { kind: 'ready'; url: string }
  /** Transfers that came by now. */
  | { kind: 'pushed'; transfers: number }
  /** @property blocksAsked requests for blocks and for what references them */
  | { kind: 'done'; seconds: number; blocksAsked: number };

const STEP_MS = 10;

const [file, perSecond] = process.argv.slice(2);
const { network, transfers, milestonesAt } = readSteadyFlow(file!);

/** It grows: what has not come yet is not known to the node. */
const known = {
  ...network,
  milestones: [] as NetworkMilestone[],
  blocks: new Map<string, NetworkBlock>(),
  outputs: new Map<string, NetworkOutput>(),
};
const double = await NodeDouble.start(known, { mqtt: true });
const { mqtt } = double;
assert.ok(mqtt !== undefined);

const milestoneBlocks = new Map(
  [...network.blocks.values()].flatMap((block) =>
    block.milestoneIndex === undefined ? [] : [[block.milestoneIndex, block]],
  ),
);

async function pushBlock(block: NetworkBlock): Promise<void> {
  known.blocks.set(block.id, block);
  await mqtt!.push({ topic: 'blocks', payload: block.bytes });
}

/** The milestone behind so many others: its payload, its block, and word that it is confirmed. */
async function pushMilestone(place: number): Promise<void> {
  const milestone = network.milestones[place]!;
  const { index, timestamp, id: milestoneId, payload } = milestone;
  known.milestones.push(milestone);
  await mqtt!.push({ topic: 'milestones', payload });
  await pushBlock(milestoneBlocks.get(index)!);
  double.confirm(index);
  const json = JSON.stringify({ index, timestamp, milestoneId });
  await mqtt!.push({ topic: 'milestone-info/confirmed', payload: Buffer.from(json) });
}

function say(report: PushReport): void {
  process.send!(report);
}

async function pushAll(): Promise<void> {
  const start = performance.now();
  let milestones = 1;
  for (let come = 0; come < transfers.length; ) {
    await sleep(STEP_MS);
    const due = Math.floor(((performance.now() - start) * Number(perSecond)) / 1000);
    for (; come < Math.min(due, transfers.length); ) {
      await pushBlock(network.blocks.get(transfers[come]!)!);
      if (++come === milestonesAt[milestones]) await pushMilestone(milestones++);
    }
    say({ kind: 'pushed', transfers: come });
  }
  const blocksAsked = double.requests.filter(({ path }) => path.includes('/blocks/')).length;
  say({ kind: 'done', seconds: (performance.now() - start) / 1000, blocksAsked });
}

await pushMilestone(0);
process.once('message', () => void pushAll());
process.once('disconnect', () => process.exit());
say({ kind: 'ready', url: double.url });
