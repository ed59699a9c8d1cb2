/** Reads of whole objects, raw or as JSON: outputs, blocks, milestones, receipts, and the node's own. */
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { decode } from '../../../src/stardust/encoding/codec.ts';
import {
  blockToJson,
  milestoneToJson,
  optionToJson,
  outputToJson,
} from '../../../src/stardust/json/rest-json.ts';
import { block as blockCodec } from '../../../src/stardust/wire/block.ts';
import { decodeOutput } from '../../../src/stardust/wire/ids.ts';
import { networkMilestone, readMilestone } from '../../support/network/blocks.ts';
import {
  isUnspentAt,
  lastIndex,
  type NetworkMilestone,
} from '../../support/network/network-model.ts';
import type { World } from '../world.ts';
import { differs, guessFault, type How, isReferencedAfter, metadataOf, read } from './reads.ts';

const RAW: How = {
  init: { headers: { accept: 'application/vnd.iota.serializer-v1' } },
  parse: async (answer) => ({ raw: new Uint8Array(await answer.arrayBuffer()).toHex() }),
};

/** Reads an object both ways. */
function readBoth(
  world: World,
  what: string,
  path: string,
  { bytes, json }: { bytes: () => Uint8Array | undefined; json: (index: number) => unknown },
  how: How & { pick?: (body: Record<string, unknown>) => unknown } = {},
): void {
  const { pick = (body) => body } = how;
  if (world.readers.chance(0.5)) {
    const check = ({ raw }: { raw: string }) => differs(raw, bytes()?.toHex());
    read(world, `${what} raw`, path, check, { ...how, ...RAW });
    return;
  }
  const check = (body: Record<string, unknown>, index: number) => differs(pick(body), json(index));
  read(world, what, path, check, { ...how, hasForms: true });
}

export function readOutputBody(world: World, outputId: string): void {
  const output = () => world.network.outputs.get(outputId)!;
  readBoth(
    world,
    'output body',
    `/api/core/v2/outputs/${outputId}`,
    {
      bytes: () => output().bytes,
      json: (index) => [
        metadataOf(output(), index, !isUnspentAt(output(), index)),
        outputToJson(decodeOutput(output().bytes)),
      ],
    },
    {
      pick: ({ metadata, output: said }) => [metadata, said],
      isDue: (first) => (output().spent?.index ?? first + 1) > first,
    },
  );
}

/** Several outputs at one ledger index: those that are unspent. */
export function readOutputBatch(world: World, outputIds: readonly string[]): void {
  const { network } = world;
  const truth = (id: string, index: number) => {
    const output = network.outputs.get(id)!;
    if (!isUnspentAt(output, index)) return null;
    return [metadataOf(output, index, false), outputToJson(decodeOutput(output.bytes))];
  };
  read(
    world,
    'outputs',
    `/api/edge/v1/outputs?ids=${outputIds}`,
    ({ outputs }: { outputs: (OutputJson | null)[] }, index) =>
      differs(
        outputs.map((each) => each && [each.metadata, each.output]),
        outputIds.map((id) => truth(id, index)),
      ),
    { hasMin: true, isListed: true, isDue: () => true },
  );
}

interface OutputJson {
  metadata: unknown;
  output: unknown;
}

export function readBlockBody(world: World, blockId: string): void {
  const { bytes } = world.network.blocks.get(blockId)!;
  const json = () => blockToJson(decode(blockCodec, bytes));
  const isDue = isReferencedAfter(world, blockId);
  const path = `/api/core/v2/blocks/${blockId}`;
  const isGone = async () => guessFault(world, blockId);
  const how = { isGone, isDue, mayFail: () => true };
  readBoth(world, 'block body', path, { bytes: () => bytes, json }, how);
}

