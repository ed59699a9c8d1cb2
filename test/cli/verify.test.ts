/**
 * `stardust-edge verify`: what an edge node says holds against the keys (its lies:
 * test/e2e/lies.test.ts).
 */
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { NodeClient } from '../../client/node-client.ts';
import { verifyNode } from '../../client/verify-node.ts';
import { describeVerdict } from '../../client/words/proved.ts';
import { verifySignature } from '../../src/platform/verify-signature.ts';
import { fromHex } from '../../src/stardust/encoding/bytes.ts';
import { decode, encode } from '../../src/stardust/encoding/codec.ts';
import { merkleRoot } from '../../src/stardust/proof/merkle.ts';
import { provedValue } from '../../src/stardust/provenance/provenance.ts';
import { milestone } from '../../src/stardust/wire/milestone.ts';
import { callCommand } from '../support/cli/call-script.ts';
import { runCommand } from '../support/cli/script-process.ts';
import { WHITE_FLAG } from '../support/http/contract.ts';
import { questionOf } from '../support/ledger/ledger-harness.ts';
import {
  type LyingNode,
  readAnswer,
  type Source,
  startLyingNode,
} from '../support/lies/lying-node.ts';
import { certificatePath, frozenAt } from '../support/lies/nft-liars.ts';
import { fetchRecorded, recordedSource } from '../support/lies/recorded-source.ts';
import { coneOf, milestoneAt } from '../support/network/network-model.ts';
import { heldAt, holdersOf } from '../support/network/nft-places.ts';
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
  return [...lines, describeVerdict(proof, now())];
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

it('the first milestone of a network, which references no block, is verified', async () => {
  expect(coneOf(network, 1)).toEqual([]);
  const fetchFirst = await fetchRecorded(network, 1);
  const first: NodeClient = (path, { body, accept } = {}) =>
    fetchFirst(path, {
      headers: accept === undefined ? {} : { accept },
      ...(body !== undefined && { method: 'POST', body }),
    });
  const lines = await verify(first);
  // the page shows each sentence beside the question of its place
  expect(lines).toEqual([
    expect.stringMatching(/^Milestone 1 of .* is signed/),
    'Its cone of 0 blocks leads to the signed inclusion root.',
    'The 0 transactions that were applied lead to the signed applied root.',
    'It references no block that could have a proof.',
    'Asked as a coordinator asks, the node answers the signed roots.',
    expect.stringMatching(/^Verified: milestone 1 of /),
  ]);
});

it('the explanation of another milestone', async () => {
  const { node } = explaining((json) => void json.index++);
  await expect(verify(node)).rejects.toThrow('asked for milestone 60, and explains 61');
});

it('requests no block before the IDs lead to the signed root', async () => {
  const { node, asked } = explaining(({ blocks }) => void blocks.push(...blocks));
  await expect(verify(node)).rejects.toThrow(/do not lead to the signed inclusion root/);
  expect(asked.filter((path) => path.includes('/blocks/'))).toEqual([]);
});

it('what is said of a block against its bytes', async () => {
  const { node } = explaining(({ blocks }) => {
    const said = blocks as { payload: string }[];
    const other = said.find(({ payload }) => payload !== 'transaction')!;
    other.payload = other.payload === 'none' ? 'taggedData' : 'none';
  });
  await expect(verify(node)).rejects.toThrow(/^the node says that block \d+ carries/);
});

it('an order that was signed, and is not that of the walk', async () => {
  const { node } = explaining(({ blocks }) => void blocks.reverse());
  const inclusionMerkleRoot = merkleRoot(ids.toReversed().map(fromHex));
  const signed: NodeClient = async (path, options) => {
    if (!path.includes('/by-index/')) return node(path, options);
    const payload = decode(milestone, milestoneAt(network, INDEX)!.payload);
    return new Response(encode(milestone, { ...payload, inclusionMerkleRoot }));
  };
  const trust = { whose: 'the keys of A', keys, verify: async () => true };
  await expect(verifyNode(signed, trust, 0, { onProved: () => undefined, now })).rejects.toThrow(
    'the white-flag order is wrong from place 0 on',
  );
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

  it('says how old the milestone is', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: (question.timestamp + 9) * 1000 });
    onTestFinished(() => void vi.useRealTimers());
    await using node = await toAsk();
    const { stdout } = await callCommand('verify', node.url, '--keys', hex.join());
    expect(stdout.match(/signed 9 seconds ago/g)).toHaveLength(2);
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
    [['localhost:8787', '--keys', hex[0]!]],
    [['http://127.0.0.1:1', '--keys', hex.join(), '--threshold', '3']],
    [['http://127.0.0.1:1', '--network', 'nowhere']],
    [['http://a', 'http://b', '--keys', hex[0]!]],
    [['http://a', '--final-root', '0x12']],
    [['http://a', '--final-root', `0x${hex[0]}`, '0x12']],
    [['http://a', '--final-root', `0x${hex[0]}`, '--keys', hex[0]!]],
    [['http://a', '--network', 'shimmer', '--keys', hex[0]!]],
  ])('%j is misuse', async (args) => {
    expect((await callCommand('verify', ...args)).code).toBe(2);
  });
});

