/**
 * docs/protocol.md, H.5, H-110 to H-115 and H-119 to H-124: milestones in cones, receipts, protocol
 * parameters.
 */
import { describe, expect, it } from 'vitest';
import { README_PARAMETERS as parameters } from '../../../cli/conformance/parameters.ts';
import type { WhiteFlagCase } from '../../../cli/conformance/white-flag.ts';
import { admissionFault } from '../../../src/stardust/admission.ts';
import { verifyZip215 } from '../../../src/stardust/crypto/ed25519.ts';
import { toHex, Writer } from '../../../src/stardust/encoding/bytes.ts';
import { encode } from '../../../src/stardust/encoding/codec.ts';
import { isMilestoneBlock } from '../../../src/stardust/milestone-keys.ts';
import { ParameterTable } from '../../../src/stardust/parameter-table.ts';
import { merkleRoot } from '../../../src/stardust/proof/merkle.ts';
import {
  blockId,
  networkId,
  outputBytes,
  outputId,
  transactionId,
} from '../../../src/stardust/wire/ids.ts';
import type { MigratedFunds, ReceiptOption } from '../../../src/stardust/wire/milestone.ts';
import { decodeParameters, protocolParameters } from '../../../src/stardust/wire/parameters.ts';
import { migratedOutputs, receiptFault } from '../../../src/stardust/wire/receipt.ts';
import { transaction } from '../../../src/stardust/wire/transaction.ts';
import { whiteFlag } from '../../support/oracle/oracle.ts';
import { bothWhiteFlags, parsedBlocks } from '../../support/oracle/product-and-oracle.ts';
import { blockBytes, idOfMilestone, milestoneOf } from '../../support/payloads/blocks.ts';
import { keyPair } from '../../support/payloads/keys.ts';
import { basic, idOf, ZERO } from '../../support/payloads/outputs.ts';
import { inputId, transactionOf } from '../../support/payloads/transactions.ts';
import { alice, bob, plan } from '../../support/stardust/syntactic.ts';

const EMPTY_ROOT = toHex(merkleRoot([]));

/** Milestone 1 at second 1000, in its block. */
const first = milestoneOf({});
const firstBlock = blockBytes({ payload: first });

/**
 * Milestone 2 at second 2000 over these blocks, all of which are in the cone unless `blocks` says
 * otherwise.
 */
const second = (parents: Uint8Array[], given: Partial<WhiteFlagCase> = {}) =>
  bothWhiteFlags({
    index: 2,
    timestamp: 2000,
    parents: parents.map((block) => toHex(blockId(block))),
    previousMilestoneId: toHex(idOfMilestone(first)),
    genesisMilestoneIndex: 0,
    blocks: parsedBlocks(...parents),
    unspent: new Map(),
    spent: new Set(),
    ...given,
  });

