/** The operator: imports, settings, damaged files. */
import { equalBytes, toHex } from '../../../src/stardust/encoding/bytes.ts';
import { decodeOutput, nftIdOf } from '../../../src/stardust/wire/ids.ts';
import { coneOf, lastIndex, parametersAt } from '../../support/network/network-model.ts';
import type { Random } from '../../support/network/random.ts';
import { basic } from '../../support/payloads/outputs.ts';
import { fromExport } from '../checks/endings.ts';
import { readBlockMetadata, readNft } from '../checks/reads.ts';
import { askRoots } from '../checks/white-flag.ts';
import type { UpstreamDouble } from '../upstream.ts';
import {
  UPSTREAM_TOKEN as FIRST_TOKEN,
  MOST_AHEAD,
  NO_RETENTION,
  urlOf,
  type World,
} from '../world.ts';
import { issue } from './coordinators.ts';
import { type Steps, stepsOf } from './step.ts';
import { twoVersions } from './weather.ts';

const operator = stepsOf('operator', { isHostile: true });

export const operatorSteps = {
  importAgain: operator(1, (world, random) => importAgain(world, random)),
  importDamaged: operator(2, importDamaged),
  backUp: stepsOf('operator')(2, backUp),
  setKeys: operator(
    1,
    (world) => world.setKeys(),
    ({ missingKeys }) => missingKeys > 0,
  ),
  switchHistory: operator(1, (world, random) => switchVar(world, random, 'HISTORY')),
  switchIndex: operator(1, (world, random) => switchVar(world, random, 'INDEX')),
  reindex: operator(1, async ({ node }) => {
    await node.sqlite.prepare('DELETE FROM nft_index').run();
  }),
  exchangeKv: operator(1, exchangeKv, ({ isServe }) => !isServe),
  unfollow: operator(1, unfollow),
  misconfigure: operator(1, misconfigure),
  rotateToken: operator(1, rotateToken),
  listOthers: operator(1, listOthers, ({ upstreams }) => upstreams.length > 1),
  setRetention: operator(1, ({ node }, random) => {
    node.deploy({ RETENTION_MILESTONES: random.pick(['35', '17280']) });
  }),
} satisfies Steps;

/** The version before works on for some seconds, perhaps. */
function switchVar(world: World, random: Random, name: 'HISTORY' | 'INDEX'): void {
  const changes = { [name]: world.node.vars[name] === 'all' ? '' : 'all' };
  if (random.chance(0.5)) twoVersions(world, random, SWITCHING_MS, changes);
  else world.node.deploy(changes);
}

const SWITCHING_MS = 6000;

/** On Cloudflare it is an export, from which the ledger can be made. */
async function backUp(world: World): Promise<void> {
  if (world.isDamaged || world.isImporting || world.isFlipped) return;
  world.backup = world.node.sqlite.serialize();
  if (!world.settings.isServe) await fromExport(world, world.backup);
}

/** For some seconds no upstream is set: what a proposal lacks nobody fetches. */
function unfollow(world: World, random: Random): void {
  const { node, simulation, network, upstreams } = world;
  const UPSTREAM_URL = urlOf(upstreams);
  if (node.vars.UPSTREAM_URL !== UPSTREAM_URL) return;
  node.deploy({ UPSTREAM_URL: '' });
  const parents = [...random.sample(network.window, 2), toHex(random.bytes(32))];
  askRoots(world, { ...network.propose().request, parents: parents.toSorted() });
  simulation.after(random.between(2, 15) * 1000, () => {
    node.deploy({ UPSTREAM_URL });
  });
}

/** The first upstream asks for a new token; some seconds later it is set. */
function rotateToken(world: World, random: Random): void {
  const { node, simulation, access, upstreams, liar } = world;
  const [{ conduct }] = upstreams as [UpstreamDouble];
  // a liar would be alone
  if (liar !== undefined && liar !== upstreams[0]) return;
  const UPSTREAM_TOKEN = `${FIRST_TOKEN}-${access.tokens.size}`;
  access.tokens.add(`Bearer ${UPSTREAM_TOKEN}`);
  conduct.isLocked = true;
  simulation.after(random.between(2, 15) * 1000, () => {
    conduct.isLocked = false;
    node.deploy({ UPSTREAM_TOKEN });
  });
}

