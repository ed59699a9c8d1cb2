/**
 * Made-up networks: they decide what the oracle (../support/oracle) decides, which judges
 * transactions and looks up blocks on its own.
 */
import { describe, expect, it } from 'vitest';
import { admissionFault } from '../../src/stardust/admission.ts';
import { verifyEd25519 } from '../../src/stardust/crypto/ed25519.ts';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import { isMilestoneBlock, signatureFault } from '../../src/stardust/milestone-keys.ts';
import { ConflictReason } from '../../src/stardust/semantics/conflict-reason.ts';
import { milestoneId } from '../../src/stardust/wire/ids.ts';
import { readMilestone } from '../support/network/blocks.ts';
import { lastQuestion } from '../support/network/cones.ts';
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
  ledgerAt,
  milestoneAt,
  stateHash,
  ZERO_ID,
} from '../support/network/network-model.ts';
import { solidEntryPoints } from '../support/network/network-snapshot.ts';
import { oracleView, parsedBlocks } from '../support/network/oracle-view.ts';
import { basic } from '../support/network/outputs.ts';
import { randomNetwork } from '../support/network/random-network.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';
import { whiteFlag } from '../support/oracle/oracle.ts';

describe.each(['one', 'two', 'three'])('a random network (%s)', (seed) => {
  const network = randomNetwork({ seed, milestones: 14, events: 60 });
  const parsed = parsedBlocks(network);

  it('has admissible blocks only, with the IDs of their bytes', () => {
    for (const [id, block] of parsed) {
      expect(toHex(block.id)).toBe(id);
      expect(admissionFault(block, network.genesis.parameters)).toBeUndefined();
    }
  });

  it('knows which blocks are milestone blocks', async () => {
    for (const [id, block] of parsed) {
      const carries = await isMilestoneBlock(block, network.keys, verifyEd25519);
      expect(network.blocks.get(id)!.milestoneIndex, id).toBe(
        carries ? block.milestone!.value.index : undefined,
      );
    }
  });

  it('decides every milestone as the oracle does', async () => {
    for (const { index, timestamp, payload } of network.milestones) {
      const { parents, previousMilestoneId, ...roots } = readMilestone(payload);
      const request = {
        parents: parents.map(toHex),
        previousMilestoneId: toHex(previousMilestoneId),
      };
      const view = oracleView(network, index - 1, parsed);
      const result = await whiteFlag(view, { index, timestamp, ...request });
      expect(result.metPreviousMilestone).toBe(true);
      expect(
        coneOf(network, index).map(({ id, referenced }) => [id, referenced!.conflict]),
      ).toEqual(result.order.map(({ id, reason }) => [id, reason]));
      expect([toHex(roots.inclusionMerkleRoot), toHex(roots.appliedMerkleRoot)]).toEqual([
        result.inclusionMerkleRoot,
        result.appliedMerkleRoot,
      ]);
      const { created, consumed } = changesOf(network, index);
      expect(created.map(({ outputId }) => toHex(outputId))).toEqual(
        [...result.created.keys()].sort(),
      );
      expect(consumed.map(({ outputId }) => toHex(outputId))).toEqual(
        [...result.consumed.keys()].sort(),
      );
    }
  });

  it('has conflicts of all kinds that can be made, and blocks that were never referenced', () => {
    const reasons = new Set(
      [...network.blocks.values()].map(({ referenced }) => referenced?.conflict),
    );
    expect([...reasons]).toEqual(expect.arrayContaining([undefined, 0, 1, 2, 3, 4, 5, 6, 10, 12]));
  });

  it('is the same again from the same seed', () => {
    const again = randomNetwork({ seed, milestones: 14, events: 60 });
    expect([...again.blocks.keys()]).toEqual([...network.blocks.keys()]);
    expect(again.milestones).toEqual(network.milestones);
    expect(stateHash(again, 14)).toBe(stateHash(network, 14));
  });
});

