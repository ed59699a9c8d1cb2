/** White-flag requests, and whether their answers are true. */
import { readBlockRows } from '../../../src/ledger/packs/id-rows.ts';
import { admissionFault } from '../../../src/stardust/admission.ts';
import { parsedBlock } from '../../support/network/blocks.ts';
import { pastCone } from '../../support/network/known-verdicts.ts';
import {
  lastIndex,
  type Network,
  type NetworkBlock,
  parametersAt,
} from '../../support/network/network-model.ts';
import type { Random } from '../../support/network/random.ts';
import { isSmall, leastFetched, unreferencedBlocks } from '../platform/limits.ts';
import type { Request } from '../truth.ts';
import type { UpstreamDouble } from '../upstream.ts';
import type { World } from '../world.ts';

/** Milliseconds in which a coordinator has an answer; HORNET's waits for two seconds. */
export const ANSWERED_MS = 2500;
/** A node remembers for some seconds that no upstream has a block. */
export const UNKNOWN_MS = 4000;
/** Milestones. */
const FAR = 10;

export interface Timed {
  /** 0 until there is an answer. */
  status: number;
  ms: number;
}

/** A request, and how its answer came. */
export function askTimed(world: World, path: string, init?: Posted): Timed {
  const { simulation } = world;
  const askedAt = simulation.now;
  const timed = { status: 0, ms: Number.POSITIVE_INFINITY };
  const look = ({ status }: Response) => {
    Object.assign(timed, { status, ms: simulation.now - askedAt });
  };
  world.ask(path, look, init);
  return timed;
}

type Posted = ReturnType<typeof posting>;

/** A request of a client, with the address that it has. */
export const posting = (body: unknown, address?: string) => ({
  method: 'POST',
  headers: address === undefined ? {} : { 'cf-connecting-ip': address },
  body: JSON.stringify(body),
});

/** As a client writes it who names a parent twice, in other letters. */
function repeat(request: Request, random: Random): Request {
  const { parents } = request;
  const again = `0x${random.pick(parents).slice(2).toUpperCase()}`;
  const at = random.below(parents.length + 1);
  return { ...request, parents: parents.toSpliced(at, 0, again) };
}

/**
 * @param oddly writes it in other words now and then
 * @param isDue whether upstreams have, when the answer comes, what it takes
 */
export function askRoots(
  world: World,
  request: Request,
  oddly?: Random,
  isDue: () => boolean = () => false,
): void {
  const written = oddly?.chance(0.3) ? repeat(request, oddly) : request;
  // of a parent that is named twice the first place counts
  const parents = [...new Set(written.parents.map((id) => id.toLowerCase()))];
  const truth = world.truth.roots({ ...request, parents });
  const about = `milestone ${request.index} from ${request.parents.map((id) => id.slice(0, 8))}`;
  const { hasKeys, mayHideRows } = world;
  world.proposals.push(request);
  const body = JSON.stringify(written);
  const { simulation, upstreams, node, network } = world;
  const askedAt = simulation.now;
  const before = lastIndex(network);
  const isMute = ({ conduct, answeredAt }: UpstreamDouble) =>
    (conduct.failing === 1 || conduct.isLocked || conduct.hindered.block !== undefined) &&
    answeredAt < askedAt - UNKNOWN_MS;
  // of what its ledger is past a node says what it lacks, and asks nobody: as one without upstreams
  const asksNobody = request.index <= before || node.vars.UPSTREAM_URL === '';
  const areDown = () =>
    !asksNobody && upstreams.every((each) => !each.conduct.isUp || isMute(each));
  const wereDown = areDown();
  const isUnknown = truth === 'unknown' && request.parents.length > 1 && !world.isFlipped;
  const stored = isUnknown ? visibleIds(world) : undefined;
  world.ask('/api/core/v2/whiteflag', check, { method: 'POST', body });

  async function check(answer: Response): Promise<void> {
    const said = (await answer.json()) as Record<string, unknown>;
    world.note(`white flag ${answer.status}`, about);
    const took = simulation.now - askedAt;
    // what lies far back has a thousand tiny pages, and is read again whenever the head moves
    const isFar = isSmall(world.settings.limits) && request.index < before - FAR;
    if (took > ANSWERED_MS && isFar) return;
    if (took > ANSWERED_MS && !node.isSlowSince(askedAt))
      return world.wrong('liveness', `${about}: answered after ${took} ms`);
    if (mayHideRows || world.mayHideRows) return;
    const detail = answer.headers.get('x-error-detail') ?? '';
    const [, unknown] = /^block 0x(\w+) is not known (?:here|upstream)$/.exec(detail) ?? [];
    const isStored = async (ids = visibleIds(world)) => (await ids).has(unknown!);
    // a replica may lack what the primary has
    if (stored && unknown && world.settings.replicaMs === 0)
      if ((await isStored(stored)) && (await isStored()))
        return world.wrong('safety', `${about}: ${detail}, and it is stored`);
    if (answer.status === 400 && truth !== 'impossible' && hasKeys)
      return world.wrong(
        'safety',
        `${about}: 400 ${JSON.stringify(said)}, the truth is ${JSON.stringify(truth)}`,
      );
    if (unknown && truth !== 'unknown' && wereDown && areDown())
      return world.wrong('safety', `${about}: ${detail}, and no upstream could be asked`);
    if (answer.status !== 200 && isDue() && world.mustAnswer && !world.isDisturbed)
      return world.wrong('liveness', `${about}: status ${answer.status}, ${detail}`);
    if (answer.status >= 500 && world.mustAnswer && !world.isDisturbed && !isHeavy(world, request))
      return world.wrong('safety', `${about}: status ${answer.status} ${detail}`);
    if (answer.status !== 200 || isHearsay(world, request)) return;
    const ledgerIndex = answer.headers.get('x-ledger-index');
    if (ledgerIndex !== String(request.index - 1))
      return world.wrong('safety', `${about}: X-Ledger-Index ${ledgerIndex}`);
    const { inclusionMerkleRoot, appliedMerkleRoot } = said;
    const roots = JSON.stringify({ inclusionMerkleRoot, appliedMerkleRoot });
    if (roots !== JSON.stringify(truth))
      world.wrong('safety', `${about}: ${roots}, the truth is ${JSON.stringify(truth)}`);
  }
}

