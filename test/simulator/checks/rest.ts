/**
 * What must be so once nothing moves any more: as much is kept as the settings say, and the index of
 * NFTs in KV is complete, settled and true, so that lookups need no ledger.
 */
import { readCone } from '../../../src/ledger/packs/record-cone.ts';
import { isUndecidedAt } from '../../../src/stardust/white-flag/cone.ts';
import { storedBlocks } from '../../support/ledger/stored-blocks.ts';
import { lastIndex, parametersAt } from '../../support/network/network-model.ts';
import { budgetOfIndex, limitsOfPack, putWithin } from '../platform/limits.ts';
import { askOddly, ODD_REQUESTS } from '../steps/clients.ts';
import type { World } from '../world.ts';
import { readNft } from './reads.ts';
import { unreferencedSince } from './white-flag.ts';

export async function checkRest(world: World): Promise<void> {
  await checkIndex(world);
  await checkLookups(world);
  await checkHealth(world);
  await checkHeads(world);
  await checkOdd(world);
  await checkKept(world);
  await checkOrphans(world);
  await checkPacks(world);
  await checkVerdicts(world);
  checkScrubbed(world);
}

/** The oldest milestone whose state can be asked for, once all older ones are deleted. */
export async function firstKept({ node, network }: World): Promise<number> {
  const first = await node.sqlite.prepare('SELECT min(idx) AS first FROM milestone').first('first');
  const retention = Number(node.vars.RETENTION_MILESTONES);
  return Math.max(Number(first), lastIndex(network) - retention);
}

interface IndexState {
  generation: string;
  from: number;
  filledFrom: number;
  entries: { kind: string };
  recent: { to: number } | null;
}

const INDEXED_MS = 300_000;
const LOOK_MS = 2000;

/** Where times are the usual ones a change is in the window for an hour. */
const isBrief = ({ settings }: World) => settings.limits !== 'usual';

export async function checkIndex(world: World): Promise<void> {
  const { node, simulation, network } = world;
  const last = lastIndex(network);
  const read = async () => {
    const text = await node.sqlite.prepare('SELECT state FROM nft_index').first<string>('state');
    // null where nothing was published since the import
    return JSON.parse(text!) as IndexState | null;
  };
  const isDone = (now: IndexState | null): now is IndexState =>
    now?.entries?.kind === 'complete' &&
    now.recent?.to === last &&
    (!isBrief(world) || now.from === last);
  const state = await world.until(read, INDEXED_MS, isDone);
  if (!isDone(state))
    return world.wrong('liveness', `the index in KV stays at ${JSON.stringify(state)}`);
  // what was put last has landed
  await simulation.pass(world.settings.staleMs + LOOK_MS);
  checkEntries(world, (await read())!);
}

const jsonOf = (text: string | undefined) =>
  text === undefined ? undefined : JSON.parse(text.slice(text.indexOf(' ') + 1));

/** That KV is another namespace shows half an hour later, where times are the usual ones. */
const hasNewKv = ({ settings, node }: World) =>
  node.isKvExchanged || (settings.endings.includes('restore') && settings.isServe);

/** Each entry is true at its milestone, and each NFT has one. */
function checkEntries(world: World, { generation, filledFrom, from }: IndexState): void {
  const { truth, node } = world;
  const values = new Map(node.kv.entries);
  const held = (id: string, index: number) => truth.nftOutput(id, index) ?? null;
  const last = lastIndex(world.network);
  // they may have no entry yet
  const lacked = hasNewKv(world) ? truth.nftIds : truth.changedNfts(from, last);
  for (const id of truth.nftIds) {
    const entry = jsonOf(values.get(`nft:${id}`));
    const isOwn = entry?.generation === generation && entry.ledgerIndex >= filledFrom;
    const index = isOwn && !isBrief(world) ? entry.ledgerIndex : last;
    const output = held(id, index);
    if (!isOwn && !isBrief(world) && lacked.includes(id)) continue;
    if (isOwn ? entry.outputId !== output : output !== null)
      world.wrong('safety', `KV has ${JSON.stringify(entry)} of NFT ${id}, the truth is ${output}`);
  }
  checkRecent(world, values.get('recent')!);
}

