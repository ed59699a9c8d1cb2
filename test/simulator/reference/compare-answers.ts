/**
 * Compares what the reference says of a network (judge-answers.ts) with what the network's file
 * says of itself and with what the product's codecs make of each block.
 */

import { verifySignature } from '../../../src/platform/verify-signature.ts';
import { admissionFault, minimumDeposit } from '../../../src/stardust/admission.ts';
import { hasProofOfWork } from '../../../src/stardust/crypto/proof-of-work.ts';
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { blockToJson, outputToJson } from '../../../src/stardust/json/rest-json.ts';
import { isMilestoneBlock, type MilestoneKeys } from '../../../src/stardust/milestone-keys.ts';
import { type ParsedBlock, parseBlock } from '../../../src/stardust/wire/block.ts';
import { decodeOutput } from '../../../src/stardust/wire/ids.ts';
import { announcedParameters } from '../../../src/stardust/wire/milestone.ts';
import {
  decodeParameters,
  type ProtocolParameters,
} from '../../../src/stardust/wire/parameters.ts';
import { readMilestone } from '../../support/network/blocks.ts';
import type { Answer, AnswerTo } from './judge-answers.ts';
import { Kinds } from './kinds.ts';
import { keysOf, type Line } from './network-file.ts';

export interface Difference {
  network: string;
  /** Place of the line in the file, from 0. */
  line: number;
  /** What differs. */
  text: string;
}

type LineOf<T extends Line['type']> = Extract<Line, { type: T }>;

/** All differences of the networks in these lines. Kinds of what was compared are counted. */
export async function compareAnswers(
  lines: readonly Line[],
  answers: readonly Answer[],
  kinds = new Kinds(),
): Promise<Difference[]> {
  const differences: Difference[] = [];
  let comparison: Comparison | undefined;
  let given = 0;
  for (const [place, line] of lines.entries()) {
    if (line.type === 'network') {
      comparison = new Comparison(line, kinds);
      continue;
    }
    const answer = answers[given++];
    if (comparison === undefined || answer?.type !== line.type)
      throw new Error(`line ${place}, ${line.type}: the answer is about ${answer?.type}`);
    if (comparison.isOver) continue;
    for (const text of await comparison.compare(line, answer as AnswerTo<typeof line>))
      differences.push({ network: comparison.name, line: place, text });
  }
  return differences;
}

class Comparison {
  readonly name: string;
  /** The reference stopped at a milestone: what it says afterwards is about another ledger. */
  isOver = false;
  readonly #kinds: Kinds;
  readonly #keys: MilestoneKeys;
  #parameters: ProtocolParameters;
  readonly #pending: { from: number; parameters: ProtocolParameters }[] = [];

  constructor(line: LineOf<'network'>, kinds: Kinds) {
    const { name, parameters } = line;
    this.name = name;
    this.#kinds = kinds;
    this.#parameters = decodeParameters(Uint8Array.fromHex(parameters));
    this.#keys = keysOf(line);
  }

  async compare<L extends Exclude<Line, { type: 'network' }>>(
    line: L,
    answer: AnswerTo<L>,
  ): Promise<string[]> {
    const difference = new Differing();
    switch (line.type) {
      case 'output':
        this.#compareOutput(line, answer as AnswerTo<LineOf<'output'>>, difference);
        break;
      case 'block':
        await this.#compareBlock(line, answer as AnswerTo<LineOf<'block'>>, difference);
        break;
      case 'milestone':
        this.#compareMilestone(line, answer as AnswerTo<LineOf<'milestone'>>, difference);
        break;
      case 'proposal':
        this.#compareProposal(line, answer as AnswerTo<LineOf<'proposal'>>, difference);
        break;
      case 'state':
        this.#compareState(line, answer as AnswerTo<LineOf<'state'>>, difference);
    }
    return difference.texts;
  }

