/** Topics of events, and what each brings with a milestone. */
import { toBech32 } from '../../../src/stardust/bech32.ts';
import { blake2b256 } from '../../../src/stardust/crypto/hash.ts';
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { outputToJson } from '../../../src/stardust/json/rest-json.ts';
import { addressKey } from '../../../src/stardust/wire/address.ts';
import { chainIdOf, decodeOutput } from '../../../src/stardust/wire/ids.ts';
import { OutputType } from '../../../src/stardust/wire/output.ts';
import { networkMilestone } from '../../support/network/blocks.ts';
import {
  changesOf,
  isUnspentAt,
  lastIndex,
  milestoneAt,
  type Network,
  type NetworkOutput,
} from '../../support/network/network-model.ts';
import type { Random } from '../../support/network/random.ts';
import { prefixAt } from '../truth.ts';
import type { World } from '../world.ts';
import { differs, metadataOf } from './reads.ts';

/** What a topic brings with a milestone, of each message what tells it from others. */
export interface Topic {
  name: string;
  /** Reads a message. */
  read(payload: Uint8Array): string;
  /** In the order in which they come, unless `anyOrder`. */
  truth(index: number): string[];
  anyOrder?: true;
  /** Of several outputs that end a chain one is told, whichever. */
  tellsOneEnd?: true;
  /** Outputs of the milestone that are outdated with it: they may lack, and none comes last. */
  outdated?(index: number): string[];
  /** It also tells at once what there is: each message is to be true, and none of `truth` lacks. */
  isTrue?(said: string): boolean;
  /** With which it names an address: whoever listens is sent away where it is another one. */
  prefix?: string;
  /** It tells with the first milestone, too, all that it does with a later one. */
  tellsFirst?: true;
  /** Whether it has something to tell at once to one who comes at this milestone. */
  isThere?(index: number): boolean;
}

export const blockIdOf = (bytes: Uint8Array) => toHex(blake2b256(bytes));

export const json = (payload: Uint8Array) => JSON.parse(new TextDecoder().decode(payload));

/** Of a message about an output: its ID, and whether it is spent; else what it says. */
function readOutput({ outputs }: Network, payload: Uint8Array): string {
  const { metadata, output } = json(payload);
  const { transactionId, outputIndex, isSpent, ledgerIndex } = metadata;
  const id = `${transactionId}${Uint8Array.of(outputIndex & 255, outputIndex >> 8).toHex()}`;
  const known = outputs.get(id);
  if (known === undefined) return `${id} unknown`;
  const inOrder = (value: object) => Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  const fault =
    differs(inOrder(metadata), inOrder(metadataOf(known, ledgerIndex, isSpent))) ??
    differs(output, outputToJson(decodeOutput(known.bytes)));
  return fault ?? `${id.slice(2)} ${isSpent}`;
}

const idOf = ({ outputId }: NetworkOutput, isSpent: boolean) => `${outputId.toHex()} ${isSpent}`;

const CHAINS: Readonly<Record<number, string>> = {
  [OutputType.Alias]: 'alias',
  [OutputType.Foundry]: 'foundry',
  [OutputType.Nft]: 'nft',
};

/** More than are read at once where steps are tiny, or small. */
const OUTPUTS = 4;

export function outputTopics({ network }: World, random: Random): Topic[] {
  const recent = [...network.outputs.entries()].slice(-40);
  return random.sample(recent, OUTPUTS).map(([name, output]) => ({
    name: `outputs/${name}`,
    read: (payload) => readOutput(network, payload),
    truth: (index) => (output.spent?.index === index ? [idOf(output, true)] : []),
    isThere: (index) => isUnspentAt(output, index),
    isTrue: (said) =>
      said === idOf(output, false) || (said === idOf(output, true) && output.spent !== undefined),
  }));
}

