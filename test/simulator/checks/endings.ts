/**
 * How a story ends, once all was right: with silence, milestones that overtake reads, or a dispute of
 * what the network is; or with damage on disk, a back-up that is restored, or the network's end, and
 * then reads of much that there is.
 */
import { SqliteDatabase } from '../../../cli/lib/wrangler/sqlite-database.ts';
import { toBech32 } from '../../../src/stardust/bech32.ts';
import { fromHex, toHex } from '../../../src/stardust/encoding/bytes.ts';
import { finalLedgerFromJson } from '../../../src/stardust/proof/final-ledger.ts';
import { partOf } from '../../../src/stardust/proof/statement.ts';
import { proveFinalLedger, proveFinalRecord } from '../../../src/stardust/provenance/final.ts';
import { provedValue } from '../../../src/stardust/provenance/proved.ts';
import { proveStatement } from '../../../src/stardust/provenance/statement.ts';
import { addressKey } from '../../../src/stardust/wire/address.ts';
import { nftIdOf } from '../../../src/stardust/wire/ids.ts';
import { OutputType } from '../../../src/stardust/wire/output.ts';
import { readRows } from '../../support/ledger/memory-database.ts';
import {
  lastIndex,
  ledgerAt,
  milestoneAt,
  parametersAt,
  stateHash,
} from '../../support/network/network-model.ts';
import { Random } from '../../support/network/random.ts';
import { EVENTS, somethingHappens } from '../../support/network/random-network.ts';
import { SimulatedNode } from '../node.ts';
import { onAbort } from '../platform/connections.ts';
import { LEAST_RETENTION } from '../platform/limits.ts';
import { announce, issue, issueUnsound, proposal, proposalOf } from '../steps/coordinators.ts';
import { damage } from '../steps/damage.ts';
import { announcement, possibleBreaches } from '../steps/forge.ts';
import { mintMany } from '../steps/senders.ts';
import { withholdFor } from '../steps/upstreams.ts';
import { prefixAt } from '../truth.ts';
import { API_TOKEN, type World } from '../world.ts';
import { checkAlways, checkLiveness, checkState } from './invariants.ts';
import { readNftState } from './lists.ts';
import { readCertificate, readInclusion } from './proofs.ts';
import { readBlockMetadata, readHistory, readNft, readOutput } from './reads.ts';
import { checkIndex, checkLookups, firstKept } from './rest.ts';
import { scrubTwice } from './scrub.ts';
import { runShort } from './shortage.ts';
import { checkTold } from './silence.ts';
import { sweep } from './sweep.ts';
import { askRoots, posting } from './white-flag.ts';

export type Ending =
  | 'nothing'
  | 'damage'
  | 'overtake'
  | 'restore'
  | 'final'
  | 'dispute'
  | 'shortage'
  | 'chain';

export async function checkEndings(world: World, seed: string): Promise<void> {
  for (const ending of world.settings.endings) {
    world.note('ending', ending);
    await checkEnding(world, ending, seed);
    await checkAlways(world);
  }
}

async function checkEnding(world: World, ending: Ending, seed: string): Promise<void> {
  const random = new Random(`${seed} ${ending}`);
  switch (ending) {
    case 'damage':
      await damageAtRest(world, seed, random);
      return checkDamaged(world, seed);
    case 'overtake':
      return overtake(world, seed);
    case 'restore':
      return restore(world, seed);
    case 'final':
      return endNetwork(world, random);
    case 'dispute':
      return dispute(world, seed, random);
    case 'shortage':
      return runShort(world, random);
    case 'chain':
      return followThisOne(world, seed);
    case 'nothing':
      return beSilent(world, seed, random);
  }
}

/** Milestones that another node lacks at first, and that come while it follows. */
const LACKED = 4;
const COMING = 4;
const CAUGHT_UP_MS = 60_000;