/** The blocks that a milestone of this index references, if it has these parents. */
function openCone({ blocks }: Network, parents: readonly string[], index: number) {
  const isOpen = ({ referenced }: NetworkBlock) =>
    referenced === undefined || referenced.index >= index;
  return pastCone(blocks, parents, isOpen).order;
}

/** Heap of a transaction, in its bytes. */
const HEAP_FACTOR = 10;

/** Whether walks that hold other blocks may keep one from fetching all of these. */
function isHeavy({ network, settings }: World, { parents, index }: Request): boolean {
  const sizes = openCone(network, parents, index).map(({ bytes }) => HEAP_FACTOR * bytes.length);
  return sizes.reduce((sum, size) => sum + size, 0) > leastFetched(settings.limits);
}

/** Whether a liar, who was alone, may have said what a proposal stands on (SECURITY.md). */
export function isHearsay(
  { network, believed, importedTo }: World,
  { index, parents }: Request,
): boolean {
  if (believed === undefined) return false;
  const order = openCone(network, parents, index);
  const isOld = (id: string) => (network.blocks.get(id)?.referenced?.index ?? index) <= importedTo;
  return [...parents, ...order.flatMap((block) => block.parents)].some(isOld);
}

/** Hex IDs of the blocks in packs that hold unreferenced ones. */
export const visibleIds = (world: World) => idsWhere(world, 'live = 1 AND staged IS NULL');

/** Hex IDs of the blocks that are stored for a milestone alone. */
export const stagedIds = (world: World) => idsWhere(world, 'staged IS NOT NULL');

async function idsWhere({ node }: World, where: string): Promise<Set<string>> {
  const sql = `SELECT blocks FROM pack WHERE ${where}`;
  const { results } = await node.sqlite.prepare(sql).all<{ blocks: string }>();
  return new Set(results.flatMap(({ blocks }) => readBlockRows(blocks).map(([, id]) => id)));
}

/** Blocks that milestones do not need have proof of work, or stand below a milestone's (C-6). */
export async function checkWork(world: World): Promise<void> {
  if (!world.settings.needsWork || world.isFlipped) return;
  const { blocks } = world.network;
  const tops = [...blocks.values()].filter(({ bytes }) => parsedBlock(bytes).milestone);
  const ids = [...tops.map(({ id }) => id), ...world.unsoundParents];
  const { met } = pastCone(blocks, ids);
  for (const id of await visibleIds(world)) {
    const block = blocks.get(`0x${id}`);
    if (block !== undefined && block.referenced === undefined && !met.has(block.id))
      world.wrong('economy', `block ${id} is stored without proof of work`);
  }
}

