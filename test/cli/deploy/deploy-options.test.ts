/** What `stardust-edge deploy` makes of flags, files and replies, before it does anything. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Found, NOTHING_DEPLOYED } from '../../../cli/deploy/find-deployed.ts';
import { describeAccess } from '../../../cli/deploy/public-routes.ts';
import { type Flags, resolveOptions } from '../../../cli/deploy/resolve-options.ts';
import { findFinalNetwork, readSigners } from '../../../cli/lib/network.ts';
import type { Ask } from '../../../cli/lib/process/ask.ts';
import { PROJECT } from '../../../cli/lib/project.ts';
import { readRoutePaths } from '../../../cli/lib/unmatched-patterns.ts';
import { readWranglerConfig } from '../../../cli/lib/wrangler/wrangler-config.ts';
import { readNetwork } from '../../../cli/start/sample.ts';
import { matchesAny } from '../../../src/http/access/route-access.ts';
import { KNOWN_NETWORKS } from '../../../src/stardust/verifier/known-networks.ts';
import { FLAGS, nobody } from '../../support/cli/deploy-machine.ts';
import { temporaryFolder } from '../../support/cli/script-process.ts';

const base = temporaryFolder();

describe('options', () => {
  const config = readWranglerConfig();
  const resolve = (flags: Flags, ask: Ask = nobody, found: Found = NOTHING_DEPLOYED) =>
    resolveOptions(flags, config, found, ask);

  it('are asked for where no flag gives them', async () => {
    const asked: string[] = [];
    const replies = ['shimmer', 'https://a.example,https://b.example', FLAGS.full!, ''];
    const options = await resolve({}, async (_question, flag) => {
      asked.push(flag);
      return replies[asked.length - 1]!;
    });
    expect(asked).toEqual(['--network', '--upstream', 'FILE', '--delta']);
    expect(options).toMatchObject({
      vars: { UPSTREAM_URL: replies[1], MILESTONE_THRESHOLD: '7' },
      snapshot: { full: FLAGS.full, delta: undefined },
    });
  });

  it('are as deployed where no flag gives them, also if they were emptied', async () => {
    const signers = { MILESTONE_PUBLIC_KEYS: 'ab'.repeat(32), MILESTONE_THRESHOLD: '1' };
    const vars = { ...config.vars, ...signers, UPSTREAM_URL: 'https://a.example' };
    const found: Found = {
      ...NOTHING_DEPLOYED,
      hasLedger: true,
      worker: { vars: { ...vars, UPSTREAM_URL: '' }, secrets: [] },
    };
    const options = await resolveOptions({}, { ...config, vars }, found, nobody);
    expect(options.vars.UPSTREAM_URL).toBe('');
  });

  it.each<[string, Flags, string]>([
    ['a network that is not known', { ...FLAGS, network: 'iota' }, 'iota is neither'],
    ['a file without keys', { ...FLAGS, network: 'package.json' }, 'package.json: protocol: '],
    ['an upstream that is no URL', { ...FLAGS, upstream: 'hornet' }, 'UPSTREAM_URL must be'],
    [
      'a setting that is not known',
      { ...FLAGS, var: ['RETENTION:1'] },
      '--var RETENTION: the form',
    ],
    [
      'a secret as a setting',
      { ...FLAGS, var: ['API_TOKEN:hunter2'] },
      '--var API_TOKEN: the form',
    ],
    ['a text alone', { ...FLAGS, var: ['hunter2'] }, '--var : the form'],
    ['a setting that is not valid', { ...FLAGS, var: ['SERVER_TIMING:x'] }, 'SERVER_TIMING must'],
    ['a snapshot that is not there', { ...FLAGS, full: 'none.bin' }, 'none.bin: there is no'],
    ['a folder for a snapshot', { ...FLAGS, full: 'docs' }, 'docs: there is no such file'],
    ['a folder of secrets', { ...FLAGS, secrets: 'docs' }, 'there is no such file'],
    ['a pattern without a route', { ...FLAGS, var: ['PUBLIC_ROUTES:/nosuch/*'] }, 'no route'],
    ['protected routes without a secret', { ...FLAGS, var: ['PROTECTED_ROUTES:*'] }, 'PROTECTED_R'],
    ['no threshold', { ...FLAGS, var: ['MILESTONE_THRESHOLD:'] }, 'must both be set'],
    ['a secrets file that is not there', { ...FLAGS, secrets: 'none.json' }, 'there is no such'],
    ['a file of other secrets', { ...FLAGS, secrets: 'package.json' }, 'invalid: it must be'],
    ['keys beside a network', { ...FLAGS, keys: 'ab' }, '--network names the keys'],
    ['a domain that is a URL', { ...FLAGS, domain: 'https://edge.example' }, '--domain must be'],
    ['a URL that is none', { ...FLAGS, url: 'edge.example' }, '--url must be a URL'],
    ['a URL of another scheme', { ...FLAGS, url: 'localhost:8787' }, '--url must be a URL'],
    ['nobody to ask', { ...FLAGS, network: undefined }, 'nobody can be asked'],
  ])('are refused before anything is done: %s', async (_what, flags, message) => {
    await expect(resolve(flags)).rejects.toThrow(message);
  });

  it('may be keys in place of a network', async () => {
    const keys = `${'ab'.repeat(32)},${'cd'.repeat(32)}`;
    const { vars } = await resolve({ ...FLAGS, network: undefined, keys });
    expect(vars).toMatchObject({ MILESTONE_PUBLIC_KEYS: keys, MILESTONE_THRESHOLD: '2' });
  });

  it('of a network that ended name its last ledger, and nothing to follow', async () => {
    const final = findFinalNetwork('iota-final')!;
    const asked: string[] = [];
    const ask: Ask = async (question) => {
      asked.push(question);
      return FLAGS.full!;
    };
    const { vars, snapshot } = await resolve({ network: 'iota-final' }, ask);
    expect(asked).toEqual([`File of the full snapshot, which was published as ${final.url}?`]);
    const file = { full: FLAGS.full, delta: undefined, sha256: final.sha256 };
    expect(snapshot).toEqual({ ...file, network: 'iota-final' });
    expect(vars).toMatchObject({ FINAL_MILESTONE: '17011901', UPSTREAM_URL: '' });
    const known = KNOWN_NETWORKS.find(({ networkName }) => networkName === 'iota-mainnet')!;
    expect(vars.MILESTONE_PUBLIC_KEYS).toBe(
      known.keys.map(({ publicKey }) => publicKey.toHex()).join(),
    );
    expect(vars.MILESTONE_THRESHOLD).toBe(String(known.threshold));
    await expect(
      resolve({ network: 'iota-final', full: FLAGS.full, delta: FLAGS.full }),
    ).rejects.toThrow('one file, without --delta');
  });

  it('may rely on secrets that are deployed', async () => {
    const worker = { vars: {}, secrets: ['API_TOKEN'] };
    const flags = { ...FLAGS, var: ['PROTECTED_ROUTES:*'] };
    await expect(resolve(flags, nobody, { ...NOTHING_DEPLOYED, worker })).resolves.toBeDefined();
  });
});

describe('the routes that a deployment opens', () => {
  const known = readWranglerConfig();
  const accessOf = async (flags: Flags, found: Found = NOTHING_DEPLOYED) => {
    const { vars } = await resolveOptions({ ...FLAGS, ...flags }, known, found, nobody);
    return [vars.PUBLIC_ROUTES!, vars.PROTECTED_ROUTES!] as const;
  };
  const paths = readRoutePaths(join(PROJECT, 'src/http/openapi/openapi.json'));
  const ROOTS = ['/api/core/v2/whiteflag', '/api/edge/v1/whiteflag'];
  const OPEN_ROUTES = 'OPEN of cli/deploy/public-routes.ts, or closed on purpose';

  it('are all but roots of proposals and metrics: a new route must be decided', async () => {
    const [open, asked] = await accessOf({});
    const closed = paths.filter((path) => !matchesAny(path, open.split(',')));
    expect(closed.sort(), OPEN_ROUTES).toEqual([...ROOTS, '/metrics'].sort());
    expect(asked).toBe('');
  });

  it('have the roots for coordinators, once there is a password or a token', async () => {
    const secrets = join(base, 'token.json');
    writeFileSync(secrets, '{"API_TOKEN":"hidden"}');
    const [closed] = await accessOf({});
    const vars = { PUBLIC_ROUTES: closed };
    const later = { ...NOTHING_DEPLOYED, worker: { vars, secrets: [] } };
    for (const access of [await accessOf({ secrets }), await accessOf({ secrets }, later)]) {
      const [open, asked] = access.map((each) => each.split(','));
      expect(
        paths.filter((path) => !matchesAny(path, open!)),
        OPEN_ROUTES,
      ).toEqual(['/metrics']);
      expect(paths.filter((path) => matchesAny(path, asked!)).sort()).toEqual(ROOTS);
    }
  });

  it('keep the roots closed where the operator protects other routes', async () => {
    const secrets = join(base, 'other.json');
    writeFileSync(secrets, '{"API_TOKEN":"hidden"}');
    const [open] = await accessOf({ secrets, var: ['PROTECTED_ROUTES:/metrics'] });
    expect(ROOTS.filter((root) => matchesAny(root, open.split(',')))).toEqual([]);
    const said = describeAccess({ PUBLIC_ROUTES: open, PROTECTED_ROUTES: '/metrics' }).join();
    expect(said).toContain('name them in PUBLIC_ROUTES');
    expect(said).not.toContain('--secrets');
    const [closed] = await accessOf({});
    const unprotected = { PUBLIC_ROUTES: closed, PROTECTED_ROUTES: '' };
    expect(describeAccess(unprotected).join()).toContain('--secrets');
    const [one] = await accessOf({ secrets, var: [`PROTECTED_ROUTES:${ROOTS[0]}`] });
    expect(ROOTS.filter((root) => matchesAny(root, one.split(',')))).toEqual([ROOTS[0]]);
    const [all] = await accessOf({ secrets, var: ['PROTECTED_ROUTES:*/whiteflag*'] });
    expect(ROOTS.filter((root) => !matchesAny(root, all.split(',')))).toEqual([]);
  });

  it('are those that the operator names, or that are deployed', async () => {
    expect(await accessOf({ var: ['PUBLIC_ROUTES:*'] })).toEqual(['*', '']);
    const worker = { vars: { PUBLIC_ROUTES: '' }, secrets: [] };
    expect(await accessOf({}, { ...NOTHING_DEPLOYED, worker })).toEqual(['', '']);
  });

  it('are not all of them where a secret was set before the first deployment', async () => {
    const worker = { vars: {}, secrets: ['API_TOKEN'] };
    const [open, asked] = await accessOf({}, { ...NOTHING_DEPLOYED, worker });
    expect(matchesAny('/metrics', open.split(','))).toBe(false);
    expect(asked).toBe(ROOTS.join());
    const unasked = accessOf({ upstream: undefined }, { ...NOTHING_DEPLOYED, worker });
    await expect(unasked).rejects.toThrow('nobody can be asked');
  });
});

