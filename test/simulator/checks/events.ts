/**
 * Clients of events: each milestone once and in order, after all that it changes; they connect again
 * where they were cut off, and some leave. Once the node is at rest whoever is connected has been
 * told of the last milestone.
 */

import {
  createPacketReader,
  encodePacket,
  type Packet,
  PacketType,
} from '../../../src/mqtt/packets.ts';
import { concatBytes } from '../../../src/stardust/encoding/bytes.ts';
import { take } from '../../support/network/accounts.ts';
import { coneOf, lastIndex, milestoneAt } from '../../support/network/network-model.ts';
import { Random } from '../../support/network/random.ts';
import { basic } from '../../support/payloads/outputs.ts';
import { heldBlocks } from '../platform/limits.ts';
import type { Socket } from '../platform/sockets.ts';
import { issue } from '../steps/coordinators.ts';
import { prefixAt } from '../truth.ts';
import { ODD_PACKETS } from '../upstream.ts';
import type { World } from '../world.ts';
import { GREETING, HEADERS } from './crowd.ts';
import { blockIdOf, extraTopics, json, outputTopics, type Topic } from './event-topics.ts';
import { type KeepAlive, newKeepAlive } from './keep-alive.ts';
import { differs, infoOf, reasonOf } from './reads.ts';
import { checkSessions } from './sessions.ts';
import { answerableProposal, askRoots, isFull } from './white-flag.ts';

const CONFIRMED = 'milestone-info/confirmed';
const BLOCKS = 'blocks';
const TAGGED = 'blocks/tagged-data';
/** Notes have the tag "note" (synthetic-network.ts). */
const NOTES = 'blocks/tagged-data/0x6e6f7465';
const TRANSACTIONS = 'blocks/transaction';
/** Of each of these comes any block that is new, and is what the topic says. */
const OF_NOTES = [BLOCKS, TAGGED, NOTES];
const OF_TRANSFERS = [
  TRANSACTIONS,
  ...[TAGGED, NOTES].map((each) => each.replace(BLOCKS, TRANSACTIONS)),
];
const OF_BLOCKS = [...OF_NOTES, ...OF_TRANSFERS];
/** In which a connection is closed on which nobody says CONNECT. */
const MUTE_MS = 15_000;
const REFERENCED = 'block-metadata/referenced';
const AGAIN_MS = 1000;

/** Packet identifiers, which an acknowledgement repeats. */
const SUBSCRIPTION = 1;
const LEAVING = 2;
/** Of ODD_PACKETS. */
const ASKED_ID = 7;

/** What a client says before it subscribes, and how each is answered (MQTT-3.3.5-2). */
const ASKED = ODD_PACKETS.slice(1, 4);
const ANSWERS = [PacketType.PublishAck, PacketType.PublishReceived, PacketType.PublishComplete];

/** What one who leaves says last. */
const GOODBYES: readonly Uint8Array<ArrayBuffer>[] = [
  encodePacket({ type: PacketType.Disconnect }),
  encodePacket({ type: PacketType.PingRequest }),
  encodePacket({ type: PacketType.Unsubscribe, packetId: LEAVING, topics: [CONFIRMED, BLOCKS] }),
  ...ODD_PACKETS,
];

/** What no client library takes (MQTT-3.8.4-2, MQTT-3.8.4-5, MQTT-3.10.4-4). */
function faultOfAck(packet: Packet, topics: number): string | undefined {
  if (packet.type === PacketType.UnsubscribeAck && packet.packetId !== LEAVING)
    return `that it left ${packet.packetId}`;
  if (packet.type !== PacketType.SubscribeAck) return undefined;
  const { packetId, returnCodes } = packet;
  const isWhole = packetId === SUBSCRIPTION && returnCodes.length === topics;
  return isWhole && returnCodes.every((code) => code === 0)
    ? undefined
    : `${returnCodes} of ${topics} topics, by packet ${packetId}`;
}