/** Whoever stores a block, or drops one, keeps no child without its parents: roots would lack them. */
export async function checkPasts(world: World, ledger: number): Promise<void> {
  const { network, isFlipped, isDamaged, wasLiarAlone } = world;
  if (isFlipped || isDamaged || wasLiarAlone) return;
  const stored = await visibleIds(world);
  const { blocks } = network;
  const isOpen = (id: string) => (blocks.get(id)?.referenced?.index ?? Infinity) > ledger;
  for (const id of stored) {
    const { parents = [] } = isOpen(`0x${id}`) ? (blocks.get(`0x${id}`) ?? {}) : {};
    const lost = parents.find(
      (each) => blocks.has(each) && isOpen(each) && !stored.has(each.slice(2)),
    );
    if (lost !== undefined)
      world.wrong('safety', `block ${id} is stored without its parent ${lost}`);
  }
}

/** Bytes of a block's status, of which the last one says whether a milestone references it. */
const STATUS_BYTES = 6;

/** Of blocks that are stored, and that no milestone references, the ledger index when that was. */
export async function unreferencedSince({ node }: World): Promise<number[]> {
  const sql = 'SELECT statuses FROM pack WHERE live = 1 AND staged IS NULL';
  const { results } = await node.sqlite.prepare(sql).all<{ statuses: string }>();
  const since: number[] = [];
  for (const { statuses } of results) {
    const bytes = Buffer.from(statuses, 'base64');
    for (let at = STATUS_BYTES - 1; at < bytes.length; at += STATUS_BYTES)
      if (bytes[at] === 0) since.push(bytes.readUInt32LE(at - STATUS_BYTES + 1));
  }
  return since;
}

interface Bounds {
  genesis: number;
  start: number;
  forgotten: number;
}

async function boundsOf({ node }: World): Promise<Bounds> {
  const sql = 'SELECT genesis, start, forgotten FROM head';
  return (await node.sqlite.prepare(sql).first<Bounds & Record<string, number>>())!;
}

/**
 * Whether so many blocks are stored that those of a proposal may not be, before a milestone: all
 * count that are in packs with an unreferenced one.
 */
export async function isFull({ node, settings }: World): Promise<boolean> {
  const sql = 'SELECT sum(octet_length(statuses)) / 8 AS blocks FROM pack WHERE live = 1';
  const blocks = await node.sqlite.prepare(sql).first('blocks');
  return Number(blocks) > unreferencedBlocks(settings.limits) / 2;
}

const TRIES = 20;

/**
 * A proposal that can be answered: its cone is not too large, and stands on nothing of which a node
 * cannot know any more that it was referenced (docs/architecture.md#the-trap). HORNET's coordinator
 * picks no tips that stand on such old blocks either.
 */
export async function answerableProposal(world: World): Promise<Request> {
  const { network, settings } = world;
  const { genesis, start, forgotten } = await boundsOf(world);
  const last = lastIndex(network);
  const { parameters } = parametersAt(network, last);
  // nodes name no tips above what is older
  const least = Math.max(
    forgotten,
    start === genesis ? -1 : start,
    last - parameters.belowMaxDepth - 1,
  );
  const isKnown = (id: string) => (network.blocks.get(id)?.referenced?.index ?? -1) > least;
  for (let i = 0; i < TRIES && !settings.needsWork; i++) {
    const { request } = network.propose();
    const { order } = pastCone(network.blocks, request.parents);
    const own = new Set(order.map(({ id }) => id));
    const isYoung = order.every(({ parents }) => parents.every((id) => own.has(id) || isKnown(id)));
    // where deposits have become dearer some senders spend as before (C-17)
    const isAdmitted = order.every(
      ({ bytes }) => admissionFault(parsedBlock(bytes), parameters) === undefined,
    );
    const hasRoom = order.length < unreferencedBlocks(settings.limits) / 2;
    if (isYoung && isAdmitted && hasRoom) return request;
  }
  const below = network.milestoneBlock!;
  const parents = settings.needsWork ? [below] : [below, network.note([below])];
  world.publishNews();
  return network.propose({ parents }).request;
}