/** Another edge node, which has this one alone for an upstream, has all that this one has. */
async function followThisOne(world: World, seed: string): Promise<void> {
  const { simulation, node, network } = world;
  const from = Math.max(lastIndex(network) - LACKED, world.importedTo, await firstKept(world));
  if (world.tally.has('renamed')) return;
  const other = await SimulatedNode.open({
    ...node.options,
    isolateCount: 1,
    vars: { ...node.vars, UPSTREAM_URL: 'http://edge.test', UPSTREAM_TOKEN: API_TOKEN },
    fetch: (url, { signal, ...init } = {}) => {
      const { promise, resolve, reject } = Promise.withResolvers<Response>();
      const listening = onAbort(signal, reject);
      node.ask(new URL(url).pathname, init).then(resolve, reject);
      return promise.finally(() => listening[Symbol.dispose]());
    },
  });
  await world.complete(world.importSnapshot(from, other.sqlite));
  other.start();
  for (let i = 0; i < COMING; i++) {
    await simulation.pass(STORED_MS);
    milestoneOf(world, `${seed} chain ${i}`);
  }
  const ledger = () => other.sqlite.prepare('SELECT ledger FROM head').first<number>('ledger');
  const last = lastIndex(network);
  await world.until(ledger, CAUGHT_UP_MS, (now) => now === last);
  const state = (await node.product.ledgerStateHash(other.sqlite)).toHex();
  if (state !== stateHash(network, last))
    world.wrong('liveness', `a node that follows this one is at ${await ledger()} of ${last}`);
  const { request, response } = network.propose({ parents: [network.milestoneBlock!] });
  const answer = await world.complete(other.ask('/api/core/v2/whiteflag', posting(request)));
  const said = await answer.json();
  if (answer.status === 200 && JSON.stringify(said) !== JSON.stringify(response))
    world.wrong('safety', `a node that follows this one says ${JSON.stringify(said)}`);
  await checkAlways(world);
}

/** After which the last milestone is too old for a node to be healthy, and as long again. */
const SILENT_S = 600;
/** After which what KV says of the last changes is too old, and D1 answers. */
const OLD_MS = 135_000;

const SLOW_MS = 3000;
const SLOW_MILESTONES = 5;

/** KV is slow while the entries of all NFTs, of which there are many, are put again. */
async function fillSlowly(world: World, seed: string, random: Random): Promise<void> {
  const { simulation, node, life } = world;
  mintMany(life, random);
  milestoneOf(world, `${seed} many`);
  await simulation.pass(STORED_MS);
  node.disturbances.kvSlowMs = SLOW_MS;
  await node.sqlite.prepare('DELETE FROM nft_index').run();
  for (let i = 0; i < SLOW_MILESTONES; i++) {
    milestoneOf(world, `${seed} slow ${i}`);
    await simulation.pass(SLOW_MS);
  }
  node.disturbances.kvSlowMs = 0;
}

const AHEAD_MS = 3_600_000;
/** In which what happens then is published, and is read. */
const PUBLISHED_AHEAD_MS = 12_000;
const READS_AHEAD = 30;

/** The clock is an hour ahead for a while. */
async function runAhead(world: World, seed: string): Promise<void> {
  const { simulation, node, truth } = world;
  node.disturbances.skewMs = AHEAD_MS;
  milestoneOf(world, `${seed} ahead`);
  await simulation.pass(PUBLISHED_AHEAD_MS);
  for (let i = 0; i < READS_AHEAD; i++) readNft(world, truth.nftIds.at(-1 - (i % OVERTAKEN)) ?? '');
  await simulation.pass(READ_MS);
  node.disturbances.skewMs = 0;
}

