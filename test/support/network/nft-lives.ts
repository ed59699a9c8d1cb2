/**
 * A made-up network in which NFTs lead eventful lives, and what became of each, replayed from the
 * transactions that its milestones applied: the oracle of histories and certificates.
 */
import { toHexDigits } from '../../../src/stardust/encoding/bytes.ts';
import { addressKey } from '../../../src/stardust/wire/address.ts';
import { parseBlock } from '../../../src/stardust/wire/block.ts';
import { decodeOutput, nftIdOf } from '../../../src/stardust/wire/ids.ts';
import { type NftOutput, type Output, OutputType } from '../../../src/stardust/wire/output.ts';
import { UnlockConditionType } from '../../../src/stardust/wire/unlock-condition.ts';
import type { KeyPair } from '../payloads/keys.ts';
import { basic, expiration, nft, timelock } from '../payloads/outputs.ts';
import { coneOf, ledgerAt } from './network-model.ts';
import { Random } from './random.ts';
import { COIN_AMOUNT, SyntheticNetwork } from './synthetic-network.ts';
import { type Coin, coin } from './transactions.ts';

const NFT_AMOUNT = 1_000_000n;
const OWNERS = 3;

/**
 * NFTs are minted, several by one transaction, and moved, to themselves too, several times in a
 * milestone; outputs expire, with a transaction and without; some are burned. Some came before the
 * genesis.
 *
 * @param most NFTs to which something happens in a milestone
 */
export function nftLives(seed: string, milestones: number, most = 3): SyntheticNetwork {
  const old = (i: number) => new Uint8Array(32).fill(0xa0 + i);
  const network = new SyntheticNetwork({
    seed,
    coins: (account) => [
      ...Array.from({ length: 4 }, (_, i) => basic(account(i), { amount: COIN_AMOUNT })),
      ...Array.from({ length: 2 }, (_, i) => nft(account(i), { nftId: old(i) })),
      nft(account(0)),
    ],
  });
  const random = new Random(`${seed}: what happens`);
  const someone = () => network.account(random.below(OWNERS));
  network.milestone();
  while (network.milestones.length < milestones) {
    const ledger = ledgerAt(network, network.nextIndex - 1).map(({ outputId, bytes }) =>
      coin(outputId, decodeOutput(bytes)),
    );
    const nfts = ledger.filter(({ output }) => output.type === OutputType.Nft);
    if (random.chance(0.5)) mint(network, random, ledger);
    for (const held of random.sample(nfts, Math.min(nfts.length, random.below(most + 1))))
      live(network, random, held, someone);
    network.milestone();
  }
  return network;
}

function mint(network: SyntheticNetwork, random: Random, ledger: readonly Coin[]): void {
  const rich = ledger.filter(({ output }) => output.amount > 10n * NFT_AMOUNT);
  const spend = network.spendOf(random.pick(rich));
  const count = random.between(1, 2);
  const made = network.transaction(
    [spend],
    [
      ...Array.from({ length: count }, () => nft(spend.by)),
      basic(spend.by, { amount: spend.coin.output.amount - BigInt(count) * NFT_AMOUNT }),
    ],
  );
  network.attachTransaction(made);
  if (random.chance(0.3)) live(network, random, made.coins[0]!, () => spend.by);
}

/** Up to four steps that one milestone mostly applies, by whoever can unlock the output then. */
function live(
  network: SyntheticNetwork,
  random: Random,
  first: Coin,
  someone: () => KeyPair,
): void {
  let held = first;
  for (let steps = random.between(1, 4); steps > 0; steps--) {
    const by = signerOf(network, held.output, network.nextTimestamp);
    const to = random.chance(0.3) ? by : someone();
    const burns = random.chance(0.12);
    const output = burns ? basic(to) : moved(network, random, held, to, someone());
    const made = network.transaction([{ coin: held, by }], [output]);
    network.attachTransaction(made);
    if (burns) return;
    held = made.coins[0]!;
  }
}

function moved(
  network: SyntheticNetwork,
  random: Random,
  { id, output }: Coin,
  to: KeyPair,
  other: KeyPair,
): NftOutput {
  const at = network.nextTimestamp + 5 * random.between(-1, 4);
  const conditions = [
    ...(random.chance(0.15) ? [timelock(at)] : []),
    ...(random.chance(0.35) ? [expiration(other, at)] : []),
  ];
  const next = nft(to, { nftId: nftIdOf(output as NftOutput, id) });
  return { ...next, unlockConditions: [...next.unlockConditions, ...conditions] };
}

