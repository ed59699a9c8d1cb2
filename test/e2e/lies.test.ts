/**
 * The table of lies, told to `stardust-edge verify`: it prints as proved what is true, and says of
 * the rest that it is false or was not checked.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCommand, temporaryFolder } from '../support/cli/script-process.ts';
import { type SampleWorker, serveSample } from '../support/edge/sample.ts';
import { EXPLAIN_LIES } from '../support/lies/explain-lies.ts';
import { finalLies, finalQuestion, finalTruth } from '../support/lies/final-lies.ts';
import type { Lie } from '../support/lies/lie.ts';
import {
  type Asked,
  type LyingNode,
  MAX_ENDLESS_BYTES,
  nodeAt,
  type Rule,
  startLyingNode,
} from '../support/lies/lying-node.ts';
import { randomLie } from '../support/lies/random-lies.ts';
import { recordedSource } from '../support/lies/recorded-source.ts';
import { always, endless, inText, withField, zerosForBlocks } from '../support/lies/rules.ts';
import { callAtOnce, runVerify, type Verified } from '../support/lies/run-verify.ts';
import {
  ANY_BLOCK,
  ANY_PROOF,
  APPLIED_BLOCK,
  DATA_BLOCK,
  EXPLANATION,
  INFO,
  MILESTONE,
  MILESTONE_BLOCK,
  PROPOSAL,
  pathOfBlock,
  WHITE_FLAG,
} from '../support/lies/sample-paths.ts';
import { FINAL_LEDGER, LIES } from '../support/lies/table.ts';
import { milestoneAt } from '../support/network/network-model.ts';
import { recordedNetwork } from '../support/network/recorded-network.ts';

let sample: SampleWorker;
let node: LyingNode;
let honest: Verified;

beforeAll(async () => {
  sample = await serveSample();
  node = await startLyingNode(nodeAt(sample.url));
  honest = await runVerify(node.url);
});
afterAll(async () => {
  await node?.[Symbol.asyncDispose]();
  await sample?.stop();
});

it('proves everything of an honest node', () => {
  expect(honest).toMatchObject({ code: 0, stderr: '' });
  expect(honest.proved).toHaveLength(6);
});

/** What it requests, as far as lies are about that. */
const ASKED: readonly Asked[] = [
  ...[INFO, EXPLANATION, `/api/edge/v1/blocks/${DATA_BLOCK}/proof`].map((path) => ({ path })),
  ...[MILESTONE, ...[DATA_BLOCK, APPLIED_BLOCK, MILESTONE_BLOCK].map(pathOfBlock)].map((path) => ({
    path,
    wantsBytes: true,
  })),
  { path: WHITE_FLAG, method: 'POST' },
].map((asked) => ({ method: 'GET', host: '', wantsBytes: false, body: undefined, ...asked }));

const isAsked = ({ rules }: Lie) => rules.some((rule) => ASKED.some((each) => rule.concerns(each)));

/** Answers that `verify` reads. */
const ANSWERS = [
  [INFO, 'json'],
  [EXPLANATION, 'json'],
  [EXPLANATION, 'json'],
  [ANY_PROOF, 'json'],
  [WHITE_FLAG, 'json'],
  [MILESTONE, 'bytes'],
  [ANY_BLOCK, 'bytes'],
] as const;

// biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be printed
const CONTROL = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

it.each(LIES.filter((lie) => lie.final === undefined && isAsked(lie)))('$name', tell);

/** Tells a lie, and expects nothing to be taken for proved that is not. */
async function tell({ rules, page, alsoProved, refuted, ofChosenKeys, waits }: Lie): Promise<void> {
  node.lie(rules);
  const { code, stdout, stderr, proved } = await runVerify(node.url, undefined, waits);
  const told = node.told();
  expect(told.errors).toEqual([]);
  expect(rules.some((rule) => told.used.has(rule))).toBe(true);
  expect(told.endlessBytes).toBeLessThan(MAX_ENDLESS_BYTES);
  const isTrue = (line: string) => honest.proved.includes(line) || alsoProved?.test(line);
  expect(proved.filter((line) => !isTrue(line))).toEqual([]);
  const all = stdout + stderr;
  if (code === 0) expect(proved).toEqual(honest.proved);
  else expect(all).toMatch(/^(False|Not checked): /m);
  // what the page of the milestone calls false, it calls false, too
  const isOfMilestone = /^#\/(milestone|verify)/.test(page) && !ofChosenKeys;
  if (refuted !== undefined && (isOfMilestone || code !== 0)) expect(stdout).toMatch(/^False: /m);
  expectPlain(all);
}

/** Nothing that moves a cursor, and no line that hides another. */
function expectPlain(text: string): void {
  expect(text).not.toMatch(CONTROL);
  expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(500);
}

/** `npm run test:slow -- lies` tells 500. */
const RANDOM_LIES = Number(process.env.RANDOM_LIES ?? 60);

it(`${RANDOM_LIES} random lies`, { timeout: 600_000 }, async () => {
  for (let i = 0; i < RANDOM_LIES; i++) {
    const seed = `command line ${i}`;
    await tell({ name: seed, page: '', rules: [randomLie(seed, ANSWERS)] }).catch(
      (error: unknown) => {
        throw new Error(`the random lie "${seed}" was not found`, { cause: error });
      },
    );
  }
});

