/**
 * A made-up network in which NFTs come, move and go, and what happened to each of them.
 */
import { toHexDigits } from '../../../src/stardust/encoding/bytes.ts';
import { decodeOutput, nftIdOf } from '../../../src/stardust/wire/ids.ts';
import { OutputType } from '../../../src/stardust/wire/output.ts';
import { basic, nft } from '../payloads/outputs.ts';
import { Random } from './random.ts';
import { SyntheticNetwork } from './synthetic-network.ts';
import type { Coin } from './transactions.ts';

/** NFTs are minted, moved and burned, some several times in a milestone; in some nothing happens. */
export function nftNetwork(seed: string, milestones: number): SyntheticNetwork {
  const network = new SyntheticNetwork({ seed });
  const random = new Random(`${seed}: what happens`);
  const coins = [...network.genesisCoins];
  const nfts: Coin[] = [];
  const idOf = ({ output, id }: Coin) => nftIdOf(output as Parameters<typeof nftIdOf>[0], id);
  const mint = () => {
    const i = random.between(0, coins.length - 1);
    const count = random.between(1, 4);
    const made = network.transaction(
      [network.spendOf(coins[i]!)],
      [
        basic(network.account(i), { amount: coins[i]!.output.amount - BigInt(count) * 1_000_000n }),
        ...Array.from({ length: count }, () => nft(network.account(random.between(0, 3)))),
      ],
    );
    coins[i] = made.coins[0]!;
    nfts.push(...made.coins.slice(1));
    network.attachTransaction(made);
  };
  const change = (burns: boolean) => {
    if (nfts.length === 0) return;
    const i = random.between(0, nfts.length - 1);
    const [held] = nfts.splice(i, 1) as [Coin];
    const owner = network.account(random.between(0, 3));
    const output = burns ? basic(owner) : nft(owner, { nftId: idOf(held) });
    const made = network.transaction([network.spendOf(held)], [output]);
    if (!burns) nfts.push(made.coins[0]!);
    network.attachTransaction(made);
  };
  network.milestone();
  while (network.milestones.length < milestones) {
    for (let events = random.between(-2, 5); events > 0; events--) {
      const dice = random.between(0, 9);
      if (dice < 3) mint();
      else change(dice > 7);
    }
    network.milestone({ parents: tipsOf(network) });
  }
  return network;
}

/** All unreferenced blocks without children, up to eight, the previous milestone's among them. */
function tipsOf(network: SyntheticNetwork): string[] {
  const last = network.note([network.milestoneBlock!]);
  const open = [...network.blocks.values()].filter(({ referenced }) => referenced === undefined);
  const children = new Set(open.flatMap(({ parents }) => parents));
  const tips = open.filter(({ id }) => !children.has(id)).map(({ id }) => id);
  let ends = tips.includes(last) ? tips : [...tips, last];
  while (ends.length > 8) ends = [...ends.slice(8), network.note(ends.slice(0, 8))];
  return ends;
}

export interface NftHistory {
  /** The NFTs that each milestone changed. */
  changedAt: (index: number) => string[];
  /** The unspent output of each NFT after a milestone. */
  stateAt: (index: number) => Map<string, string>;
}

export function nftHistory(network: SyntheticNetwork): NftHistory {
  const held = [...network.outputs.values()].flatMap(({ bytes, outputId, bookedIndex, spent }) => {
    const output = decodeOutput(bytes);
    if (output.type !== OutputType.Nft) return [];
    const id = toHexDigits(nftIdOf(output, outputId));
    return [{ nft: id, output: toHexDigits(outputId), from: bookedIndex, until: spent?.index }];
  });
  return {
    changedAt: (index) => [
      ...new Set(
        held.filter(({ from, until }) => from === index || until === index).map((each) => each.nft),
      ),
    ],
    stateAt: (index) =>
      new Map(
        held
          .filter(({ from, until = Number.POSITIVE_INFINITY }) => from <= index && until > index)
          .map((each) => [each.nft, each.output]),
      ),
  };
}