function signerOf(network: SyntheticNetwork, output: Output, time: number): KeyPair {
  const owner = ownerKey(output, time);
  return Array.from({ length: OWNERS + 1 }, (_, i) => network.account(i)).find(
    ({ address }) => addressKey(address) === owner,
  )!;
}

/** Whose the output is at that second, by TIP-18. */
export function ownerKey({ unlockConditions }: Output, time: number): string {
  const expires = unlockConditions.find((each) => each.type === UnlockConditionType.Expiration);
  if (expires?.type === UnlockConditionType.Expiration && expires.unixTime <= time)
    return addressKey(expires.returnAddress);
  const owner = unlockConditions.find((each) => each.type === UnlockConditionType.Address);
  if (owner?.type !== UnlockConditionType.Address) throw new Error('an output of nobody');
  return addressKey(owner.address);
}

/** IDs are hex digits. */
export interface LifeEvent {
  kind: 'minted' | 'transferred' | 'changed' | 'burned';
  index: number;
  timestamp: number;
  transactionId: string;
  blockId: string;
  outputId: string | undefined;
  /** As addressKey has it. */
  owner: string | undefined;
}

/** @param index of up to 255 */
function outputIdOf(transactionId: string, index: number): string {
  return `${transactionId}${index.toString(16).padStart(2, '0')}00`;
}

/**
 * What became of each NFT, by its ID, oldest first. Of one that came before the genesis nobody knows
 * how, unless the genesis has the output that minted it.
 */
export function eventsOfLives(network: SyntheticNetwork): Map<string, LifeEvent[]> {
  const lives = new Map<string, LifeEvent[]>();
  const held = new Map<string, { nft: string; owner: string }>();
  const note = (nft: string, event: LifeEvent) =>
    lives.set(nft, [...(lives.get(nft) ?? []), event]);
  const idOf = (output: NftOutput, id: string) =>
    toHexDigits(nftIdOf(output, Uint8Array.fromHex(id)));
  for (const { id, output } of network.genesisCoins) {
    if (output.type !== OutputType.Nft) continue;
    const [outputId, owner] = [toHexDigits(id), ownerKey(output, network.genesis.timestamp)];
    const nftId = idOf(output, outputId);
    held.set(outputId, { nft: nftId, owner });
    lives.set(nftId, []);
    if (!output.nftId.every((byte) => byte === 0)) continue;
    const { index, timestamp } = network.genesis;
    const ids = { transactionId: outputId.slice(0, 64), blockId: '00'.repeat(32), outputId };
    note(nftId, { kind: 'minted', index, timestamp, ...ids, owner });
  }
  for (const { index, timestamp } of network.milestones)
    for (const { bytes, referenced } of coneOf(network, index)) {
      if (referenced!.state !== 'included') continue;
      const parsed = parseBlock(bytes);
      if (!parsed.ok) throw new Error(parsed.reason);
      const { id: ownId, value } = parsed.parsed.transaction!;
      const transactionId = toHexDigits(ownId);
      const facts = { index, timestamp, transactionId, blockId: toHexDigits(parsed.parsed.id) };
      const consumed = new Map<string, string>();
      for (const input of value.essence.inputs) {
        const inputId = outputIdOf(toHexDigits(input.transactionId), input.outputIndex);
        const was = held.get(inputId);
        if (was !== undefined) consumed.set(was.nft, was.owner);
        held.delete(inputId);
      }
      for (const [i, output] of value.essence.outputs.entries()) {
        if (output.type !== OutputType.Nft) continue;
        const outputId = outputIdOf(transactionId, i);
        const nft = idOf(output, outputId);
        const owner = ownerKey(output, timestamp);
        const before = consumed.get(nft);
        consumed.delete(nft);
        const kind = before === undefined ? 'minted' : before === owner ? 'changed' : 'transferred';
        held.set(outputId, { nft, owner });
        note(nft, { kind, ...facts, outputId, owner });
      }
      for (const nft of consumed.keys())
        note(nft, { kind: 'burned', ...facts, outputId: undefined, owner: undefined });
    }
  return lives;
}
