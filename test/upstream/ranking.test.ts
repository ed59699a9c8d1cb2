import { expect, it } from 'vitest';
import { askInTurn, createRanking } from '../../src/upstream/ask-in-turn.ts';
import { type Upstream, UpstreamFailure } from '../../src/upstream/upstream.ts';

const named = (name: string) => ({ name }) as Upstream;
const upstreams = ['a', 'b', 'c'].map(named);

it('begins with the one that answered where another failed, and five minutes later with the preferred one again', async () => {
  let now = 0;
  const ranking = createRanking(() => now);
  const asked: string[] = [];
  const failing = new Set(['a']);
  const ask = async ({ name }: Upstream) => {
    asked.push(name);
    if (failing.has(name)) throw new UpstreamFailure(name);
    return name;
  };
  const askNow = () => {
    asked.length = 0;
    return askInTurn(upstreams, ask, ranking);
  };
  expect([await askNow(), asked]).toEqual(['b', ['a', 'b']]);
  expect([await askNow(), asked]).toEqual(['b', ['b']]);
  failing.add('b');
  expect([await askNow(), asked]).toEqual(['c', ['b', 'a', 'c']]);
  expect([await askNow(), asked]).toEqual(['c', ['c']]);
  failing.clear();
  now = 300_000;
  expect([await askNow(), asked]).toEqual(['a', ['a']]);
});

it('goes on with the preferred one where another one only has what it lacks', async () => {
  const ranking = createRanking(() => 0);
  const ask = async ({ name }: Upstream) => (name === 'b' ? name : undefined);
  expect(await askInTurn(upstreams, ask, ranking)).toBe('b');
  expect(ranking.order(3)).toEqual([0, 1, 2]);
});
