/**
 * The pace of a node that nobody disturbs: what comes is stored, applied and told by when it is
 * needed; and where nothing comes, little is done.
 */
import { lastIndex } from '../../support/network/network-model.ts';
import { limitsOfPack } from '../platform/limits.ts';
import { issue } from '../steps/coordinators.ts';
import type { UpstreamDouble } from '../upstream.ts';
import type { World } from '../world.ts';
import { isFull, visibleIds } from './white-flag.ts';

const MILESTONES = 5;
/** From a block to the milestone that references it, and from that to the next block. */
const BLOCK_MS = 4500;
const MILESTONE_MS = 500;

export async function checkPace(world: World): Promise<void> {
  const { network, simulation, settings, upstreams, reliable, node } = world;
  // a pass waits for one that hangs, and a feed is opened after the first pass
  const isQuick = reliable.length === upstreams.length;
  const isHeard = reliable.some((each) => each.isHeard);
  const begun = lastIndex(network);
  const linesBefore = node.lines.length;
  let [unstored, late, isStored] = [0, 0, false];
  for (let i = 0; i < MILESTONES; i++) {
    const id = network.note([network.milestoneBlock!], world.readers.bytes(8));
    world.publishNews();
    await simulation.pass(BLOCK_MS);
    isStored = (await visibleIds(world)).has(id.slice(2));
    if (!isStored && !(await isFull(world))) unstored++;
    issueNow(world, id);
    await simulation.pass(MILESTONE_MS);
    if ((await world.ledgerIndex()) < lastIndex(network)) late++;
  }
  // nobody stores a block without proof of work before a milestone needs it
  if (isQuick && unstored > 1 && !settings.needsWork)
    world.wrong('liveness', `${unstored} of ${MILESTONES} blocks are stored late`);
  if (isQuick && isHeard && late > 1)
    world.wrong('liveness', `${late} of ${MILESTONES} milestones that were pushed are late`);
  const isPushed = ({ text }: { text: string }) => text.includes('"pushed":true');
  if (isQuick && isHeard && !settings.needsWork && !node.lines.slice(linesBefore).some(isPushed))
    world.wrong(
      'economy',
      `none of ${MILESTONES} milestones that were pushed is taken from a feed`,
    );
  if (!isQuick) return;
  readCounts(world, { begun, isHeard, isStored });
  if (isHeard) await checkLost(world);
  if (isHeard) await checkStream(world);
  await checkAwaited(world);
  await checkQuiet(world);
  if (upstreams.length !== 2) return;
  if (!settings.needsWork) for (const each of upstreams) await checkBesideFailing(world, each);
  await checkBesideSlow(world);
}

/** By the clock: else all upstreams are asked, as for a network that stands still. */
function issueNow(world: World, parent: string): void {
  const { network, simulation } = world;
  const timestamp = Math.max(network.nextTimestamp, Math.floor(simulation.now / 1000));
  issue(world, [network.milestoneBlock!, parent], timestamp);
}

/** More than would be in time by a pass that begins just then, and the pause between two. */
const LOST = 8;
const BETWEEN_MS = [1500, 2500] as const;

/** A milestone of which a feed lost a block is applied as soon as the feed tells of it. */
async function checkLost(world: World): Promise<void> {
  const { network, simulation, upstreams, readers } = world;
  const lose = (lost: number) => {
    for (const { conduct } of upstreams) conduct.pushes = { lost };
  };
  let late = 0;
  for (let i = 0; i < LOST; i++) {
    await simulation.pass(readers.between(...BETWEEN_MS));
    const id = network.note([network.milestoneBlock!], readers.bytes(8));
    lose(1);
    world.publishNews();
    lose(0);
    issueNow(world, id);
    await simulation.pass(MILESTONE_MS);
    if ((await world.ledgerIndex()) < lastIndex(network)) late++;
  }
  if (late > 1)
    world.wrong('liveness', `${late} of ${LOST} milestones are late, as a feed lost blocks`);
}

