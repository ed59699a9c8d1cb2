/**
 * What our node answers about a network that it follows from its genesis, against what the
 * reference does: verdicts and order of all blocks, state hashes, proposals.
 */
import { ledgerStateHash } from '../../../src/ledger/read/ledger-state-hash.ts';
import { ask, followTo, startLedger } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { storedBlocks } from '../../support/ledger/stored-blocks.ts';
import type { Difference } from './compare-answers.ts';
import type { Answer } from './judge-answers.ts';
import type { Line } from './network-file.ts';
import { readNetwork } from './read-network.ts';

/** Refusals of a proposal that the reference refuses too. */
const REFUSED = [400, 404];

/** @param lines of one network */
export async function compareNode(
  lines: readonly Line[],
  answers: readonly Answer[],
): Promise<Difference[]> {
  const network = readNetwork(lines);
  const differences: Difference[] = [];
  const db = await openMemory();
  const rig = await startLedger(db, network, network.genesis.index);
  const equal = (line: number, what: string, ours: unknown, theirs: unknown) => {
    if (JSON.stringify(ours) === JSON.stringify(theirs)) return;
    const text = `our node, ${what}: ${JSON.stringify(ours)}, theirs ${JSON.stringify(theirs)}`;
    differences.push({ network: network.name, line, text });
  };
  const cones: { place: number; cone: Extract<Answer, { type: 'milestone' }>['cone'] }[] = [];
  for (const [i, answer] of answers.entries()) {
    const place = i + 1;
    const line = lines[place]!;
    if (answer.type === 'milestone') {
      await followTo(rig, answer.index);
      cones.push({ place, cone: answer.cone });
    } else if (answer.type === 'state') {
      equal(place, 'state hash', (await ledgerStateHash(db)).toHex(), answer.stateHash);
    } else if (answer.type === 'proposal' && line.type === 'proposal') {
      const ours = await ask(rig, line.request, { upstreams: [rig.upstream] });
      const { error, inclusionMerkleRoot, appliedMerkleRoot } = answer;
      if (error === undefined)
        equal(place, 'roots', ours, { inclusionMerkleRoot, appliedMerkleRoot });
      else if (typeof ours !== 'number' || !REFUSED.includes(ours))
        equal(place, 'roots', ours, error);
    }
  }
  const stored = new Map((await storedBlocks(db)).map((block) => [block.id, block]));
  for (const { place, cone } of cones) {
    for (const [position, { id, state, conflict, also = [] }] of cone.entries()) {
      const ours = stored.get(id.slice(2));
      equal(place, `position of ${id}`, ours?.position, position);
      const reason = ours?.reason ?? null;
      const theirs = state === 'noTransaction' ? null : conflict;
      if (reason === null || !also.includes(reason))
        equal(place, `verdict of ${id}`, reason, theirs);
    }
  }
  return differences;
}