/** A connected client, and the last milestone that it was told of. */
export interface Listener {
  /** Milestone that it was told of when it came. */
  first: number | undefined;
  last: number | undefined;
  /** Hex IDs of the blocks that it was told of, by topic. */
  blocks: ReadonlyMap<string, Set<string>>;
  /** Topics that it has; undefined while that is not certain. */
  topics: number | undefined;
  /** Ledgers that were replaced when it was granted topics: it may miss what the other one had. */
  imports: number;
  /** When it was told that it gets no more blocks. */
  unsubscribedAt: number | undefined;
}

/** Topics that one leaves at once. */
const LEFT = [NOTES, BLOCKS];

/** In which whoever listens to a ledger that was replaced is sent away. */
export const CLOSED_MS = 60_000;

/** In which what was sent before has come. */
const UNSUBSCRIBED_MS = 1000;

/** @param stays whether it never leaves by itself */
export function listen(world: World, random: Random, connections = 3, stays = false): void {
  const topics = [
    ...random.sample(extraTopics(world, random), random.below(4)),
    ...(random.chance(0.4) ? outputTopics(world, random) : []),
  ];
  const unsubscribesAfter = !stays && random.chance(0.2) ? random.between(5, 60) * 1000 : undefined;
  // others may have the same name at other addresses
  const [address, clientId] = random.chance(0.5)
    ? ['192.0.2.3', '']
    : [[10, ...random.bytes(3)].join('.'), 'wallet'];
  const leavesAfter = !stays && random.chance(0.3) ? random.between(5, 60) * 1000 : undefined;
  world.ask(
    '/api/mqtt/v1',
    (answer) => {
      world.note(`events ${answer.status}`);
      if (answer.status !== 101) return;
      if (answer.headers.get('sec-websocket-protocol') !== 'mqtt')
        world.wrong('safety', 'a listener is not told that MQTT is spoken');
      const { webSocket } = answer as unknown as { webSocket: Socket };
      if (!stays && random.chance(0.1)) {
        webSocket.open(undefined);
        const { starts } = world.node.events;
        world.simulation.after(MUTE_MS, () => {
          const { events } = world.node;
          if (webSocket.readyState === 1 && events.isAwake && starts === events.starts)
            world.wrong('economy', 'who does not say CONNECT stays');
        });
        return;
      }
      const again = () => {
        const { simulation } = world;
        if (connections <= 1) return;
        simulation.after(AGAIN_MS, () => listen(world, random, connections - 1, stays));
      };
      const alive = newKeepAlive(world, webSocket, stays ? undefined : random);
      const { end, unsubscribe } = follow(world, webSocket, topics, { again, alive, clientId });
      if (unsubscribesAfter !== undefined && !alive.isSilent)
        world.simulation.after(unsubscribesAfter, unsubscribe);
      if (leavesAfter === undefined) return;
      world.simulation.after(leavesAfter, () => {
        end();
        if (webSocket.readyState === 1) webSocket.send(random.pick(GOODBYES));
        webSocket.close(1000);
      });
    },
    { headers: { ...HEADERS, 'cf-connecting-ip': address! } },
  );
}

const IS_VISIBLE = `
  SELECT dropped > 0 OR EXISTS (SELECT 1 FROM pack WHERE staged IS NULL AND instr(blocks, ?1) > 0) AS seen
  FROM head`;

/** A block is told once it is stored where requests see it; of one that was dropped nobody knows. */
async function requireVisible(world: World, { imports }: Listener, id: string): Promise<void> {
  const seen = await world.node.sqlite.prepare(IS_VISIBLE).bind(id.slice(2)).first('seen');
  if (seen === 0 && imports === world.imports && !world.isRowFlipped)
    world.wrong('safety', `an event of block ${id}, which is not stored`);
}