/** Blocks that come one by one before a milestone, and milliseconds between two. */
const STREAM = 40;
const STREAM_MS = 75;
/** Of which the first ones fill a pack. */
const STREAMS = 2;

/** Calls of D1 for so many blocks, which are stored by a pack, or after an interval. */
const callsOfStream = (packBlocks: number) => 90 + (4 * STREAM) / packBlocks;

/** Blocks that are pushed are stored many at once. */
async function checkStream(world: World): Promise<void> {
  const { network, simulation, node, readers, settings } = world;
  const { blocks } = limitsOfPack(settings.limits);
  if (settings.needsWork || blocks > STREAMS * STREAM) return;
  let calls = 0;
  for (let i = 0; i < STREAMS; i++) {
    const before = node.counts.ofObjects;
    let top = network.milestoneBlock!;
    for (let n = 0; n < STREAM; n++) {
      top = network.note([top], readers.bytes(8));
      world.publishNews();
      await simulation.pass(STREAM_MS);
    }
    calls = node.counts.ofObjects - before;
    issueNow(world, top);
    await simulation.pass(BLOCK_MS);
  }
  if (calls > callsOfStream(blocks))
    world.wrong('economy', `${calls} calls of D1 for ${STREAM} blocks that are pushed`);
}

/** For how long a client asks each second for its block, before it comes. */
const AWAITED_S = 8;
/** In which it is there, once it has come. */
const THERE_S = 6;

/** Who asks for a block again and again is given it soon once it is there. */
async function checkAwaited(world: World): Promise<void> {
  const { network, simulation, upstreams, readers } = world;
  const id = network.note([network.milestoneBlock!], readers.bytes(8));
  // nobody stores it before
  const unheard = { isSilent: true, hindered: { tips: 'fails' } };
  for (const { conduct } of upstreams)
    Object.assign(conduct, { ...unheard, withheld: new Set([id]) });
  world.publishNews();
  let status = 0;
  const ask = async (seconds: number) => {
    for (let i = 0; i < seconds && status !== 200; i++) {
      world.ask(`/api/core/v2/blocks/${id}/metadata`, (answer) => {
        ({ status } = answer);
      });
      await simulation.pass(1000);
    }
  };
  await ask(AWAITED_S);
  for (const { conduct } of upstreams) conduct.withheld = new Set();
  await ask(THERE_S);
  for (const each of upstreams) each.recover();
  if (status !== 200) world.wrong('liveness', `a block that was awaited: status ${status}`);
}

/** From a block on; it is told up to ten seconds too long (src/http/routes/node/metrics.ts). */
const NEWEST_S = 17;

/** What is told of upstreams is not from before some milestones, and how blocks come is so. */
function readCounts(
  world: World,
  { begun, isHeard, isStored }: { begun: number; isHeard: boolean; isStored: boolean },
): void {
  const { reliable, settings, upstreams } = world;
  world.ask('/metrics', async (answer) => {
    const text = await answer.text();
    const read = (sample: string) => {
      const line = text.split('\n').find((each) => each.startsWith(`${sample} `));
      return Number(line?.slice(sample.length));
    };
    for (const one of reliable) {
      const place = upstreams.indexOf(one);
      const isSecond = settings.isOneHost && place > 0;
      const name = isSecond ? `${one.host} (${place})` : one.host;
      const labels = `upstream="${name}",place="${place}"`;
      const index = read(`stardust_upstream_confirmed_index{${labels}}`);
      if (!(index > begun)) world.wrong('safety', `${name} is said to be at ${index} of ${begun}`);
    }
    const age = read('stardust_newest_block_age_seconds');
    if (isStored && settings.replicaMs === 0 && !(age < NEWEST_S))
      world.wrong('safety', `the newest block is ${age} s old, and one has just come`);
    if (isHeard && settings.replicaMs === 0 && read('stardust_blocks_by{state="feed"}') !== 1)
      world.wrong('safety', 'blocks come by a feed, and others are told');
  });
}

