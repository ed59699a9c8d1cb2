/**
 * A network whose milestones do as they are told, for snapshots of every shape (network-snapshot.ts
 * writes them): receipts, announced parameters, outputs of any number.
 */
import { encode } from '../../../src/stardust/encoding/codec.ts';
import { protocolParameters } from '../../../src/stardust/wire/parameters.ts';
import { parametersAt, treasuryAt, ZERO_ID } from '../network/network-model.ts';
import { SyntheticNetwork } from '../network/synthetic-network.ts';
import type { Coin } from '../network/transactions.ts';
import type { KeyPair } from '../payloads/keys.ts';
import { basic, idOf, metadata, nft, ZERO } from '../payloads/outputs.ts';

/** What one milestone does. */
export interface MilestonePlan {
  /** How many outputs it consumes (fewer if there are not enough) and creates. */
  consume: number;
  create: number;
  /** Outputs that it creates and consumes at once. */
  transient: number;
  /** Base tokens that it migrates from the treasury, 0 for no receipt. */
  migrate: bigint;
  /** Announces protocol parameters, in force so many milestones later. */
  announce: number | undefined;
}

export const GENESIS_INDEX = 7;
const GENESIS_AMOUNTS = [600_000_000n, 300_000_000n, 50_000_000n];

/** Parameters are told apart by their storage price. */
const rent = (vByteCost: number) => ({
  rentStructure: { vByteCost, vByteFactorData: 1, vByteFactorKey: 10 },
});

/** A third are NFTs, half of them new ones, whose ID is that of the output. */
function madeOutput(owner: KeyPair, amount: bigint, number: number) {
  const nftId = number % 6 === 0 ? ZERO : idOf(`NFT ${number}`);
  const immutable = [metadata(idOf(`${number}`))];
  return number % 3 === 0 ? nft(owner, { amount, nftId, immutable }) : basic(owner, { amount });
}

export function madeNetwork(plans: readonly MilestonePlan[]): SyntheticNetwork {
  let made = 0;
  const network = new SyntheticNetwork({
    seed: 'made',
    genesisIndex: GENESIS_INDEX,
    coins: (account) => GENESIS_AMOUNTS.map((each) => madeOutput(account(0), each, made++)),
    treasury: 50_000_000n,
    parameters: { networkName: 'made', bech32Hrp: 'mde', ...rent(100) },
    keyCount: 1,
    threshold: 1,
  });
  const by = network.account(0);
  const coins = [...network.genesisCoins];
  let last = ZERO_ID;
  const send = (spent: readonly Coin[], count: number): readonly Coin[] => {
    const amounts = split(
      spent.reduce((sum, { output }) => sum + output.amount, 0n),
      count,
    );
    const sent = network.transaction(
      spent.map((coin) => ({ coin, by })),
      amounts.map((amount) => madeOutput(by, amount, made++)),
    );
    last = network.attachTransaction(sent, [last]);
    return sent.coins;
  };
  for (const { consume, create, transient, migrate, announce } of plans) {
    const before = network.milestoneBlock;
    last = network.note([before ?? ZERO_ID]);
    if (consume > 0 && create > 0) coins.push(...send(coins.splice(0, consume), create));
    if (transient > 0) coins.push(...send(send(coins.splice(0, 1), transient), 1));
    const index = network.nextIndex;
    const target = index + (announce ?? 0);
    const { pending } = parametersAt(network, index);
    const isAnnounced = pending.some((option) => option.targetMilestoneIndex === target);
    const parameters = { ...network.genesis.parameters, ...rent(100 + target) };
    network.milestone({
      // with them a snapshot has two solid entry points
      parents: [...(before === undefined ? [] : [before]), last],
      ...(migrate > 0n &&
        migrate < treasuryAt(network, index).amount && {
          migrate: [
            {
              tailTransactionHash: new Uint8Array(49).fill(index),
              address: by.address,
              deposit: migrate,
            },
          ],
        }),
      ...(announce !== undefined &&
        !isAnnounced && {
          announce: {
            type: 1,
            targetMilestoneIndex: target,
            protocolVersion: 2,
            parameters: encode(protocolParameters, parameters),
          },
        }),
    });
  }
  return network;
}

function split(amount: bigint, parts: number): bigint[] {
  const share = amount / BigInt(parts);
  return Array.from({ length: parts }, (_, i) =>
    i === 0 ? amount - share * BigInt(parts - 1) : share,
  );
}