/** Returns what ends it, without coming again, and what ends its blocks. */
function follow(
  world: World,
  socket: Socket,
  extra: readonly Topic[],
  { again, alive, clientId }: { again: () => void; alive: KeepAlive; clientId: string | undefined },
): { end: () => void; unsubscribe: () => void } {
  const { network } = world;
  const reader = createPacketReader(1 << 20);
  const listener: Listener = {
    first: undefined,
    last: undefined,
    blocks: new Map(OF_BLOCKS.map((name) => [name, new Set()])),
    topics: undefined,
    imports: world.imports,
    unsubscribedAt: undefined,
  };
  world.listeners.add(listener);
  const topics: Topic[] = [
    {
      name: REFERENCED,
      ...(heldBlocks(world.settings.limits) === 1 && { anyOrder: true }),
      read: (payload) => {
        const { blockId, ledgerInclusionState, conflictReason, ...about } = json(payload);
        const { parents, milestoneIndex } = network.blocks.get(blockId) ?? {};
        if (JSON.stringify(about.parentBlockIds) !== JSON.stringify(parents))
          return `${blockId} of other parents`;
        // without keys no block counts as a milestone's
        if (!world.hasKeys) about.milestoneIndex ??= milestoneIndex;
        return [
          blockId,
          ledgerInclusionState,
          reasonOf(world, conflictReason),
          about.whiteFlagIndex,
          about.milestoneIndex,
        ].join(' ');
      },
      truth: (index) =>
        coneOf(network, index).map(({ id, referenced, milestoneIndex }) => {
          const { state, conflict, whiteFlagIndex } = referenced!;
          const reason = state === 'conflicting' ? reasonOf(world, conflict) : undefined;
          return [id, state, reason, whiteFlagIndex, milestoneIndex].join(' ');
        }),
    },
    ...extra,
  ];
  // a milestone that was not told whole is told again
  let before = world.node.events.starts;
  const told = new Map<string, string[]>(topics.map(({ name }) => [name, []]));
  const begun = new Set<string>();
  let begunAt = 0;
  /** Topics that name an address by a prefix that it does not have when this client comes. */
  const idle = new Set<string>();
  const begin = (index: number) => {
    // of a milestone that has another one the prefix is told before
    const near = [index, index + 1].map((each) => prefixAt(network, each));
    const isNamed = ({ prefix }: Topic) =>
      prefix === undefined || near.every((each) => each === prefix);
    for (const each of topics) if (!isNamed(each)) idle.add(each.name);
    const isCertain = idle.size === 0 || near[0] === near[1];
    if (isCertain) listener.topics = OF_BLOCKS.length + 1 + topics.length - idle.size;
  };
  const confirm = ({ index, ...about }: { index: number }) => {
    const { last } = listener;
    if (world.isDamaged) return;
    if (listener.imports !== world.imports) {
      const isLate = !world.isImporting && simulation.now > world.importedAt + CLOSED_MS;
      if (isLate) world.wrong('safety', `an event of milestone ${index} of another ledger`);
      return;
    }
    if (index > lastIndex(network)) world.wrong('safety', `an event of milestone ${index}`);
    // the genesis has no ID
    const milestone = milestoneAt(network, index);
    const fault = milestone && differs({ index, ...about }, infoOf(milestone));
    if (fault !== undefined) world.wrong('safety', `event of milestone ${index}: ${fault}`);
    if (last !== undefined && index !== last + 1)
      world.wrong('safety', `event of milestone ${index} after ${last}`);
    const { starts } = world.node.events;
    const isRepeated = before !== starts;
    before = starts;
    if (listener.first === undefined) {
      begin(index);
      begunAt = simulation.now;
    }
    listener.first ??= index;
    const { first } = listener;
    for (const topic of topics) {
      const { name, truth, anyOrder, tellsOneEnd, isTrue, isThere, prefix } = topic;
      const came = told.get(name)!.splice(0);
      if (idle.has(name)) continue;
      const now = prefixAt(network, index);
      if (prefix !== undefined && prefix !== now)
        world.wrong('safety', `who has ${name} is told of ${index}, where addresses are ${now}…`);
      if (isTrue !== undefined) {
        if (!came.every(isTrue)) world.wrong('safety', `events ${name}: ${came}`);
        const isWhole = last === undefined || truth(index).every((each) => came.includes(each));
        if (!isWhole) world.wrong('safety', `events ${name} of milestone ${index}: ${came}`);
        if (came.length > 0) begun.add(name);
        const isLate = index === first + TOLD_WITHIN && isThere?.(first) && !begun.has(name);
        // where D1 was slow or down milestones come at once later
        if (isLate && !world.isFlipped && !world.node.isSlowSince(begunAt))
          world.wrong('safety', `events ${name}: nothing at first`);
        continue;
      }
      const said = isRepeated ? [...new Set(came)] : came;
      // the first one is what was announced last, before this client came
      if (last === undefined && !topic.tellsFirst) continue;
      const all = truth(index);
      const ends = all.filter((each) => tellsOneEnd && each.endsWith(' true'));
      const end = ends.find((each) => said.includes(each)) ?? ends[0];
      const outdated = topic.outdated?.(index) ?? [];
      if (outdated.includes(came.at(-1)!))
        world.wrong('safety', `events ${name} of milestone ${index} end with ${came.at(-1)}`);
      const isDue = (each: string) =>
        ends.includes(each) ? each === end : said.includes(each) || !outdated.includes(each);
      const due = all.filter(isDue);
      const [one, other] = anyOrder ? [said.toSorted(), due.toSorted()] : [said, due];
      if (one.join() === other.join()) continue;
      const at = one.findIndex((each, i) => each !== other[i]);
      world.wrong(
        'safety',
        `events ${name.slice(0, 30)} of milestone ${index}: ${said.length} of ${due.length}; ${one[at]}, the truth is ${other[at]}`,
      );
    }
    listener.last = index;
    world.note('event', String(index));
  };
  const { simulation } = world;
  const wanted = [CONFIRMED, ...OF_BLOCKS, ...topics.map(({ name }) => name), CONFIRMED];
  const noteBlock = (id: string) => {
    if (simulation.now > (listener.unsubscribedAt ?? simulation.now) + UNSUBSCRIBED_MS)
      world.wrong('safety', `an event of block ${id} to one who wants none`);
    // a pushed block of which a bit was spoilt on the way is another block
    if (!network.blocks.has(id) && world.settings.kind !== 'hostile')
      world.wrong('safety', `an event of block ${id}`);
    void requireVisible(world, listener, id);
  };
  const answers: number[] = [];
  socket.received = (data) => {
    for (const packet of reader.read(new Uint8Array(data as ArrayBuffer))) {
      alive.received(packet);
      if ('packetId' in packet && packet.packetId === ASKED_ID) answers.push(packet.type);
      if (packet.type === PacketType.SubscribeAck && !isSubscribed) {
        isSubscribed = true;
        if (answers.join() !== ANSWERS.join())
          world.wrong('safety', `what a client published is answered by ${answers}`);
        // one that is granted topics once an import is done is of the ledger that has come
        listener.imports = world.imports;
      }
      const fault = faultOfAck(packet, wanted.length);
      if (fault !== undefined) world.wrong('safety', `a listener is told ${fault}`);
      if (packet.type === PacketType.UnsubscribeAck) {
        listener.unsubscribedAt = simulation.now;
        if (listener.topics !== undefined) listener.topics -= LEFT.length;
      }
      if (packet.type === PacketType.ConnectAck) {
        const subscribe = { type: PacketType.Subscribe, packetId: SUBSCRIPTION, topics: wanted };
        // together, as messages of a socket may overtake each other here; twice is once
        socket.send(concatBytes(...ASKED, encodePacket(subscribe), encodePacket(subscribe)));
      }
      if (packet.type !== PacketType.Publish) continue;
      const ofBlocks = listener.blocks.get(packet.topic);
      if (packet.topic === BLOCKS) noteBlock(blockIdOf(packet.payload));
      const topic = topics.find(({ name }) => name === packet.topic);
      try {
        if (packet.topic === CONFIRMED) confirm(json(packet.payload));
        else if (ofBlocks !== undefined) ofBlocks.add(blockIdOf(packet.payload));
        else if (topic === undefined) world.wrong('safety', `an event of ${packet.topic}`);
        else told.get(topic.name)!.push(topic.read(packet.payload));
      } catch (error) {
        world.wrong('safety', `an event of ${packet.topic} that is none: ${error}`);
      }
    }
  };
  let isSubscribed = false;
  let isLeaving = alive.isSilent;
  socket.ended = (code) => {
    world.note(`events closed ${code}`);
    // at any milestone that it has not been told of
    const { last = lastIndex(network) } = listener;
    const prefixes = network.milestones
      .filter(({ index }) => index >= last)
      .map(({ index }) => prefixAt(network, index));
    const isRenamed = topics.some(
      ({ prefix }) => prefix !== undefined && prefixes.some((each) => each !== prefix),
    );
    // a line that is cut is nobody's fault
    if (!isRenamed && !isLeaving && code !== 1006 && world.mustAnswer && !world.isDisturbed)
      world.wrong('liveness', `a listener is closed: ${code}`);
    world.listeners.delete(listener);
    again();
  };
  socket.open(undefined);
  const own = { clientId: clientId ?? '', keepAlive: alive.seconds };
  socket.send(encodePacket({ ...GREETING, ...own }));
  alive.begin();
  return {
    end: () => {
      isLeaving = true;
      world.listeners.delete(listener);
    },
    unsubscribe: () => {
      if (socket.readyState !== 1 || !isSubscribed) return;
      socket.send(encodePacket({ type: PacketType.Unsubscribe, packetId: LEAVING, topics: LEFT }));
    },
  };
}

