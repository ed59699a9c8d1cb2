/**
 * What must hold whatever happens (after each step), and what must come about once nobody disturbs
 * the node any more.
 */
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { nftIdOf } from '../../../src/stardust/wire/ids.ts';
import { strayRests } from '../../support/ledger/stray-rests.ts';
import { ACCOUNTS, take } from '../../support/network/accounts.ts';
import { pastCone } from '../../support/network/known-verdicts.ts';
import {
  coneOf,
  lastIndex,
  type NetworkBlock,
  parametersAt,
  stateHash,
} from '../../support/network/network-model.ts';
import { Random } from '../../support/network/random.ts';
import { type Coin, coin } from '../../support/network/transactions.ts';
import type { KeyPair } from '../../support/payloads/keys.ts';
import { basic, expiration, issuer, nft } from '../../support/payloads/outputs.ts';
import { isSmall, marksOfIndex, unreferencedBlocks } from '../platform/limits.ts';
import { attachStuck, issue, proposalOf, requestAt } from '../steps/coordinators.ts';
import { announcement } from '../steps/forge.ts';
import { twin } from '../steps/senders.ts';
import type { Request } from '../truth.ts';
import type { Conduct } from '../upstream.ts';
import { type World, Wrong } from '../world.ts';
import { checkDamaged, checkEndings } from './endings.ts';
import { checkListeners } from './events.ts';
import { readGallery, readNftState, readOwners } from './lists.ts';
import { checkAfterHanging, checkAfterOutage, checkFeedAgain } from './outage.ts';
import { checkPace } from './pace.ts';
import { checkRest, checkVerdicts } from './rest.ts';
import { checkScrubTells, scrubTwice } from './scrub.ts';
import { checkSilence } from './silence.ts';
import { sweep } from './sweep.ts';
import {
  ANSWERED_MS,
  answerableProposal,
  askRoots,
  askTimed,
  checkPasts,
  checkWork,
  isFull,
  posting,
  type Timed,
  unreferencedSince,
  visibleIds,
} from './white-flag.ts';

/** Simulated milliseconds in which the node must come to rest. */
const SETTLING_MS = 180_000;
const FLIPPED_SETTLING_MS = 20_000;
/** More for each block of milestones that it lacks: where steps are tiny it takes some 60. */
const BLOCK_MS = 80;
/** For each query that is refused; a block takes some three of them. */
const REFUSED_MS = 3 * 1400;
const LOOK_MS = 5000;

/** A request is answered, rightly or by an error, within so long. */
const ANSWER_MS = 60_000;

export async function checkAlways(world: World): Promise<void> {
  // what is compared below is not there then
  const [ledger, last] = [await world.ledgerIndex(), lastIndex(world.network)];
  if (ledger > last && !world.isFlipped)
    throw new Wrong('safety', `the ledger is at ${ledger} of ${last}`, world.elapsed);
  await checkEconomy(world);
  await checkRows(world);
  await checkIds(world);
  await checkMarks(world);
  checkSwaps(world);
  await checkWork(world);
  await checkPasts(world, ledger);
  await checkBelieved(world, ledger);
  checkSilence(world);
  await checkPrompt(world);
  const [late] = world.unanswered(ANSWER_MS);
  if (late !== undefined) world.wrong('liveness', `${late.path} is not answered`);
  const [failure] = world.failures;
  if (failure !== undefined) throw failure;
}

export async function checkSettled(world: World, seed: string): Promise<void> {
  const random = new Random(`${seed} calm`);
  calm(world, random);
  if (!world.isFlipped && random.chance(0.3)) await fill(world, random);
  await checkLiveness(world);
  if (world.isFilled) await checkEvicted(world);
  // what is checked from now on needs all that there is
  if (world.comeback !== undefined) for (const upstream of world.reliable) upstream.recover();
  await sweep(world, seed);
  if (!world.isFlipped) await checkListeners(world);
  await checkAlways(world);
  if (world.isFlipped) return checkDamaged(world, seed);
  await checkState(world);
  await checkEndings(world, seed);
}