/** For some seconds upstreams are in another order, or are not all set: those that are honest are. */
function listOthers(world: World, random: Random): void {
  const { node, simulation, upstreams, liar, access } = world;
  const UPSTREAM_URL = urlOf(upstreams);
  if (node.vars.UPSTREAM_URL !== UPSTREAM_URL) return;
  const others = random.sample(upstreams, upstreams.length);
  const kept = liar === undefined ? others.slice(random.below(2)) : others;
  access.firsts.add(kept[0]!.address);
  for (const each of others) each.wasSilent ||= !kept.includes(each);
  node.deploy({ UPSTREAM_URL: urlOf(kept) });
  simulation.after(random.between(2, 15) * 1000, () => {
    node.deploy({ UPSTREAM_URL });
  });
}

/** By which the follower stops, or every answer is an error, until it is put right. */
const MISTAKES = { MILESTONE_PUBLIC_KEYS: '', RETENTION_MILESTONES: NO_RETENTION };

/** For some seconds a setting is wrong. */
function misconfigure(world: World, random: Random): void {
  const { node, simulation } = world;
  const name = random.pick(Object.keys(MISTAKES) as (keyof typeof MISTAKES)[]);
  const { [name]: right = '' } = node.vars;
  // another mistake may be there, or keys are still to be set
  if (right === MISTAKES[name] || !world.hasKeys) return;
  node.deploy({ [name]: MISTAKES[name] });
  world.hasKeys = name !== 'MILESTONE_PUBLIC_KEYS';
  world.ask('/api/core/v2/info', ({ status }) => {
    if (status === 200 && world.hasKeys && node.vars[name] === MISTAKES[name])
      world.wrong('safety', `an answer though ${name} is wrong`);
  });
  simulation.after(random.between(2, 15) * 1000, () => {
    if (node.vars[name] !== MISTAKES[name]) return;
    if (name === 'MILESTONE_PUBLIC_KEYS') world.setKeys();
    else node.deploy({ [name]: right });
  });
}

/** Another namespace is bound, and soon the former one again, by one version alone. */
function exchangeKv(world: World, random: Random): void {
  const { node, simulation } = world;
  const readSome = () => {
    for (const id of random.sample(world.truth.nftIds, 8)) readNft(world, id);
  };
  const exchange = () => {
    if (world.isCalm) return;
    world.endOverlap?.();
    node.exchangeKv();
    // the copy of a data centre may be of the other one
    for (const ms of SOON_MS) simulation.after(ms, readSome);
  };
  // the data centre comes to have a copy
  readSome();
  simulation.after(READ_MS, exchange);
  if (random.chance(0.5)) simulation.after(random.between(4, 60) * 1000, exchange);
}

const SOON_MS = [0, 500, 2000, 5000];

/** A snapshot of one of the last milestones replaces the ledger, while everything goes on. */
function importAgain(world: World, random: Random): void {
  if (world.isImporting || world.tally.has('renamed')) return;
  const [first, last] = [world.network.genesis.index + 1, lastIndex(world.network)];
  // the newest may be one that upstreams have not yet
  const isAhead = world.liar === undefined && random.chance(0.5);
  if (isAhead) importAhead(world);
  const target = isAhead ? last : random.between(Math.max(first, last - 4), last);
  // a full snapshot may have the outputs of a later milestone, or a delta may come with it
  const ahead = random.between(target, last);
  // diffs have what was announced of late; without the parameters the file is refused (1.6)
  const { since } = parametersAt(world.network, target);
  const said = world.network.milestones.find(
    ({ announced }) => announced?.targetMilestoneIndex === since,
  );
  const isInDiffs = said !== undefined && said.index > target - MOST_AHEAD;
  const isSaid = isInDiffs || since === parametersAt(world.network, ahead).since;
  const ledger = isSaid ? ahead : target;
  const fullTarget = Math.max(first, target - random.between(1, 4));
  const files = random.pick([{}, { ledger, moreDiffs: random.below(4) }, { fullTarget }]);
  const cutAfter = random.chance(0.5) ? random.between(2, CUT_AFTER) : undefined;
  world.startImport(target, { ...files, cutAfter });
}

/** Calls of D1 of an import, some of which come before those that place what was staged. */
const CUT_AFTER = 25;

/** In which upstreams lack the snapshot's milestone, and how often somebody reads meanwhile. */
const AHEAD_MS = 4000;
const READ_EVERY_MS = 500;

