/** The routes that explain a milestone and prove a block, over a recorded network. */
import { describe, expect, it } from 'vitest';
import { fromHex } from '../../../src/stardust/encoding/bytes.ts';
import { blockToJson, milestoneToJson } from '../../../src/stardust/json/rest-json.ts';
import { verifyPath } from '../../../src/stardust/proof/proof.ts';
import { parseBlock } from '../../../src/stardust/wire/block.ts';
import { checkRow } from '../../support/http/contract.ts';
import { recordedNode } from '../../support/http/recorded-node.ts';
import { fetchFrom } from '../../support/http/stub-node.ts';
import { readMilestone } from '../../support/network/blocks.ts';
import { coneOf, milestoneAt } from '../../support/network/network-model.ts';
import { recordedNetwork } from '../../support/network/recorded-network.ts';

const network = recordedNetwork('network-a');
const fetch = fetchFrom({ node: recordedNode(network, 100) });

interface ExplainedJson {
  index: number;
  milestoneId: string;
  blocks: {
    blockId: string;
    whiteFlagIndex: number;
    payload: string;
    ledgerInclusionState: string;
    conflictReason?: number;
    explanation?: string;
  }[];
}

describe('GET /api/edge/v1/whiteflag/:milestoneIndex', () => {
  it('tells of each block what the reference decided', async () => {
    const seen = new Set<string>();
    for (let index = 1; index <= 100; index++) {
      const response = await fetch(`/api/edge/v1/whiteflag/${index}`);
      const explained = (await response.json()) as ExplainedJson;
      expect([explained.index, explained.milestoneId]).toEqual([
        index,
        milestoneAt(network, index)!.id,
      ]);
      expect(explained.blocks.map(({ blockId }) => blockId)).toEqual(
        coneOf(network, index).map(({ id }) => id),
      );
      for (const [position, block] of explained.blocks.entries()) {
        const { referenced } = network.blocks.get(block.blockId)!;
        expect(block.whiteFlagIndex).toBe(position);
        expect(block.ledgerInclusionState).toBe(referenced!.state);
        expect(block.conflictReason ?? 0).toBe(referenced!.conflict);
        expect(block.explanation !== undefined).toBe(referenced!.state === 'conflicting');
        seen.add(`${block.payload} ${block.ledgerInclusionState}`);
      }
    }
    expect([...seen].sort()).toEqual(
      expect.arrayContaining([
        'milestone noTransaction',
        'transaction conflicting',
        'transaction included',
      ]),
    );
  });

  it.each([
    ['101', 404],
    ['4294967295', 404],
    ['4294967296', 400],
    ['-1', 400],
    ['1.0', 400],
    ['0x1', 400],
    ['latest', 400],
  ])('%s is %i', (index, status) =>
    checkRow(fetch, { name: '', path: `/api/edge/v1/whiteflag/${index}`, status }),
  );
});

describe('GET /api/edge/v1/blocks/:blockId/proof', () => {
  it('proves every block against the inclusion root, and the applied ones against the applied root', async () => {
    let applied = 0;
    for (const index of [2, 50, 75, 100]) {
      const milestone = readMilestone(milestoneAt(network, index)!.payload);
      for (const { id, bytes, referenced } of coneOf(network, index)) {
        const file = (await (await fetch(`/api/edge/v1/blocks/${id}/proof`)).json()) as Record<
          string,
          unknown
        >;
        const parsed = parseBlock(bytes);
        if (!parsed.ok) throw new Error(parsed.reason);
        expect(file.milestone).toEqual(milestoneToJson(milestone));
        expect(file.block).toEqual(blockToJson(parsed.parsed.block));
        expect(verifyPath(file.proof, fromHex(id), milestone.inclusionMerkleRoot)).toEqual({
          ok: true,
        });
        expect('appliedProof' in file).toBe(referenced!.state === 'included');
        if (!('appliedProof' in file)) continue;
        applied++;
        expect(verifyPath(file.appliedProof, fromHex(id), milestone.appliedMerkleRoot)).toEqual({
          ok: true,
        });
      }
    }
    expect(applied).toBeGreaterThan(0);
  });

  it('is 404 for a block that no applied milestone references, 400 for no ID', async () => {
    const later = coneOf(network, 101)[0]!.id;
    await checkRow(fetch, { name: '', path: `/api/edge/v1/blocks/${later}/proof`, status: 404 });
    await checkRow(fetch, {
      name: '',
      path: `/api/edge/v1/blocks/0x${'00'.repeat(32)}/proof`,
      status: 404,
    });
    await checkRow(fetch, { name: '', path: '/api/edge/v1/blocks/0x00/proof', status: 400 });
    await checkRow(fetch, { name: '', path: `/api/edge/v1/blocks/${later}`, status: 404 });
  });
});