/** The ledger has every output that it should have, and no row of it is damaged. */
export async function checkState(world: World): Promise<void> {
  const { node, network } = world;
  const state = await node.product.ledgerStateHash(node.sqlite);
  if (state.toHex() !== stateHash(network, lastIndex(network)))
    world.wrong('safety', `another ledger state at milestone ${lastIndex(network)}`);
  await scrubTwice(world).catch((error: Error) => world.wrong('safety', `${error}, and is whole`));
  if ((await strayRests(node.sqlite)).length > 0)
    world.wrong('safety', 'half of the contents of an output');
  await checkRest(world);
  await checkAudits(world);
  await checkUponTwin(world);
  await checkBesideStrangers(world);
  await checkBesideReader(world);
  await checkAdmitted(world);
  await checkExpired(world);
  await checkBesideGhost(world);
  await checkBesideLost(world);
  await checkAtOnce(world);
  await checkWoken(world);
  await checkPace(world);
  await checkAfterOutage(world);
  await checkFeedAgain(world);
  await checkAfterHanging(world);
  await checkFarReplica(world);
  // milestones have come since the scrub's last round
  await checkScrubTells(world, new Random(`${world.start} ${world.notes.length} scrub`));
  await checkAlways(world);
}

/** Milestones whose proposals are repeated at rest. */
const AUDITS = 3;

/** The last milestones are kept, so proposals of them are answered. */
async function checkAudits(world: World): Promise<void> {
  const start = await world.node.sqlite.prepare('SELECT start FROM head').first('start');
  const isWhole = ({ index }: { index: number }) => index > Number(start) + 1;
  // of more twins than one request verifies none is the milestone's block for it
  const { twins, settings } = world;
  if (twins.length > 0 || unreferencedBlocks(settings.limits) < 1000) return;
  for (const milestone of world.network.milestones.slice(-AUDITS).filter(isWhole))
    if (!(await askOnce(world, proposalOf(milestone))))
      world.wrong('liveness', `the proposal of milestone ${milestone.index} is not answered`);
  await checkBesideStranger(world);
}

/** A block with the last milestone's ID is no block of it: no milestone can stand on it alone. */
async function checkUponTwin(world: World): Promise<void> {
  const { network, twins, readers, simulation } = world;
  network.random = readers;
  twin(world, readers);
  world.publishNews();
  const { id, index } = twins.at(-1)!;
  askRoots(world, requestAt(world, readers, index + 1, [id]));
  await simulation.pass(ANSWERED_MS);
}

/** As many as may wait, but for the last two. */
const CROWD = 61;
/** More than may wait: some are refused at once. */
const TOO_MANY = 100;
/** Strangers who each read a block that is nowhere. */
const READERS = 12;
/** Whose work was of no use before. */
const NEWCOMERS = ['203.0.113.250', '203.0.113.251'];
const STRANGER = '192.0.2.1';

/** A coordinator is answered though a stranger wants the same, behind much that is nowhere. */
async function checkBesideStranger(world: World): Promise<void> {
  const { network, settings, upstreams, reliable } = world;
  // the blocks are asked for at once, which needs all of the time
  const isSlow = settings.replicaMs > 0 || reliable.length < upstreams.length;
  if (isSlow || settings.needsWork) return;
  const below = network.milestoneBlock!;
  const parents = [below, network.note([below])];
  world.publishNews();
  const { request } = network.propose({ parents });
  const askAs = (some: readonly string[]) => {
    const init = posting({ ...request, parents: some }, STRANGER);
    world.ask('/api/core/v2/whiteflag', () => {}, init);
  };
  for (let i = 0; i < CROWD; i++) askAs([toHex(world.readers.bytes(32))]);
  askAs(parents);
  if (!(await askOnce(world, request)))
    world.wrong('liveness', 'a proposal waits in the queue of a stranger');
}

/** In which what a crowd wants is begun, and in which whoever is not in it has an answer. */
const BEGUN_MS = 100;
/** More than without a crowd. */
const DELAYED_MS = 500;

/** @param beside those of which one at least is not delayed: one may have a slow call */
function judgeBeside(world: World, whom: string, before: Timed, ...beside: Timed[]): void {
  const said = JSON.stringify([before, ...beside]);
  world.note(`beside ${whom}`, said);
  if (before.status !== 200) return;
  const least = Math.min(...beside.map(({ ms }) => ms));
  if (beside.some(({ status }) => status !== 200) || least > before.ms + DELAYED_MS)
    world.wrong('liveness', `without ${whom} and beside: ${said}`);
}