/** Of one block and one transaction. */
function initialTopics({ network }: World, random: Random): Topic[] {
  const { blocks, transactions } = network;
  const some = (ids: Iterable<string>) => random.pick([...ids].slice(-40));
  const block = some(blocks.keys());
  const topics: Topic[] = [
    {
      name: `block-metadata/${block}`,
      read: (payload) => `${json(payload).blockId} ${json(payload).referencedByMilestoneIndex}`,
      truth: (index) =>
        blocks.get(block)!.referenced?.index === index ? [`${block} ${index}`] : [],
      isTrue: (said) => {
        const { referenced } = blocks.get(block)!;
        return [`${block} undefined`, `${block} ${referenced?.index}`].includes(said);
      },
    },
  ];
  if (transactions.size > 0) {
    const id = toHex(transactions.get(some(transactions.keys()))!.id);
    const carriers = () =>
      [...transactions].flatMap(([carrier, made]) => (toHex(made.id) === id ? [carrier] : []));
    const isIncluded = (carrier: string) => blocks.get(carrier)?.referenced?.state === 'included';
    topics.push({
      name: `transactions/${id}/included-block`,
      read: blockIdOf,
      truth: (index) =>
        carriers().filter(
          (carrier) => isIncluded(carrier) && blocks.get(carrier)!.referenced!.index === index,
        ),
      isTrue: (said) => carriers().includes(said) && isIncluded(said),
    });
  }
  return topics;
}

const CONDITIONS = [
  [0, 'address'],
  [0, 'address'],
  [1, 'storage-return'],
  [3, 'expiration'],
  [4, 'state-controller'],
  [5, 'governor'],
] as const;

export function extraTopics(world: World, random: Random): Topic[] {
  const { network, truth, life } = world;
  const { address } = random.pick([...life.accounts.values()]);
  const key = addressKey(address);
  const hasAddress = ({ bytes }: NetworkOutput) =>
    decodeOutput(bytes).unlockConditions.some(
      (each) =>
        ('address' in each && addressKey(each.address) === key) ||
        ('returnAddress' in each && addressKey(each.returnAddress) === key),
    );
  const read = (payload: Uint8Array) => readOutput(network, payload);
  const [conditionType, conditionName] = random.pick(CONDITIONS);
  const hasCondition = ({ bytes }: NetworkOutput) =>
    decodeOutput(bytes).unlockConditions.some((each) => {
      if (each.type !== conditionType) return false;
      const own = 'returnAddress' in each ? each.returnAddress : 'address' in each && each.address;
      return own !== false && addressKey(own) === key;
    });
  const prefix = prefixAt(network, lastIndex(network));
  const named = toBech32(prefix, address);
  const unlocks = `outputs/unlock/+/${named}`;
  const chains = truth.plainOutputs().flatMap(({ output, outputId }) => {
    const id = chainIdOf(output, Uint8Array.fromHex(outputId));
    return id === undefined ? [] : [{ type: output.type, id: id.toHex() }];
  });
  const { type, id: chainId } =
    chains.length > 0 ? random.pick(chains) : { type: OutputType.Nft, id: 'ab'.repeat(32) };
  const isOfChain = ({ bytes, outputId }: NetworkOutput) => {
    const output = decodeOutput(bytes);
    return output.type === type && chainIdOf(output, outputId)?.toHex() === chainId;
  };
  const isHeldAt = (index: number) =>
    [...network.outputs.values()].some((each) => isUnspentAt(each, index) && isOfChain(each));
  const ofChanges = (
    name: string,
    which: 'created' | 'consumed',
    isTold: (output: NetworkOutput) => boolean,
  ): Topic => ({
    name,
    prefix,
    anyOrder: true,
    read,
    truth: (index) =>
      changesOf(network, index)
        [which].filter(isTold)
        .map((output) => idOf(output, which === 'consumed')),
  });
  return [
    ...initialTopics(world, random),
    {
      name: 'milestones',
      // a twin with other valid signatures is the same milestone
      read: (payload) => networkMilestone(payload).id,
      truth: (index) => [milestoneAt(network, index)!.id],
    },
    {
      name: 'milestone-info/latest',
      tellsFirst: true,
      read: (payload) => String(json(payload).index),
      truth: (index) => [String(index)],
    },
    ofChanges(unlocks, 'created', hasAddress),
    ofChanges(`outputs/unlock/${conditionName}/${named}`, 'created', hasCondition),
    ofChanges(`${unlocks}/spent`, 'consumed', hasAddress),
    {
      name: `outputs/${CHAINS[type]}/0x${chainId}`,
      anyOrder: true,
      tellsOneEnd: true,
      outdated: (index) =>
        isHeldAt(index)
          ? changesOf(network, index)
              .consumed.filter(isOfChain)
              .map((each) => idOf(each, false))
          : [],
      read,
      truth: (index) => {
        const { created, consumed } = changesOf(network, index);
        const comes = created.filter(isOfChain).map((output) => idOf(output, false));
        const ended = consumed.filter(isOfChain);
        return isHeldAt(index) || ended.length === 0
          ? comes
          : [...comes, ...ended.map((each) => idOf(each, true))];
      },
    },
  ];
}