/** Nothing happens any more, once the clock was set back. */
async function beSilent(world: World, seed: string, random: Random): Promise<void> {
  const { simulation, node, network, truth } = world;
  if (world.settings.kind === 'idle') return;
  world.isDisturbedLate = true;
  if (world.settings.limits !== 'usual') await fillSlowly(world, seed, random);
  if (truth.nftIds.length > 0) await runAhead(world, seed);
  // nothing waits for the hour that was
  if (random.chance(0.7)) {
    await checkIndex(world);
    await checkLookups(world);
    // what is cached is of the namespace before
    if (!world.settings.isServe) node.exchangeKv();
    for (const id of truth.nftIds.slice(-OVERTAKEN)) readNft(world, id);
    await simulation.pass(LOOK_MS);
  }
  node.disturbances.kvFull = true;
  milestoneOf(world, `${seed} silent`);
  // the clock of the network may be behind
  const begin = Math.max(simulation.now, 1000 * network.milestones.at(-1)!.timestamp);
  await simulation.pass(OLD_MS);
  node.catchUp();
  const last = lastIndex(network);
  for (const id of truth.nftIds.slice(-OVERTAKEN))
    world.ask(`/api/indexer/v1/outputs/nft/0x${id}`, ({ status, headers }) => {
      const index = Number(headers.get('x-ledger-index'));
      if (status >= 500 || index < last)
        world.wrong('safety', `KV is full, and ${status} at index ${index} of ${last}`);
    });
  await simulation.pass(LOOK_MS);
  node.disturbances.kvFull = false;
  await simulation.runUntil(begin + 1000 * SILENT_S);
  node.catchUp();
  world.ask('/health', ({ status, headers }) => {
    if (status === 200) world.wrong('safety', 'a node is healthy without milestones');
    const age = headers.get('x-newest-block-age');
    // what was dropped for want of room is stored again
    const isDropped = node.lines.some(({ text }) => text.includes('"follower.blocks-evicted"'));
    if (age !== null && Number(age) < SILENT_S / 2 && !isDropped)
      world.wrong('safety', `the newest block has an age of ${age} s after ${SILENT_S} s`);
  });
  await simulation.pass(LOOK_MS);
  node.disturbances.skewMs = -3000 * SILENT_S;
  world.ask('/health', ({ status }) => {
    if (status === 200) world.wrong('safety', 'a node is healthy whose milestone is of the future');
  });
  await simulation.pass(LOOK_MS);
  node.disturbances.skewMs = 0;
  await checkAlways(world);
}

/** Milliseconds for which KV is down before the damage: then it lacks what the ledger has. */
const KV_DOWN_MS = 11_000;

async function damageAtRest(world: World, seed: string, random: Random): Promise<void> {
  const { retention } = world.settings;
  const isKvDown = random.chance(0.5);
  // then the publisher needs changes of milestones that are pruned
  const isPruned = isKvDown && retention === LEAST_RETENTION;
  if (isKvDown) {
    world.node.disturbances.kvDown = true;
    world.isDisturbedLate = true;
    for (let i = isPruned ? retention + 4 : 2; i > 0; i--) {
      milestoneOf(world, `${seed} before damage ${i}`);
      await world.simulation.pass(STORED_MS);
    }
    await world.simulation.pass(KV_DOWN_MS);
    for (const id of world.truth.nftIds.slice(-OVERTAKEN))
      world.ask(`/api/indexer/v1/outputs/nft/0x${id}`, ({ status }) => {
        if (status >= 500) world.wrong('safety', `KV is down, and a lookup has status ${status}`);
      });
  }
  // the damage falls between the storing of a block and the milestone that references it
  happen(world, `${seed} before damage`);
  await world.simulation.pass(STORED_MS);
  const unpublished = isPruned ? ['nft_change'] : ['nft', 'nft_change'];
  await damage(world, random, isKvDown ? unpublished : undefined);
  // also where no row could be damaged: objects have begun anew
  world.isDisturbedLate = true;
  world.node.disturbances.kvDown = false;
}

/** In which blocks that came are stored. */
const STORED_MS = 2500;

/** Batches of a read before which a milestone comes. */
const BATCHES = [2, 3, 4];
const OVERTAKEN = 12;

/** Between two batches of each read a milestone is applied, with blocks that the read is about. */
async function overtake(world: World, seed: string): Promise<void> {
  const { node, network, simulation, truth } = world;
  world.isDisturbedLate = true;
  const pass = (ms: number) => simulation.pass(ms);
  for (const batch of BATCHES) {
    happen(world, `${seed} overtaken ${batch}`);
    await pass(STORED_MS);
    node.catchUp();
    node.disturbances.heldBatch = batch;
    const open = [...network.blocks.values()].filter(({ referenced }) => referenced === undefined);
    for (const { id } of open.slice(-OVERTAKEN)) {
      readBlockMetadata(world, id);
      readInclusion(world, id);
      for (const { id: outputId, output } of network.transactions.get(id)?.coins ?? [])
        if (output.type === OutputType.Nft)
          readCertificate(world, nftIdOf(output, outputId).toHex(), id);
    }
    askRoots(world, proposal(world));
    for (const each of network.milestones.slice(-2)) askRoots(world, proposalOf(each));
    for (const id of truth.nftIds.slice(-OVERTAKEN))
      for (const read of [readNft, readNftState, readHistory, readCertificate]) read(world, id);
    await pass(READ_MS);
    issue(world);
    await pass(APPLIED_MS);
    node.catchUp();
    node.disturbances.heldBatch = 0;
    await pass(APPLIED_MS);
    await checkAlways(world);
  }
}

