/**
 * Networks that tests compare with: what is derived from the recorded ones is what HORNET recorded,
 * made-up ones decide what the oracle decides, and the oracle what the reference's own test suite
 * says (test/vectors/README.md).
 */
import { describe, expect, it } from 'vitest';
import { runWhiteFlag } from '../../cli/conformance/white-flag.ts';
import { admissionFault } from '../../src/stardust/admission.ts';
import { verifyEd25519 } from '../../src/stardust/crypto/ed25519.ts';
import { fromHex, toHex } from '../../src/stardust/encoding/bytes.ts';
import { isMilestoneBlock, signatureFault } from '../../src/stardust/milestone-keys.ts';
import { milestoneId } from '../../src/stardust/wire/ids.ts';
import { receiptFault } from '../../src/stardust/wire/receipt.ts';
import { milestoneBlock, readMilestone } from '../support/network/blocks.ts';
import {
  extraSignature,
  fewerSignatures,
  forgedSignature,
  resign,
} from '../support/network/milestones.ts';
import {
  changesOf,
  coneOf,
  lastIndex,
  type Network,
  treasuryAt,
  type WhiteFlagCase,
} from '../support/network/network-model.ts';
import { deltaSnapshot, fullSnapshot } from '../support/network/network-snapshot.ts';
import { oracleAnswer, oracleView, parsedBlocks } from '../support/network/oracle-view.ts';
import { randomNetwork } from '../support/network/random-network.ts';
import {
  readVector,
  recordedNetwork,
  recordedQuestions,
} from '../support/network/recorded-network.ts';
import { whiteFlag } from '../support/oracle/oracle.ts';
import { oracleWhiteFlag } from '../support/oracle/product-and-oracle.ts';
import { readLines } from '../support/vectors.ts';

it('the oracle agrees with all 74 white-flag computations of hornet-suite.jsonl', async () => {
  const lines = readLines('hornet-suite.jsonl') as Record<string, unknown>[];
  expect(lines.length).toBe(74);
  for (const line of lines) expect(await runWhiteFlag(line, oracleWhiteFlag)).toBe(undefined);
});

/** The signed roots, and of every block the order and the verdict; what is created and consumed. */
async function expectOracleAgrees(network: Network): Promise<void> {
  const parsed = parsedBlocks(network);
  for (const { index, timestamp, payload } of network.milestones) {
    const { parents, previousMilestoneId, ...roots } = readMilestone(payload);
    const result = await whiteFlag(oracleView(network, index - 1, parsed), {
      index,
      timestamp,
      parents: parents.map(toHex),
      previousMilestoneId: toHex(previousMilestoneId),
    });
    expect(result).toMatchObject({
      metPreviousMilestone: true,
      inclusionMerkleRoot: toHex(roots.inclusionMerkleRoot),
      appliedMerkleRoot: toHex(roots.appliedMerkleRoot),
    });
    const verdicts = coneOf(network, index).map(({ id, referenced }) => [
      id,
      referenced!.state !== 'noTransaction',
      referenced!.conflict,
    ]);
    expect(
      result.order.map(({ id, isTransaction, reason }) => [id, isTransaction, reason]),
    ).toEqual(verdicts);
    const { created, consumed } = changesOf(network, index);
    const idsOf = (outputs: typeof created) => outputs.map(({ outputId }) => toHex(outputId));
    // a receipt's outputs are of no transaction
    const made = created.filter(({ blockId }) => blockId.some((byte) => byte !== 0));
    expect(idsOf(made)).toEqual([...result.created.keys()].sort());
    expect(idsOf(consumed)).toEqual([...result.consumed.keys()].sort());
  }
}

