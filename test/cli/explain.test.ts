/** `stardust-edge explain`: two answers to one white-flag request, and where they differ first. */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { compareExplanations } from '../../cli/explain/compare.ts';
import {
  type ConflictReason,
  describeReason,
  rulesOf,
} from '../../src/stardust/semantics/verdict.ts';
import { runCommand, temporaryFolder } from '../support/cli/script-process.ts';
import { listen } from '../support/edge/launch.ts';
import { NodeDouble } from '../support/hornet-double/hornet-double.ts';
import { questionOf } from '../support/ledger/ledger-harness.ts';
import { coneOf } from '../support/network/network-model.ts';
import { recordedNetwork } from '../support/network/recorded-network.ts';

const network = recordedNetwork('network-a');
const folder = temporaryFolder();

const INDEX = 50;
const { question, answer } = questionOf(network, INDEX);
const request = join(folder, 'request.json');
writeFileSync(request, JSON.stringify(question));

/** As an edge node answers, by what HORNET recorded. */
const right = {
  index: INDEX,
  timestamp: question.timestamp,
  ...(answer as { inclusionMerkleRoot: string; appliedMerkleRoot: string }),
  blocks: coneOf(network, INDEX).map(({ id, referenced }, whiteFlagIndex) => ({
    blockId: id,
    whiteFlagIndex,
    payload: 'none',
    ledgerInclusionState: referenced!.state,
    ...(referenced!.conflict !== 0 && { conflictReason: referenced!.conflict }),
  })),
};
const included = right.blocks.findIndex((block) => block.ledgerInclusionState === 'included');
const changed = {
  ...right,
  appliedMerkleRoot: `0x${'11'.repeat(32)}`,
  blocks: right.blocks.with(included, {
    ...right.blocks[included]!,
    ...{
      ledgerInclusionState: 'conflicting' as const,
      conflictReason: 1,
      explanation: 'an input was spent in an earlier milestone',
      rule: 'L-4',
      decidingInput: { input: 0, outputId: '0xaa', spentBy: '0xbb' },
    },
  }),
};

/** An edge node with one answer; it asks for a password if `authorization` is given. */
async function serve(explanation: unknown, authorization?: string): Promise<string> {
  const server = createServer((asked, response) => {
    const { method, url, headers } = asked;
    asked.resume();
    const allowed = authorization === undefined || headers.authorization === authorization;
    const body =
      url === '/api/core/v2/info'
        ? { name: 'stardust-edge-node', status: { confirmedMilestone: { index: 60 } } }
        : `${method} ${url}` === 'POST /api/edge/v1/whiteflag' && explanation;
    response.writeHead(allowed ? (body ? 200 : 404) : 401).end(JSON.stringify(body));
  });
  onTestFinished(() => void server.close());
  return listen(server);
}

async function explain(ours: string, theirs: string) {
  return runCommand('explain', '--request', request, '--ours', ours, '--theirs', theirs);
}