/** After which nothing of what came is left to do. */
const SETTLED_MS = 15_000;
const QUIET_S = 20;

/** What a node with nothing to do may take a second. */
const QUIET = { requests: 3, d1Calls: 15, rowsWritten: 3, lines: 0.5 };

async function checkQuiet(world: World): Promise<void> {
  const { simulation, upstreams, node } = world;
  const count = (): typeof QUIET => ({
    requests: upstreams.reduce((sum, { requests }) => sum + requests, 0),
    d1Calls: node.counts.ofObjects,
    rowsWritten: node.counts.rowsWritten,
    lines: node.lines.length,
  });
  await simulation.pass(SETTLED_MS);
  // a tip that cannot be stored is fetched at each look
  const stored = await visibleIds(world);
  const isAllHere = upstreams.every(({ tips }) => tips.every((id) => stored.has(id.slice(2))));
  if (!isAllHere) return;
  // where a pool is full, what it needs is looked through again and again, by all tips
  const most = { ...QUIET };
  if (await isFull(world)) {
    most.requests += upstreams.length;
    // in pages of a block where limits are tiny
    most.d1Calls += upstreams.reduce((sum, { tips }) => sum + tips.length, 0);
  }
  const before = count();
  await simulation.pass(1000 * QUIET_S);
  const after = count();
  for (const what of Object.keys(QUIET) as (keyof typeof QUIET)[]) {
    const rate = (after[what] - before[what]) / QUIET_S;
    if (rate > most[what]) world.wrong('economy', `${what}: ${rate} a second, and nothing comes`);
  }
}

/** In which tips are looked at by whichever upstream, twice. */
const LOOKED_MS = 25_000;

/** A block that one upstream names, and fails to give, is stored by the other. */
async function checkBesideFailing(world: World, failing: UpstreamDouble): Promise<void> {
  const { network, upstreams, readers } = world;
  const id = network.note([network.milestoneBlock!], readers.bytes(8));
  for (const { conduct } of upstreams) conduct.isSilent = true;
  failing.conduct.unreadable = new Set([id]);
  world.publishNews();
  const isStored = async () => (await visibleIds(world)).has(id.slice(2)) || (await isFull(world));
  if (!(await world.until(isStored, LOOKED_MS)))
    world.wrong('liveness', 'a block is not stored, as one of two upstreams fails to give it');
  for (const each of upstreams) each.recover();
}

/** How far behind a node is, and blocks of each milestone that are fetched one after the other. */
const BEHIND = 14;
const DEEP = 3;
/** How old its ledger is then, by its clock: else it looks for no other upstream (pass.ts). */
const OLD_MS = 20_000;
/** In which it sees that the slow one is slow; by that one alone it takes twice as long. */
const LEFT_MS = 60_000;

/** A node that is behind leaves an upstream that gives milestones slowly to catch up by another. */
async function checkBesideSlow(world: World): Promise<void> {
  const { network, upstreams, readers, simulation } = world;
  const ahead = 1000 * network.milestones.at(-1)!.timestamp - simulation.now;
  await simulation.pass(Math.max(0, ahead + OLD_MS));
  const slow = readers.pick(upstreams);
  for (const { conduct } of upstreams) conduct.isSilent = true;
  slow.conduct.hindered = { block: 'crawls' };
  for (let i = 0; i < BEHIND; i++) {
    let top = network.milestoneBlock!;
    for (let n = 0; n < DEEP; n++) top = network.note([top], readers.bytes(8));
    issue(world, [network.milestoneBlock!, top]);
  }
  world.publishNews();
  if (!(await world.until(() => world.hasFollowed(), LEFT_MS)))
    world.wrong('liveness', 'a node stays behind with a slow upstream, beside one that is not');
  for (const each of upstreams) each.recover();
}