describe.each([
  { name: 'network-a', milestones: 106, answers: 206 },
  { name: 'network-c', milestones: 68, answers: 153 },
] as const)('$name', ({ name, milestones, answers }) => {
  const network = recordedNetwork(name);

  it('has milestones with the recorded IDs and changes, and one block of each', () => {
    const recorded = readLines(`${name}/milestones.jsonl`) as {
      index: number;
      milestoneId: string;
      created: string[];
      consumed: string[];
    }[];
    const made = network.milestones.map(({ index, id }) => {
      const { created, consumed } = changesOf(network, index);
      const idsOf = (outputs: typeof created) => outputs.map(({ outputId }) => toHex(outputId));
      return { index, milestoneId: id, created: idsOf(created), consumed: idsOf(consumed) };
    });
    expect(made).toEqual(
      recorded.map(({ index, milestoneId, created, consumed }) => {
        return { index, milestoneId, created: created.sort(), consumed: consumed.sort() };
      }),
    );
    const blocks = [...network.blocks.values()].filter(({ milestoneIndex }) => milestoneIndex);
    expect(blocks.map(({ milestoneIndex, bytes }) => [milestoneIndex, toHex(bytes)])).toEqual(
      network.milestones.map(({ index, payload }) => [index, toHex(milestoneBlock(payload))]),
    );
  });

  it('has milestones that are properly signed, with receipts that are valid', async () => {
    expect(network.milestones.length).toBe(milestones);
    for (const { index, id, payload, receipt } of network.milestones) {
      const value = readMilestone(payload);
      const { tokenSupply } = network.genesis.parameters;
      const treasury = treasuryAt(network, index - 1).amount;
      const faults = [
        await signatureFault(value, fromHex(id), network.keys, verifyEd25519),
        receipt && receiptFault(receipt, treasury, tokenSupply),
      ];
      expect([index, ...faults]).toEqual([index, undefined, undefined]);
    }
    for (const [id, block] of parsedBlocks(network)) {
      const carries = await isMilestoneBlock(block, network.keys, verifyEd25519);
      expect(network.blocks.get(id)!.milestoneIndex !== undefined, id).toBe(carries);
    }
  });

  it('is decided by the oracle as HORNET decided, every milestone and every question', async () => {
    await expectOracleAgrees(network);
    const questions = recordedQuestions(name).filter(({ status }) => status === 200);
    expect(questions.length).toBe(answers);
    const parsed = parsedBlocks(network);
    for (const { request, response } of questions)
      expect(await oracleAnswer(network, request as WhiteFlagCase['request'], parsed)).toEqual(
        response,
      );
  });

  it('ends with the recorded treasury', () => {
    const { treasury } = JSON.parse(readVector(`${name}/final.json`).toString());
    const { milestoneId, amount } = treasuryAt(network, lastIndex(network));
    expect({ milestoneId: toHex(milestoneId), amount: `${amount}` }).toEqual(treasury);
  });

  it('has the recorded snapshots, except spending transaction IDs and order', () => {
    const full = Buffer.concat([...fullSnapshot(network, { target: 0 })]);
    expect(full.equals(readVector(`${name}/full_snapshot.bin`))).toBe(true);
    const delta = readVector(`${name}/delta_snapshot.bin`);
    const made = Buffer.concat([...deltaSnapshot(network, 0, delta.readUInt32LE(2))]);
    const filler = 0x5a;
    const end = Number(delta.readBigInt64LE(42));
    expect(made.length).toBe(delta.length);
    expect(made.subarray(0, end).every((byte, i) => byte === delta[i] || byte === filler)).toBe(
      true,
    );
    const entryPoints = (file: Buffer) =>
      file.subarray(end).toString('hex').match(/.{64}/g)!.sort();
    expect(entryPoints(made)).toEqual(entryPoints(delta));
  });

  it('shows blocks after their parents, and before the milestone that references them', () => {
    for (const { parents, visibleFrom, milestoneIndex, referenced } of network.blocks.values()) {
      const dates = parents.map((parent) => network.blocks.get(parent)?.visibleFrom ?? 0);
      expect(visibleFrom).toBeGreaterThanOrEqual(Math.max(...dates));
      expect(visibleFrom).toBeLessThan(referenced?.index ?? Number.POSITIVE_INFINITY);
      if (milestoneIndex !== undefined) expect(visibleFrom).toBe(milestoneIndex);
    }
  });
});

describe.each(['one', 'two', 'three'])('a random network (%s)', (seed) => {
  const network = randomNetwork({ seed, milestones: 14, events: 60 });
  const parsed = parsedBlocks(network);

  it('has admissible blocks with the IDs of their bytes, and knows milestone blocks', async () => {
    for (const [id, block] of parsed) {
      expect(toHex(block.id)).toBe(id);
      expect(admissionFault(block, network.genesis.parameters)).toBeUndefined();
      const carries = await isMilestoneBlock(block, network.keys, verifyEd25519);
      const due = carries ? block.milestone!.value.index : undefined;
      expect(network.blocks.get(id)!.milestoneIndex, id).toBe(due);
    }
  });

  it('decides every milestone as the oracle does', () => expectOracleAgrees(network));

  it('has conflicts of all kinds that can be made, and blocks that are never referenced', () => {
    const reasons = [...network.blocks.values()].map(({ referenced }) => referenced?.conflict);
    expect(reasons).toEqual(expect.arrayContaining([undefined, 0, 1, 2, 3, 4, 5, 6, 10, 12]));
  });

  it('answers proposals as the oracle does, whichever block carries the milestone before', async () => {
    const { payload } = network.milestones.at(-1)!;
    const parents = readMilestone(payload).parents.map(toHex);
    const twins = [
      network.attachMilestone(payload, parents.slice(0, 1)),
      network.attachMilestone(payload, parents.slice(1, 2)),
      network.attachMilestone(fewerSignatures(payload, 1)),
    ];
    const blocks = parsedBlocks(network);
    for (const parents of [
      ...twins.map((id) => [id]),
      twins,
      twins.toReversed(),
      [network.note()],
    ]) {
      const { request, response, met } = network.propose({ parents });
      const view = oracleView(
        network,
        request.index - 1,
        new Map([...blocks, ...parsedBlocks(network)]),
      );
      const { metPreviousMilestone, ...result } = await whiteFlag(view, request);
      expect(metPreviousMilestone).toBe(met);
      expect(result).toMatchObject(response);
    }
  });
});

it('spoilt milestones fail the check of signatures; resigned ones pass it', async () => {
  const network = randomNetwork({ seed: 'spoilt', milestones: 2 });
  const { payload } = network.milestones[1]!;
  const rule = async (bytes: Uint8Array) => {
    const value = readMilestone(bytes);
    const id = milestoneId(value, bytes);
    return (await signatureFault(value, id, network.keys, verifyEd25519))?.slice(0, 3);
  };
  expect(await rule(payload)).toBeUndefined();
  expect(await rule(fewerSignatures(payload, 2))).toBeUndefined();
  expect(await rule(fewerSignatures(payload, 1))).toBe('M-2');
  for (const position of [0, 1, 2])
    expect(await rule(forgedSignature(payload, position))).toBe('M-3');
  expect(await rule(extraSignature(payload, new Uint8Array(32)))).toBe('M-3');
  const wrong = resign(payload, { appliedMerkleRoot: new Uint8Array(32) }, network.signers);
  expect(await rule(wrong)).toBeUndefined();
  expect(readMilestone(wrong).appliedMerkleRoot).toEqual(new Uint8Array(32));
});