/** In which reads come to the batch that waits, and in which a milestone is applied. */
const READ_MS = 300;
const APPLIED_MS = 3000;

/** Something happens, and the next milestone comes. */
function milestoneOf(world: World, seed: string): void {
  happen(world, seed);
  issue(world);
}

/** Much of it spends what is stored. */
function happen(world: World, seed: string): void {
  const { network, life } = world;
  network.random = new Random(seed);
  life.random = network.random;
  for (let n = 0; n < 4; n++) somethingHappens(life);
  for (const name of ['moveNft', 'burnNft', 'stepAlias', 'pay'] as const) EVENTS[name][1](life);
  world.publishNews();
}

/** Five seconds in which clients read. */
async function glance(world: World, seed: string): Promise<void> {
  const { truth, network, simulation } = world;
  const end = simulation.now + 5000;
  const random = new Random(seed);
  for (let i = 0; i < GLANCES; i++) {
    await simulation.pass(random.between(50, 300));
    if (truth.nftIds.length > 0) readNft(world, random.pick(truth.nftIds));
    if (i % 4 === 0) readOutput(world, random.pick([...network.outputs.keys()]));
    if (i % 4 === 2) readBlockMetadata(world, random.pick([...network.blocks.keys()]));
  }
  await simulation.runUntil(end);
}

/** Reads of NFTs between two milestones. */
const GLANCES = 14;

/** Lookups that fail as they cannot read the ledger's generation. */
const UNREAD = '"event":"nft-index.unreadable","error":"LedgerDamaged';

/** After which KV has what was published. */
const PUBLISHED_MS = 120_000;

/**
 * The flip property: eight milestones more, pruning, publishing, two rounds of the scrub. Every
 * answer is right or an error; which one is not of interest.
 */
export async function checkDamaged(world: World, seed: string): Promise<void> {
  const { simulation } = world;
  for (let i = 0; i < 8; i++) {
    milestoneOf(world, `${seed} damaged ${i}`);
    await glance(world, `${seed} damaged ${i}`);
  }
  await scrubTwice(world).catch((error: Error) => world.note('scrub', error.message));
  world.isScrubbed = true;
  await simulation.pass(PUBLISHED_MS);
  await sweep(world, `${seed} again`, 4);
  const { lines, counts } = world.node;
  // in `serve` the ledger's generation is read together with `recent`
  const isUnread = lines.some(({ text }) => text.includes(UNREAD));
  if (counts.kvDamaged > 0 && !isUnread) checkTold(world, 'nft-index.malformed');
  await checkAlways(world);
}

/**
 * The back-up that was made during the story takes the ledger's place, as an import of its own
 * (docs/operations.md#restore), and the node catches up. On one machine the folder is new.
 */
async function restore(world: World, seed: string): Promise<void> {
  const { node, backup, settings } = world;
  if (backup === undefined) return;
  node.sqlite.deserialize(settings.isServe ? backup : await fromExport(world, backup));
  if (settings.isServe) node.kv.clear();
  node.catchUp();
  node.deploy();
  world.noteImport();
  world.note('restored', String(await world.ledgerIndex()));
  await checkLiveness(world);
  await sweep(world, `${seed} restored`);
  await checkState(world);
}

/**
 * The database that D1 makes of an export: a statement a row, as `wrangler d1 export` writes them,
 * which `backup --from-d1` cuts and gives another generation (cli/backup/cut-export.ts).
 */