/** Milestones within which one who comes is told of what there is. */
const TOLD_WITHIN = 2;

/** In which whoever listens is told of the last milestone. */
const TOLD_MS = 20_000;
/** The same where an alarm was lost: cron wakes the follower. */
const WOKEN_MS = 80_000;
const LOOK_MS = 3000;

/** Once the ledger is at rest, whoever listens is told of its last milestone. */
export async function checkListeners(world: World): Promise<void> {
  const { network, listeners } = world;
  const last = lastIndex(network);
  const waiting = () =>
    [...listeners].find((each) => each.imports === world.imports && each.last !== last);
  const patience = world.node.follower.lostAlarms > 0 ? WOKEN_MS : TOLD_MS;
  const late = await world.until(waiting, patience, (each) => each === undefined, LOOK_MS);
  if (late !== undefined)
    world.wrong('liveness', `a listener was told of ${late.last}, the ledger is at ${last}`);
  else {
    await checkBlocksTold(world);
    await checkCounted(world);
    await checkToldAnew(world);
  }
}

/** More often than a listener comes again, or calls of the broker may wait. */
const TIMES = 5;
/** In which the follower calls the broker though nobody listens. */
const CALLED_MS = 12_000;

/** Who listens, where nobody did for a while, is told of the ledger as it is. */
async function checkToldAnew(world: World): Promise<void> {
  const { node, simulation, network, listeners } = world;
  for (let i = 0; i < TIMES && listeners.size > 0; i++) {
    node.events.kill();
    await simulation.pass(2 * AGAIN_MS);
  }
  for (let i = 0; i < 2; i++) {
    await simulation.pass(CALLED_MS);
    issue(world, [network.milestoneBlock!]);
  }
  // what it keeps outlives it
  node.events.kill();
  const hasCome = await world.until(() => world.hasFollowed(), WOKEN_MS);
  if (!hasCome || listeners.size > 0) return;
  await checkSessions(world);
  listen(world, new Random(`${world.start} listens anew`), 1, true);
  const read = () => [...listeners][0]?.first;
  const first = await world.until(read, TOLD_MS, (index) => index !== undefined);
  if (first !== undefined && first !== lastIndex(network))
    world.wrong('safety', `who begins to listen at ${lastIndex(network)} is told of ${first}`);
  // an eviction ends no connection
  const [stays] = listeners;
  node.events.kill(false);
  issue(world, [network.milestoneBlock!]);
  await world.until(() => stays?.last === lastIndex(network), TOLD_MS);
  const now = lastIndex(network);
  // addresses of another prefix end a connection too
  if (prefixAt(network, now) !== prefixAt(network, now - 1)) return;
  if (stays && !(listeners.has(stays) && stays.last === now))
    world.wrong('liveness', `an eviction cuts off who was told of ${stays.last}`);
}