describe('npx stardust-edge explain', () => {
  it('names block, verdicts, rule and input of the first difference', async () => {
    const { code, stdout } = await explain(await serve(changed), await serve(right));
    expect(code).toBe(1);
    expect(stdout).toContain(`at place ${included} of the white-flag order`);
    expect(stdout).toContain(`Block ${right.blocks[included]!.blockId}: the verdicts differ`);
    expect(stdout).toMatch(/Ours: conflicting, reason 1: an input was spent .* \(L-4\)\./);
    expect(stdout).toContain('Input 0 decided: output 0xaa, which block 0xbb spent before.');
    expect(stdout).toContain('Theirs: included.');
  });

  it('takes a saved answer, and a password in the URL', async () => {
    const saved = join(folder, 'saved.json');
    writeFileSync(saved, JSON.stringify(changed));
    const basic = `Basic ${Buffer.from('user:a b').toString('base64')}`;
    const url = (await serve(right, basic)).replace('http://', 'http://user:a%20b@');
    const { code, stdout, stderr } = await explain(url, saved);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout).toMatch(/Theirs: conflicting, reason 1.*L-4/);
  });

  it.runIf(process.env.SLOW)(
    'asks a HORNET that has applied the milestone about each block',
    async () => {
      await using double = await NodeDouble.start(network, { confirmed: 60 });
      const same = await explain(await serve(right), double.url);
      expect({ code: same.code, stderr: same.stderr }).toEqual({ code: 0, stderr: '' });
      const other = await explain(await serve(changed), double.url);
      expect(other.code).toBe(1);
      expect(other.stdout).toContain(
        `Block ${right.blocks[included]!.blockId}: the verdicts differ`,
      );
      const [spoilt, judged] = [...right.blocks.entries()].find(
        ([, block]) => block.ledgerInclusionState === 'conflicting',
      )!;
      const { conflictReason, ...rest } = judged as typeof judged & {
        conflictReason: ConflictReason;
      };
      const applied = { ...rest, ledgerInclusionState: 'included' as const };
      const told = await explain(
        await serve({ ...right, blocks: right.blocks.with(spoilt, applied) }),
        double.url,
      );
      expect(told.stdout).toContain('Ours: included.');
      expect(told.stdout).toContain(
        `Theirs: conflicting, reason ${conflictReason}: ${describeReason(conflictReason)} (${rulesOf(conflictReason)}).`,
      );
      const fewer = { ...right, blocks: right.blocks.toSpliced(1, 1) };
      const missing = await explain(await serve(fewer), double.url);
      expect(missing.stdout).toContain('at place 1 of the white-flag order');
      const [last] = right.blocks.slice(-1);
      const longer = {
        ...right,
        blocks: [...right.blocks, { ...last!, blockId: `0x${'33'.repeat(32)}` }],
      };
      const extra = await explain(await serve(longer), double.url);
      expect(extra.stdout).toContain('theirs none, or a block that ours does not reference');
      const root = { inclusionMerkleRoot: `0x${'22'.repeat(32)}` };
      const first = { ...right, ...root, blocks: right.blocks.slice(0, -1) };
      const more = await explain(await serve(first), double.url);
      expect(more.stdout).toContain('theirs has more blocks (E.1)');
      expect(more.stdout).not.toContain('Theirs contradicts itself');
    },
  );

  it.each(['http', 'HTTP'])(
    'says so where a HORNET has not applied the milestone, at %s',
    async (scheme) => {
      await using double = await NodeDouble.start(network, { confirmed: 40 });
      const theirs = double.url.replace('http://', `${scheme}://anna:secret@`);
      const { code, stdout, stderr } = await explain(await serve(right), theirs);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toContain(`${double.url} is a HORNET at milestone 40`);
    },
  );

  it('repeats no password of a URL where a file should be', async () => {
    const url = 'http://anna:secret@node.example';
    const { code, stderr } = await runCommand(
      ...(['explain', '--request', url, '--ours', url, '--theirs', url] as const),
    );
    expect(code).toBe(2);
    expect(stderr).not.toContain('secret');
  });

  it('says what is wrong with an answer', async () => {
    const file = join(folder, 'other.json');
    writeFileSync(file, '{"index":1}');
    const { code, stderr } = await explain(await serve(right), file);
    expect(code).toBe(1);
    expect(stderr).toContain('other.json is no explanation: ');
    const refused = await explain(await serve(right, 'Basic x'), file);
    expect(refused.stderr).toContain('status 401');
  });
});

describe('differences', () => {
  const lines = (ours: typeof right, theirs: typeof right) =>
    compareExplanations(ours, theirs).lines.join('\n');

  it('of verdicts, by an output', () => {
    const output = {
      ...changed,
      blocks: changed.blocks.with(included, {
        ...right.blocks[included]!,
        ...{
          ledgerInclusionState: 'conflicting' as const,
          conflictReason: 11,
          rule: 'S3',
          decidingOutput: { output: 2, outputId: '0xcc' },
        },
      }),
    };
    expect(lines(right, output)).toContain(
      'Theirs: conflicting, reason 11 (S3).\n  Output 2 decided: 0xcc.',
    );
  });

  it('of the roots alone', () => {
    const other = { ...right, inclusionMerkleRoot: `0x${'22'.repeat(32)}` };
    expect(compareExplanations(right, other).same).toBe(false);
    expect(lines(right, other)).toContain('one of them hashes wrongly');
  });
});