export async function fromExport(world: World, backup: Uint8Array): Promise<Uint8Array> {
  const { product } = world.node;
  const [from, to] = [new SqliteDatabase(':memory:'), new SqliteDatabase(':memory:')];
  from.deserialize(backup);
  const { results } = await from
    .prepare(
      "SELECT name, type, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'",
    )
    .all<{ name: string; type: string; sql: string }>();
  to.exec('PRAGMA foreign_keys = OFF');
  for (const { sql } of results) to.exec(sql);
  for (const { name } of results.filter(({ type }) => type === 'table')) {
    const rows = await readRows(from, name);
    for (const row of rows) {
      const columns = Object.keys(row).map((column) => `"${column}"`);
      const line = `INSERT INTO "${name}" (${columns}) VALUES(${Object.values(row).map(asSql)});`;
      const renewed = product.renewGeneration(line, 'restored') ?? line;
      for (const statement of product.cutStatement(renewed)) to.exec(statement);
    }
    // but for the generation
    const isSame = JSON.stringify(await readRows(to, name)) === JSON.stringify(rows);
    if (!isSame && name !== 'head' && name !== 'nft_index')
      world.wrong('safety', `a back-up has other rows of ${name}`);
  }
  const made = to.serialize();
  for (const db of [from, to]) db.close();
  return made;
}

function asSql(value: unknown): string {
  if (value === null || typeof value === 'number') return String(value ?? 'NULL');
  if (typeof value === 'string') return `'${value.replaceAll("'", "''")}'`;
  return `X'${Uint8Array.from(value as Uint8Array).toHex()}'`;
}

/** In which the follower comes to know what upstreams say now, and saves it. */
const SAID_MS = 70_000;
const LOOK_MS = 2000;

/** `stuck`: failing, or diverged, as an upstream that has forgotten a block may be a liar. */
type State = 'following' | 'diverged' | 'stuck' | 'stopped';

async function expectState(world: World, expected: State, why: string): Promise<void> {
  const { node, simulation } = world;
  const read = () => node.sqlite.prepare('SELECT state FROM follower').first('state');
  // what it said before counts no more
  const blank = "UPDATE follower SET state = 'following', reason = NULL";
  if (expected !== 'following') await node.sqlite.prepare(blank).run();
  const states = expected === 'stuck' ? ['failing', 'diverged'] : [expected];
  const isSo = (now: unknown) => states.includes(String(now));
  const state = await world.until(read, SAID_MS, isSo);
  world.note('state', `${state} for ${expected}`);
  if (!isSo(state)) world.wrong('liveness', `the state is ${state} ${why}`);
  if (state === 'failing' || state === 'stopped') checkTold(world, `follower.${state}`);
  node.catchUp();
  world.ask('/health', ({ status }) => {
    if (status === 200 && expected !== 'following')
      world.wrong('safety', `a node is healthy ${why}`);
  });
  await simulation.pass(LOOK_MS);
  await checkAlways(world);
}

/** In which passes that lead nowhere are enough to say so. */
const WITHHELD_MS = 150_000;

/**
 * Upstreams are of another network, then the coordinator signs milestones that are none, then nobody
 * has a block of the next one, and at last it is of an unknown version: the state says so, for as
 * long as it lasts.
 */
async function dispute(world: World, seed: string, random: Random): Promise<void> {
  const { upstreams, simulation, network } = world;
  world.isDisturbedLate = true;
  for (const upstream of upstreams) upstream.recover();
  announce(world, random);
  world.publishNews();
  await simulation.pass(STORED_MS);
  const rentStructure = { vByteCost: 7, vByteFactorData: 7, vByteFactorKey: 7 };
  for (const protocol of [{ networkName: 'another' }, { tokenSupply: '1' }, { rentStructure }]) {
    for (const upstream of upstreams) upstream.protocol = protocol;
    await expectState(world, 'diverged', `though upstreams have ${JSON.stringify(protocol)}`);
    for (const upstream of upstreams) upstream.protocol = {};
    await expectState(world, 'following', 'though upstreams are of the network again');
  }
  // each in the place of the one before
  const breaches = possibleBreaches(network);
  for (const breach of random.sample(breaches, breaches.length)) {
    issueUnsound(world, random, breach);
    await simulation.pass(STORED_MS);
    await expectState(world, 'diverged', `at an unsound milestone: ${breach}`);
  }
  await restartAlone(world);
  await glance(world, `${seed} dispute`);
  milestoneOf(world, `${seed} settled`);
  await expectState(
    world,
    'following',
    'though a right milestone took the place of an unsound one',
  );
  await checkLiveness(world);
  const withheld = withholdFor(world, random, WITHHELD_MS);
  issue(world, [network.milestoneBlock!, withheld]);
  await simulation.pass(STORED_MS);
  await expectState(world, 'stuck', 'though a block of the next milestone is nowhere');
  await simulation.pass(WITHHELD_MS);
  await checkLiveness(world);
  await endVersion(world);
}

