/** Bodies are JSON with so many values at most: to read each as Go does takes time. */

import { expect, it } from 'vitest';
import { parseBoundedJson } from '../../src/stardust/encoding/bounded-json.ts';
import { hasRoute } from '../support/http/has-route.ts';
import { facts, fetchFrom } from '../support/http/stub-node.ts';

const fetch = fetchFrom({});

async function post(path: string, body: unknown): Promise<[status: number, detail: string | null]> {
  const { status, headers } = await fetch(path, { method: 'POST', body: JSON.stringify(body) });
  return [status, headers.get('x-error-detail')];
}

/** Zeros in an object: 512 KB of them took 0.16 s. */
const zeros = (count: number) => ({ zeros: new Array(count).fill(0) });

const BODIES: [path: string, most: number][] = [
  ['/api/core/v2/whiteflag', 2000],
  ['/api/edge/v1/whiteflag', 2000],
  ['/api/poi/v1/validate', 20_000],
];

it.each(BODIES.filter(([path]) => hasRoute(path)))(
  '%s refuses more than %d values',
  async (path, most) => {
    const refused = [400, `the body is not JSON in UTF-8 of up to ${most} values`];
    expect(await post(path, zeros(most))).toEqual(refused);
    expect((await post(path, zeros(most - 10)))[1]).not.toBe(refused[1]);
  },
);

it('a proposal has as many parents as fit into 64 KB, all the same', async () => {
  const parents = new Array(930).fill(facts.whiteFlag.parents[0]);
  expect(await post('/api/core/v2/whiteflag', { ...facts.whiteFlag, parents })).toEqual([
    200,
    null,
  ]);
});

it('no block of 32 KB has as many values as a proof may have', () => {
  const address = { type: 0, pubKeyHash: '' };
  const returns = { returnAddress: address, amount: '', unixTime: 0 };
  // of 500 bytes at least
  const output = {
    ...{ type: 6, amount: '', nftId: '' },
    nativeTokens: new Array(4).fill({ id: '', amount: '' }),
    unlockConditions: [0, 1, 2, 3].map((type) => ({ type, address, ...returns })),
    features: [0, 2, 3].map((type) => ({ type, address, data: '' })),
    immutableFeatures: [1, 2].map((type) => ({ type, address, data: '' })),
  };
  const essence = {
    inputs: new Array(128).fill({ type: 0, transactionId: '', transactionOutputIndex: 0 }),
    outputs: new Array(128).fill(output),
  };
  const signature = { type: 0, publicKey: '', signature: '' };
  const unlocks = new Array(128).fill({ type: 0, signature });
  const milestone = { signatures: new Array(255).fill(signature) };
  const text = JSON.stringify({ block: { payload: { essence, unlocks } }, milestone });
  expect(() => parseBoundedJson(text, 20_000)).not.toThrow();
});
