/** docs/protocol.md, H.2, H-42 to H-48: identifiers and roots. */
import { ed25519 } from '@noble/curves/ed25519.js';
import { sha512 } from '@noble/hashes/sha2.js';
import { describe, expect, it } from 'vitest';
import { concatBytes, toHex } from '../../../src/stardust/encoding/bytes.ts';
import { encode } from '../../../src/stardust/encoding/codec.ts';
import { leafHash, merkleRoot, nodeHash } from '../../../src/stardust/proof/merkle.ts';
import { ConflictReason } from '../../../src/stardust/semantics/verdict.ts';
import {
  blockId,
  chainIdFromOutputId,
  networkId,
  outputId,
  signedDigest,
} from '../../../src/stardust/wire/ids.ts';
import { transaction } from '../../../src/stardust/wire/transaction.ts';
import { type Unlock, UnlockType } from '../../../src/stardust/wire/unlock.ts';
import { blockBytes, idOfMilestone, milestoneOf } from '../../support/payloads/blocks.ts';
import { type KeyPair, keyPair } from '../../support/payloads/keys.ts';
import { basic, idOf } from '../../support/payloads/outputs.ts';
import { judged, transactionOf, verdict } from '../../support/payloads/transactions.ts';

const alice = keyPair('alice');

/** Block IDs with the numbers 1, 2, … in the first byte. */
const ids = (count: number) =>
  Array.from({ length: count }, (_, i) => Uint8Array.of(i + 1, ...new Uint8Array(31)));

describe('H.2 roots', () => {
  it('H-42 the root of no block', () => {
    expect(merkleRoot([]).toHex()).toBe(
      '0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8',
    );
  });

  it('H-43 the roots of 1 to 5 blocks, and of the 7 of TIP-0004', () => {
    expect([1, 2, 3, 4, 5].map((count) => merkleRoot(ids(count)).toHex())).toEqual([
      '6e02ac5b501ce6f9a0ef3cb7026073505ce6b755f014f64738483f63c5d1b5c7',
      'b5d7656f248b089aee023cd4947dac246230976e3f6181d995335ed38562df66',
      '013c22671b453b678b26ece0d7f7e1183215fd28b64a30e44e9e0e7e4e4cc2a3',
      '846c282ace64da3f27df7aaa7865ec7431932baefa43d34075af416c68c030c0',
      '7b018f1f4b985f3d2bb14017263a5fb1373b5cd3f0e6bdad08005685c8096f8e',
    ]);
    const seven = [
      '52fdfc072182654f163f5f0f9a621d729566c74d10037c4d7bbb0407d1e2c649',
      '81855ad8681d0d86d1e91e00167939cb6694d2c422acd208a0072939487f6999',
      'eb9d18a44784045d87f3c67cf22746e995af5a25367951baa2ff6cd471c483f1',
      '5fb90badb37c5821b6d95526a41a9504680b4e7c8b763a1b1d49d4955c848621',
      '6325253fec738dd7a9e28bf921119c160f0702448615bbda08313f6a8eb668d2',
      '0bf5059875921e668a5bdf2c7fc4844592d2572bcd0668d2d6c52f5054e2d083',
      '6bf84c7174cb7476364cc3dbd968b0f7172ed85794bb358b0c3b525da1786f9f',
    ];
    expect(merkleRoot(seven.map((id) => Uint8Array.fromHex(id))).toHex()).toBe(
      'bf67ce7ba23e8c0951b5abaec4f5524360d2c26d971ff226d3359fa70cdb0beb',
    );
  });

  it('H-44 a tree is split at the largest power of two below its size', () => {
    const splits = { 2: 1, 3: 2, 4: 2, 5: 4, 6: 4, 7: 4, 8: 4, 9: 8 };
    for (const [count, split] of Object.entries(splits)) {
      const all = ids(Number(count));
      const halves = nodeHash(merkleRoot(all.slice(0, split)), merkleRoot(all.slice(split)));
      expect(merkleRoot(all)).toEqual(halves);
    }
    expect(merkleRoot(ids(1))).toEqual(leafHash(ids(1)[0]!));
  });
});

describe('H.2 identifiers', () => {
  it('H-45 the index in an output ID is little-endian', () => {
    const id = outputId(Uint8Array.of(0xaa, ...new Uint8Array(31)), 258);
    expect(id.toHex()).toBe(`aa${'00'.repeat(31)}0201`);
    expect(chainIdFromOutputId(id).toHex()).toBe(
      '9e9b605bb012ad887a3958f3e18d0ebd425930fbecf288d61546d0a4391b778c',
    );
  });

  it('H-46 another valid signature makes another transaction ID and other output IDs', () => {
    const plan = { inputs: [{ output: basic(alice), unlock: alice }], outputs: [basic(alice)] };
    const first = transactionOf(plan);
    const digest = signedDigest(first, encode(transaction, first));
    const resigned = {
      ...plan,
      inputs: [{ ...plan.inputs[0]!, unlock: signAgain(alice, digest) }],
    };
    expect(verdict(resigned)).toBe(ConflictReason.None);
    const [a, b] = [judged(plan).tx, judged(resigned).tx];
    expect(toHex(a.signedDigest)).toBe(toHex(b.signedDigest));
    expect(toHex(a.id)).not.toBe(toHex(b.id));
    expect(toHex(outputId(a.id, 0))).not.toBe(toHex(outputId(b.id, 0)));
    expect(a.value.essence.inputs).toEqual(b.value.essence.inputs);
  });

  it('H-47 one more signature makes another block, but no other milestone', () => {
    const one = milestoneOf({ signers: [keyPair('one')] });
    const two = milestoneOf({ signers: [keyPair('one'), keyPair('two')] });
    expect(idOfMilestone(one)).toEqual(idOfMilestone(two));
    expect(blockId(blockBytes({ payload: one }))).not.toEqual(
      blockId(blockBytes({ payload: two })),
    );
  });

  it('H-48 network IDs', () => {
    expect(['iota-mainnet', 'shimmer', 'testnet', 'private_tangle1'].map(networkId)).toEqual([
      9374574019616453254n,
      14364762045254553490n,
      8342982141227064571n,
      8453507715857476362n,
    ]);
  });
});

/** A signature with a nonce of our own choice (RFC 8032, 5.1.6, step 2 replaced). */
function signAgain({ secretKey, publicKey }: KeyPair, message: Uint8Array): Unlock {
  const { Fn, BASE } = ed25519.Point;
  const nonce = Fn.create(BigInt(toHex(idOf('nonce'))));
  const r = BASE.multiply(nonce).toBytes();
  const challenge = Fn.create(
    BigInt(
      `0x${sha512(concatBytes(r, publicKey, message))
        .reverse()
        .toHex()}`,
    ),
  );
  const s = Fn.add(nonce, Fn.mul(challenge, ed25519.utils.getExtendedPublicKey(secretKey).scalar));
  const signature = concatBytes(r, Uint8Array.fromHex(s.toString(16).padStart(64, '0')).reverse());
  return { type: UnlockType.Signature, signature: { type: 0, publicKey, signature } };
}
