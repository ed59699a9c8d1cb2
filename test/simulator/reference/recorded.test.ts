/**
 * Recorded networks of transactions of all kinds, and what HORNET 2.0.1 and iota.go v3.0.0-rc.3
 * said of every block of them (README.md): parsers, IDs, JSON, minimum deposits, order, verdicts,
 * roots, state hashes, proposals.
 */
import { describe, expect, it } from 'vitest';
import { compareAnswers } from './compare-answers.ts';
import { Kinds } from './kinds.ts';
import { compareNode } from './node-answers.ts';
import { RECORDED, readRecorded } from './recorded.ts';

describe.each(Object.keys(RECORDED))('the recorded network "%s"', (name) => {
  const { lines, answers } = readRecorded(name);

  it('is for the codecs what it is for the reference', async () => {
    expect(await compareAnswers(lines, answers)).toEqual([]);
  });

  it('is followed by our node as by the reference', async () => {
    expect(await compareNode(lines, answers)).toEqual([]);
  });

  it('differs in the very lines whose answers are changed', async () => {
    const changed = answers.map((answer) =>
      answer.type === 'block' && answer.valid ? { ...answer, valid: false } : answer,
    );
    const blocks = answers.filter((answer) => answer.type === 'block' && answer.valid);
    expect((await compareAnswers(lines, changed)).length).toBe(blocks.length);
  });
});

it('the recorded networks have all kinds of outputs, conditions, features and verdicts', async () => {
  const kinds = new Kinds();
  for (const name of Object.keys(RECORDED)) {
    const { lines, answers } = readRecorded(name);
    await compareAnswers(lines, answers, kinds);
  }
  const found = (group: string) => [...kinds.counts.get(group)!.keys()].sort();
  expect(found('outputs')).toEqual(['alias', 'basic', 'foundry', 'nft', 'with native tokens']);
  expect(found('unlock conditions')).toHaveLength(7);
  expect(found('features')).toEqual([
    'immutable issuer',
    'immutable metadata',
    'metadata',
    'sender',
    'tag',
  ]);
  expect(found('unlocks')).toHaveLength(4);
  expect(found('milestones')).toEqual(['all', 'with a receipt', 'with parameters']);
  const conflicts = Array.from({ length: 12 }, (_, i) => `conflict ${i + 1}`);
  expect(found('verdicts')).toEqual(
    expect.arrayContaining(['included', 'noTransaction', ...conflicts]),
  );
});
