/**
 * A HORNET as `fetch` sees it: REST over the project's NodeState, and its MQTT plug-in. It may be
 * behind, slow, silent, pruned, forgetful, or lie.
 */
import { createPacketReader, encodePacket, PacketType } from '../../src/mqtt/packets.ts';
import { NodeState } from '../support/hornet-double/node-state.ts';
import {
  answer,
  answerError,
  RAW_TYPE,
  type Route,
  routeOf,
} from '../support/hornet-double/routes.ts';
import { lastIndex, type NetworkMilestone } from '../support/network/network-model.ts';
import { Random } from '../support/network/random.ts';
import type { SyntheticNetwork } from '../support/network/synthetic-network.ts';
import { onAbort } from './platform/connections.ts';
import {
  currentOwner,
  isRequest,
  newProcess,
  type Process,
  type Simulation,
} from './platform/simulation.ts';
import { SimulatedResponse, type Socket, SocketPair } from './platform/sockets.ts';

const ANSWER_MS = 15;
const HANG_MS = 3_600_000;
const CRAWLING_MS = 2000;
const MAX_PACKET_BYTES = 1 << 20;

/** Of an endless answer: of what there is, by far too much. */
const CHUNK_BYTES = 65_536;
const ENDLESS_BYTES = 8_000_000;
const ENDLESS_SHARE = 0.3;
const MANY_TIPS = 3000;
/** By MQTT: of a connection, and of a topic. */
const NOT_AUTHORIZED = 5;
const REFUSED = 0x80;
/** How proxies, and nodes, say that there are too many requests. */
const TOO_MANY = [429, 503, 504];

/** What an upstream can be wrong about. */
export const LIES = [
  'calls referenced blocks open',
  'calls open blocks referenced',
  'sends other bytes',
  'has no block',
  'names wrong tips',
  'says it is ahead',
  'says it is behind',
  'sends other milestones',
  'names another network',
  'answers without end',
] as const;
export type Lie = (typeof LIES)[number];

/** By MQTT either end may close a connection in which the other one says this. */
export const ODD_PACKETS: readonly Uint8Array<ArrayBuffer>[] = [
  Uint8Array.of(0),
  // messages that want an answer, and what follows one
  Uint8Array.of(0x32, 5, 0, 1, 0x61, 0, 7),
  Uint8Array.of(0x34, 5, 0, 1, 0x61, 0, 7),
  encodePacket({ type: PacketType.PublishRelease, packetId: 7 }),
  encodePacket({ type: PacketType.Publish, topic: 'a', payload: new Uint8Array(1) }),
  // the answer of a server, and what a client begins with
  encodePacket({ type: PacketType.PingResponse }),
  encodePacket({
    type: PacketType.Connect,
    level: 4,
    cleanSession: true,
    clientId: 'again',
    keepAlive: 0,
  }),
];

/** What can become of a message of the feed. */
export type Push = 'lost' | 'doubled' | 'late' | 'spoilt';

/**
 * What can become of requests of one kind: no answer, one after seconds, a failure, or no answer
 * about a block that it lacks, and others at once.
 */
export const HINDRANCES = ['hangs', 'crawls', 'fails', 'tarpits'] as const;
export type Hindrance = (typeof HINDRANCES)[number];