describe('H.5 the previous milestone', () => {
  const other = blockBytes({ payload: { type: 5, tag: Uint8Array.of(1), data: new Uint8Array() } });

  it('H-110 must lie in the cone', async () => {
    expect((await second([firstBlock])).metPreviousMilestone).toBe(true);
    expect((await second([other])).metPreviousMilestone).toBe(false);
  });

  it('H-111 does not count behind a block that is referenced already', async () => {
    const referenced = blockBytes({ parents: [blockId(firstBlock)] });
    const above = blockBytes({ parents: [blockId(referenced)] });
    expect((await second([above])).metPreviousMilestone).toBe(false);
  });

  it('H-112 does not count if a signature is not valid', async () => {
    const [signature] = first.signatures;
    const unsigned = { ...first, signatures: [{ ...signature!, signature: new Uint8Array(64) }] };
    expect(idOfMilestone(unsigned)).toEqual(idOfMilestone(first));
    expect(await isSigned(blockBytes({ payload: first }))).toBe(true);
    expect(await isSigned(blockBytes({ payload: unsigned }))).toBe(false);
  });

  it('H-113 counts in a block with the first of its parents, not in one with more', async () => {
    const ids = ['a', 'b', 'c'].map(idOf).sort(Buffer.compare);
    const value = milestoneOf({ parents: ids.slice(0, 2) });
    const within = (...parents: Uint8Array[]) => isSigned(blockBytes({ parents, payload: value }));
    expect(await within(...ids.slice(0, 2))).toBe(true);
    expect(await within(ids[0]!)).toBe(true);
    expect(await within(ids[1]!)).toBe(false);
    expect(await within(...ids)).toBe(false);
  });

  it('H-114 is found beside other milestones, which are ordinary blocks', async () => {
    const foreign = blockBytes({ payload: milestoneOf({ index: 7, timestamp: 9000 }) });
    const { order, metPreviousMilestone } = await second([foreign, firstBlock]);
    expect(metPreviousMilestone).toBe(true);
    expect(order.map(({ isTransaction }) => isTransaction)).toEqual([false, false]);
  });

  it('H-115 none for the first milestone, which may be empty; the first for the second', async () => {
    const [zero, empty] = [toHex(ZERO), EMPTY_ROOT];
    const fresh = { index: 1, timestamp: 1000, parents: [zero], previousMilestoneId: zero };
    const roots = { inclusionMerkleRoot: empty, appliedMerkleRoot: empty };
    expect(await second([], fresh)).toEqual({ order: [], ...roots, metPreviousMilestone: true });
    const { inclusionMerkleRoot, appliedMerkleRoot } = await second([firstBlock]);
    expect(inclusionMerkleRoot).toBe(toHex(merkleRoot([blockId(firstBlock)])));
    expect(appliedMerkleRoot).toBe(EMPTY_ROOT);
  });
});

/** Whether the block counts as a milestone's, by the key with which the builder signs. */
async function isSigned(block: Uint8Array): Promise<boolean> {
  const [parsed] = parsedBlocks(block).values();
  const keys = {
    keys: [{ publicKey: keyPair('coordinator').publicKey, first: 0, last: 0 }],
    threshold: 1,
  };
  return isMilestoneBlock(parsed!, keys, async (...signature) => verifyZip215(...signature));
}

describe('H.5 receipts', () => {
  const fund = (deposit: bigint, tail = 1): MigratedFunds => ({
    tailTransactionHash: new Uint8Array(49).fill(tail),
    address: alice.address,
    deposit,
  });
  const receipt = (left: bigint, ...funds: MigratedFunds[]): ReceiptOption => ({
    type: 0,
    migratedAt: 1,
    final: false,
    funds,
    transaction: {
      type: 4,
      input: { type: 1, milestoneId: ZERO },
      output: { type: 2, amount: left },
    },
  });
  const SUPPLY = parameters.tokenSupply;

  it('H-119 takes what it deposits out of the treasury, in uint64, and deposits no dust', () => {
    const fault = (treasury: bigint, left: bigint, ...funds: MigratedFunds[]) =>
      receiptFault(receipt(left, ...funds), treasury, SUPPLY);
    const two = fund(2_000_000n);
    expect(fault(6_000_000n, 4_000_000n, two)).toBe(undefined);
    expect(fault(6_000_000n, 4_000_001n, two)).toMatch(/^E\.5: .* treasury/);
    expect(fault(1_000_000n, 2n ** 64n - 1_000_000n, two)).toBe(undefined);
    expect(fault(1_000_000n, 1n, fund(999_999n))).toMatch(/below/);
    expect(fault(SUPPLY + 1n, 0n, fund(SUPPLY + 1n))).toMatch(/over the token supply/);
    const twice = [fund(SUPPLY - 1_000_000n), fund(1_000_001n, 2)];
    expect(fault(SUPPLY + 1n, 0n, ...twice)).toMatch(/over the token supply/);
    // H-40
    expect(fault(3_000_000n, 0n, fund(1_000_000n), two)).toMatch(/tail/);
  });

  it('H-120 may name any treasury output as its input', () => {
    const value = receipt(4_000_000n, fund(2_000_000n));
    value.transaction.input.milestoneId = idOf('no milestone');
    expect(receiptFault(value, 6_000_000n, SUPPLY)).toBe(undefined);
    const output = basic(alice, { amount: 2_000_000n });
    const id = outputId(idOf('milestone'), 0);
    const [migrated] = migratedOutputs(value, idOf('milestone'));
    expect(migrated).toEqual({ id, output, bytes: outputBytes(output) });
  });
});

