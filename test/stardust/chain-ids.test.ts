/** IDs of chains (TIP-18; docs/protocol.md, B.6 and B.7). */
import { expect, it } from 'vitest';
import { blake2b256 } from '../../src/stardust/crypto/hash.ts';
import { chainIdOf } from '../../src/stardust/wire/ids.ts';
import { keyPair } from '../support/payloads/keys.ts';
import { alias, basic, foundry, idOf, nft } from '../support/payloads/outputs.ts';

const owner = keyPair('owner');
const outputId = Uint8Array.of(...idOf('transaction'), 7, 0);

it('an output that creates an alias or NFT gets the hash of its ID', () => {
  for (const output of [alias(owner, owner), nft(owner)])
    expect(chainIdOf(output, outputId)).toEqual(blake2b256(outputId));
});

it('an alias or NFT that moves keeps its ID', () => {
  const id = idOf('chain');
  expect(chainIdOf(alias(owner, owner, { aliasId: id }), outputId)).toEqual(id);
  expect(chainIdOf(nft(owner, { nftId: id }), outputId)).toEqual(id);
});

it('a foundry has that of its alias, its serial number and its token scheme', () => {
  const aliasId = idOf('alias');
  const id = chainIdOf(foundry(aliasId, { serialNumber: 258 }), outputId);
  expect(id).toEqual(Uint8Array.of(8, ...aliasId, 2, 1, 0, 0, 0));
});

it('a basic output has none', () => {
  expect(chainIdOf(basic(owner), outputId)).toBeUndefined();
});
