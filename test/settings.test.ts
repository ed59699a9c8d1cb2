import { describe, expect, it } from 'vitest';
import { readSettings } from '../src/settings.ts';

const bindings = { LEDGER: {}, NFT_INDEX: {}, FOLLOWER: {}, ASSETS: {}, VERSION: {} };
const keyA = 'ab'.repeat(32);
const keyB = 'cd'.repeat(32);

function problemsOf(vars: Record<string, unknown>): string[] {
  const result = readSettings({ ...bindings, ...vars });
  return result.ok ? [] : result.problems;
}

function settingsOf(vars: Record<string, unknown>) {
  const result = readSettings({ ...bindings, ...vars });
  if (!result.ok) throw new Error(result.problems.join('; '));
  return result.settings;
}

describe('settings', () => {
  it('have defaults, and empty is as good as absent', () => {
    const defaults = {
      upstreams: [],
      milestoneKeys: undefined,
      upstreamToken: undefined,
      publicRoutes: [],
      protectedRoutes: [],
      apiUser: undefined,
      apiToken: undefined,
      finalMilestone: undefined,
      keepsHistory: false,
      indexAll: false,
      retentionMilestones: 17_280,
      serverTiming: false,
    };
    expect(settingsOf({})).toMatchObject(defaults);
    expect(
      settingsOf({
        UPSTREAM_URL: '',
        MILESTONE_PUBLIC_KEYS: ' ',
        MILESTONE_THRESHOLD: '',
        PUBLIC_ROUTES: '',
        PROTECTED_ROUTES: ' ',
        API_USER: '',
        API_PASSWORD: '',
        API_TOKEN: '',
        UPSTREAM_TOKEN: '',
        FINAL_MILESTONE: '',
        HISTORY: '',
        INDEX: '',
        RETENTION_MILESTONES: '',
        SERVER_TIMING: '',
      }),
    ).toMatchObject(defaults);
  });

  it('know the version where it has an ID', () => {
    expect(settingsOf({ VERSION: { id: 'v1', tag: '', timestamp: '' } }).versionId).toBe('v1');
    expect(settingsOf({ VERSION: { id: '', tag: '', timestamp: '' } }).versionId).toBeUndefined();
    expect(settingsOf({}).versionId).toBeUndefined();
  });

  it('read upstreams without their last slash', () => {
    expect(
      settingsOf({ UPSTREAM_URL: 'http://127.0.0.1:14265/, https://node.example/base' }).upstreams,
    ).toEqual(['http://127.0.0.1:14265', 'https://node.example/base']);
  });

  it('read keys with and without ranges, and the threshold', () => {
    const { milestoneKeys } = settingsOf({
      MILESTONE_PUBLIC_KEYS: `${keyA}, 0x${keyB.toUpperCase()}@10-20`,
      MILESTONE_THRESHOLD: 2,
    });
    expect(milestoneKeys).toEqual({
      threshold: 2,
      keys: [
        { publicKey: Uint8Array.fromHex(keyA), first: 0, last: 0 },
        { publicKey: Uint8Array.fromHex(keyB), first: 10, last: 20 },
      ],
    });
  });

  it('read who may ask, to the letter', () => {
    expect(
      settingsOf({
        PROTECTED_ROUTES: '*/whiteflag, /api/indexer/*',
        API_USER: ' a b',
        API_PASSWORD: 'c:ö ',
        API_TOKEN: 'x.y==',
        UPSTREAM_TOKEN: 'z',
      }),
    ).toMatchObject({
      protectedRoutes: ['*/whiteflag', '/api/indexer/*'],
      apiUser: { name: ' a b', password: 'c:ö ' },
      apiToken: 'x.y==',
      upstreamToken: 'z',
    });
  });

  it('refuse protected routes that are no patterns', () => {
    expect(problemsOf({ PROTECTED_ROUTES: 'api/*', API_TOKEN: 'secret' })).toEqual([
      'PROTECTED_ROUTES must be patterns of paths that begin with / or *, separated by commas',
    ]);
  });

  it.each([
    [{ API_USER: 'a' }, 'API_PASSWORD'],
    [{ API_PASSWORD: 'secret' }, 'API_PASSWORD'],
    [{ PROTECTED_ROUTES: '*' }, 'PROTECTED_ROUTES'],
    [{ PROTECTED_ROUTES: '*', UPSTREAM_TOKEN: 'secret' }, 'PROTECTED_ROUTES'],
  ])('refuse %j, which would protect nothing', (vars, name) => {
    const problems = problemsOf(vars);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(new RegExp(`^${name} must be `));
    expect(problems[0]).not.toContain('secret');
  });

  it('read the milestone at which a network ended', () => {
    expect(settingsOf({ FINAL_MILESTONE: '17011901' }).finalMilestone).toBe(17_011_901);
    expect(settingsOf({ INDEX: 'all' }).indexAll).toBe(true);
    const token = {
      ...{ name: 'Mine', tickerSymbol: 'MYC', unit: 'MYC', subunit: 'cent' },
      ...{ decimals: 2, useMetricPrefix: false },
    };
    expect(settingsOf({ BASE_TOKEN: JSON.stringify(token) }).baseToken).toEqual(token);
    expect(settingsOf({}).baseToken).toBeNull();
  });

  it('read how much of the changes of NFTs is kept', () => {
    expect(settingsOf({ HISTORY: 'all' }).keepsHistory).toBe(true);
    expect(settingsOf({ HISTORY: 'retention' }).keepsHistory).toBe(false);
    expect(problemsOf({ HISTORY: 'none' })).toEqual(['HISTORY must be retention, all or empty']);
  });

  it('have no keys unless both keys and threshold are set', () => {
    expect(settingsOf({ MILESTONE_PUBLIC_KEYS: keyA }).milestoneKeys).toBeUndefined();
    expect(settingsOf({ MILESTONE_THRESHOLD: '1' }).milestoneKeys).toBeUndefined();
  });

  it.each([
    ['UPSTREAM_URL', 'ftp://node'],
    ['UPSTREAM_URL', 'http://user:secret@node'],
    ['UPSTREAM_URL', 'http://node/?x'],
    ['UPSTREAM_URL', 'http://node/?'],
    ['UPSTREAM_URL', 'http://node/#'],
    ['UPSTREAM_URL', 'node:14265'],
    ['UPSTREAM_URL', 'http://node:14265, http://node:14265/'],
    ['MILESTONE_PUBLIC_KEYS', keyA.slice(1)],
    ['MILESTONE_PUBLIC_KEYS', `${keyA}@5`],
    ['MILESTONE_PUBLIC_KEYS', `${keyA}@9-5`],
    ['MILESTONE_PUBLIC_KEYS', `${keyA}@0-4294967296`],
    ['MILESTONE_THRESHOLD', '0'],
    ['MILESTONE_THRESHOLD', 'two'],
    ['UPSTREAM_URL', ','],
    ['PUBLIC_ROUTES', ' , '],
    ['PUBLIC_ROUTES', 'api/*'],
    ['PUBLIC_ROUTES', '/api /health'],
    ['API_USER', 'a:secret'],
    ['API_PASSWORD', 'secret\n'],
    ['API_TOKEN', 'se cret'],
    ['API_TOKEN', 'secret=x'],
    ['UPSTREAM_TOKEN', 'secret\n'],
    ['HISTORY', 'none'],
    ['INDEX', 'nft'],
    ['BASE_TOKEN', 'MYC'],
    ['BASE_TOKEN', '{"name":"Mine"}'],
    ['FINAL_MILESTONE', '0'],
    ['FINAL_MILESTONE', 'last'],
    ['FINAL_MILESTONE', '4294967296'],
    ['RETENTION_MILESTONES', '34'],
    ['RETENTION_MILESTONES', '1e9'],
    ['RETENTION_MILESTONES', '4294967296'],
    ['SERVER_TIMING', 'yes'],
    ['LEDGER', undefined],
    ['NFT_INDEX', 'text'],
    ['FOLLOWER', null],
  ])('%s = %j is refused with a sentence that names it', (name, value) => {
    const problems = problemsOf({ [name]: value });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(new RegExp(`^${name} must be `));
    expect(problems[0]).not.toContain('secret');
  });

  it('refuse a threshold that the keys cannot meet', () => {
    const [problem] = problemsOf({
      MILESTONE_PUBLIC_KEYS: `${keyA}@1-5,${keyA}@6-9`,
      MILESTONE_THRESHOLD: '2',
    });
    expect(problem).toMatch(/^MILESTONE_THRESHOLD must not be greater/);
  });

  it('name a binding that is not there', () => {
    expect(readSettings({ NFT_INDEX: {}, FOLLOWER: {}, ASSETS: {}, VERSION: {} })).toEqual({
      ok: false,
      problems: ['LEDGER must be bound'],
    });
  });

  it('name every fault at once', () => {
    expect(problemsOf({ UPSTREAM_URL: 'x', SERVER_TIMING: 'x' })).toHaveLength(2);
  });
});