describe('H.5 application', () => {
  it('H-121 an output made and spent in one milestone is both created and consumed', async () => {
    const made = transactionOf(plan({}));
    const id = outputId(transactionId(encode(transaction, made)), 0);
    const inputs = [{ output: basic(alice), unlock: alice, id }];
    const spent = transactionOf({ inputs, outputs: [basic(bob)] });
    const a = blockBytes({ payload: made });
    const b = blockBytes({ payload: spent, parents: [blockId(a)] });
    const { created, consumed } = await whiteFlag(
      {
        genesisMilestoneIndex: 0,
        solidEntryPoints: new Set([toHex(ZERO)]),
        blocks: parsedBlocks(a, b),
        referenced: new Set(),
        milestoneBlocks: new Set(),
        outputs: new Map([[toHex(inputId(0)), { bytes: outputBytes(basic(alice)) }]]),
        spent: new Set(),
      },
      { index: 1, timestamp: 1000, parents: [toHex(blockId(b))], previousMilestoneId: toHex(ZERO) },
    );
    expect(created.has(toHex(id))).toBe(true);
    expect(consumed.has(toHex(id))).toBe(true);
    expect([...created.keys()].filter((each) => !consumed.has(each)).length).toBe(1);
  });
});

describe('H.5 protocol parameters', () => {
  const renamed = { ...parameters, networkName: 'renamed' };

  it('H-122 are in force from their target on', () => {
    const option = (targetMilestoneIndex: number, value = parameters) => ({
      type: 1 as const,
      targetMilestoneIndex,
      protocolVersion: 2,
      parameters: encode(protocolParameters, value),
    });
    const table = new ParameterTable();
    table.announce(option(0));
    table.announce(option(30, renamed));
    const inForce = (index: number) => decodeParameters(table.at(index)!.parameters);
    const names = [29, 30, 31].map((index) => inForce(index).networkName);
    expect(names).toEqual([parameters.networkName, 'renamed', 'renamed']);

    const payload = transactionOf(plan({ networkId: networkId('renamed') }));
    const [parsed] = parsedBlocks(blockBytes({ payload })).values();
    expect(admissionFault(parsed!, inForce(29))).toMatch(/^C-13/);
    expect(admissionFault(parsed!, inForce(30))).toBe(undefined);
  });

  it('H-123 may have bytes after them', () => {
    const bytes = new Writer().put(encode(protocolParameters, renamed)).u32(7).finish();
    expect(decodeParameters(bytes)).toEqual(renamed);
  });

  it('H-124 have the data factor before the key factor', () => {
    const bytes = encode(protocolParameters, parameters);
    expect([...bytes.subarray(-10, -8)]).toEqual([1, 10]);
    const rentStructure = { vByteCost: 500, vByteFactorData: 1, vByteFactorKey: 10 };
    expect(decodeParameters(bytes).rentStructure).toEqual(rentStructure);
    // B.14
    const testnet = '0207746573746e657403726d73dc0500000f64000000010ac4c0f52495270500';
    expect(decodeParameters(Uint8Array.fromHex(testnet))).toEqual({
      ...{ version: 2, networkName: 'testnet', bech32Hrp: 'rms' },
      ...{ minPowScore: 1500, belowMaxDepth: 15, tokenSupply: 1450896407249092n },
      rentStructure: { ...rentStructure, vByteCost: 100 },
    });
  });
});
