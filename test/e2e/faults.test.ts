/**
 * What an upstream can do to us: at each milestone another fault, until it is mended. Meanwhile the
 * ledger stands still and answers, the log names the fault in a line, and in the end the ledger is
 * the one that it always was.
 */
import { expect, it } from 'vitest';
import { readStateHash } from '../support/edge/d1-file.ts';
import type { Edge } from '../support/edge/edge.ts';
import { prepareFollowing } from '../support/edge/follow-network.ts';
import { ask, readInfo, untilLedger } from '../support/edge/walk-network.ts';
import {
  type ChooseFault,
  type Fault,
  otherBlock,
  type SeenRequest,
} from '../support/hornet-double/fault.ts';
import { extraSignature, fewerSignatures, forgedSignature } from '../support/network/milestones.ts';
import { milestoneAt } from '../support/network/network-model.ts';
import { recordedNetwork, recordedQuestions } from '../support/network/recorded-network.ts';

const network = recordedNetwork('network-a');
const foreign = recordedNetwork('network-c');
const FIRST = 82;

const onBlocks =
  (fault: Fault): ChooseFault =>
  ({ route }) =>
    route.name === 'block' ? fault : undefined;
const onMilestone =
  (bytes: (payload: Uint8Array, index: number) => Uint8Array): ChooseFault =>
  ({ route }) =>
    route.name === 'milestoneByIndex' && milestoneAt(network, route.index)
      ? { kind: 'bytes', bytes: bytes(milestoneAt(network, route.index)!.payload, route.index) }
      : undefined;

/** Each fault, and what its line in the log says. */
const FAULTS: [name: string, fault: ChooseFault, line: RegExp][] = [
  ['blocks: status 500', onBlocks({ kind: 'status', status: 500 }), /upstream.failed.*status 500/],
  ['blocks: 404', onBlocks({ kind: 'status', status: 404 }), /upstream.failed.*not known upstream/],
  ['blocks: cut off', onBlocks({ kind: 'cut' }), /upstream.failed.*blocks/],
  [
    'blocks: another one',
    (request: SeenRequest) =>
      request.route.name === 'block' ? otherBlock(network, request) : undefined,
    /upstream.failed.*other bytes/,
  ],
  [
    'blocks: 100 MB',
    onBlocks({ kind: 'oversize', announced: true }),
    /upstream.failed[^\n]*: 100000000 bytes/,
  ],
  [
    'blocks: 100 MB, not announced',
    onBlocks({ kind: 'oversize', announced: false }),
    /upstream.failed.*more than 32768 bytes/,
  ],
  [
    'blocks: 100 MB, compressed',
    onBlocks({ kind: 'oversize', announced: false, gzip: true }),
    /upstream.failed.*more than 32768 bytes/,
  ],
  [
    'blocks: redirect',
    onBlocks({ kind: 'redirect', to: 'http://127.0.0.1:1/' }),
    /upstream.failed.*status 30/,
  ],
  [
    'blocks: another type',
    onBlocks({ kind: 'type', type: 'text/html' }),
    /upstream.failed.*content type/,
  ],
  ['blocks: connection dropped', onBlocks({ kind: 'drop' }), /upstream.failed.*blocks/],
  [
    'milestone: status 500',
    ({ route }) =>
      route.name === 'milestoneByIndex' ? { kind: 'status', status: 500 } : undefined,
    /upstream.failed.*milestones/,
  ],
  [
    'milestone: 404',
    ({ route }) =>
      route.name === 'milestoneByIndex' ? { kind: 'status', status: 404 } : undefined,
    /upstream.failed.*has no milestone/,
  ],
  [
    'milestone: of another network',
    onMilestone(() => foreign.milestones[40]!.payload),
    /upstream.diverged.*milestone/,
  ],
  [
    'milestone: the one before',
    onMilestone((_, index) => milestoneAt(network, index - 1)!.payload),
    /upstream.diverged.*where/,
  ],
  [
    'milestone: too few signatures',
    onMilestone((payload) => fewerSignatures(payload, 1)),
    /upstream.diverged.*M-2/,
  ],
  [
    'milestone: forged signature',
    onMilestone((payload) => forgedSignature(payload)),
    /upstream.diverged.*M-3/,
  ],
  [
    'milestone: one more, invalid signature',
    onMilestone((payload) => extraSignature(payload, new Uint8Array(32).fill(7))),
    /upstream.diverged.*M-3/,
  ],
  [
    'milestone: garbage',
    onMilestone(() => new Uint8Array(100)),
    /upstream.diverged.*does not parse/,
  ],
  [
    'info: no JSON',
    ({ route }) => (route.name === 'info' ? { kind: 'notJson' } : undefined),
    /upstream.failed.*info/,
  ],
  [
    'info: status 503',
    ({ route }) => (route.name === 'info' ? { kind: 'status', status: 503 } : undefined),
    /upstream.failed.*status 503/,
  ],
];

async function untilLogged(edge: Edge, line: RegExp, from: number): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!edge.log.slice(from).some((each) => line.test(each))) {
    if (Date.now() > deadline)
      throw new Error(`no line like ${line}:\n${edge.log.slice(from).join('\n')}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

it('the ledger stands still through each fault, answers, and goes on by itself', async () => {
  await using following = await prepareFollowing(network, { ledger: 81, confirmed: FIRST - 1 });
  const { double, persistTo } = following;
  const edge = await following.start();
  await untilLedger(edge, FIRST - 1);
  for (const [i, [name, fault, line]] of FAULTS.entries()) {
    const index = FIRST + i;
    // tips are not stored, so that the milestone's blocks have to be fetched through the fault
    double.fault = (request) =>
      request.route.name === 'tips' ? { kind: 'status', status: 404 } : fault(request);
    const from = edge.log.length;
    double.confirm(index);
    await untilLogged(edge, line, from);
    expect({ name, ledger: (await readInfo(edge.url)).status.confirmedMilestone.index }).toEqual({
      name,
      ledger: index - 1,
    });
    for (const question of recordedQuestions('network-a').filter(
      ({ ledgerIndex, status }) => ledgerIndex === index - 1 && status === 200,
    )) {
      const { status, body } = await ask(edge.url, question);
      expect({ name, answer: status === 200 ? body : status }).toEqual({
        name,
        answer: status === 200 ? question.response : expect.toBeOneOf([404, 500]),
      });
    }
    double.fault = ({ route }) =>
      route.name === 'tips' ? { kind: 'status', status: 404 } : undefined;
    await untilLedger(edge, index);
  }
  double.confirm(106);
  await untilLedger(edge, 106);
  await edge.stop();
  expect(await readStateHash(persistTo)).toBe(
    '0x577f3d596803a35b2abee1e2b115702092a672ce404186a78f581c32e10884df',
  );
}, 600_000);