/** `recent` has all that changed, as it was then. */
function checkRecent(world: World, text: string): void {
  const { truth } = world;
  const { from, to, answers, others } = jsonOf(text);
  const prefixes: string[] = others.match(/.{8}/g) ?? [];
  for (const id of truth.changedNfts(from, to))
    if (answers[id] === undefined && !prefixes.includes(id.slice(0, 8)))
      world.wrong('safety', `"recent" lacks NFT ${id}`);
  for (const [id, output] of Object.entries(answers))
    if (output !== (truth.nftOutput(id, to) ?? null))
      world.wrong('safety', `"recent" has ${output} of NFT ${id}`);
}

/** Since `fromTime` each NFT has an entry, and none is put that lacks a change up to `from`. */
function checkSettled(world: World, text: string): void {
  const { truth } = world;
  const { generation, filledFrom, from, fromTime } = jsonOf(text);
  if (fromTime === null) return;
  const isOwn = (entry: World['entries'][number]) =>
    entry.generation === generation && entry.ledgerIndex >= filledFrom;
  const [before, since] = [new Set<string>(), new Map<string, number>()];
  for (const { id, ledgerIndex, at } of world.entries.filter(isOwn))
    if (at <= fromTime) before.add(id);
    else since.set(id, Math.min(ledgerIndex, since.get(id) ?? ledgerIndex));
  for (const id of truth.nftIds) {
    const isThere = before.has(id) || truth.nftOutput(id, from) === undefined;
    const least = since.get(id) ?? from;
    if (!isThere || (least < from && truth.changedNfts(least, from).includes(id)))
      world.wrong('safety', `"recent" says too early that NFT ${id} is settled: ${fromTime}`);
  }
}

/** A pass may begin to put what another one has just read. */
const SLACK_MS = 1000;
const CAUGHT_UP_MS = 60_000;

/** For less time no entry of a burned NFT is kept (docs/nft-index.md, assumption 3). */
const LEAST_TTL_S = 60 * 86_400;

/** What is put expires where an NFT was burned, and nowhere else: a key that is absent tells so. */
function checkExpiry(world: World, key: string, text: string, expirationTtl?: number): void {
  const isBurned = key.startsWith('nft:') && jsonOf(text).outputId === null;
  const isRight = isBurned ? (expirationTtl ?? 0) >= LEAST_TTL_S : expirationTtl === undefined;
  if (!isRight) world.wrong('safety', `${key} expires after ${expirationTtl} seconds: ${text}`);
}

/** In which the publisher is begun once, and may end what it began before. */
const PUBLISHED_MS = 1000;
const OVERLAP_MS = 30_000;

function checkBudget(world: World): void {
  const { simulation, settings, puts, overlapAt } = world;
  const { now } = simulation;
  puts.push(now);
  while (puts[0]! <= now - PUBLISHED_MS) puts.shift();
  const publishers = now < overlapAt + OVERLAP_MS ? 2 : 1;
  const most = 2 * publishers * budgetOfIndex(settings.limits);
  if (puts.length > most)
    world.wrong('economy', `${puts.length} values are put into KV in a second, at most ${most}`);
}

/** No entry is put long after it was read (docs/nft-index.md, assumption 2). */
export function checkPut(world: World, key: string, text: string, expirationTtl?: number): void {
  checkExpiry(world, key, text, expirationTtl);
  checkBudget(world);
  const { simulation, settings, imports, importedAt, isCalm, isFlipped, isDamaged, tally } = world;
  world.wasPutAstray ||= world.node.disturbances.skewMs !== 0;
  // one that was damaged may be put when it has been replaced
  const isOwn = simulation.now > world.wasDamagedAt + CAUGHT_UP_MS;
  const hasJumped = ['clockJump', 'wakeAhead'].some((step) => tally.has(step));
  if (key === 'recent' && !isFlipped && !isDamaged && isOwn) {
    checkRecent(world, text);
    if (!hasJumped && !world.wasPutAstray) checkSettled(world, text);
  }
  if (key.startsWith('nft:'))
    world.entries.push({ ...jsonOf(text), id: key.slice(4), at: simulation.now });
  // the ledger comes to where the one before it was
  const isBehind = imports > 0 && !(isCalm && simulation.now > importedAt + CAUGHT_UP_MS);
  if (!key.startsWith('nft:') || isBehind || isFlipped || hasJumped) return;
  const { ledgerIndex } = jsonOf(text);
  const due = world.appliedBefore(simulation.now - putWithin(settings.limits) - SLACK_MS);
  if (ledgerIndex < due)
    world.wrong('safety', `an entry of ${ledgerIndex} is put long after milestone ${due}`);
}