export interface Conduct {
  /** Milestones that it is behind. */
  lag: number;
  /** Whether it knows the milestones that it is behind, and says so: from three on it is not synced. */
  isSyncing: boolean;
  /** Of several nodes behind one address, by how many milestones more one is behind at most. */
  spread: number;
  /** Whether it answers. */
  isUp: boolean;
  /** Whether it asks for a token that nobody has yet. */
  isLocked: boolean;
  lies: ReadonlySet<Lie>;
  /** Shares of the requests. */
  failing: number;
  busy: number;
  hanging: number;
  cutting: number;
  slow: number;
  /** By its rate limit it refuses every request with this number; 0: none. */
  refusing: number;
  /** What becomes of requests of some kinds, while all others are answered as ever. */
  hindered: Readonly<Partial<Record<Route['name'], Hindrance>>>;
  /** Share of blocks that it does not have, always the same ones. */
  forgetful: number;
  /** IDs of blocks that it has, and gives to nobody: it denies them, or fails to read their bytes. */
  withheld: ReadonlySet<string>;
  unreadable: ReadonlySet<string>;
  /** IDs of blocks that it gives to nobody, and calls referenced. */
  pretended: ReadonlySet<string>;
  /** IDs of blocks that it calls unreferenced. */
  reopened: ReadonlySet<string>;
  /** Bytes of blocks by their IDs that no node would have, as they break a rule. */
  madeUp: ReadonlyMap<string, Uint8Array>;
  /** Whether the plug-in runs, whether it brings anything, and what becomes of messages. */
  hasFeed: boolean;
  isSilent: boolean;
  /** What of its greeting it refuses: the connection, or a topic. */
  refuses: 'nothing' | 'connection' | 'topic';
  pushes: Readonly<Partial<Record<Push, number>>>;
}

const HONEST: Conduct = {
  lag: 0,
  isSyncing: false,
  spread: 0,
  isUp: true,
  isLocked: false,
  lies: new Set(),
  failing: 0,
  busy: 0,
  hanging: 0,
  cutting: 0,
  slow: 0,
  refusing: 0,
  hindered: {},
  forgetful: 0,
  withheld: new Set(),
  unreadable: new Set(),
  pretended: new Set(),
  reopened: new Set(),
  madeUp: new Map(),
  hasFeed: false,
  isSilent: false,
  refuses: 'nothing',
  pushes: {},
};

/** What metadata say of a block then: nothing of this is among them. */
const UNREFERENCED = {
  referencedByMilestoneIndex: undefined,
  ledgerInclusionState: undefined,
  conflictReason: undefined,
  whiteFlagIndex: undefined,
};

/** What an answer to `info` has, as far as lies change it. */
interface Info {
  status: object;
  protocol: object;
}

interface Message {
  topic: string;
  payload: Uint8Array;
}

export class UpstreamDouble {
  /** Host and path of its URL. */
  readonly address: string;
  readonly conduct: Conduct;
  readonly #simulation: Simulation;
  readonly #network: SyntheticNetwork;
  readonly #state: NodeState;
  readonly #random: Random;
  /** Payloads of milestones that nobody signed: a liar sends them. */
  readonly forged: Uint8Array[] = [];
  /** A next milestone that the coordinator signed, and that is none; until there is a right one. */
  #unsound: { index: number; payload: Uint8Array } | undefined;
  /** What is other in the protocol of the network that it is of. */
  protocol: object = {};
  /** Most bytes that were read of one endless answer. */
  mostRead = 0;
  /** Of the node's objects: clients' reads of blocks that it has not are not among them. */
  requests = 0;
  /**
   * Milestone of the latest snapshot that was imported. Of nodes behind one address none is behind
   * it by itself: by its word what the snapshot's milestone references is unreferenced.
   */
  snapshotIndex = 0;
  /** How often it was asked where it stands. */
  heads = 0;
  /** How often it said that it does not know a block that it had. */
  forgotten = 0;
  /** The same, and of blocks that it withholds. */
  denied = 0;
  /** Called once, when it is asked about a block that it does not call referenced. */
  onAsked: (() => void) | undefined;
  /** Whether it ever did not answer, or was behind. */
  wasSilent = false;
  /** When it answered last about a block. */
  answeredAt = 0;
  /** Whether it is down until it recovers, whatever its conduct says. */
  isAway = false;
  readonly #process: Process;
  readonly #listeners = new Set<Socket>();
  #unpushed: string[] = [];
  #answers = 0;
  #toldMilestone: number;

  constructor(
    simulation: Simulation,
    network: SyntheticNetwork,
    address: string,
    conduct: Partial<Conduct>,
  ) {
    this.#simulation = simulation;
    this.#network = network;
    this.#state = new NodeState(network, network.genesis.index);
    this.address = address;
    this.conduct = { ...HONEST, ...conduct };
    this.#random = new Random(`${address} of ${network.name}`);
    this.#process = newProcess(address);
    this.#toldMilestone = lastIndex(network);
  }

