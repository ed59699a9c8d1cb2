/**
 * What the bytes of a transaction prove of outputs and of its verdict, over the transactions that the
 * reference judged (test/vectors/semantics.jsonl).
 */
import { describe, expect, it } from 'vitest';
import { verifySignature } from '../../../src/platform/verify-signature.ts';
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { encode } from '../../../src/stardust/encoding/codec.ts';
import { proveFault } from '../../../src/stardust/provenance/fault.ts';
import { proveConsumed, proveCreated } from '../../../src/stardust/provenance/outputs.ts';
import {
  type BlockContent,
  type Finding,
  type Proved,
  proveBlockContent,
  provedValue,
  proveMilestone,
  type Trust,
} from '../../../src/stardust/provenance/provenance.ts';
import { blockId, inputsCommitment, outputId } from '../../../src/stardust/wire/ids.ts';
import { milestone } from '../../../src/stardust/wire/milestone.ts';
import type { Output } from '../../../src/stardust/wire/output.ts';
import { blockBytes, milestoneOf } from '../../support/payloads/blocks.ts';
import { keyPair } from '../../support/payloads/keys.ts';
import { type SemanticVector, semanticVectors } from '../../support/stardust/semantic-vectors.ts';

const signer = keyPair('signer');
const trust: Trust = {
  whose: 'the keys of the test',
  keys: { keys: [{ publicKey: signer.publicKey, first: 0, last: 0 }], threshold: 1 },
  verify: verifySignature,
};

function must<T>(finding: Finding<T>): Proved<T> {
  if (finding.standing !== 'proved') throw new Error(finding.reason);
  return finding.proof;
}

/** Of the input that does not fit, S2.0. */
const INVALID_COMMITMENT = 10;

/** The block that carries a transaction; undefined where it is too long for one (C-1), or else no block. */
function blockOf({ tx }: SemanticVector): Proved<BlockContent> | undefined {
  const bytes = blockBytes({ payload: tx.value });
  const finding = proveBlockContent(bytes, toHex(blockId(bytes)));
  return finding.standing === 'proved' ? finding.proof : undefined;
}

const known = semanticVectors.flatMap((vector) => {
  const block = blockOf(vector);
  return block === undefined ? [] : [{ ...vector, block }];
});

const consumedBy = ({ consumed }: SemanticVector) => consumed.map(({ output }) => output);

const signedAt = async (timestamp: number) =>
  must(
    await proveMilestone(
      encode(milestone, milestoneOf({ signers: [signer], timestamp })),
      { index: 1 },
      trust,
    ),
  );

it('most of what the reference judged is here', () => {
  expect(known.length).toBeGreaterThan(0.9 * semanticVectors.length);
  expect(new Set(known.map(({ line }) => line.conflict)).size).toBeGreaterThan(8);
});

it('outputs are proved consumed unless the reference refused the commitment', () => {
  for (const vector of known) {
    const { standing } = proveConsumed(vector.block, consumedBy(vector));
    if (vector.line.conflict === INVALID_COMMITMENT) expect(standing).toBe('refuted');
    // S1 comes first
    else if (vector.line.conflict === 0) expect(standing).toBe('proved');
  }
});

it('the verdict is that of the reference', async () => {
  let count = 0;
  for (const vector of known) {
    const consumed = proveConsumed(vector.block, consumedBy(vector));
    if (consumed.standing !== 'proved') continue;
    const signed = await signedAt(vector.line.unixTime);
    const fault = must(await proveFault(signed, vector.block, consumed.proof, verifySignature));
    expect(provedValue(fault).fault?.reason ?? 0, vector.line.name).toBe(vector.line.conflict);
    count++;
  }
  expect(count).toBeGreaterThan(0.8 * known.length);
});

describe('outputs', () => {
  const applied = known.filter(({ line }) => line.conflict === 0);
  const more = (output: Output): Output => ({ ...output, amount: output.amount + 1n });

  it('with another amount, another place or one less are not those that were consumed', () => {
    for (const vector of applied) {
      const outputs = consumedBy(vector);
      for (const [place, output] of outputs.entries())
        expect(proveConsumed(vector.block, outputs.with(place, more(output)))).toMatchObject({
          standing: 'refuted',
          reason: 'the outputs do not hash to the inputs commitment of the transaction',
        });
      expect(proveConsumed(vector.block, outputs.slice(1)).standing).toBe('refuted');
    }
    const several = applied.find(
      ({ consumed: [a, b] }) => b && toHex(a!.bytes) !== toHex(b.bytes),
    )!;
    expect(proveConsumed(several.block, consumedBy(several).toReversed()).standing).toBe('refuted');
  });

  it('are as many as the inputs, though the transaction commits to fewer', () => {
    const { tx, consumed } = applied.find((each) => each.consumed.length > 1)!;
    const fewer = consumed.slice(1);
    const essence = { ...tx.value.essence, inputsCommitment: inputsCommitment(fewer) };
    const bytes = blockBytes({ payload: { ...tx.value, essence } });
    const block = must(proveBlockContent(bytes, toHex(blockId(bytes))));
    const outputs = fewer.map(({ output }) => output);
    expect(proveConsumed(block, outputs).standing).toBe('refuted');
  });

  it('that a transaction creates are in its bytes, each under its ID', () => {
    for (const { block, tx } of applied) {
      const { outputs } = tx.value.essence;
      for (const [place, output] of outputs.entries()) {
        const id = toHex(outputId(tx.id, place));
        expect(provedValue(must(proveCreated(block, id, output))).output).toEqual(output);
        expect(proveCreated(block, id, more(output)).standing).toBe('refuted');
      }
      const beyond = toHex(outputId(tx.id, outputs.length));
      expect(proveCreated(block, beyond, outputs[0]!).standing).toBe('refuted');
      const other = toHex(outputId(new Uint8Array(32), 0));
      expect(proveCreated(block, other, outputs[0]!).standing).toBe('refuted');
    }
  });

  it('of another transaction give no verdict', async () => {
    const [a, b] = applied;
    const consumed = must(proveConsumed(a!.block, consumedBy(a!)));
    const signed = await signedAt(1000);
    const verdict = await proveFault(signed, b!.block, consumed, verifySignature);
    expect(verdict.standing).toBe('not-checked');
  });

  it('are none of a block without a transaction', async () => {
    const bytes = blockBytes({});
    const block = must(proveBlockContent(bytes, toHex(blockId(bytes))));
    expect(proveConsumed(block, []).standing).toBe('refuted');
    const output = applied[0]!.consumed[0]!.output;
    expect(proveCreated(block, toHex(new Uint8Array(34)), output).standing).toBe('refuted');
  });
});