/** Who was here before is answered though many strangers each want what is looked for without end. */
async function checkBesideStrangers(world: World): Promise<void> {
  const { network, settings, upstreams, reliable, simulation } = world;
  // a block that is pushed needs no upstream
  const isFed = reliable.some(({ isHeard }) => isHeard);
  if (!isFed || settings.needsWork) return;
  const propose = (parents: string[], address?: string) => {
    const request = { ...network.propose({ parents: parents.slice(0, 1) }).request, parents };
    return askTimed(world, '/api/core/v2/whiteflag', posting(request, address));
  };
  const proposeNew = (address?: string) => {
    const below = network.milestoneBlock!;
    const parents = [below, network.note([below], world.readers.bytes(8))];
    world.publishNews();
    return propose(parents, address);
  };
  const before = proposeNew();
  await simulation.pass(ANSWERED_MS);
  const hinder = (hindered: Conduct['hindered']) => {
    for (const { conduct } of upstreams) conduct.hindered = hindered;
  };
  const proposeNothing = (count: number) =>
    Array.from({ length: count }, (_, i) =>
      propose([network.milestoneBlock!, toHex(world.readers.bytes(32))], `198.51.100.${i}`),
    );
  hinder({ block: 'hangs' });
  const crowd = proposeNothing(CROWD);
  for (let i = 0; i < READERS; i++) {
    const headers = { 'cf-connecting-ip': `203.0.113.${i}` };
    world.ask(`/api/core/v2/blocks/${toHex(world.readers.bytes(32))}`, () => {}, { headers });
  }
  await simulation.pass(BEGUN_MS);
  // calls of KV have connections too: some hang
  const isCalling = world.node.counts.kvOpen > 0;
  const beside = [proposeNew(), proposeNew()];
  await simulation.pass(2 * ANSWERED_MS);
  hinder({});
  const late = Math.max(...crowd.map(({ ms }) => ms));
  if (late > ANSWERED_MS) world.wrong('liveness', `of a crowd one is answered after ${late} ms`);
  if (!isCalling) judgeBeside(world, 'strangers', before, ...beside);
  hinder({ block: 'hangs' });
  proposeNothing(TOO_MANY);
  await simulation.pass(2 * ANSWERED_MS);
  hinder({});
  const wasCalling = world.node.counts.kvOpen > 0;
  const after = NEWCOMERS.map((address) => proposeNew(address));
  await simulation.pass(2 * ANSWERED_MS);
  if (!wasCalling) judgeBeside(world, 'a crowd that was', before, ...after);
}

/** Requests of one reader, which take long together. */
const READS_OF_ONE = 150;

/** Where one thread answers everything, one who reads much is not in the way of another. */
async function checkBesideReader(world: World): Promise<void> {
  const { network, settings, simulation } = world;
  const milestone = network.milestones.at(-1)!;
  // work of one who has left is begun, and keeps its place, as no double stops it
  if (!settings.isServe || milestone.index <= world.importedTo + 1 || world.tally.has('leave'))
    return;
  const read = (address: string) =>
    askTimed(world, '/api/edge/v1/whiteflag', posting(proposalOf(milestone), address));
  const before = read('198.51.100.1');
  await simulation.pass(ANSWERED_MS);
  for (let i = 0; i < READS_OF_ONE; i++) read(STRANGER);
  await simulation.pass(BEGUN_MS);
  const beside = [read('198.51.100.1'), read('198.51.100.1')];
  await simulation.pass(2 * ANSWERED_MS);
  judgeBeside(world, 'a reader', before, ...beside);
}

/** How often somebody proposes at once, and how soon that is. */
const AT_ONCE = 4;
const AT_ONCE_MS = 100;

/** Who proposes as soon as a milestone has come is answered, before the follower would look. */
async function checkAtOnce(world: World): Promise<void> {
  const { network, settings, upstreams, reliable, simulation } = world;
  const isPushed = upstreams.some(({ conduct }) => conduct.hasFeed);
  if (isPushed || reliable.length < upstreams.length || settings.needsWork) return;
  let refused = 0;
  for (let i = 0; i < AT_ONCE; i++) {
    issue(world, [network.milestoneBlock!]);
    await simulation.pass(AT_ONCE_MS);
    const { request } = network.propose({ parents: [network.milestoneBlock!] });
    if (!(await askOnce(world, request)) && !(await isFull(world))) refused++;
  }
  // one may meet the moment in which the milestone is applied
  if (refused > 1)
    world.wrong('liveness', 'who proposes as soon as a milestone has come is refused');
}

/** By which no output of a test network holds enough. */
const HIGH_COST = 10_000_000;
const COME_MS = 5000;