const LOOKUPS = 5;
const ANSWERED_MS = 400;
/** After which no isolate remembers what it read, while the data centre's cache has `recent`. */
const FORGOTTEN_MS = 1100;
/** The follower, too, begins something now and then; and a minute goes without a cache that failed. */
const TRIES = 5;
const HEARTBEAT_MS = 30_000;

/** After which a `recent` that is not put again is too old. */
const QUIET_MS = 130_000;

const NEVER_MINTED = 'cd'.repeat(32);

/**
 * Lookups of NFTs cost no query of the ledger; in `serve` one for its generation.
 * Where the data centre's cache has `recent`, each reads its entry in KV, and nothing else. The
 * follower is looked after by a few of them.
 */
export async function checkLookups(world: World): Promise<void> {
  const { truth, node, network, simulation, settings } = world;
  const last = lastIndex(network);
  if (hasNewKv(world) && !isBrief(world)) return;
  if (settings.limits === 'small') await simulation.pass(QUIET_MS);
  const ids = truth.nftIds.filter((id) => truth.nftOutput(id, last) !== undefined).slice(-LOOKUPS);
  // in `serve` an absent entry proves nothing: the disk may have hidden it
  if (!settings.isServe && isBrief(world)) ids.push(NEVER_MINTED);
  if (settings.isServe && ids[0] !== undefined) {
    node.kv.hide(`nft:${ids[0]}`, true);
    await simulation.pass(FORGOTTEN_MS);
    readNft(world, ids[0]);
    await simulation.pass(ANSWERED_MS);
    node.kv.hide(`nft:${ids[0]}`, false);
  }
  const lookUp = async () => {
    const { calls, ofObjects, kvReads } = node.counts;
    const { asked } = node.follower;
    for (const id of ids) world.ask(`/api/indexer/v1/outputs/nft/0x${id}`, () => {});
    await simulation.pass(ANSWERED_MS);
    const queries = node.counts.calls - calls - (node.counts.ofObjects - ofObjects);
    return {
      queries,
      reads: node.counts.kvReads - kvReads,
      woken: node.follower.asked - asked,
    };
  };
  const most = settings.isServe
    ? { queries: ids.length, reads: 2 * ids.length }
    : { queries: 0, reads: ids.length };
  let isCheap = false;
  for (let tries = 0; tries < TRIES; tries++) {
    await lookUp();
    await simulation.pass(FORGOTTEN_MS);
    const { queries, reads, woken } = await lookUp();
    isCheap ||= queries <= most.queries && reads <= most.reads;
    if (isCheap && woken === 0) return;
    await simulation.pass(HEARTBEAT_MS / 2);
  }
  const what = isCheap ? 'wake the follower' : 'query the ledger, or read KV';
  world.wrong('economy', `lookups of NFTs ${what} more than needed`);
}

/** Samples of metrics, and what each is by the database. */
const SELECT_SAMPLES = `
  SELECT ${Number.MAX_SAFE_INTEGER} - next_block AS 'stardust_numbers_left{of="blocks"}',
    ${Number.MAX_SAFE_INTEGER} - next_output AS 'stardust_numbers_left{of="outputs"}',
    ledger AS stardust_ledger_index, ledger - first AS stardust_retention_milestones,
    max(first - 1, 0) AS stardust_pruning_index
  FROM head, (SELECT min(idx) AS first FROM milestone)`;