/** The block whose transaction was applied, of all that carry it. */
export function readIncluded(world: World, carrier: string): void {
  const { network } = world;
  const { id } = network.transactions.get(carrier)!;
  const included = (index: number) =>
    [...network.transactions]
      .filter(([, made]) => toHex(made.id) === toHex(id))
      .map(([blockId]) => network.blocks.get(blockId)!)
      .find(({ referenced }) => referenced?.state === 'included' && referenced.index <= index);
  const path = `/api/core/v2/transactions/${toHex(id)}/included-block`;
  const isDue = (first: number) =>
    (included(lastIndex(network))?.referenced?.index ?? first) > first;
  if (world.readers.chance(0.3)) {
    const bytes = () => included(lastIndex(network))?.bytes;
    const json = () => {
      const found = bytes();
      return found && blockToJson(decode(blockCodec, found));
    };
    readBoth(world, 'included body', path, { bytes, json }, { isDue });
    return;
  }
  read(
    world,
    'included block',
    `${path}/metadata`,
    (
      body: { blockId: string; ledgerInclusionState: string; referencedByMilestoneIndex: number },
      index,
    ) => {
      const block = included(index === -1 ? lastIndex(network) : index);
      if (world.mayHideReferences && body.ledgerInclusionState === undefined) return undefined;
      return differs(
        [body.blockId, body.ledgerInclusionState, body.referencedByMilestoneIndex],
        [block?.id, block?.referenced?.state, block?.referenced?.index],
      );
    },
    { isDue },
  );
}

export function readMilestoneBody(world: World, milestone: NetworkMilestone): void {
  const path = world.readers.chance(0.5) ? milestone.id : `by-index/${milestone.index}`;
  // a twin with other valid signatures is the same milestone
  const isDue = (first: number) => milestone.index > first;
  const unsigned = ({ signatures: _, ...rest }: Record<string, unknown>) => rest;
  if (world.readers.chance(0.5))
    read(
      world,
      'milestone raw',
      `/api/core/v2/milestones/${path}`,
      ({ raw }: { raw: string }) =>
        differs(networkMilestone(Uint8Array.fromHex(raw)).id, milestone.id),
      { ...RAW, isDue },
    );
  else
    read(
      world,
      'milestone body',
      `/api/core/v2/milestones/${path}`,
      (body: Record<string, unknown>) =>
        differs(unsigned(body), unsigned(milestoneToJson(readMilestone(milestone.payload)))),
      { isDue },
    );
}

/**
 * Receipts since the snapshot, which brings none.
 *
 * @param of one milestone of the legacy network alone, which has the index of ours here
 */
export function readReceipts(world: World, of?: number): void {
  const { network } = world;
  read(
    world,
    'receipts',
    `/api/core/v2/receipts${of === undefined ? '' : `/${of}`}`,
    ({ receipts }: { receipts: { milestoneIndex: number; receipt: unknown }[] }, index) => {
      const said = receipts.map(({ milestoneIndex }) => milestoneIndex);
      const first = world.imports > 0 ? (said[0] ?? index + 1) : world.snapshotIndex + 1;
      const truth = network.milestones.filter(
        ({ receipt, index: at }) =>
          receipt !== undefined && at >= first && at <= index && (of ?? at) === at,
      );
      return differs(
        receipts.map(({ receipt, milestoneIndex }) => [milestoneIndex, receipt]),
        truth.map(({ index: at, receipt }) => [at, optionToJson(receipt!)]),
      );
    },
    { isDue: () => true },
  );
}

const TEXT: How = { parse: async (answer) => ({ text: await answer.text() }) };

/** Seconds after which a node is not healthy without another milestone. */
const HEALTHY_S = 300;

function isOld({ network, simulation }: World): boolean {
  return simulation.now / 1000 - network.milestones.at(-1)!.timestamp > HEALTHY_S - MARGIN_S;
}

const MARGIN_S = 60;

const TIMES = /^stardust_request_seconds_(?:bucket|count)\{route="(.*?)".*\} (\d+)$/gm;