/** What was admitted before the protocol's parameters changed is admitted after that (C-17). */
async function checkAdmitted(world: World): Promise<void> {
  const { network, life, simulation, settings } = world;
  const { parameters, pending } = parametersAt(network, lastIndex(network));
  const [spend] = life.coins;
  if (pending.length > 0 || spend === undefined || settings.needsWork) return;
  const below = network.milestoneBlock!;
  const { amount } = spend.coin.output;
  const made = network.transaction([spend], [basic(spend.by, { amount })]);
  const block = network.attachTransaction(made, [below]);
  const target = network.nextIndex + 1;
  const rentStructure = { ...parameters.rentStructure, vByteCost: HIGH_COST };
  for (const [at, each] of [
    [target, { ...parameters, rentStructure }],
    [target + 1, parameters],
  ] as const)
    network.milestone({ announce: announcement(each, at), parents: [network.milestoneBlock!] });
  world.publishNews();
  await simulation.pass(COME_MS);
  const hasCome = (await world.ledgerIndex()) === target;
  const { request } = network.propose({ parents: [network.milestoneBlock!, block] });
  if (hasCome && !(await askOnce(world, request)) && !(await isFull(world)))
    world.wrong('liveness', 'a block from before the parameters changed is refused');
  issue(world, [network.milestoneBlock!, block]);
  await simulation.pass(COME_MS);
}

/** After the milestone that makes an NFT. */
const EXPIRES_S = 10;

/** From the second of its expiration on an NFT is its return address's, whoever asks, and how. */
async function checkExpired(world: World): Promise<void> {
  const { network, life, settings, simulation } = world;
  const spend = take(life, life.coins);
  if (spend === undefined || settings.needsWork) return;
  const { amount } = spend.coin.output;
  const now = network.nextTimestamp;
  const expires = now + EXPIRES_S;
  const conditions = [expiration(network.account(ACCOUNTS), expires)];
  const output = nft(spend.by, { amount, conditions, immutable: [issuer(spend.by)] });
  const made = network.transaction([spend], [output]);
  const carrier = network.attachTransaction(made, [network.milestoneBlock!]);
  for (const timestamp of [now, expires]) {
    const above = timestamp === now ? [carrier] : [];
    issue(world, [network.milestoneBlock!, ...above], timestamp);
    await simulation.pass(COME_MS);
    readOwners(world, spend.by.address);
    readGallery(world, spend.by.address, 'issuer');
    readNftState(world, nftIdOf(output, made.coins[0]!.id).toHex());
    await simulation.pass(COME_MS);
  }
  await checkProgress(world);
}

/** In which a pass ends that began before. */
const ENDED_MS = 20_000;

/** A milestone that is applied is not said to be worked on. */
async function checkProgress(world: World): Promise<void> {
  const sql = `SELECT reason FROM follower, head
    WHERE state = 'following' AND reason LIKE 'milestone ' || ledger || ':%'`;
  const read = () => world.node.sqlite.prepare(sql).first('reason');
  const reason = await world.until(read, ENDED_MS, (now) => now === null);
  if (reason !== null) world.wrong('safety', `of a milestone that is applied is said: ${reason}`);
}

/** Blocks between two, by which these are in packs of their own where packs are tiny. */
const BETWEEN = 3;

/** A verdict on what has come waits for nothing that never comes. */
async function checkBesideGhost(world: World): Promise<void> {
  const { network, life, settings, readers, simulation, reliable, upstreams } = world;
  const [one, two] = [take(life, life.coins), take(life, life.coins)];
  if (one === undefined || two === undefined || settings.needsWork) return;
  const pay = (by: KeyPair, coins: Coin[]) => {
    const amount = coins.reduce((sum, { output }) => sum + output.amount, 0n);
    const spends = coins.map((each) => ({ coin: each, by }));
    return network.transaction(spends, [basic(by, { amount })]);
  };
  const later = [pay(one.by, [one.coin]), pay(two.by, [two.coin])] as const;
  const ghost = coin(new Uint8Array([...readers.bytes(32), 0, 0]), one.coin.output);
  const waiting = [pay(one.by, [...later[0].coins, ghost]), pay(two.by, [...later[1].coins])];
  const below = network.milestoneBlock!;
  let top = below;
  for (const made of waiting) {
    top = network.attachTransaction(made, [top]);
    for (let i = 0; i < BETWEEN; i++) top = network.note([top], readers.bytes(8));
  }
  world.publishNews();
  await simulation.pass(COME_MS);
  const isHere = (await visibleIds(world)).has(top.slice(2));
  const parents = [...later.map((each) => network.attachTransaction(each, [below])), top];
  world.publishNews();
  const isAnswered = await askOnce(world, network.propose({ parents }).request);
  if (isHere && reliable.length === upstreams.length && !isAnswered && !(await isFull(world)))
    world.wrong('liveness', 'a proposal is refused for want of a verdict');
  await simulation.pass(COME_MS);
  await checkVerdicts(world);
}