/** What a node says of itself in two places is the same, and how blocks come is so. */
async function checkHealth(world: World): Promise<void> {
  const { simulation, upstreams, settings, node } = world;
  // before and after, as a milestone becomes too old at a moment
  const healthy = new Set<boolean>();
  const askHealth = () =>
    world.ask('/health', ({ status, headers }) => {
      healthy.add(status === 200);
      const by = headers.get('x-blocks-by') ?? 'polling';
      const hasFeed = upstreams.some(({ conduct }) => conduct.hasFeed);
      if (by !== 'polling' && !hasFeed)
        world.wrong('safety', `blocks come by ${by}, and nobody has one`);
    });
  askHealth();
  await simulation.pass(ANSWERED_MS);
  let said: { isHealthy: boolean; pruningIndex: number } | undefined;
  let metrics: string | undefined;
  world.ask('/api/core/v2/info', async (answer) => {
    if (answer.status === 200) said = ((await answer.json()) as { status: typeof said }).status;
  });
  world.ask('/metrics', async (answer) => {
    if (answer.status === 200) metrics = await answer.text();
  });
  await simulation.pass(ANSWERED_MS);
  askHealth();
  await simulation.pass(ANSWERED_MS);
  if (settings.replicaMs > 0) return;
  if (said !== undefined && healthy.size > 0 && !healthy.has(said.isHealthy))
    world.wrong('safety', `isHealthy is ${said.isHealthy}, and health says ${[...healthy]}`);
  const samples = await node.sqlite.prepare(SELECT_SAMPLES).first<Record<string, number>>();
  const { stardust_pruning_index: pruned } = samples!;
  if (said !== undefined && said.pruningIndex !== pruned)
    world.wrong('safety', `pruned up to ${said.pruningIndex}, and not to ${pruned}`);
  for (const [name, value] of Object.entries(samples!))
    if (metrics?.includes(`\n${name} ${value}\n`) === false)
      world.wrong('safety', `metrics have another ${name} than ${value}`);
}

const HEADS = 4;

/** HEAD says what GET does, without a body; so does GET, where digits of IDs are in capitals. */
async function checkHeads(world: World): Promise<void> {
  const { kept, simulation } = world;
  const paths = [...kept.keys()].slice(-HEADS);
  for (const path of [...paths, `/api/indexer/v1/outputs/nft/0x${'ab'.repeat(32)}`]) {
    const said = new Map<string, string>();
    const inCapitals = path.replace(/(?<=0x)[0-9a-f]+/g, (digits) => digits.toUpperCase());
    const forms = { GET: path, HEAD: path, capitals: inCapitals };
    for (const [form, own] of Object.entries(forms)) {
      const method = form === 'HEAD' ? 'HEAD' : 'GET';
      const look = ({ status, headers, body }: Response) => {
        said.set(form, `${status} ${JSON.stringify([...headers].sort())}`);
        if (method === 'HEAD' && body !== null) world.wrong('safety', `${path}: HEAD has a body`);
      };
      world.ask(own, look, { method });
    }
    await simulation.pass(ANSWERED_MS);
    const one = said.get('GET') ?? '';
    const indexOf = (text: string) => /"x-ledger-index","\d+"/.exec(text)?.[0];
    for (const [form, other] of said) {
      // what a copy of KV, or of D1, has may differ
      const isLater = (indexOf(other) ?? indexOf(one)) !== indexOf(one);
      if (one !== other && !isLater) world.wrong('safety', `${path}: GET ${one}, ${form} ${other}`);
    }
  }
}

/** Each odd request is refused as it is to be. */
async function checkOdd(world: World): Promise<void> {
  for (const each of ODD_REQUESTS) askOddly(world, each);
  await world.simulation.pass(ANSWERED_MS);
}

/** Keys of the parts of one milestone. */
const PARTS = 4096;

/** IDs are kept so many times as long as all else. */
const ID_RETENTION = { usual: 4, others: 2 };

const SLOW_STEPS = /tiny|mixed/;
/** In which a prune of two in a step is done, where a restored ledger caught up just now. */
const PRUNED_MS = 15_000;

