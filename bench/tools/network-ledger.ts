/**
 * A test network in D1: as an import leaves it at one of its milestones, with open blocks as the
 * follower stores them, and with milestones applied.
 */

import { applyMilestone } from '../../src/follower/apply-milestone.ts';
import { createFollowerMemory } from '../../src/follower/follower-context.ts';
import { storeUnreferenced } from '../../src/follower/store/store-unreferenced.ts';
import { verifyMilestone } from '../../src/follower/verify-milestone.ts';
import { type Database, forEachPiece, runBatch } from '../../src/ledger/core/database.ts';
import { type Head, type KnownMilestone, selectHeadAt } from '../../src/ledger/core/head.ts';
import { writeIdTables } from '../../src/ledger/core/id-index.ts';
import { readParameters } from '../../src/ledger/core/ledger-parameters.ts';
import { writeOutputBytes } from '../../src/ledger/core/output-bytes.ts';
import { readQuery } from '../../src/ledger/core/read-batch.ts';
import { SCHEMA } from '../../src/ledger/core/schema.ts';
import type { AdmissionRules } from '../../src/ledger/intake/admission-rules.ts';
import { createUnreferencedIndex } from '../../src/ledger/write/unreferenced-index.ts';
import { toHexDigits } from '../../src/stardust/encoding/bytes.ts';
import { encode } from '../../src/stardust/encoding/codec.ts';
import { type ParsedBlock, parseBlock } from '../../src/stardust/wire/block.ts';
import { protocolParametersOption } from '../../src/stardust/wire/milestone.ts';
import { protocolParameters } from '../../src/stardust/wire/parameters.ts';
import { verifySignature } from '../../src/verify-signature.ts';
import {
  ledgerAt,
  milestoneAt,
  type Network,
  type NetworkBlock,
  ZERO_ID,
} from '../../test/support/network/network-model.ts';
import { solidEntryPoints } from '../../test/support/network/network-snapshot.ts';

function rulesOf({ keys, genesis }: Network): AdmissionRules {
  return {
    keys,
    parameters: [genesis.parameters],
    verify: verifySignature,
  };
}

const INSERT_HEAD = `
  INSERT INTO head (
    one, schema, generation, genesis, start, ledger, treasury_milestone, treasury_amount,
    next_block, next_output, dropped, id_tables, forgotten)
  VALUES (1, ${SCHEMA}, 'bench', ?1, ?2, ?2, ?3, ?4, 1, 1, 0, ?5, ?2 - 1)`;
const INSERT_MILESTONE = 'INSERT INTO milestone (idx, id, timestamp) VALUES (?1, ?2, ?3)';
const INSERT_ENTRY_POINTS =
  'INSERT INTO id_0 (id, milestone, block) SELECT value, ?2, 0 FROM json_each(?1)';
const INSERT_PARAMETERS = 'INSERT INTO parameters VALUES (?1, ?2)';
const INSERT_OUTPUTS = `
  INSERT INTO output (id, bytes, block, created, created_time)
  SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 FROM json_each(?1)`;

/** Stores the network's ledger at milestone `index`. It must not hold NFTs. */
export async function importNetwork(db: Database, network: Network, index: number): Promise<void> {
  const { genesis } = network;
  const { id, timestamp } = milestoneAt(network, index) ?? { ...genesis, id: ZERO_ID };
  const parameters = encode(protocolParametersOption, {
    type: 1,
    targetMilestoneIndex: genesis.index,
    protocolVersion: genesis.parameters.version,
    parameters: encode(protocolParameters, genesis.parameters),
  });
  const outputs = ledgerAt(network, index).map((output) => [
    output.outputId.toHex(),
    writeOutputBytes(output.bytes),
    output.blockId.toHex(),
    output.bookedIndex,
    output.bookedTimestamp,
  ]);
  await runBatch(db, [
    db
      .prepare(INSERT_HEAD)
      .bind(
        genesis.index,
        index,
        ZERO_ID.slice(2),
        String(genesis.treasury),
        writeIdTables([{ table: 0, first: index }]),
      ),
    db.prepare(INSERT_MILESTONE).bind(index, id.slice(2), timestamp),
    db.prepare(INSERT_PARAMETERS).bind(genesis.index, parameters.toBase64()),
    ...forEachPiece(
      db,
      INSERT_ENTRY_POINTS,
      solidEntryPoints(network, index).map(toHexDigits),
      index,
    ),
    ...forEachPiece(db, INSERT_OUTPUTS, outputs),
  ]);
}

/** The blocks that milestones after `from` and up to `to` reference, parents first. */
export function blocksBetween(network: Network, from: number, to: number): NetworkBlock[] {
  return [...network.blocks.values()].filter(
    ({ referenced }) =>
      referenced !== undefined && referenced.index > from && referenced.index <= to,
  );
}

/** Blocks that go into D1 at once. */
const PIECE = 2000;

/** Stores blocks, parents first and in this order, as the follower does. */
export async function storeBlocks(
  db: Database,
  network: Network,
  blocks: readonly NetworkBlock[],
): Promise<void> {
  const rules = rulesOf(network);
  const index = createUnreferencedIndex();
  for (let at = 0; at < blocks.length; at += PIECE) {
    const piece = new Map(
      blocks
        .slice(at, at + PIECE)
        .map(parse)
        .map((block) => [toHexDigits(block.id), block]),
    );
    const { head } = await readHead(db);
    const choose = () => ({ visible: new Set(piece.keys()) });
    await storeUnreferenced(db, head, { blocks: piece, rules, choose, index });
  }
}

async function readHead(db: Database): Promise<{ head: Head; milestone: KnownMilestone }> {
  const { head, milestone } = (await readQuery(db, selectHeadAt(db)))!;
  return { head, milestone: milestone! };
}

function parse({ id, bytes }: NetworkBlock): ParsedBlock {
  const result = parseBlock(bytes);
  if (!result.ok) throw new Error(`block ${id} breaks ${result.reason}`);
  return result.parsed;
}

/** Applies the next milestones up to `to`. Their blocks must be stored. */
export async function takeIn(db: Database, network: Network, to: number): Promise<void> {
  const rules = rulesOf(network);
  const source = { fetch: () => Promise.reject(new Error('not all blocks are stored')) };
  const memory = createFollowerMemory();
  const deadline = Number.POSITIVE_INFINITY;
  for (;;) {
    const { head, milestone } = await readHead(db);
    if (head.ledger >= to) return;
    const { payload } = milestoneAt(network, head.ledger + 1)!;
    const announced = await readParameters(db);
    const verified = await verifyMilestone(payload, { head, milestone, announced }, rules);
    await applyMilestone(db, head, verified, { memory, rules, source, deadline });
  }
}
