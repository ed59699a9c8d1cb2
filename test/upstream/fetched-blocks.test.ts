import { expect, it } from 'vitest';
import { parseBlock } from '../../src/stardust/block.ts';
import { FetchedBlocks } from '../../src/upstream/fetched-blocks.ts';
import { basic } from '../support/network/outputs.ts';
import { SyntheticNetwork } from '../support/network/synthetic-network.ts';

it('knows about how much memory its blocks take', () => {
  const network = new SyntheticNetwork({ seed: 'heap' });
  const [coin] = network.genesisCoins;
  const transaction = network.transaction(
    [{ coin: coin!, by: network.account(0) }],
    [basic(network.account(1), coin!.output.amount)],
  );
  const [data, paying] = [network.note(), network.attachTransaction(transaction)].map((id) => {
    const result = parseBlock(network.blocks.get(id)!.bytes);
    if (!result.ok) throw new Error(result.reason);
    return result.parsed;
  });
  const blocks = new FetchedBlocks();
  blocks.set('a', data!).set('b', paying!).set('b', paying!);
  const [ofData, ofPaying] = [1000 + data!.bytes.length, 1000 + 10 * paying!.bytes.length];
  expect(blocks.heap).toBe(ofData + ofPaying);
  blocks.delete('a');
  blocks.delete('a');
  expect(blocks.heap).toBe(ofPaying);
  blocks.clear();
  expect(blocks).toMatchObject({ size: 0, heap: 0 });
});