/** Nor for what was there, and was referenced in conflict. */
async function checkBesideLost(world: World): Promise<void> {
  const { network, settings, simulation } = world;
  const stuck = settings.needsWork ? undefined : attachStuck(world);
  if (stuck === undefined) return;
  world.publishNews();
  await simulation.pass(COME_MS);
  issue(world);
  await simulation.pass(COME_MS);
  for (const made of stuck.hidden) network.attachTransaction(made);
  world.publishNews();
  await simulation.pass(COME_MS);
  await checkVerdicts(world);
}

/** In which an alarm rings, and a pass ends. */
const WOKEN_MS = 25_000;

/** A follower that is evicted wakes by its alarm, long before cron looks after it. */
async function checkWoken(world: World): Promise<void> {
  const { node, network } = world;
  node.follower.kill();
  issue(world, [network.milestoneBlock!]);
  if (!(await world.until(() => world.hasFollowed(), WOKEN_MS, Boolean, 1000)))
    world.wrong('liveness', 'a follower that was evicted does not wake');
}

/** In which eviction begins, and in which each block goes: a step takes three of them, or more. */
const EVICTING_MS = 30_000;
const EVICTED_MS = 2000;

/** Blocks that no tip needs go, once there is room for a tip. */
async function checkEvicted(world: World): Promise<void> {
  const most = unreferencedBlocks(world.settings.limits);
  const countExcess = async () => (await unreferencedSince(world)).length - most;
  const isOver = async () => (await countExcess()) <= 0 || isMuchNeeded(world);
  const patience = EVICTING_MS + EVICTED_MS * Math.max(0, await countExcess());
  if (!(await world.until(isOver, patience, Boolean, LOOK_MS)))
    world.wrong('economy', 'blocks stay that no tip needs');
}

/** What an applied milestone shows to be referenced is dropped, whoever called it unreferenced. */
async function checkBelieved(world: World, ledger: number): Promise<void> {
  const { network, snapshotIndex, believed, isFlipped, comeback } = world;
  const { index = Infinity } = network.blocks.get(believed ?? '')?.referenced ?? {};
  if (believed === undefined || isFlipped || index > ledger) return;
  // as long as the liar is alone, more is believed
  if (comeback === undefined || index <= comeback.since) return;
  const stored = await visibleIds(world);
  // below what somebody has built since, upstreams that pruned it may call it unreferenced again
  const indexOf = ({ referenced }: NetworkBlock) => referenced?.index ?? Infinity;
  const open = [...network.blocks.values()].filter((block) => indexOf(block) > ledger);
  const isUnknown = (block: NetworkBlock) =>
    indexOf(block) > ledger || indexOf(block) <= world.importedTo;
  const ids = open.map(({ id }) => id);
  const { met } = pastCone(network.blocks, ids, isUnknown);
  const { order } = pastCone(network.blocks, [believed], () => true);
  const left = order.filter(
    (block) =>
      indexOf(block) <= snapshotIndex && stored.has(block.id.slice(2)) && !met.has(block.id),
  );
  if (left.length > 0)
    world.wrong('safety', `${left.length} blocks from before the snapshot are unreferenced`);
}

/** Milestones that a replica lacks, and how often one is issued. */
const LACKED = 4;
const TRIES = 3;
const MILESTONE_MS = 5000;

/** Who proposes is answered, however far behind the replica is. */
async function checkFarReplica(world: World): Promise<void> {
  const { node, simulation, settings, network, upstreams } = world;
  if (settings.replicaMs === 0) return;
  // one that is late is in the way of blocks that need its word (read-references.ts)
  for (const upstream of upstreams) if (!upstream.isAway) upstream.recover();
  node.holdReplica(LACKED * MILESTONE_MS + SETTLING_MS);
  for (let i = 0; i < LACKED; i++) {
    issue(world);
    await simulation.pass(MILESTONE_MS);
  }
  const hasCome = (await world.ledgerIndex()) === lastIndex(network);
  const request = await answerableProposal(world);
  // a part of the blocks is fetched at once
  for (let i = 0; hasCome && !(await askOnce(world, request)) && !(await isFull(world)); i++)
    if (i === TRIES)
      return world.wrong('liveness', 'a proposal is refused, as a replica lacks milestones');
  node.catchUp();
}