function metricsFault(world: World, text: string): string | undefined {
  const { network, settings, restsFrom, isDisturbed, liar, node, simulation } = world;
  const last = lastIndex(network);
  const [named] = text.match(/0x[0-9a-f]{16}/i) ?? [];
  if (named !== undefined) return `${named} is what a client asked for`;
  const read = (name: string) => {
    const found = new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1];
    return found === undefined ? undefined : Number(found);
  };
  const ledger = read('stardust_ledger_index');
  if ((ledger ?? 0) > last) return `the ledger is at ${ledger}`;
  const latest = read('stardust_latest_milestone_index');
  const lag = read('stardust_ledger_lag_milestones');
  if (ledger !== undefined && latest !== undefined && lag !== Math.max(0, latest - ledger))
    return `the ledger is at ${ledger} of ${latest}, and ${lag} behind`;
  let [of, below] = ['', 0];
  for (const [, route = '', count] of text.matchAll(TIMES)) {
    if (route === of && Number(count) < below) return `${count} of ${route} in more time`;
    [of, below] = [route, Number(count)];
  }
  const isEvicted = node.lines.some((line) => line.text.includes('"follower.blocks-evicted"'));
  if (read('stardust_blocks_dropped_total\\{why="evicted"\\}') && !isEvicted)
    return 'blocks were evicted, and the log tells none';
  const confirmed = upstreamHeads(text, 'confirmed');
  const heard = upstreamHeads(text, 'latest');
  if (confirmed.length !== heard.length || confirmed.some((index, i) => index > heard[i]!))
    return `upstreams have ${confirmed}, and have heard of ${heard}`;
  const isSure = settings.replicaMs === 0 && liar === undefined && !node.vars.FINAL_MILESTONE;
  if (restsFrom === undefined || !isSure) return undefined;
  const names = [
    'stardust_ledger_index',
    'stardust_ledger_lag_milestones',
    'stardust_follower_state\\{state="following"\\}',
    ...(isDisturbed ? [] : ['stardust_milestones_applied_total']),
  ];
  const applied = last - world.snapshotIndex;
  const age = Number(/^stardust_ledger_age_seconds (.+)$/m.exec(text)?.[1]);
  const dueAge = Math.max(0, simulation.now / 1000 - network.milestones.at(-1)!.timestamp);
  if (!(Math.abs(age - dueAge) < MARGIN_S)) return `the ledger is ${age} s old, not ${dueAge}`;
  const said = names.map(read);
  // before an upstream named a milestone there is none to lag behind
  said[1] ??= 0;
  return differs(said, [last, 0, 1, applied].slice(0, names.length));
}

/** In the order of the places. */
function upstreamHeads(text: string, what: 'confirmed' | 'latest'): number[] {
  const lines = text.matchAll(new RegExp(`^stardust_upstream_${what}_index\\{.*\\} (\\d+)$`, 'gm'));
  return Array.from(lines, ([, index]) => Number(index));
}

/** Of one ledger index there is one, whoever tells it. */
function fingerprintFault(world: World, index: number, said = ''): string | undefined {
  const { fingerprints } = world;
  const known = fingerprints.get(index) ?? said;
  fingerprints.set(index, said);
  return /^[0-9a-f]{13}$/.test(said) && said === known
    ? undefined
    : `the fingerprint is ${said}, and was ${known}`;
}

/** What a node says of itself: that it can be read, and no milestone that is not there. */
export function readNode(world: World, path: string): void {
  read(
    world,
    path,
    path,
    ({ text }: { text: string }, index, { headers }) => {
      const { origin } = new URL(path, 'https://edge.test');
      if (text.includes('<meta') && !text.includes(`"${origin}/"`)) return 'another origin';
      const fingerprint = headers.get('x-ledger-fingerprint') ?? undefined;
      if (path === '/health') return fingerprintFault(world, index, fingerprint);
      return path === '/metrics' ? metricsFault(world, text) : undefined;
    },
    {
      ...TEXT,
      // a replica may show how it was before all was right, and who lies diverges
      mayFail: (index, { headers }) => {
        const { liar, settings, node } = world;
        const isReplica = node.disturbances.replicaMs > 0;
        const isDiverged = headers.get('x-error-detail')?.startsWith('diverged');
        // what a pass applies shows before that the pass no longer diverges
        const hasDiverged = settings.missingKeys > 0 || world.tally.has('unsound');
        const mayDiverge = liar !== undefined || (isReplica && hasDiverged);
        return (
          path === '/health' &&
          (isOld(world) ||
            (mayDiverge && isDiverged) ||
            (isReplica && index !== lastIndex(world.network)))
        );
      },
    },
  );
}

/** Tips that it names are blocks of the network, and no milestone that it has applied references one. */
export function readTips(world: World): void {
  read(
    world,
    'tips',
    '/api/core/v2/tips',
    ({ tips }: { tips: string[] }, index) => {
      const { network, settings } = world;
      const { blocks } = network;
      // a pushed block of which a bit was spoilt on the way is another block
      const mayBeUnknown = settings.kind === 'hostile';
      const wrong = tips.find((id) => {
        const block = blocks.get(id);
        if (block === undefined) return !mayBeUnknown;
        const { index: referenced = index + 1 } = block.referenced ?? {};
        const isHearsay = world.wasLiarAlone && referenced <= world.importedTo;
        return referenced <= index && !isHearsay;
      });
      return wrong === undefined ? undefined : `${wrong} is no tip`;
    },
    { isListed: true, isDue: () => true },
  );
}
