/**
 * Several upstreams, of which the first good one is asked first (src/upstream/ask-in-turn.ts,
 * src/upstream/ask-in-turn.ts).
 */
import { afterAll, beforeEach, expect, it, vi } from 'vitest';
import { askInTurn, createRanking } from '../../src/upstream/ask-in-turn.ts';
import { type Upstream, UpstreamFailure } from '../../src/upstream/upstream.ts';
import { atFreshTime } from '../support/fresh-lines.ts';

const named = (name: string) => ({ name }) as Upstream;
const upstreams = ['a', 'b', 'c'].map(named);

const warn = vi.spyOn(console, 'warn');
beforeEach(() => warn.mockClear());
afterAll(() => warn.mockRestore());

/** What the log says of failures. */
const logged = () => warn.mock.calls.map(([line]) => JSON.parse(String(line)));

it('begins with the one that answered where another failed, for five minutes', async () => {
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

it('returns to one that fails at each return after twice the time, up to 80 minutes', () => {
  let minute = 0;
  const ranking = createRanking(() => 60_000 * minute);
  const returns: number[] = [];
  for (; minute < 400; minute++) {
    if (ranking.order(2)[0] === 0) returns.push(minute);
    // queries that fail at the same time count once
    for (const place of [1, 1]) ranking.beginWith(place);
  }
  expect(returns).toEqual([0, 5, 15, 35, 75, 155, 235, 315, 395]);
  minute = 500;
  expect(ranking.order(2)).toEqual([0, 1]);
  minute = 505;
  ranking.beginWith(1);
  minute = 510;
  expect(ranking.order(2)).toEqual([0, 1]);
});

it('goes on with the preferred one where another one only has what it lacks', async () => {
  const ranking = createRanking(() => 0);
  const ask = async ({ name }: Upstream) => (name === 'b' ? name : undefined);
  expect(await askInTurn(upstreams, ask, ranking)).toBe('b');
  expect(ranking.order(3)).toEqual([0, 1, 2]);
});

it('logs every failure that it does not throw', async () => {
  atFreshTime();
  const ask = (answers: Record<string, string | undefined>) => {
    return askInTurn(upstreams, async ({ name }: Upstream) => {
      if (name in answers) return answers[name];
      throw new UpstreamFailure(`${name} fails`);
    });
  };
  const line = (detail: string) =>
    expect.objectContaining({ level: 'warn', event: 'upstream.failed', detail });
  expect(await ask({ c: 'it' })).toBe('it');
  expect(logged()).toEqual([line('a fails'), line('b fails')]);
  warn.mockClear();
  await expect(ask({ b: undefined })).rejects.toThrow('c fails');
  expect(logged()).toEqual([line('a fails')]);
  warn.mockClear();
  expect(await ask({ a: undefined, b: undefined, c: undefined })).toBeUndefined();
  expect(logged()).toEqual([]);
});