/** The ledger comes to the network's milestone, and a coordinator's proposal is answered. */
export async function checkLiveness(world: World): Promise<void> {
  const { simulation, network } = world;
  const begun = await world.ledgerIndex();
  const lacking = [...network.blocks.values()].filter(
    ({ referenced }) => (referenced?.index ?? 0) > begun,
  );
  const refusing = world.comeback?.refusing ?? 0;
  const ofBlock = BLOCK_MS + (refusing && REFUSED_MS / refusing);
  const settling = SETTLING_MS + ofBlock * lacking.length;
  let end = simulation.now + (world.isFlipped ? FLIPPED_SETTLING_MS : settling);
  let issued = 0;
  let ledger = -1;
  let isAnswered = false;
  while (simulation.now < end && !isAnswered) {
    await simulation.pass(LOOK_MS);
    await checkAlways(world);
    if (world.isImporting || world.isDamaged) continue;
    ledger = await world.ledgerIndex();
    if (ledger !== lastIndex(network)) continue;
    isAnswered = await askOnce(world, await answerableProposal(world));
    // a node stores so many blocks, and no more before a milestone references some of them, or
    // they are orphans
    if (!isAnswered && (await isFull(world)) && (isMuchNeeded(world) || (await isPinned(world)))) {
      issue(world);
      if (issued++ < ORPHAN_MILESTONES) end += LOOK_MS;
    }
  }
  const last = lastIndex(network);
  if (world.isFlipped) return;
  if (ledger !== last) world.wrong('liveness', `the ledger stays at ${ledger} of ${last}`);
  else if (!isAnswered) world.wrong('liveness', 'the proposal over the tips is not answered');
  await checkAlways(world);
}

/**
 * Whether blocks that milestones reference take the room: their packs count as a whole while one
 * block of them is unreferenced. That matters where the limits are those of a few packs.
 */
async function isPinned({ node, settings }: World): Promise<boolean> {
  const unreferenced = await node.sqlite
    .prepare('SELECT unreferenced FROM head')
    .first('unreferenced');
  return Number(unreferenced) <= unreferencedBlocks(settings.limits) / 4;
}

/** After so many milestones no block can be referenced any more that was there before. */
const ORPHAN_MILESTONES = 30;

/** Whether the past of what upstreams name as tips takes much of the room. */
function isMuchNeeded({ network, settings, reliable }: World): boolean {
  const tips = reliable.flatMap((upstream) => upstream.tips);
  const { order } = pastCone(network.blocks, tips);
  return order.length > unreferencedBlocks(settings.limits) / 4;
}

/** In which blocks that are pushed are stored. */
const FILLING_MS = 6000;
/** As many as a node names. */
const NEW_TIPS = 8;

/** What nobody builds on takes all the room, and then new tips come. */
async function fill(world: World, random: Random): Promise<void> {
  const { network, settings, simulation, liar, reliable } = world;
  const room = 2 * unreferencedBlocks(settings.limits);
  // any block may be the tip of one that goes on lying
  const isLying = liar !== undefined && !reliable.includes(liar);
  if (!isSmall(settings.limits) || settings.needsWork || world.isDamaged || isLying) return;
  network.random = random;
  const made = [network.milestoneBlock!];
  while (made.length <= room) {
    const id = network.note(random.sample(made.slice(-8), 2), random.bytes(8));
    network.setAside(id);
    made.push(id);
  }
  world.publishNews();
  await simulation.pass(FILLING_MS);
  for (let i = 0; i < NEW_TIPS; i++) network.note([network.milestoneBlock!], random.bytes(8));
  world.publishNews();
  world.isFilled = true;
}

/** Simulated seconds over which rates are taken. */
const WINDOW_S = 30;

/**
 * What a node may take a second, on the average of a window: so much, so much for each block that
 * came in this window or the one before, and for each that no milestone references yet: a walk that
 * is larger than the pool, or that an object began which is gone, fetches them again.
 */
const LIMITS = {
  d1Calls: { base: 60, block: 1 },
  // a milestone that none of them can give whole is tried with each of them, once a second
  requests: { base: 8, upstream: 12, block: 2, open: 1 },
  lines: { base: 12, block: 0 },
} as const;