/** What the state said before a restart is told as that, where no upstream answers. */
async function restartAlone(world: World): Promise<void> {
  const { node, upstreams } = world;
  for (const upstream of upstreams) upstream.leave();
  node.follower.kill();
  const read = () => node.sqlite.prepare('SELECT reason FROM follower').first<string>('reason');
  const reason = await world.until(read, SAID_MS, (said) => /restarted/.test(`${said}`));
  if (!/restarted/.test(`${reason}`)) world.wrong('safety', `after a restart it says: ${reason}`);
  for (const upstream of upstreams) upstream.recover();
}

const OTHER_VERSION = 3;

/** Milestones of a protocol version that is not known here are not applied. */
async function endVersion(world: World): Promise<void> {
  const { network } = world;
  const { parameters, pending } = parametersAt(network, lastIndex(network));
  const next = network.nextIndex;
  const target = Math.max(next, ...pending.map((each) => each.targetMilestoneIndex)) + 2;
  const changed = { ...parameters, version: OTHER_VERSION };
  network.milestone({ announce: announcement(changed, target) });
  while (network.nextIndex <= target) issue(world);
  world.publishNews();
  await expectState(world, 'stopped', 'at another version of the protocol');
  const ledger = await world.ledgerIndex();
  if (ledger !== target - 1)
    world.wrong('safety', `the ledger is at ${ledger}, of another version from ${target} on`);
  const request = proposalOf(milestoneAt(network, target)!);
  world.ask(
    '/api/core/v2/whiteflag',
    ({ status }) => {
      if (status === 200) world.wrong('safety', 'a root by rules of another version');
    },
    posting(request),
  );
  await world.simulation.pass(LOOK_MS);
}

/** Milliseconds in which the final ledger is built. */
const BUILT_MS = 180_000;
const PAUSE_MS = 20;
/** In which the follower comes to a setting. */
const NOTICED_MS = 5000;
/** In which milestones beyond the final one would be applied. */
const BEYOND_MS = 70_000;
/** Calls of D1 in that time, where a pass a minute looks after the ledger. */
const MOST_AT_END = 400;

