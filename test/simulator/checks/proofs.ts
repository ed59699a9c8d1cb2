/** Certificates and proofs that a node gives: each verifies, by the network's keys alone, or is an error. */
import type { JsonObject } from '../../../src/stardust/encoding/json-object.ts';
import { verifyInclusion } from '../../../src/stardust/proof/proof.ts';
import { proveCertificate } from '../../../src/stardust/provenance/certificate.ts';
import { provedValue } from '../../../src/stardust/provenance/proved.ts';
import type { Decided } from '../../support/network/known-verdicts.ts';
import { lastIndex } from '../../support/network/network-model.ts';
import { verifySignature } from '../../support/payloads/keys.ts';
import type { Request } from '../truth.ts';
import type { World } from '../world.ts';
import { differs, isReferencedAfter, read, reasonOf } from './reads.ts';
import { isHearsay } from './white-flag.ts';

/** Reason of a conflict (docs/protocol.md, D.0). */
const SPENT_IN_MILESTONE = 2;

const verify = async (key: Uint8Array, message: Uint8Array, signature: Uint8Array) =>
  verifySignature(key, message, signature);

/** What a check that is not done at once finds: a promise of a fault. */
function readProof(
  world: World,
  what: string,
  path: string,
  judge: (body: never, index: number) => Promise<string | undefined>,
  isDue: (first: number) => boolean,
): void {
  const check = (body: never, index: number) => {
    judge(body, index).then(
      (fault) => fault && world.wrong('safety', `${path}: ${fault}`),
      (error: Error) => world.wrong('safety', `${path}: ${error.message}`),
    );
    return undefined;
  };
  read(world, what, path, check, { isDue });
}

/**
 * Of the last change of the NFT, or of one that is named by its milestone or its block.
 *
 * @param coming a block that changes it, which a milestone may reference meanwhile
 */
export function readCertificate(world: World, nftId: string, coming?: string): void {
  const { network, truth, readers } = world;
  const history = () => truth.history(nftId, lastIndex(network));
  const events = readers.chance(0.4) ? history() : [];
  const named = events.length > 0 ? readers.pick(events) : undefined;
  const blockId = coming ?? (readers.chance(0.5) && named ? `0x${named.blockId}` : undefined);
  const name = blockId === undefined ? `milestone=${named?.index}` : `block=${blockId}`;
  const held = (index: number) =>
    blockId === undefined
      ? truth.nftOutput(nftId, named?.index ?? index)
      : history().find((event) => `0x${event.blockId}` === blockId)?.outputId;
  readProof(
    world,
    'certificate',
    `/api/edge/v1/nfts/0x${nftId}/certificate${(blockId ?? named) ? `?${name}` : ''}`,
    async (body, index) => {
      const finding = await proveCertificate(body, `0x${nftId}`, {
        keys: network.keys,
        verify,
        whose: 'the network',
      });
      if (finding.standing !== 'proved') return finding.reason;
      const said = provedValue(finding.proof).held?.outputId;
      const output = held(index);
      return said === (output && `0x${output}`) ? undefined : `${said}, not ${output}`;
    },
    (first) => {
      const [last] = truth.history(nftId, lastIndex(network));
      return ((named ?? last)?.index ?? 0) > first;
    },
  );
}

/** That a milestone references a block, and applied its transaction. */
export function readInclusion(world: World, blockId: string): void {
  const { network } = world;
  const isPlugin = world.readers.chance(0.5);
  const path = isPlugin ? `/api/poi/v1/create/${blockId}` : `/api/edge/v1/blocks/${blockId}/proof`;
  const judge = async (body: JsonObject) => {
    const { referenced } = network.blocks.get(blockId)!;
    const { milestone, block, proof, appliedProof } = body;
    const file = { milestone, block, proof, appliedProof, blockId };
    const proven = await verifyInclusion(file, network.keys, verify);
    if (proven.milestone.index !== referenced?.index)
      return `milestone ${proven.milestone.index}, not ${referenced?.index}`;
    const isDue = !isPlugin && referenced.state === 'included';
    if (isDue !== (appliedProof !== undefined)) return 'the path to the applied root';
    if (world.readers.chance(0.5)) validate(world, body);
    return undefined;
  };
  readProof(world, 'inclusion', path, judge, isReferencedAfter(world, blockId));
}

/** The node's own verdict on a proof that holds, or on one that does not. */
function validate(world: World, body: JsonObject): void {
  const spoilt = JSON.stringify(body).replace(
    /"(?:h|value)":"0x(.)/,
    (text, digit: string) => text.slice(0, -1) + (digit === '0' ? '1' : '0'),
  );
  const isRight = world.readers.chance(0.7);
  const text = isRight ? JSON.stringify(body) : spoilt;
  world.ask(
    '/api/poi/v1/validate',
    async (answer) => {
      world.note(`validated ${answer.status}`);
      if (answer.status !== 200 || !world.hasKeys) return;
      const { valid } = (await answer.json()) as { valid: boolean };
      if (valid !== isRight) world.wrong('safety', `a proof is ${valid ? '' : 'not '}valid`);
    },
    { method: 'POST', body: text },
  );
}

interface MerkleRoots {
  inclusionMerkleRoot: string;
  appliedMerkleRoot: string;
}

interface Explained {
  blockId: string;
  ledgerInclusionState: string;
  conflictReason?: number;
  decidingInput?: { input: number; outputId: string; spentBy?: string };
}

/** What is wrong with what is said of blocks, and of the inputs by which they are in conflict. */
function explanationFault(world: World, blocks: Explained[], decided: Decided[]) {
  const spenders = new Map<string, string>();
  for (const { block, transaction, state } of decided)
    if (state === 'included') for (const id of transaction!.inputs) spenders.set(id, block.id);
  const inputOf = ({ transaction, conflict }: Decided, at = 0) => {
    const id = transaction?.inputs[at];
    return [id, conflict === SPENT_IN_MILESTONE ? spenders.get(id!) : undefined];
  };
  return differs(
    blocks.map(({ decidingInput: by, ...said }) => [
      said.blockId,
      said.ledgerInclusionState,
      reasonOf(world, said.conflictReason ?? 0),
      by && [by.outputId, by.spentBy],
    ]),
    decided.map((each, i) => [
      each.block.id,
      each.state,
      reasonOf(world, each.conflict),
      blocks[i]?.decidingInput && inputOf(each, blocks[i].decidingInput.input),
    ]),
  );
}

/**
 * A proposal with every block of its cone: the roots are true, and the blocks lead to them.
 *
 * @param leavesAfter milliseconds after which the client is gone
 */
export function explainProposal(world: World, request: Request, leavesAfter?: number): void {
  const truth = world.truth.roots(request);
  const decided = world.truth.decided(request);
  world.ask(
    '/api/edge/v1/whiteflag',
    async (answer) => {
      world.note(`explanation ${answer.status}`);
      if (answer.status === 429 && world.restsFrom !== undefined)
        world.wrong('liveness', 'at rest a proposal is not explained, as too many wait');
      if (answer.status !== 200 || world.mayHideRows || isHearsay(world, request)) return;
      const { blocks, inclusionMerkleRoot, appliedMerkleRoot } =
        (await answer.json()) as MerkleRoots & { blocks: Explained[] };
      const fault =
        differs({ inclusionMerkleRoot, appliedMerkleRoot }, truth) ??
        (typeof decided === 'string' ? undefined : explanationFault(world, blocks, decided));
      if (fault !== undefined) world.wrong('safety', `explained: ${fault}`);
    },
    { method: 'POST', body: JSON.stringify(request) },
    undefined,
    leavesAfter,
  );
}