/** For some seconds no upstream has the last milestone, of whose blocks the snapshot names a few. */
function importAhead(world: World): void {
  const { network, upstreams, simulation } = world;
  const cone = coneOf(network, lastIndex(network));
  const lags = upstreams.map(({ conduct }) => conduct.lag);
  for (const { conduct } of upstreams) conduct.lag = 1;
  for (let ms = READ_EVERY_MS; ms < AHEAD_MS; ms += READ_EVERY_MS)
    simulation.after(ms, () => {
      if (world.isCalm) return;
      for (const { id } of cone.slice(0, READS)) readBlockMetadata(world, id);
    });
  simulation.after(AHEAD_MS, () => {
    if (!world.isCalm) for (const [i, { conduct }] of upstreams.entries()) conduct.lag = lags[i]!;
  });
}

/** Outputs in the file have wrong owners; later the right file is imported, as the runbook says. */
function importDamaged(world: World, random: Random): void {
  if (world.isImporting || world.isDamaged || world.tally.has('renamed')) return;
  const { simulation, network, phantoms } = world;
  world.isDamaged = true;
  world.hasMovedNfts = random.chance(0.3);
  const change = (chunks: Uint8Array[]) =>
    world.hasMovedNfts ? moveNfts(world, chunks, random) : damageOwners(chunks, random);
  world.startImport(lastIndex(network), { change });
  simulation.after(CONFLICT_MS, () => conflict(world, random));
  simulation.after(random.between(8, 20) * 1000, () => {
    if (!world.isDamaged) return;
    // what is kept of the ledger before may be of later milestones
    const back = random.pick([0, 0, 3, 6]);
    world.repair(Math.max(network.genesis.index + 1, lastIndex(network) - back), () => {
      // an isolate remembers what it read for a second
      simulation.after(REMEMBERED_MS, () => {
        for (const id of [...phantoms, ...random.sample(world.truth.nftIds, READS)])
          readNft(world, id);
      });
    });
  });
}

/** NFTs that are read as soon as a ledger was replaced. */
const READS = 10;
const REMEMBERED_MS = 1000;

/** After the import, and before the repair. */
const CONFLICT_MS = 4000;
const READ_MS = 3000;

/** Where the owner of an output is wrong a conflict is one for another reason, with the same roots. */
function conflict(world: World, random: Random): void {
  const { network, life, simulation, isImporting, isCalm } = world;
  if (isImporting || isCalm || life.coins.length === 0) return;
  const spend = random.pick(life.coins);
  const tooMuch = basic(spend.by, { amount: spend.coin.output.amount + 1n });
  const made = network.transaction([spend], [tooMuch]);
  const id = network.attachTransaction(made, [network.milestoneBlock!]);
  issue(world, [network.milestoneBlock!, id]);
  simulation.after(READ_MS, () => readBlockMetadata(world, id));
}

const BASIC = 3;
const NFT = 6;
/** Of an output's record: its own bytes, and in those of a basic output its owner. */
const OUTPUT_AT = 34 + 32 + 4 + 4 + 4;
const OWNER_AT = OUTPUT_AT + 1 + 8 + 1 + 1 + 1 + 1;

/** Nobody signs outputs: coins have other owners. */
function damageOwners(chunks: readonly Uint8Array[], random: Random): Uint8Array[] {
  return changeSome(chunks, BASIC, random, (record) => {
    record[OWNER_AT + random.below(32)]! ^= 1;
  });
}

/** NFTs are in other outputs, and such as have their IDs from there are others. */
function moveNfts({ phantoms }: World, chunks: readonly Uint8Array[], random: Random) {
  return changeSome(chunks, NFT, random, (record) => {
    record[random.below(32)]! ^= 1;
    const output = decodeOutput(record.slice(OUTPUT_AT));
    if (output.type !== NFT) throw new Error('no record of an NFT');
    if (!equalBytes(nftIdOf(output, record.subarray(0, 34)), output.nftId))
      phantoms.add(nftIdOf(output, record.subarray(0, 34)).toHex());
  });
}

/** Changes half of the records of outputs of a kind. */
function changeSome(
  chunks: readonly Uint8Array[],
  kind: number,
  random: Random,
  change: (record: Uint8Array) => void,
): Uint8Array[] {
  return chunks.map((chunk, i) => {
    const isOfKind = i > 0 && chunk.length > OWNER_AT + 32 && chunk[OUTPUT_AT] === kind;
    if (!isOfKind || random.chance(0.5)) return chunk;
    const changed = chunk.slice();
    change(changed);
    return changed;
  });
}
