/**
 * `stardust-edge verify`: what an edge node says holds against the keys (its lies:
 * test/e2e/lies.test.ts).
 */
import { describe, expect, it } from 'vitest';
import { describeVerdict, provedValue } from '../../src/stardust/provenance/provenance.ts';
import { verifySignature } from '../../src/verify-signature.ts';
import type { NodeClient } from '../../verifier/node-client.ts';
import { verifyNode } from '../../verifier/verify-node.ts';
import { callCommand } from '../support/cli/call-script.ts';
import { runCommand } from '../support/cli/script-process.ts';
import { WHITE_FLAG } from '../support/http/contract.ts';
import { questionOf } from '../support/ledger/ledger-harness.ts';
import { startLyingNode } from '../support/lies/lying-node.ts';
import { fetchRecorded, recordedSource } from '../support/lies/recorded-source.ts';
import { coneOf } from '../support/network/network-model.ts';
import { recordedNetwork } from '../support/network/recorded-network.ts';

const network = recordedNetwork('network-a');
const { keys } = network;
const INDEX = 60;
const { question } = questionOf(network, INDEX);
const ids = coneOf(network, INDEX).map(({ id }) => id);

const fetchNode = await fetchRecorded(network, INDEX);

const honest: NodeClient = (path, { body, accept } = {}) =>
  fetchNode(path, {
    headers: accept === undefined ? {} : { accept },
    ...(body !== undefined && { method: 'POST', body }),
  });

/** Four years and some after the milestone. */
const now = () => question.timestamp + 150_000_000;

/** What is told of the node, sentence by sentence, and the verdict. */
async function verify(node: NodeClient, random = 0, trusted = keys): Promise<string[]> {
  const lines: string[] = [];
  const proof = await verifyNode(
    node,
    { whose: 'the keys of A', keys: trusted, verify: verifySignature },
    random,
    { onProved: (sentence) => lines.push(provedValue(sentence)), now },
  );
  return [...lines, describeVerdict(provedValue(proof), now())];
}

it('finds everything right, whichever block chance picks, and asks as the coordinator did', async () => {
  const proposals: unknown[] = [];
  const node: NodeClient = (path, options) => {
    if (path === WHITE_FLAG) proposals.push(JSON.parse(options!.body!));
    return honest(path, options);
  };
  for (const random of [0, 0.5, 0.999]) {
    const lines = await verify(node, random);
    expect(lines).toHaveLength(6);
    expect(lines[0]).toMatch(
      new RegExp(
        `^Milestone ${INDEX} of .* UTC is signed by 2 of the keys of A: signed, but 4 years old\\.$`,
      ),
    );
    expect(lines.join()).toContain(ids[Math.floor(random * ids.length)]!);
    expect(lines.at(-1)).toMatch(
      new RegExp(`^Verified: milestone ${INDEX} of .* UTC \\(signed, but 4 years old\\)`),
    );
    expect(lines.at(-1)).toContain('Not checked: NFTs, outputs and owners');
  }
  expect(proposals).toEqual([question, question, question]);
});

it('other keys, or too few of them', async () => {
  const other = { ...keys, keys: keys.keys.map((key) => ({ ...key, last: INDEX - 1, first: 1 })) };
  for (const each of [other, { ...keys, threshold: 3 }])
    await expect(verify(honest, 0, each)).rejects.toThrow(/M-2/);
});

interface Explained {
  index: number;
  blocks: unknown[];
}

/** The honest node with another explanation, and the paths that were requested. */
function explaining(change: (json: Explained) => void) {
  const asked: string[] = [];
  const node: NodeClient = async (path, options) => {
    asked.push(path);
    const answer = await honest(path, options);
    if (!path.includes('/whiteflag/')) return answer;
    const json = (await answer.json()) as Explained;
    change(json);
    return Response.json(json);
  };
  return { node, asked };
}

it('the explanation of another milestone', async () => {
  const { node } = explaining((json) => void json.index++);
  await expect(verify(node)).rejects.toThrow('asked for milestone 60, and explains 61');
});

it('requests no block before the IDs lead to the signed root', async () => {
  const { node, asked } = explaining(({ blocks }) => void blocks.push(...blocks));
  await expect(verify(node)).rejects.toThrow(/do not lead to the signed inclusion root/);
  expect(asked.filter((path) => path.includes('/blocks/'))).toEqual([]);
});

describe('npx stardust-edge verify', () => {
  const nobody = () => Promise.reject(new Error('only the API is asked'));
  const hex = keys.keys.map(({ publicKey }) => publicKey.toHex());

  const toAsk = async () => startLyingNode(await recordedSource(network, INDEX, nobody));

  it('prints what it found right', async () => {
    await using node = await toAsk();
    const { code, stdout, stderr } = await runCommand('verify', node.url, '--keys', hex.join());
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.trim().split('\n')).toHaveLength(6);
    expect(stdout).toMatch(/^Verified: milestone 60 of /m);
  });

  it('prints what is not so, and ends with 1', async () => {
    const foreign = `${hex[0]},${'ab'.repeat(32)}`;
    await using node = await toAsk();
    const { code, stdout } = await callCommand('verify', node.url, '--keys', foreign);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^False: milestone 60 is not signed by the keys that you gave: M-3/);
  });

  it.each([
    [[]],
    [['http://127.0.0.1:1']],
    [['nowhere', '--keys', hex[0]!]],
    [['http://a', 'http://b', '--keys', hex[0]!]],
    [['http://a', '--final-root', '0x12']],
    [['http://a', '--final-root', `0x${hex[0]}`, '0x12']],
    [['http://a', '--final-root', `0x${hex[0]}`, '--keys', hex[0]!]],
    [['http://a', '--network', 'shimmer', '--keys', hex[0]!]],
  ])('%j is misuse', async (args) => {
    expect((await callCommand('verify', ...args)).code).toBe(2);
  });
});