/** While nobody listens the follower asks every ten seconds (src/modules/events/README.md). */
const HEARD_MS = 15_000;
const STORED_MS = 60_000;
const NEW_BLOCKS = 3;
/** In which blocks that are pushed are stored. */
const LOST_MS = 3000;
const ANSWERED_MS = 3000;

/** Whoever listens is told of new blocks, as long as more of them may be stored. */
async function checkBlocksTold(world: World): Promise<void> {
  const { simulation, network, listeners, node } = world;
  // which tips an upstream names without a feed is its own choice
  if (!world.reliable.some(({ conduct }) => conduct.hasFeed) || world.settings.needsWork) return;
  listen(world, new Random(`${world.start} listens`), 1, true);
  const { lostAlarms } = world.node.follower;
  await simulation.pass(lostAlarms > 0 ? WOKEN_MS : HEARD_MS);
  // it fails again and again, and is there in between
  for (let i = 0; i < TIMES; i++) {
    node.events.losesCalls = true;
    network.note([network.milestoneBlock!], world.readers.bytes(8));
    world.publishNews();
    await simulation.pass(LOST_MS);
    node.events.losesCalls = false;
    await simulation.pass(CALLED_MS);
  }
  const told = [...listeners];
  network.random = new Random(`${world.start} new blocks`);
  const request = await answerableProposal(world);
  // what stands on a block that was never pushed is found from tips, which need not lead there
  askRoots(world, request);
  await simulation.pass(ANSWERED_MS);
  const { parents } = request;
  const ids = Array.from({ length: NEW_BLOCKS }, (_, i) =>
    network.note(parents.slice(0, 1 + (i % 2))),
  );
  const spend = take(world.life, world.life.coins);
  const tagged = {
    type: 5,
    tag: new TextEncoder().encode('note'),
    data: new Uint8Array(1),
  } as const;
  const made =
    spend &&
    network.transaction(
      [spend],
      [basic(spend.by, { amount: spend.coin.output.amount })],
      undefined,
      tagged,
    );
  const transfer = made && network.attachTransaction(made, parents.slice(0, 1));
  world.publishNews();
  const lacks = () =>
    told.filter(({ blocks, unsubscribedAt }) => {
      const hasAll = (topics: readonly string[], due: readonly string[]) =>
        topics.every((topic) => {
          const isEnded = LEFT.includes(topic) && unsubscribedAt !== undefined;
          return isEnded || due.every((id) => blocks.get(topic)!.has(id));
        });
      return (
        !hasAll(OF_NOTES, ids) || !hasAll(OF_TRANSFERS, transfer === undefined ? [] : [transfer])
      );
    });
  const lacking = await world.until(lacks, STORED_MS, ({ length }) => length === 0, LOOK_MS);
  const late = lacking.find((each) => listeners.has(each));
  if (late !== undefined && !(await isFull(world)))
    world.wrong('liveness', 'a listener is not told of new blocks');
}