  #compareOutput(
    { outputId, bytes }: LineOf<'output'>,
    answer: AnswerTo<LineOf<'output'>>,
    is: Differing,
  ): void {
    const output = decodeOutput(Uint8Array.fromHex(bytes));
    this.#kinds.output(output);
    is.json(`output ${outputId} in JSON`, outputToJson(output), answer.json);
    const deposit = minimumDeposit(output, this.#parameters.rentStructure);
    is.equal(`minimum deposit of ${outputId}`, String(deposit), answer.minimumDeposit);
  }

  async #compareBlock(
    line: LineOf<'block'>,
    answer: AnswerTo<LineOf<'block'>>,
    is: Differing,
  ): Promise<void> {
    const result = parseBlock(Uint8Array.fromHex(line.bytes));
    const fault = result.ok ? this.#faultOf(result.parsed) : result.reason;
    this.#kinds.block(result.ok ? result.parsed : undefined, fault === undefined);
    const [ours, theirs] = [fault ?? 'valid', answer.error ?? 'valid'];
    if ((fault === undefined) !== answer.valid || (line.refused ?? false) === (fault === undefined))
      is.texts.push(`block ${line.id || answer.id}: ours "${ours}", theirs "${theirs}"`);
    if (!result.ok || fault !== undefined || !answer.valid) return;
    const { parsed } = result;
    const id = toHex(parsed.id);
    is.equal(`ID of block ${id}`, id, answer.id);
    const payload = (parsed.transaction ?? parsed.milestone)?.id;
    is.equal(`payload ID in block ${id}`, payload && toHex(payload), answer.payloadId);
    is.json(`block ${id} in JSON`, blockToJson(parsed.block), answer.json);
    const { rentStructure } = this.#parameters;
    const deposits = parsed.transaction?.value.essence.outputs.map((output) =>
      String(minimumDeposit(output, rentStructure)),
    );
    is.json(`minimum deposits in block ${id}`, deposits, answer.minimumDeposits);
    const isMilestone = await isMilestoneBlock(parsed, this.#keys, verifySignature);
    is.equal(`block ${id} is a milestone's`, isMilestone, answer.milestone ?? false);
  }

  #faultOf(parsed: ParsedBlock): string | undefined {
    const parameters = this.#parameters;
    const isWorked =
      parsed.milestone !== undefined || hasProofOfWork(parsed.bytes, parameters.minPowScore);
    return admissionFault(parsed, parameters) ?? (isWorked ? undefined : 'C-6');
  }

  #compareMilestone(
    line: LineOf<'milestone'>,
    answer: AnswerTo<LineOf<'milestone'>>,
    is: Differing,
  ): void {
    const at = `milestone ${line.index}`;
    is.equal(`ID of ${at}`, line.id, answer.id);
    is.equal(`what is wrong with ${at}`, undefined, answer.error);
    this.isOver = answer.error !== undefined;
    compareRoots(at, line, answer, is);
    is.equal(`blocks of ${at}`, line.cone.length, answer.cone.length);
    for (const [i, { id, state, conflict }] of line.cone.entries()) {
      const theirs = answer.cone[i];
      is.equal(`block ${i} of ${at}`, id, theirs?.id);
      is.equal(`${id} in ${at}`, state, theirs?.state);
      const reasons = [theirs?.conflict, ...(theirs?.also ?? [])];
      if (!reasons.includes(conflict))
        is.texts.push(`conflict of ${id} in ${at}: ours ${conflict}, theirs ${reasons.join(', ')}`);
      this.#kinds.verdict(state, conflict, reasons.length > 1);
    }
    const payload = readMilestone(Uint8Array.fromHex(line.payload));
    this.#kinds.milestone(payload);
    const announced = announcedParameters(payload);
    if (announced !== undefined) {
      const parameters = decodeParameters(announced.parameters);
      this.#pending.push({ from: announced.targetMilestoneIndex, parameters });
    }
    const next = this.#pending[0];
    if (next !== undefined && next.from <= line.index) {
      this.#parameters = next.parameters;
      this.#pending.shift();
    }
  }

  #compareProposal(
    { request, response }: LineOf<'proposal'>,
    answer: AnswerTo<LineOf<'proposal'>>,
    is: Differing,
  ): void {
    const at = `proposal ${JSON.stringify(request)}`;
    this.#kinds.count('proposals', response === null ? 'refused' : 'answered');
    if (response === null) {
      if (answer.error === undefined) is.texts.push(`${at}: refused by us alone`);
      return;
    }
    is.equal(`what is wrong with ${at}`, undefined, answer.error);
    compareRoots(at, response, answer, is);
  }

  #compareState(line: LineOf<'state'>, answer: AnswerTo<LineOf<'state'>>, is: Differing): void {
    const at = `at ${line.index}`;
    this.#kinds.count('state hashes', 'equal');
    is.equal(`state hash ${at}`, line.stateHash, answer.stateHash);
  }
}

type Roots = Partial<Record<'inclusionMerkleRoot' | 'appliedMerkleRoot', string>>;

function compareRoots(at: string, ours: Roots, theirs: Roots, is: Differing): void {
  is.equal(`inclusion root of ${at}`, ours.inclusionMerkleRoot, theirs.inclusionMerkleRoot);
  is.equal(`applied root of ${at}`, ours.appliedMerkleRoot, theirs.appliedMerkleRoot);
}

class Differing {
  readonly texts: string[] = [];

  equal(what: string, ours: unknown, theirs: unknown): void {
    if (ours !== theirs) this.texts.push(`${what}: ours ${ours}, theirs ${theirs}`);
  }

  /** The order of fields counts as well. */
  json(what: string, ours: unknown, theirs: unknown): void {
    this.equal(what, JSON.stringify(ours), JSON.stringify(theirs));
  }
}