  get host(): string {
    return this.address.split('/')[0]!;
  }

  get tips(): readonly string[] {
    this.#confirm();
    return this.#state.tips;
  }

  /** Honest, with all that there is, and as quick as ever. */
  recover(): void {
    Object.assign(this.conduct, { ...HONEST, hasFeed: this.conduct.hasFeed });
    this.protocol = {};
    this.isAway = false;
    this.onAsked = undefined;
    this.prune(this.#network.genesis.index);
  }

  /** @param hasGossip whether it gets the blocks again, and does not know what became of them */
  prune(index: number, hasGossip = false): void {
    this.#state.prune(index);
    this.#state.hasGossip = hasGossip;
  }

  leave(): void {
    this.isAway = true;
    this.dropListeners();
  }

  get #isUp(): boolean {
    return this.conduct.isUp && !this.isAway;
  }

  /** The coordinator issues a milestone that is none, and later a right one in its place. */
  issueUnsound(unsound: { index: number; payload: Uint8Array } | undefined): void {
    this.#unsound = unsound;
    if (unsound === undefined || !this.conduct.hasFeed) return;
    const { index, payload } = unsound;
    this.push({ topic: 'milestones', payload });
    const info = new TextEncoder().encode(JSON.stringify({ index }));
    this.push({ topic: 'milestone-info/confirmed', payload: info });
  }