/** The network ended at its last milestone: the root over its ledger, and what leads to it. */
async function endNetwork(world: World, random: Random): Promise<void> {
  const { node, network, simulation, truth, upstreams } = world;
  // what was looked at last may have brought milestones
  await checkLiveness(world);
  const last = lastIndex(network) + 1;
  // at first one that is over, which is an error
  if (world.isDisturbed) {
    node.deploy({ FINAL_MILESTONE: String(last - 2) });
    await simulation.pass(NOTICED_MS);
    await expectState(world, 'stopped', 'beyond the final milestone');
  }
  node.deploy({ FINAL_MILESTONE: String(last) });
  await simulation.pass(NOTICED_MS);
  issue(world);
  const root = await builtRoot(world, simulation.now + BUILT_MS);
  if (root === undefined) {
    world.wrong('liveness', 'the final ledger is not built');
    return checkAlways(world);
  }
  for (const [path, init] of [
    ['/health', {}],
    ['/metrics', {}],
    ['/api/core/v2/whiteflag', posting(proposalOf(milestoneAt(network, last)!))],
  ] as const)
    world.ask(
      path,
      ({ status, headers }) => {
        const caching = headers.get('cache-control');
        if (status === 200 && caching !== 'no-store')
          world.wrong('safety', `${path} of a network that ended is ${caching}`);
      },
      init,
    );
  world.ask('/metrics', async (answer) => {
    const isOff = /^stardust_follower_state\{state="off"\} 1$/m.test(await answer.text());
    if (!isOff) world.wrong('safety', 'metrics say that a network is followed that ended');
  });
  const ledger = ledgerAt(network, last);
  const about = (path: string, judge: (body: unknown) => string | undefined) =>
    world.ask(`/api/edge/v1/final${path}`, async (answer) => {
      world.note(`final ${answer.status}`, path);
      const fault = answer.status === 200 ? judge(await answer.json()) : `status ${answer.status}`;
      if (fault !== undefined) world.wrong('safety', `final${path}: ${fault}`);
    });
  about('', (body) => {
    const finding = proveFinalLedger(body, root);
    if (finding.standing !== 'proved') return finding.reason;
    const { outputs, nfts } = provedValue(finding.proof);
    const count = truth.nftIds.filter((id) => truth.nftOutput(id, last) !== undefined).length;
    const isRight = outputs.count === ledger.length && nfts.count === count;
    return isRight ? undefined : `${outputs.count} outputs of ${ledger.length}, ${nfts.count} NFTs`;
  });
  const outputs = [...network.outputs.values()];
  for (const { outputId, spent } of random.sample(outputs, 20)) {
    about(`/outputs/${toHex(outputId)}`, (body) => {
      const finding = proveFinalRecord(body, 'outputs', outputId, root);
      if (finding.standing !== 'proved') return finding.reason;
      return provedValue(finding.proof).present === (spent === undefined) ? undefined : 'presence';
    });
    await simulation.pass(PAUSE_MS);
  }
  for (const id of random.sample(truth.nftIds, 10))
    about(`/nfts/0x${id}`, (body) => {
      const finding = proveFinalRecord(body, 'nfts', fromHex(`0x${id}`), root);
      if (finding.standing !== 'proved') return finding.reason;
      const record = provedValue(finding.proof);
      const said = record.present && record.tree === 'nfts' ? record.outputId : undefined;
      const held = truth.nftOutput(id, last);
      return said === (held && `0x${held}`) ? undefined : `${said}, the truth is ${held}`;
    });
  for (const { address } of random.sample([...world.life.accounts.values()], 6)) {
    const key = addressKey(address);
    const own = truth.plainOutputs(last).filter(({ output }) => partOf(output, key) !== undefined);
    const path = `/api/edge/v1/final/addresses/${toBech32(prefixAt(network, last), address)}`;
    const readPage = (told: number, query = '') =>
      world.ask(path + query, async (answer) => {
        world.note(`statement ${answer.status}`, query);
        if (answer.status !== 200) return;
        const finding = proveStatement(await answer.json(), root);
        if (finding.standing !== 'proved') return world.wrong('safety', finding.reason);
        // verified: in order, and behind the cursor
        const { outputs: stated, next, after } = provedValue(finding.proof);
        const count = told + stated.length;
        if (query !== (after === undefined ? '' : `?cursor=${after}`))
          return world.wrong('safety', `a page behind ${after}, and not ${query}`);
        if (next !== undefined) readPage(count, `?cursor=${next}`);
        else if (count !== own.length)
          world.wrong('safety', `a statement has ${count} of ${own.length} outputs`);
      });
    readPage(0);
  }
  await simulation.pass(5000);
  await sweep(world, `${world.start} final`);
  if (upstreams.some(({ isHeard }) => isHeard))
    world.wrong('economy', 'the feed of a network that ended is listened to');
  world.isDisturbedLate = true;
  for (let i = 0; i < 2; i++) issue(world);
  world.publishNews();
  const before = node.counts.ofObjects;
  await simulation.pass(BEYOND_MS);
  const calls = node.counts.ofObjects - before;
  if (calls > MOST_AT_END) world.wrong('economy', `${calls} calls of a network that ended`);
  const end = await world.ledgerIndex();
  if (end !== last) world.wrong('safety', `the ledger is at ${end}, beyond the final ${last}`);
  // the next one is final, and upstreams have one more
  node.deploy({ FINAL_MILESTONE: String(last + 1) });
  const next = await builtRoot(world, simulation.now + BUILT_MS);
  if (next === undefined) world.wrong('liveness', `no final ledger is built at ${last + 1}`);
  await checkAlways(world);
}

/** The root as soon as it is there, by what it commits to. */
async function builtRoot(world: World, end: number): Promise<Uint8Array | undefined> {
  const { simulation } = world;
  let root: Uint8Array | undefined;
  while (root === undefined && simulation.now < end) {
    await simulation.pass(5000);
    await checkAlways(world);
    world.ask('/api/edge/v1/final', async (answer) => {
      if (answer.status !== 200) return;
      const body = (await answer.json()) as { finalRoot: string };
      finalLedgerFromJson(body);
      root = fromHex(body.finalRoot);
    });
    await simulation.pass(1000);
  }
  return root;
}
