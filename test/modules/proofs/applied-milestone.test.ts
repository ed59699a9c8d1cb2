/**
 * Applied milestones explained (src/modules/proofs/applied-milestone.ts), as long as they are kept:
 * what the node said of every block, and nothing of what was not applied here.
 */
import { describe, expect, it } from 'vitest';
import { loadSnapshot } from '../../../src/ledger/import/load-snapshot.ts';
import { PARTS, readNumbers, writeNumbers } from '../../../src/ledger/packs/milestone-part.ts';
import {
  explainMilestone,
  pathToApplied,
  proveBlock,
} from '../../../src/modules/proofs/applied-milestone.ts';
import { encode } from '../../../src/stardust/encoding/codec.ts';
import { merkleRoot } from '../../../src/stardust/proof/merkle.ts';
import { verifyPath } from '../../../src/stardust/proof/proof.ts';
import { decodeMilestone } from '../../../src/stardust/wire/decode-milestone.ts';
import { milestone as milestonePayload } from '../../../src/stardust/wire/milestone.ts';
import { fetchFrom } from '../../support/http/stub-node.ts';
import { asFile, followTo, startLedger } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { sealRows } from '../../support/ledger/seal-rows.ts';
import { coneOf } from '../../support/network/network-model.ts';
import { recordedNetwork } from '../../support/network/recorded-network.ts';
import { readVector } from '../../support/vectors.ts';

const db = await openMemory();
const network = recordedNetwork('network-a');

describe('a ledger that keeps 35 milestones', () => {
  it('explains these, and proves their blocks, and no others', async () => {
    const rig = await startLedger(db, network, 0, { retention: 35 });
    const last = 60;
    await followTo(rig, last);
    const first = last - 35;
    for (const { index, id } of network.milestones.slice(0, last)) {
      const explained = await explainMilestone(db, index);
      const cone = coneOf(network, index);
      const [block] = cone;
      const proof = block && (await proveBlock(db, block.id.slice(2)));
      if (index < first) {
        expect([index, explained, proof]).toEqual([index, undefined, undefined]);
        continue;
      }
      expect(explained?.milestoneId).toBe(id.slice(2));
      if (cone.length > 0)
        await expect(explainMilestone(db, index, cone.length - 1)).rejects.toThrow('more blocks');
      expect(await explainMilestone(db, index, cone.length)).toEqual(explained);
      const verdicts = cone.map(({ id: blockId, referenced }) => ({
        blockId: blockId.slice(2),
        reason: referenced!.state === 'noTransaction' ? undefined : referenced!.conflict,
      }));
      expect(explained?.blocks.map(({ blockId, reason }) => ({ blockId, reason }))).toEqual(
        verdicts,
      );
      expect(proof?.included.map((each) => `0x${each.toHex()}`)).toEqual(
        cone.map((each) => each.id),
      );
    }
  });
});

describe('a list of blocks in another order, whose sum is right', () => {
  it('proves no block', async () => {
    const { index, blocks } = network.milestones
      .slice(25, 60)
      .map((each) => ({ index: each.index, blocks: coneOf(network, each.index) }))
      .find((each) => each.blocks.length > 2)!;
    const key = index * PARTS;
    const select = 'SELECT blocks FROM milestone_part WHERE key = ?1';
    const update = 'UPDATE milestone_part SET blocks = ?2 WHERE key = ?1';
    const text = (await db.prepare(select).bind(key).first<string>('blocks'))!;
    const write = async (numbers: string) => {
      await db.prepare(update).bind(key, numbers).run();
      await sealRows(db, 'milestone_part');
    };
    const fetch = fetchFrom({ node: { session: () => db } });
    const statuses = () =>
      Promise.all(
        ['poi/v1/create/ID', 'edge/v1/blocks/ID/proof'].map(
          async (path) => (await fetch(`/api/${path.replace('ID', blocks[0]!.id)}`)).status,
        ),
      );
    expect(await statuses()).toEqual([200, 200]);
    await write(writeNumbers(readNumbers(text).reverse()));
    expect(await statuses()).toEqual([500, 500]);
    await write(text);
    expect(await statuses()).toEqual([200, 200]);
  });
});

it('a path in a large milestone leaves turns to other requests', async () => {
  const included = Array.from({ length: 30_000 }, (_, i) => {
    const id = new Uint8Array(32);
    new DataView(id.buffer).setUint32(0, i);
    return id;
  });
  const applied = included.map((_, i) => i).filter((i) => i % 3 > 0);
  const appliedMerkleRoot = merkleRoot(applied.map((at) => included[at]!));
  const { value } = decodeMilestone(network.milestones[0]!.payload);
  const milestone = encode(milestonePayload, { ...value, appliedMerkleRoot });
  let turns = 0;
  const timer = setInterval(() => turns++);
  const path = await pathToApplied({
    milestone,
    block: new Uint8Array(),
    included,
    position: 20_000,
    applied,
  });
  clearInterval(timer);
  expect(verifyPath(path, included[20_000]!, appliedMerkleRoot)).toEqual({ ok: true });
  expect(turns).toBeGreaterThan(2);
});

describe('a ledger from a snapshot', () => {
  it("does not explain the snapshot's milestone, whose payload it has", async () => {
    const file = (kind: string) => asFile([readVector(`network-a/${kind}_snapshot.bin`)]);
    await loadSnapshot(db, file('full'), file('delta'));
    expect(
      await db.prepare('SELECT payload FROM milestone WHERE idx = 81').first('payload'),
    ).not.toBeNull();
    expect(await explainMilestone(db, 81)).toBeUndefined();
  });
});