const SECRET = 'http://anna:secret@host';

it.each([
  ['that is no URL', ['http//anna:secret@host', '--keys', 'ab']],
  ['in place of an ID', [SECRET, SECRET, '--final-root', `0x${'ab'.repeat(32)}`]],
  ['in place of an NFT ID', ['http://host', '--nft', SECRET]],
])('a text %s is not repeated, as it may have a password', async (_, args) => {
  const { stderr } = await callCommand('verify', ...args);
  expect(stderr).not.toMatch('secret');
});

describe('npx stardust-edge verify URL… --nft', () => {
  const [newest, back] = [125, 75];
  const nfts = recordedNetwork('network-n');
  const holders = holdersOf(nfts);
  const urls = new Map<number, string[]>();
  const nodes: LyingNode[] = [];
  const certificates: [nftId: string, certificate: unknown][] = [];

  beforeAll(async () => {
    for (const index of [newest, back]) {
      const answering = await frozenAt(nfts, index);
      const source: Source = async ({ path }) => {
        if (!path.includes('/api/')) throw new Error(`${path} is asked`);
        return readAnswer(Promise.resolve(answering(path)));
      };
      for (let i = 0; i < 2; i++) {
        const node = await startLyingNode(source);
        nodes.push(node);
        urls.set(index, [...(urls.get(index) ?? []), node.url]);
      }
      if (index === newest)
        for (const nftId of holders.keys()) {
          const answer = await answering(certificatePath(nftId));
          if (answer.ok) certificates.push([nftId, await answer.json()]);
        }
    }
    vi.useFakeTimers({ toFake: ['Date'], now: (milestoneAt(nfts, newest)!.timestamp + 9) * 1000 });
  });
  afterAll(async () => {
    vi.useRealTimers();
    for (const node of nodes) await node[Symbol.asyncDispose]();
  });

  const signers = [
    '--keys',
    nfts.keys.keys.map(({ publicKey }) => publicKey.toHex()).join(),
    '--threshold',
    '2',
    '--network-name',
    nfts.genesis.parameters.networkName,
  ];
  const call = (nftId: string, ...args: string[]) =>
    callCommand('verify', ...args, '--nft', nftId, ...signers);
  /** An NFT that is held, and changed after the old nodes stopped. */
  const find = (isHeld: boolean) =>
    certificates.find(([nftId]) => {
      const [now, then] = [newest, back].map((index) => heldAt(holders.get(nftId)!, index));
      return (now !== undefined) === isHeld && then !== undefined && now !== then;
    })![0];

  it('says who holds it, as of when, and how each node stands to that', async () => {
    const nftId = find(true);
    const [one, two] = urls.get(newest)!;
    const [old] = urls.get(back)!;
    const { code, stdout, stderr } = await call(nftId, one!, old!, two!);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.trim().split('\n');
    expect(lines).toHaveLength(5);
    expect(lines[3]).toBe('3 nodes were asked: 2 agree, 1 is behind.');
    expect(lines[0]).toMatch(
      new RegExp(`^${one} agrees: its ledger is at milestone ${newest}, and`),
    );
    expect(lines[1]).toMatch(new RegExp(`^${old} is behind: its ledger is at milestone ${back}, `));
    const held = holders.get(nftId)!.at(-1)!;
    expect(lines[4]).toMatch(
      new RegExp(
        `^Verified: NFT ${nftId} is in output 0x${held.outputId.toHex()} since milestone ${held.bookedIndex} of .* UTC, as of milestone ${newest} of .* UTC \\(signed 9 seconds ago\\), if one of the 2 nodes that agree is honest\\. No node that was asked refutes or disputes it\\.$`,
      ),
    );
  });

  it('says that it was burned', async () => {
    const { code, stdout } = await call(find(false), ...urls.get(newest)!);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Verified: NFT 0x\S+ is burned since milestone \d+ of /m);
  });

  it('ends with 1 where less is shown than is demanded', async () => {
    const nftId = find(true);
    const failed = await call(nftId, ...urls.get(back)!);
    expect([failed.code, failed.stdout]).toEqual([1, '']);
    expect(failed.stderr).toMatch(
      /^Not checked: NFT 0x\S+: only "created" is shown, not "unrefuted"/,
    );
    const created = await call(nftId, ...urls.get(back)!, '--at-least', 'created');
    expect(created.code).toBe(0);
    expect(created.stdout).toMatch(/or was changed later\. Not checked: whether it was\.\n$/);
    const patient = await call(nftId, ...urls.get(back)!, '--max-age', '100000000');
    expect(patient.code).toBe(0);
    const silent = await call(nftId, 'http://127.0.0.1:21001', urls.get(newest)![0]!);
    expect([silent.code, silent.stderr]).toEqual([1, expect.stringContaining('ECONNREFUSED')]);
  });

  it('names who is caught lying', async () => {
    const nftId = find(true);
    const own = holders.get(nftId)!.filter(({ bookedIndex }) => bookedIndex > nfts.genesis.index);
    const earlier = `?milestone=${own[0]!.bookedIndex}`;
    const path = certificatePath(nftId);
    nodes[0]!.lie([
      {
        concerns: (asked) => asked.path === path,
        tell: async (asked, next) => {
          const { body, ...answer } = await next({ ...asked, path: path + earlier });
          // the terminal is cleared, where it gets as far
          const note = Buffer.from('{"note":"\\u001b[2J\u009bü",');
          return { ...answer, body: Buffer.concat([note, body.subarray(1)]) };
        },
      },
    ]);
    const [liar, honest] = urls.get(newest)!;
    // the same liar at two addresses of its operator, and the honest one behind both
    const second = await startLyingNode(async ({ path: asked }) =>
      readAnswer(fetch(new URL(asked, liar))),
    );
    nodes.push(second);
    for (const urlsOfNodes of [
      [liar!, honest!],
      [liar!, second.url, honest!],
    ]) {
      const { code, stdout } = await call(nftId, ...urlsOfNodes);
      expect(code).toBe(1);
      const lines = stdout.trim().split('\n');
      expect(lines[0]).toMatch(
        new RegExp(
          `^False: ${liar}: its ledger is at milestone ${newest} .*but the NFT changed later`,
        ),
      );
      expect(stdout).toContain(`${honest} agrees, and refutes others: its ledger is at`);
      // both certificates, for whoever wants to check who lied
      const [earlierOne, laterOne] = [lines.at(-3)!, lines.at(-1)!].map((line) => JSON.parse(line));
      expect(stdout).toMatch(/^[ -~\n]*$/);
      expect(earlierOne.note).toBe('\u001b[2J\u009bü');
      expect(lines.at(-4)).toBe(`The certificate of ${liar}:`);
      expect(lines.at(-2)).toBe(`The certificate of ${honest}:`);
      const held = heldAt(holders.get(nftId)!, newest);
      expect([earlierOne.nftId, laterOne.nftId, laterOne.outputId]).toEqual([nftId, nftId, held]);
      expect(earlierOne.outputId).not.toBe(held);
    }
    nodes[0]!.lie([]);
  });

  it.each([
    [['nowhere']],
    [['http://a', 'http://a/']],
    [['http://a', '--agree', '0']],
    [['http://a', '--agree', '1']],
    [['http://127.0.0.1:1', 'http://localhost:1']],
    [['http://a', '--threshold', '3']],
    [['http://a', '--max-age', 'old']],
    [['http://a', '--at-least', 'claimed']],
    [['http://a', '--at-least', 'final']],
    [['http://a', '--nft', '0x12']],
  ])('%j is misuse', async (args) => {
    const nftId = args.includes('--nft') ? [] : ['--nft', find(true)];
    expect((await callCommand('verify', ...signers, ...args, ...nftId)).code).toBe(2);
  });

  it('without a name of the network, or without --nft', async () => {
    const [flag, keys] = signers as [string, string];
    const nft = ['--nft', find(true)];
    for (const args of [
      [...nft, flag, keys],
      [...nft, '--network-name', 'x'],
      ['--max-age', '5', flag, keys],
    ])
      expect((await callCommand('verify', 'http://a', ...args)).code).toBe(2);
  });
});