it('starts at another genesis if told so', () => {
  const network = new SyntheticNetwork({ genesisIndex: 1000, genesisTimestamp: 5, treasury: 7n });
  const { index, timestamp } = network.milestone();
  expect([index, timestamp, lastIndex(network), milestoneAt(network, 1001)?.index]).toEqual([
    1001, 10, 1001, 1001,
  ]);
  expect(milestoneAt(network, 1000)).toBeUndefined();
  expect(ledgerAt(network, 1000).length).toBe(network.genesisCoins.length);
  expect(changesOf(network, 1000).created).toEqual([]);
  expect(network.genesis.parameters.tokenSupply).toBe(16_000_000_007n);
});

describe('proposals', () => {
  const network = new SyntheticNetwork({ seed: 'proposals' });
  network.milestone();
  const [first, second] = [network.note(), network.note([ZERO_ID])];

  it('are answered with the roots that the milestone then has', () => {
    const parents = [network.milestoneBlock!, first, second].sort();
    const { request, response, met } = network.propose({ parents });
    expect(met).toBe(true);
    const { index } = network.milestone({ parents });
    expect(lastQuestion(network)).toEqual({ request, response });
    expect(coneOf(network, index).length).toBe(3);
  });

  it('depend on the order of the parents', () => {
    const [one, other] = [network.note([ZERO_ID]), network.note([ZERO_ID])];
    const answer = (...parents: string[]) =>
      network.propose({ parents }).response.inclusionMerkleRoot;
    expect(answer(one, other)).not.toBe(answer(other, one));
  });

  it('tell whether a properly signed block of the previous milestone was met', () => {
    const payload = network.milestones.at(-1)!.payload;
    const parents = readMilestone(payload).parents.map(toHex);
    const met = (id: string) => network.propose({ parents: [id] }).met;
    expect(met(network.note([ZERO_ID]))).toBe(false);
    expect(met(network.note([network.milestoneBlock!]))).toBe(true);
    expect(met(network.attachMilestone(payload, parents.slice(0, 1)))).toBe(true);
    expect(met(network.attachMilestone(payload, parents.slice(1)))).toBe(false);
    expect(met(network.attachMilestone(fewerSignatures(payload, 2)))).toBe(true);
    expect(met(network.attachMilestone(fewerSignatures(payload, 1)))).toBe(false);
    expect(met(network.attachMilestone(forgedSignature(payload, 2)))).toBe(false);
    expect(met(network.attachMilestone(extraSignature(payload, new Uint8Array(32))))).toBe(false);
  });
});

