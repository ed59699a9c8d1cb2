/**
 * What an upstream can do to us: at each milestone another fault, until it is mended. Meanwhile the
 * ledger stands still and answers, the log names the fault in a line, and in the end the ledger is
 * the one that it always was.
 */
import { expect, it } from 'vitest';
import { prepareFollowing } from '../support/edge/follow-network.ts';
import { expectRecordedEnd, untilLogged } from '../support/edge/recorded-ledger.ts';
import { ask, readInfo, untilLedger } from '../support/edge/walk-network.ts';
import { type ChooseFault, type Fault, otherBlock } from '../support/hornet-double/fault.ts';
import { extraSignature, fewerSignatures, forgedSignature } from '../support/network/milestones.ts';
import { milestoneAt } from '../support/network/network-model.ts';
import { recordedNetwork, recordedQuestions } from '../support/network/recorded-network.ts';

const network = recordedNetwork('network-a');
const foreign = recordedNetwork('network-c').milestones[40]!.payload;
const FIRST = 82;

const on =
  (name: 'block' | 'milestoneByIndex' | 'info' | 'tips', fault: Fault): ChooseFault =>
  ({ route }) =>
    route.name === name ? fault : undefined;

const withPayload =
  (change: (payload: Uint8Array, index: number) => Uint8Array): ChooseFault =>
  ({ route }) => {
    if (route.name !== 'milestoneByIndex') return undefined;
    const milestone = milestoneAt(network, route.index);
    return milestone && { kind: 'bytes', bytes: change(milestone.payload, route.index) };
  };

const another: ChooseFault = (request) =>
  request.route.name === 'block' ? otherBlock(network, request) : undefined;

const status = (code: number): Fault => ({ kind: 'status', status: code });
const TOO_LONG = /upstream.failed.*more than 32768 bytes/;

/** Each fault, and what its line in the log says. */
const FAULTS: [name: string, fault: ChooseFault, line: RegExp][] = [
  ['blocks: status 500', on('block', status(500)), /upstream.failed.*status 500/],
  ['blocks: 404', on('block', status(404)), /upstream.failed.*not known upstream/],
  ['blocks: cut off', on('block', { kind: 'cut' }), /upstream.failed.*blocks/],
  ['blocks: another one', another, /upstream.failed.*other bytes/],
  [
    'blocks: 100 MB',
    on('block', { kind: 'oversize', announced: true }),
    /upstream.failed[^\n]*: 100000000 bytes/,
  ],
  ['blocks: 100 MB, not announced', on('block', { kind: 'oversize', announced: false }), TOO_LONG],
  [
    'blocks: 100 MB, compressed',
    on('block', { kind: 'oversize', announced: false, gzip: true }),
    TOO_LONG,
  ],
  [
    'blocks: redirect',
    on('block', { kind: 'redirect', to: 'http://127.0.0.1:1/' }),
    /upstream.failed.*status 30/,
  ],
  [
    'blocks: another type',
    on('block', { kind: 'type', type: 'text/html' }),
    /upstream.failed.*content type/,
  ],
  ['blocks: connection dropped', on('block', { kind: 'drop' }), /upstream.failed.*blocks/],
  ['milestone: status 500', on('milestoneByIndex', status(500)), /upstream.failed.*milestones/],
  ['milestone: 404', on('milestoneByIndex', status(404)), /upstream.failed.*has no milestone/],
  ['milestone: of another network', withPayload(() => foreign), /upstream.diverged.*milestone/],
  [
    'milestone: the one before',
    withPayload((_, index) => milestoneAt(network, index - 1)!.payload),
    /upstream.diverged.*where/,
  ],
  [
    'milestone: too few signatures',
    withPayload((payload) => fewerSignatures(payload, 1)),
    /upstream.diverged.*M-2/,
  ],
  [
    'milestone: forged signature',
    withPayload((payload) => forgedSignature(payload)),
    /upstream.diverged.*M-3/,
  ],
  [
    'milestone: one more, invalid signature',
    withPayload((payload) => extraSignature(payload, new Uint8Array(32).fill(7))),
    /upstream.diverged.*M-3/,
  ],
  [
    'milestone: garbage',
    withPayload(() => new Uint8Array(100)),
    /upstream.diverged.*does not parse/,
  ],
  ['info: no JSON', on('info', { kind: 'notJson' }), /upstream.failed.*info/],
  ['info: status 503', on('info', status(503)), /upstream.failed.*status 503/],
];

it('the ledger stands still through each fault, answers, and goes on by itself', async () => {
  await using following = await prepareFollowing(network, { ledger: 81, confirmed: FIRST - 1 });
  const { double, persistTo } = following;
  const edge = await following.start();
  await untilLedger(edge, FIRST - 1);
  // tips are not stored, so that the milestone's blocks have to be fetched through the fault
  const withoutTips = on('tips', status(404));
  for (const [i, [name, fault, line]] of FAULTS.entries()) {
    const index = FIRST + i;
    double.fault = (request) => withoutTips(request) ?? fault(request);
    const from = edge.log.length;
    double.confirm(index);
    await untilLogged(edge, line, from);
    const ledger = (await readInfo(edge.url)).status.confirmedMilestone.index;
    expect({ name, ledger }).toEqual({ name, ledger: index - 1 });
    for (const question of recordedQuestions('network-a')) {
      if (question.ledgerIndex !== index - 1 || question.status !== 200) continue;
      const { status, body } = await ask(edge.url, question);
      expect({ name, answer: status === 200 ? body : status }).toEqual({
        name,
        answer: status === 200 ? question.response : expect.toBeOneOf([404, 500]),
      });
    }
    double.fault = withoutTips;
    await untilLedger(edge, index);
  }
  double.confirm(106);
  await untilLedger(edge, 106);
  await edge.stop();
  await expectRecordedEnd('network-a', persistTo);
}, 600_000);