/** Requests a second for blocks that an upstream has lost: each pass asks ten times for each. */
const MOST_DENIED = 50;

/** Pages and steps of one or two take more calls for the same: 97 a second were seen. */
const TINY = 2;
const SMALL_STEPS = /tiny|mixed/;

/** Bytes of an upstream's answer. */
const MOST_READ = 2_000_000;

/** Statements of one request; where pages are small, of the same work. */
const MOST_OF_REQUEST = 300;
const MOST_OF_SMALL = 3000;

/** Work that leads nowhere shows as work, though its result is right. */
async function checkEconomy(world: World): Promise<void> {
  const { node, upstreams, economy, simulation, network } = world;
  const now = {
    at: simulation.now,
    d1Calls: node.counts.ofObjects,
    requests: upstreams.reduce((sum, { requests }) => sum + requests, 0),
    denied: upstreams.reduce((sum, { denied }) => sum + denied, 0),
    lines: node.lines.length,
    blocks: network.blocks.size,
    applied: 0,
  };
  const isSmall = SMALL_STEPS.test(world.settings.limits);
  if (node.counts.mostOfRequest > (isSmall ? MOST_OF_SMALL : MOST_OF_REQUEST))
    world.wrong('economy', `${node.counts.mostOfRequest} statements of one request`);
  const read = Math.max(...upstreams.map(({ mostRead }) => mostRead));
  if (read > MOST_READ) world.wrong('economy', `${read} bytes of one answer are read`);
  const before = economy.at(-1);
  if (before !== undefined && now.at - before.at < 1000 * WINDOW_S) return;
  const ledger = await world.ledgerIndex();
  const all = [...network.blocks.values()];
  now.applied = all.filter(({ referenced }) => referenced && referenced.index <= ledger).length;
  economy.push(now);
  if (before === undefined) return;
  const seconds = (now.at - before.at) / 1000;
  const { blocks: known, applied } = economy.at(-3) ?? before;
  // a node that catches up fetches what came long ago
  const blocks = Math.max(now.blocks - known, now.applied - applied) / seconds;
  // each of two versions fetches them
  const versions = now.at - world.overlapAt < 1000 * WINDOW_S ? 2 : 1;
  const denied = Math.min(MOST_DENIED, (now.denied - before.denied) / seconds);
  // a liar may lead a walk to the genesis, and one that refuses makes it begin again
  const led = world.liar ? (LIMITS.requests.block * network.blocks.size) / WINDOW_S : 0;
  for (const [what, { base, upstream = 0, block, open = 0 }] of Object.entries(LIMITS) as [
    Counted,
    Allowance,
  ][]) {
    const rate = (now[what] - before[what]) / seconds;
    const limit =
      (base + upstream * upstreams.length) * (isSmall ? TINY : 1) +
      (upstream && denied + led) +
      block * blocks * versions +
      (open * countOpen(world)) / WINDOW_S;
    // blocks for which there is no room are fetched, evicted and fetched again
    const isExempt = what === 'requests' && world.isFilled;
    if (rate > limit && !world.isFlipped && !isExempt)
      world.wrong('economy', `${what}: ${rate.toFixed(1)} a second, at most ${limit.toFixed(1)}`);
  }
}

/** Blocks that no milestone references. */
function countOpen({ network }: World): number {
  return [...network.blocks.values()].filter(({ referenced }) => referenced === undefined).length;
}

type Counted = keyof typeof LIMITS;
interface Allowance {
  base: number;
  block: number;
  upstream?: number;
  open?: number;
}

/** Half as many again may be stored as there are to be, and a pack. */
const MOST_UNREFERENCED = 1.5;
const PACK_BLOCKS = 60;

/** What senders send cannot fill the database. */
async function checkRows(world: World): Promise<void> {
  const { settings, isFlipped } = world;
  const { length: stored } = await unreferencedSince(world);
  const limit = MOST_UNREFERENCED * unreferencedBlocks(settings.limits) + PACK_BLOCKS;
  // on a full disk what is dropped fails as well
  if (stored <= limit || isFlipped || world.node.disturbances.d1.faults.includes('full')) return;
  // what a milestone needs is stored whatever else there is
  const next = coneOf(world.network, (await world.ledgerIndex()) + 1).length;
  const needed = next + world.unsoundBlocks;
  if (stored > limit + needed)
    world.wrong('economy', `${stored} unreferenced blocks, at most ${limit + needed}`);
}