it('proves what a node 50 milestones back says, and how old that is', async () => {
  const network = recordedNetwork('network-a');
  await using old = await startLyingNode(await recordedSource(network, 10, nodeAt(sample.url)));
  const keys = network.keys.keys.map(({ publicKey }) => publicKey.toHex()).join();
  const { code, proved } = await runVerify(old.url, ['--keys', keys]);
  expect(code).toBe(0);
  const { timestamp } = milestoneAt(network, 10)!;
  const signed = new Date(timestamp * 1000).toISOString().slice(11, 19);
  expect(proved.at(-1)).toMatch(new RegExp(`^Verified: milestone 10\\b.*${signed} UTC.* old`));
});

/** The final ledger is requested with a root, and IDs. */
describe('of a final ledger', () => {
  const { root, id } = finalQuestion(FINAL_LEDGER);
  const truth = finalTruth(FINAL_LEDGER);

  it('proves that it has an NFT', async () => {
    node.lie(truth);
    const { code, proved } = await runVerify(node.url, ['--final-root', root, id]);
    expect(code).toBe(0);
    expect(proved.join()).toMatch(/is in the ledger/);
  });

  it.each(finalLies(FINAL_LEDGER))('$name', async ({ rules, final, waits }) => {
    node.lie([...rules, ...truth]);
    const args = ['--final-root', root, final!.id];
    const { code, stdout, stderr, proved } = await runVerify(node.url, args, waits);
    expect(node.told().errors).toEqual([]);
    expect(rules.some((rule) => node.told().used.has(rule))).toBe(true);
    expect(code).toBe(1);
    expect(proved.join()).not.toMatch(final!.id);
    expect(stdout + stderr).toMatch(/^(False|Not checked): /m);
  });
});

const request = join(temporaryFolder(), 'request.json');

beforeAll(async () => {
  const milestone = await (await fetch(sample.url + MILESTONE)).json();
  const { index, timestamp, parents, previousMilestoneId } = milestone as Record<string, unknown>;
  writeFileSync(request, JSON.stringify({ index, timestamp, parents, previousMilestoneId }));
});

describe('npx stardust-edge explain', () => {
  const compare = (waits = false) => {
    const args = ['--request', request, '--ours', sample.url, '--theirs', node.url];
    return callAtOnce('explain', args, waits);
  };

  it.each([
    ['an edge node', []],
    ['a HORNET', [withField(INFO, 'name', 'HORNET')]],
  ])('finds no difference to %s that is honest', async (_, rules) => {
    node.lie(rules);
    const { code, stdout } = await compare();
    expect(code).toBe(0);
    expect(stdout).toMatch(/The same 38 blocks in the same order with the same verdicts/);
  });

  it.each(EXPLAIN_LIES)('compares $name', async ({ rules, prints, waits }) => {
    node.lie(rules);
    const { code, stdout, stderr } = await compare(waits);
    const told = node.told();
    expect(told.errors).toEqual([]);
    expect(rules.every((rule) => told.used.has(rule))).toBe(true);
    expect(told.endlessBytes).toBeLessThan(MAX_ENDLESS_BYTES);
    expect(code).toBe(1);
    const all = stdout + stderr;
    expect(all).toMatch(prints);
    expect(all).not.toMatch(/^The same 38 blocks/m);
    expectPlain(all);
  });
});

describe('a process of its own', () => {
  const MAX_MEGABYTES = 300;

  /** Linux has the most memory that a process took. */
  const REPORT = `import { readFileSync } from 'node:fs';
    process.on('exit', () => console.error(readFileSync('/proc/self/status', 'utf8')));`;

  const VERIFY = ['verify', '--network', 'shimmer'];
  const EXPLAIN = ['explain', '--request', request];

  /** As many as are read at once; each has a name of its own. */
  const manyFields = Object.fromEntries(
    Array.from({ length: 499_000 }, (_, i) => [i.toString(16).padStart(27, '_'), 0]),
  );

  it.each<[string, readonly string[], readonly Rule[]]>([
    ['a cone without an end', VERIFY, [endless(EXPLANATION)]],
    ['blocks without an end', VERIFY, [endless(ANY_BLOCK)]],
    ['eight million zeros in place of blocks', VERIFY, [inText(EXPLANATION, zerosForBlocks)]],
    ['a cone of too many fields', VERIFY, [always(EXPLANATION, () => manyFields)]],
    ['a proof of too many fields', VERIFY, [always(ANY_PROOF, () => manyFields)]],
    ['an answer without an end', EXPLAIN, [endless(PROPOSAL)]],
    ['eight million zeros in place of blocks', EXPLAIN, [inText(PROPOSAL, zerosForBlocks)]],
    ['too many fields', EXPLAIN, [always(PROPOSAL, () => manyFields)]],
  ])('takes less than 300 MB for %s', async (_, [name, ...args], rules) => {
    node.lie(rules);
    const urls = name === 'verify' ? [node.url] : ['--ours', sample.url, '--theirs', node.url];
    const { ended } = startCommand(name!, [...args, ...urls], {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(REPORT)}`,
    });
    const { code, stdout, stderr } = await ended;
    expect(node.told().errors).toEqual([]);
    expect(code).toBe(1);
    expect(stdout + stderr).toMatch(/^(False|Not checked): /m);
    const kibibytes = Number(/^VmHWM:\s+(\d+) kB$/m.exec(stderr)?.[1]);
    expect((kibibytes * 1024) / 1e6).toBeLessThan(MAX_MEGABYTES);
  });
});