describe('readSigners', () => {
  it('knows the keys that signed milestones of Shimmer', () => {
    const { milestonePublicKeys, milestoneThreshold } = readNetwork();
    expect(readSigners('shimmer')).toEqual({
      MILESTONE_PUBLIC_KEYS: milestonePublicKeys.map((key) => key.slice(2)).join(),
      MILESTONE_THRESHOLD: String(milestoneThreshold),
    });
  });

  it("reads the ranges of HORNET's file", () => {
    const path = join(base, 'ranges.json');
    const [one, two] = ['ab'.repeat(32), 'cd'.repeat(32)];
    const publicKeyRanges = [
      { key: one, start: 0, end: 0 },
      { key: two, start: 5, end: 90 },
      { key: two, start: 100, end: 0 },
    ];
    writeFileSync(
      path,
      JSON.stringify({
        ...{ app: {} },
        protocol: { milestonePublicKeyCount: 2, publicKeyRanges, baseToken: { name: 'Mine' } },
      }),
    );
    expect(readSigners(path)).toEqual({
      // what HORNET takes for the rest
      BASE_TOKEN:
        '{"name":"Mine","tickerSymbol":"IOTA","unit":"IOTA","subunit":"micro","decimals":6,' +
        '"useMetricPrefix":false}',
      MILESTONE_PUBLIC_KEYS: `${one},${two}@5-90,${two}@100-0`,
      MILESTONE_THRESHOLD: '2',
    });
  });
});