  /** What stands in the place of the next milestone. */
  get #unsoundNow() {
    const isNext = this.#unsound?.index === lastIndex(this.#network) + 1;
    return isNext && this.conduct.lag === 0 ? this.#unsound : undefined;
  }

  #confirm(lag = this.conduct.lag): void {
    const { genesis } = this.#network;
    const latest = lastIndex(this.#network);
    const confirmed = Math.max(genesis.index, latest - lag);
    const { isSyncing } = this.conduct;
    if (isSyncing || confirmed !== this.#state.confirmed)
      this.#state.confirm(confirmed, isSyncing ? latest : confirmed);
  }

  async fetch(url: string, init: RequestInit = {}): Promise<Response> {
    if (!isRequest(currentOwner()?.process)) this.requests++;
    const { conduct } = this;
    const random = this.#random;
    this.wasSilent ||=
      !this.#isUp ||
      conduct.isLocked ||
      conduct.failing +
        conduct.busy +
        conduct.cutting +
        conduct.lag +
        conduct.spread +
        conduct.refusing >
        0 ||
      // one that does not say where it stands is no silent one
      Object.keys(conduct.hindered).some((name) => name !== 'info');
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    aborted.catch(() => {});
    using _listening = onAbort(init.signal, reject);
    const within = (ms: number) => Promise.race([this.#simulation.sleep(ms), aborted]);
    if (this.#isUp && random.chance(conduct.hanging)) await within(HANG_MS);
    const isSlow = random.chance(conduct.slow);
    await within(isSlow ? random.between(200, 4000) : random.between(2, 2 * ANSWER_MS));
    if (!this.#isUp || random.chance(conduct.failing))
      throw new TypeError('Network connection lost.');
    if (conduct.isLocked) return new SimulatedResponse('', { status: 401 });
    const headers = new Headers(init.headers);
    const mostBehind = Math.max(0, lastIndex(this.#network) - conduct.lag - this.snapshotIndex);
    this.#confirm(conduct.lag + Math.min(random.below(conduct.spread + 1), mostBehind));
    if (headers.get('upgrade') === 'websocket') return this.#connect();
    const route = routeOf(url.slice(`http://${this.address}`.length));
    const hindrance = conduct.hindered[route.name];
    const isLacking =
      hindrance === 'tarpits' && route.name === 'block' && !this.#state.block(route.id);
    if (hindrance === 'hangs' || isLacking) await within(HANG_MS);
    if (hindrance === 'crawls') await within(CRAWLING_MS);
    if (hindrance !== 'fails' && route.name.startsWith('block'))
      this.answeredAt = this.#simulation.now;
    return this.#answer(route, headers.get('accept') ?? '');
  }

  #answer(route: Route, accept: string): Response {
    const { conduct } = this;
    if (route.name === 'info') this.heads++;
    const isRefused = conduct.refusing > 0 && ++this.#answers % conduct.refusing === 0;
    if (isRefused || this.#random.chance(conduct.busy))
      return new SimulatedResponse('busy', {
        status: this.#random.pick(conduct.busy === 1 ? TOO_MANY : [302, ...TOO_MANY]),
        headers: { location: 'https://elsewhere.test/' },
      });
    if (conduct.hindered[route.name] === 'fails')
      return new SimulatedResponse('Internal Server Error', { status: 500 });
    if (this.#tells('answers without end') && this.#random.chance(ENDLESS_SHARE))
      return this.#answerEndlessly(accept);
    const { status, type, body } =
      this.#lie(route, accept) ?? answer(this.#state, route, accept, conduct.hasFeed);
    const headers: Record<string, string> = type ? { 'content-type': type } : {};
    if (!this.#random.chance(conduct.cutting))
      return new SimulatedResponse(body as BodyInit, { status, headers });
    const half = body.slice(0, body.length >> 1);
    const cut = new ReadableStream({
      start(controller) {
        if (half.length > 0) controller.enqueue(half);
        controller.error(new TypeError('Network connection lost.'));
      },
    });
    return new SimulatedResponse(cut, { status, headers });
  }

  #answerEndlessly(type: string): Response {
    let read = 0;
    const body = new ReadableStream({
      pull: (controller) => {
        read += CHUNK_BYTES;
        this.mostRead = Math.max(this.mostRead, read);
        if (read > ENDLESS_BYTES) controller.error(new TypeError('Network connection lost.'));
        else controller.enqueue(new Uint8Array(CHUNK_BYTES).fill(32));
      },
    });
    return new SimulatedResponse(body, { status: 200, headers: { 'content-type': type } });
  }

  /** One lie in four is not told, so that some things are true in between. */
  #tells(lie: Lie): boolean {
    return this.conduct.lies.has(lie) && this.#random.chance(0.75);
  }

  #lie(route: Route, accept: string) {
    const random = this.#random;
    const network = this.#network;
    const missing = answerError(404, 'block not found: Not Found');
    const blocks = () => [...network.blocks.values()];
    const json = (change: (value: never) => object) => {
      const right = answer(this.#state, route, accept, this.conduct.hasFeed);
      if (right.status !== 200) return right;
      const value = JSON.parse(new TextDecoder().decode(right.body)) as never;
      return {
        ...right,
        body: new TextEncoder().encode(JSON.stringify({ ...(value as object), ...change(value) })),
      };
    };
    if (route.name === 'block' || route.name === 'blockMetadata') {
      const { forgetful, withheld, unreadable, pretended, reopened, madeUp } = this.conduct;
      const made = madeUp.get(route.id);
      if (made !== undefined) return answerMadeUp(route.id, made, route.name);
      if (pretended.has(route.id)) {
        if (route.name === 'block') return missing;
        return json(() => ({ referencedByMilestoneIndex: 1, whiteFlagIndex: 0 }));
      }
      if (route.name === 'blockMetadata' && reopened.has(route.id)) return json(() => UNREFERENCED);
      if (route.name === 'blockMetadata') {
        this.onAsked?.();
        this.onAsked = undefined;
      }
      if (withheld.has(route.id)) {
        this.denied++;
        return missing;
      }
      if (route.name === 'block' && unreadable.has(route.id))
        return answerError(500, 'Internal Server Error');
      const isForgotten = Number.parseInt(route.id.slice(2, 6), 16) < forgetful * 0x10000;
      if (isForgotten) {
        this.forgotten++;
        this.denied++;
        return missing;
      }
    }
    switch (route.name) {
      case 'block': {
        if (this.#tells('has no block')) return missing;
        if (!this.#tells('sends other bytes')) return undefined;
        const other = random.pick(blocks()).bytes;
        const own = network.blocks.get(route.id)?.bytes.slice() ?? other.slice();
        own[random.below(own.length)]! ^= 1 << random.below(8);
        return { status: 200, type: RAW_TYPE, body: random.chance(0.5) ? other : own };
      }
      case 'blockMetadata': {
        const block = this.#state.block(route.id);
        if (block === undefined) return undefined;
        const isOpen =
          block.referenced === undefined || block.referenced.index > this.#state.confirmed;
        if (!isOpen && this.#tells('calls referenced blocks open')) return json(() => UNREFERENCED);
        if (isOpen && this.#tells('calls open blocks referenced'))
          return json(() => ({
            referencedByMilestoneIndex: random.between(1, Math.max(1, lastIndex(network))),
            ledgerInclusionState: 'noTransaction',
            whiteFlagIndex: 0,
          }));
        return undefined;
      }
      case 'tips': {
        if (!this.#tells('names wrong tips')) return undefined;
        const some = random.sample(blocks(), 4).map(({ id }) => id);
        if (random.chance(0.1))
          return json(() => ({
            tips: Array.from({ length: MANY_TIPS }, () => `0xfffe${random.bytes(30).toHex()}`),
          }));
        return json(() => ({ tips: [...some, `0xffff${random.bytes(30).toHex()}`] }));
      }
      case 'info': {
        const { confirmed } = this.#state;
        const ahead = this.#tells('says it is ahead')
          ? confirmed + random.between(1, 3)
          : undefined;
        const behind = this.#tells('says it is behind') ? random.below(confirmed + 1) : undefined;
        const index = this.#unsoundNow?.index ?? behind ?? ahead;
        const isOther = this.#tells('names another network');
        const changes = isOther ? { networkName: 'another' } : this.protocol;
        if (index === undefined && Object.keys(changes).length === 0) return undefined;
        return json(({ status, protocol }: Info) => ({
          ...(index !== undefined && {
            status: { ...status, confirmedMilestone: { index }, latestMilestone: { index } },
          }),
          protocol: { ...protocol, ...changes },
        }));
      }
      case 'milestoneByIndex': {
        const unsound = this.#unsoundNow;
        if (unsound !== undefined && route.index === unsound.index)
          return { status: 200, type: RAW_TYPE, body: unsound.payload };
        if (!this.#tells('sends other milestones')) return undefined;
        const payloads = [...this.forged, ...network.milestones.map(({ payload }) => payload)];
        const body = random.chance(0.2) ? random.bytes(300) : random.pick(payloads);
        return { status: 200, type: RAW_TYPE, body };
      }
      default:
        return undefined;
    }
  }

  #connect(): Response {
    if (!this.conduct.hasFeed) return new SimulatedResponse('', { status: 404 });
    const { 0: theirs, 1: ours } = new SocketPair();
    const reader = createPacketReader(MAX_PACKET_BYTES);
    const { refuses } = this.conduct;
    ours.received = (data) => {
      for (const packet of reader.read(new Uint8Array(data as ArrayBuffer))) {
        if (packet.type === PacketType.Connect)
          ours.send(
            encodePacket({
              type: PacketType.ConnectAck,
              sessionPresent: false,
              returnCode: refuses === 'connection' ? NOT_AUTHORIZED : 0,
            }),
          );
        if (packet.type === PacketType.PingRequest)
          ours.send(encodePacket({ type: PacketType.PingResponse }));
        if (packet.type !== PacketType.Subscribe) continue;
        const { packetId, topics } = packet;
        ours.send(
          encodePacket({
            type: PacketType.SubscribeAck,
            packetId,
            returnCodes: topics.map((_, i) => (refuses === 'topic' && i === 0 ? REFUSED : 0)),
          }),
        );
        this.#listeners.add(ours);
        // whoever subscribes is told where the node is
        const payload = infoOf(this.#state.milestone(this.#state.confirmed));
        if (refuses !== undefined || payload === undefined) continue;
        const told = { topic: CONFIRMED, payload } as const;
        ours.send(encodePacket({ type: PacketType.Publish, ...told }));
      }
    };
    ours.ended = () => this.#listeners.delete(ours);
    ours.open(this.#process);
    return new SimulatedResponse(null, { status: 101, webSocket: theirs });
  }

  /** Whether anybody listens to its feed. */
  get isHeard(): boolean {
    return this.connections > 0;
  }

  get connections(): number {
    return [...this.#listeners].filter(({ readyState }) => readyState === 1).length;
  }

  /** Feeds are cut. */
  dropListeners(): void {
    for (const socket of this.#listeners) socket.close(1006);
    this.#listeners.clear();
  }

  /** New blocks of the network, which are pushed as soon as this node has them. */
  came(ids: readonly string[]): void {
    if (!this.conduct.hasFeed) return;
    this.#unpushed.push(...ids);
    this.pushNews();
  }

  /** Pushes what the node has come to know. */
  pushNews(): void {
    const { hasFeed, isSilent, withheld, unreadable, pretended } = this.conduct;
    if (!hasFeed || isSilent || !this.#isUp) return;
    this.#confirm();
    // of what came while it was silent a broker keeps some
    this.#unpushed = this.#unpushed.slice(-MOST_UNPUSHED).filter((id) => {
      const block = this.#state.block(id);
      if (block === undefined || [withheld, unreadable, pretended].some((some) => some.has(id)))
        return true;
      this.push({ topic: 'blocks', payload: block.bytes });
      // the plug-in pushes the payload of every block that carries a milestone, signed or not
      const payload = block.bytes.subarray(2 + 32 * block.parents.length + 4, -8);
      if (payload[0] === 7 && payload.length > 4) this.push({ topic: 'milestones', payload });
      return false;
    });
    while (this.#toldMilestone < this.#state.confirmed) {
      const payload = infoOf(this.#state.milestone(++this.#toldMilestone));
      if (payload !== undefined) this.push({ topic: CONFIRMED, payload });
    }
  }

  /** Sends a message to all listeners, true or not. */
  push(message: Message): void {
    if (this.#listeners.size === 0) return;
    const random = this.#random;
    const { lost = 0, doubled = 0, late = 0, spoilt = 0 } = this.conduct.pushes;
    if (random.chance(lost)) return;
    const sent = random.chance(spoilt) ? spoil(message, random) : message;
    const bytes = encodePacket({ type: PacketType.Publish, ...sent });
    const send = () => {
      for (const socket of this.#listeners) if (socket.readyState === 1) socket.send(bytes);
    };
    if (random.chance(late))
      this.#simulation.begin(this.#process, this.#simulation.now + random.between(10, 5000), send);
    else send();
    if (random.chance(doubled)) send();
  }
}

const CONFIRMED = 'milestone-info/confirmed';

function infoOf(milestone?: Pick<NetworkMilestone, 'index' | 'timestamp' | 'id'>) {
  if (milestone === undefined) return undefined;
  const { index, timestamp, id: milestoneId } = milestone;
  return new TextEncoder().encode(JSON.stringify({ index, timestamp, milestoneId }));
}

/** Fewer than the packets at once that a feed may have, where the limits are small. */
const MOST_UNPUSHED = 600;

/** Of a block that exists nowhere else. */
function answerMadeUp(blockId: string, bytes: Uint8Array, name: 'block' | 'blockMetadata') {
  if (name === 'block') return { status: 200, type: RAW_TYPE, body: bytes };
  const body = new TextEncoder().encode(JSON.stringify({ blockId, isSolid: true }));
  return { status: 200, type: 'application/json', body };
}

function spoil({ topic, payload }: Message, random: Random): Message {
  if (payload.length === 0 || random.chance(0.2))
    return { topic, payload: payload.slice(0, random.below(payload.length + 1)) };
  const copy = payload.slice();
  copy[random.below(copy.length)]! ^= 1 << random.below(8);
  return { topic, payload: copy };
}