/** IDs of a milestone are kept for longer than all else of it, and those that are said to be kept. */
async function checkIds(world: World): Promise<void> {
  const { sqlite } = world.node;
  if (world.isFlipped) return;
  const sql = `SELECT max(start - 1, forgotten) AS forgotten, id_tables ->> '$[0][0]' AS oldest,
    (SELECT min(idx) FROM milestone) AS first FROM head`;
  const row = await sqlite
    .prepare(sql)
    .first<{ forgotten: number; oldest: number; first: number | null }>();
  if (row === null) return;
  const { forgotten, oldest, first } = row;
  const kept = await sqlite
    .prepare(`SELECT min(milestone) AS kept FROM id_${oldest}`)
    .first('kept');
  if (first !== null && forgotten >= first)
    world.wrong('safety', `IDs up to ${forgotten} are forgotten, ${first} is kept`);
  if (Number(kept) > forgotten + 1)
    world.wrong('safety', `IDs up to ${forgotten} are forgotten, and none before ${kept} is kept`);
}

/** A publisher that cannot put anything does not fill its row. */
async function checkMarks(world: World): Promise<void> {
  const sql = "SELECT json_array_length(state, '$.marks') AS marks FROM nft_index";
  const marks = world.isFlipped ? 0 : Number(await world.node.sqlite.prepare(sql).first('marks'));
  const most = marksOfIndex(world.settings.limits);
  if (marks > most) world.wrong('economy', `the index has ${marks} marks, at most ${most}`);
}

/** After which what a publisher began is over that was killed, or whose ledger was replaced. */
const OVER_MS = 1000;
const OVERLAP_MS = 30_000;

/** A publisher that is alone has written the last state of the index itself. */
function checkSwaps(world: World): void {
  const { node, importedAt, overlapAt, isImporting, isDisturbedLate, isFlipped, tally } = world;
  const { startedAt } = node.follower;
  const since = Math.max(startedAt + OVER_MS, importedAt + OVER_MS, overlapAt + OVERLAP_MS);
  // its row was deleted
  const isGone = isImporting || isDisturbedLate || isFlipped || tally.has('reindex');
  if (node.counts.swapLostAt > since && !isGone)
    world.wrong('economy', 'a publisher is taken for another one by itself');
}

/** Milliseconds in which a milestone is applied where nothing disturbs the follower. */
const PROMPT_MS = 8000;

async function checkPrompt(world: World): Promise<void> {
  const { latest, simulation, tally, restsFrom } = world;
  if (!world.mustAnswer || world.isDisturbed || restsFrom !== undefined || tally.has('lag')) return;
  if (simulation.now - latest.at < PROMPT_MS) return;
  const ledger = await world.ledgerIndex();
  if (ledger < latest.index)
    world.wrong(
      'liveness',
      `the ledger is at ${ledger}, ${latest.index} came ${simulation.now - latest.at} ms ago`,
    );
}

/** Nothing fails, and everybody is honest, or somebody at least: one honest upstream is enough. */
function calm(world: World, random: Random): void {
  const { node, upstreams, liar, endOverlap } = world;
  world.unsoundBlocks = 0;
  for (const upstream of upstreams) upstream.issueUnsound(undefined);
  Object.assign(node.disturbances, {
    d1: { chance: 0, faults: [] },
    kvDown: false,
    kvFull: false,
    kvSlowMs: 0,
    cacheDown: false,
    d1Bytes: 0,
    skewMs: 0,
  });
  node.follower.losesAlarms = false;
  const honest = upstreams.filter((each) => each !== liar);
  const { comeback } = world;
  const all = comeback === undefined ? upstreams : honest;
  world.reliable = random.chance(0.5) ? all : [random.pick(honest)];
  for (const upstream of world.reliable) upstream.recover();
  if (comeback !== undefined) world.comeBack(comeback, world.reliable);
  endOverlap?.();
  if (!world.hasKeys) world.setKeys();
  if (world.isDamaged) world.repair();
}

/** Whether a proposal is answered. */
async function askOnce(world: World, request: Request): Promise<boolean> {
  const { tally, simulation } = world;
  const before = tally.get('white flag 200') ?? 0;
  askRoots(world, request);
  await simulation.pass(ANSWERED_MS);
  await checkAlways(world);
  return (tally.get('white flag 200') ?? 0) > before;
}