const COUNTED_MS = 1000;

/** Asks for topics, and is gone before it is granted any. */
function leaveAtOnce(world: World): void {
  const join = (answer: Response) => {
    if (answer.status !== 101) return;
    const { webSocket: socket } = answer as unknown as { webSocket: Socket };
    socket.received = () => {
      const topics = [CONFIRMED, ...OF_BLOCKS];
      socket.send(encodePacket({ type: PacketType.Subscribe, packetId: SUBSCRIPTION, topics }));
      socket.close(1000);
    };
    socket.open(undefined);
    socket.send(encodePacket(GREETING));
  };
  world.ask('/api/mqtt/v1', join, { headers: HEADERS });
}

/** The broker counts the topics that clients have, of which it makes messages. */
async function checkCounted(world: World): Promise<void> {
  const { simulation, listeners } = world;
  const due = () => [...listeners].reduce((sum, { topics = Number.NaN }) => sum + topics, 0);
  for (let i = 0; i < TIMES; i++) leaveAtOnce(world);
  await simulation.pass(COUNTED_MS);
  const before = due();
  world.ask('/metrics', async (answer) => {
    const [, count] = /^stardust_event_topics (\d+)$/m.exec(await answer.text()) ?? [];
    if (count !== undefined && before === due() && Number(count) !== before)
      world.wrong('economy', `the broker has ${count} topics, its clients ${before}`);
  });
  await simulation.pass(COUNTED_MS);
}