async function checkKept(world: World): Promise<void> {
  const { node, settings, simulation } = world;
  const isSlow = SLOW_STEPS.test(settings.limits);
  if (isSlow) await simulation.pass(PRUNED_MS);
  const row = await node.sqlite
    .prepare(
      `SELECT h.ledger, h.start, h.history, h.id_tables AS idTables, m.first,
        (SELECT count(*) FROM milestone_part WHERE key < m.first * ${PARTS}) AS parts,
        (SELECT live = 0 AND last_milestone < m.first FROM pack ORDER BY key LIMIT 1) AS packs,
        (SELECT count(*) FROM nft_change WHERE milestone <= min(m.first, i.state ->> 'from')) AS changes,
        (SELECT count(*) FROM nft WHERE output IS NULL
          AND changed <= min(m.first, i.state ->> 'from')) AS burned
      FROM head h, nft_index i, (SELECT min(idx) AS first FROM milestone) m`,
    )
    .first<Record<string, number> & { idTables: string }>();
  const { ledger = 0, start = 0, first = 0, history, idTables, ...old } = row!;
  const retention = Number(node.vars.RETENTION_MILESTONES);
  const due = Math.max(start, ledger - retention);
  if (first < due || (first > due && !world.isShortened))
    world.wrong('economy', `milestones are kept from ${first} on, not from ${due}`);
  // where steps are tiny it takes long
  for (const [what, count] of Object.entries(isSlow ? {} : old))
    if (count) world.wrong('economy', `${count} old ${what} are kept`);
  if (!node.vars.HISTORY && history !== 0)
    world.wrong('safety', `histories from ${history} on, which are not kept any more`);
  const [, second] = JSON.parse(idTables!) as [number, number][];
  const times = settings.limits === 'usual' ? ID_RETENTION.usual : ID_RETENTION.others;
  if (second !== undefined && second[1] <= ledger - Math.max(retention, ledger - first) * times)
    world.wrong('economy', `IDs are kept from before milestone ${second[1]} on`);
}

/** Milestones beyond below-max-depth for which a block is kept that none references. */
const ORPHAN_MARGIN = { usual: 10, others: 2 };

/** Blocks that can be referenced no more are gone. */
async function checkOrphans(world: World): Promise<void> {
  const { network, settings } = world;
  const ledger = lastIndex(network);
  const margin = ORPHAN_MARGIN[settings.limits === 'usual' ? 'usual' : 'others'];
  const first = ledger - parametersAt(network, ledger).parameters.belowMaxDepth - margin;
  const countOld = async () => (await unreferencedSince(world)).filter((at) => at < first).length;
  // a pass may drop one pack, and no more
  const count = await world.until(countOld, INDEXED_MS, (now) => now === 0);
  if (count > 0)
    world.wrong('economy', `${count} blocks are kept though they are older than ${first}`);
}

/** A pack has the blocks and the characters that it may have, or one block. */
async function checkPacks(world: World): Promise<void> {
  const sql = `
    SELECT max(json_array_length(p.blocks)) AS blocks,
      max(octet_length(c.bytes) + octet_length(c.outputs) + octet_length(c.details)) AS characters
    FROM pack p JOIN pack_content c ON c.key = p.key WHERE json_array_length(p.blocks) > 1`;
  const most = (await world.node.sqlite.prepare(sql).first<Record<string, number | null>>())!;
  for (const [what, limit] of Object.entries(limitsOfPack(world.settings.limits)))
    if (Number(most[what]) > limit) world.wrong('economy', `a pack has ${most[what]} ${what}`);
}

/** No transaction waits for what is there. */
export async function checkVerdicts(world: World): Promise<void> {
  const { node, network } = world;
  const findWaiting = async () => {
    const stored = await storedBlocks(node.sqlite);
    // outputs of what a milestone referenced in conflict never come to be
    const open = stored.filter(({ milestone }) => milestone === null);
    const made = open.flatMap(({ id }) => network.transactions.get(`0x${id}`)?.coins ?? []);
    const { results } = await node.sqlite.prepare('SELECT id FROM output').all<{ id: string }>();
    const there = new Set([...results.map(({ id }) => id), ...made.map(({ id }) => id.toHex())]);
    return open.filter(({ id, record }) => {
      const inputs = network.transactions.get(`0x${id}`)?.inputs;
      const isUndecided = isUndecidedAt(readCone([record]), 0);
      return isUndecided && inputs?.every((input) => there.has(input.slice(2)));
    });
  };
  const [waiting] = await world.until(findWaiting, INDEXED_MS, ({ length }) => length === 0);
  if (waiting !== undefined)
    world.wrong('liveness', `no verdict on block ${waiting.id}, whose inputs are there`);
}

/** Where steps are short the scrub ends a round within a story. */
function checkScrubbed(world: World): void {
  if (world.settings.limits !== 'small') return;
  if (!world.node.lines.some(({ text }) => text.includes('follower.ledger-scrubbed')))
    world.wrong('liveness', 'the scrub ends no round');
}