describe('rare cases', () => {
  const start = () => {
    const network = new SyntheticNetwork({ seed: 'nasty' });
    network.milestone();
    const spends = network.genesisCoins.map((coin, i) => ({ coin, by: network.account(i) }));
    const conflict = (id: string) => network.blocks.get(id)!.referenced?.conflict;
    const confirm = (...ids: string[]) =>
      network.milestone({ parents: [network.milestoneBlock!, ...ids] });
    return {
      network,
      spends,
      conflict,
      confirm,
      to: (i: number) => basic(network.account(i), 1_000_000_000n),
    };
  };

  it('a transaction attached twice applies once, in one milestone and across two', () => {
    const { network, spends, conflict, confirm, to } = start();
    const made = network.transaction([spends[0]!], [to(1)]);
    const first = network.attachTransaction(made);
    const second = network.attachTransaction(made, [first]);
    const third = network.attachTransaction(made, [network.milestoneBlock!, first]);
    confirm(second);
    expect([conflict(first), conflict(second), conflict(third)]).toEqual([0, 2, undefined]);
    confirm(third);
    expect(conflict(third)).toBe(ConflictReason.InputAlreadySpent);
  });

  it('a consumer may come before its producer, and loses only if the cone has it first too', () => {
    const { network, spends, to } = start();
    const made = network.transaction([spends[0]!], [to(1)]);
    const spent = network.transaction([{ coin: made.coins[0]!, by: network.account(1) }], [to(2)]);
    const consumer = network.attachTransaction(spent, [ZERO_ID]);
    const producer = network.attachTransaction(made, [ZERO_ID]);
    expect([...network.blocks.keys()].slice(-2)).toEqual([consumer, producer]);
    const verdicts = (...parents: string[]) =>
      network.propose({ parents }).cone.map(({ conflict }) => conflict);
    expect(verdicts(producer, consumer)).toEqual([0, 0]);
    expect(verdicts(consumer, producer)).toEqual([ConflictReason.InputNotFound, 0]);
  });

  it('a timelock ends at its second, and an output expires at its second', () => {
    for (const shift of [-1, 0, 1]) {
      const { network, spends, conflict, confirm, to } = start();
      const time = network.nextTimestamp + shift;
      const [owner, other] = [network.account(1), network.account(2)];
      const locked = network.transaction(
        [spends[0]!],
        [basic(owner, 1_000_000_000n, { lockedUntil: time })],
      );
      const expires = { at: time, to: other };
      const expiring = network.transaction(
        [spends[1]!],
        [basic(owner, 1_000_000_000n, { expires })],
      );
      const made = [network.attachTransaction(locked), network.attachTransaction(expiring)];
      const spend = (from: typeof locked, by: typeof owner) =>
        network.attachTransaction(
          network.transaction([{ coin: from.coins[0]!, by }], [to(3)]),
          made,
        );
      const unlocked = spend(locked, owner);
      const byOwner = spend(expiring, owner);
      const byOther = network.attachTransaction(
        network.transaction([{ coin: expiring.coins[0]!, by: other }], [to(4)]),
        [byOwner],
      );
      confirm(unlocked, byOther);
      const late = shift <= 0;
      expect(conflict(unlocked)).toBe(late ? 0 : ConflictReason.TimelockNotExpired);
      expect(conflict(byOwner)).toBe(late ? ConflictReason.InvalidSignature : 0);
      expect(conflict(byOther)).toBe(late ? 0 : ConflictReason.InputAlreadySpentInThisMilestone);
    }
  });

  it('blocks of earlier milestones in the past of a cone are not referenced again', () => {
    const { network, confirm } = start();
    const old = network.note();
    confirm(old);
    confirm(network.note());
    const young = network.note([old, ZERO_ID]);
    const { index } = confirm(young);
    expect(coneOf(network, index).map(({ id }) => id)).toContain(young);
    expect(network.blocks.get(old)!.referenced!.index).toBe(2);
    expect(solidEntryPoints(network, index - 1).map(toHex)).toEqual(
      expect.arrayContaining([old, ZERO_ID]),
    );
  });
});

describe('spoilt milestones', () => {
  const network = randomNetwork({ seed: 'spoilt', milestones: 3 });
  const { payload } = network.milestones[1]!;
  const why = async (bytes: Uint8Array) => {
    const value = readMilestone(bytes);
    return (
      await signatureFault(value, milestoneId(value, bytes), network.keys, verifyEd25519)
    )?.slice(0, 3);
  };

  it('fail the check of signatures, unless the coordinator itself is wrong', async () => {
    expect(await why(payload)).toBeUndefined();
    expect(await why(fewerSignatures(payload, 2))).toBeUndefined();
    expect(await why(fewerSignatures(payload, 1))).toBe('M-2');
    for (const position of [0, 1, 2])
      expect(await why(forgedSignature(payload, position))).toBe('M-3');
    expect(await why(extraSignature(payload, new Uint8Array(32)))).toBe('M-3');
    const elsewhere = randomNetwork({ seed: 'elsewhere', milestones: 2 });
    expect(await why(elsewhere.milestones[1]!.payload)).toBe('M-3');
    const wrong = resign(payload, { appliedMerkleRoot: new Uint8Array(32) }, network.signers);
    expect(await why(wrong)).toBeUndefined();
    expect(readMilestone(wrong).appliedMerkleRoot).toEqual(new Uint8Array(32));
  });
});
