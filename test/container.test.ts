/**
 * The image and what runs beside it (docs/container.md), as far as files tell: pinned images,
 * settings and metrics that exist, the health check.
 */
import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import * as v from 'valibot';
import { expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { PROJECT } from '../cli/lib/project.ts';
import { limitConnections } from '../cli/serve/file-limit.ts';
import { countUpstream, createFollowerCounts } from '../src/follower/follower-counts.ts';
import { VAR_NAMES } from '../src/settings.ts';
import { checkMetrics } from './support/http/check-metrics.ts';
import { fetchFrom, status } from './support/http/stub-node.ts';
import { hasTool } from './support/tools.ts';

const FOLDER = join(PROJECT, 'container');

const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8');
const readYaml = <T>(name: string, schema: v.GenericSchema<unknown, T>): T =>
  v.parse(schema, parse(read(name), { strict: true }));

const compose = readYaml(
  'compose.yml',
  v.looseObject({
    services: v.record(
      v.string(),
      v.looseObject({
        image: v.string(),
        logging: v.object({
          driver: v.literal('json-file'),
          options: v.object({ 'max-size': v.string(), 'max-file': v.string() }),
        }),
        environment: v.optional(v.record(v.string(), v.string()), {}),
        volumes: v.optional(v.array(v.string()), []),
      }),
    ),
    volumes: v.record(v.string(), v.null()),
  }),
);
const dockerfile = read('Dockerfile');
const WORKFLOWS = join(PROJECT, '.github/workflows');
const workflows = readdirSync(WORKFLOWS).map((name) => readFileSync(join(WORKFLOWS, name), 'utf8'));

it('every image has a version, and a digest where one is known', () => {
  const images = [
    ...Object.values(compose.services).map(({ image }) => image),
    ...Array.from(dockerfile.matchAll(/^FROM (\S+)/gm), ([, image]) => image!),
    ...workflows.flatMap((text) =>
      Array.from(text.matchAll(/^ +container: (\S+)/gm), ([, image]) => image!),
    ),
  ];
  expect(images.length).toBeGreaterThan(11);
  for (const image of images) expect(image).toMatch(/:(?:v?\d+\.\d+|bookworm-\d{8}@)/);
  // of HORNET's images no digest is known here, but which release each is; ours is built
  for (const image of images)
    if (image.startsWith('iotaledger/')) expect(image).toMatch(/:\d+\.\d+\.\d+$/);
  const others = images.filter((image) => !/^(?:iotaledger|stardust-edge-node)\b/.test(image));
  for (const image of others) expect(image).toMatch(/@sha256:[0-9a-f]{64}$/);
  const { version } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'));
  expect(compose.services['edge-node']!.image).toBe(`stardust-edge-node:${version}`);
});

it('what is mounted is here, is a volume, or is what docs/container.md says to make', () => {
  const made = readFileSync(join(PROJECT, 'docs/container.md'), 'utf8');
  for (const { volumes } of Object.values(compose.services)) {
    for (const [source] of volumes.map((volume) => volume.split(':'))) {
      const name = source!.replace('./', '');
      const isHere = existsSync(join(FOLDER, name)) || name in compose.volumes;
      expect(isHere || made.includes(`container/${name.split('/')[0]}/`), source).toBe(true);
    }
  }
});

it('the proxy starts again with the edge node, whose address it looks up once', () => {
  const depends_on = { 'edge-node': { condition: 'service_started', restart: true } };
  expect(compose.services.proxy).toMatchObject({ depends_on });
});

it('settings of the edge node exist', () => {
  const names = Object.keys(compose.services['edge-node']!.environment);
  expect(names.length).toBeGreaterThan(3);
  for (const name of names) expect(VAR_NAMES).toContain(name);
});

const METRIC = /\bstardust_\w+/g;

/** Names of all metrics, of a node that follows. */
async function metricNames(): Promise<Set<string>> {
  const counts = createFollowerCounts(0);
  countUpstream(counts, 0, 'a', {
    confirmed: 1,
    latest: { index: 1, timestamp: 0, milestoneId: '' },
  });
  const fetch = fetchFrom({
    node: {
      readStatus: async () => ({
        ...status,
        upstream: { index: 1, timestamp: 0, milestoneId: '' },
        blocks: { by: 'feed', newest: 1 },
      }),
      readFollowerCounts: async () => counts,
    },
    settings: { publicRoutes: ['*', '/metrics'], oneIsolate: true },
  });
  await fetch('/health');
  const samples = checkMetrics(await (await fetch('/metrics')).text());
  return new Set(Array.from(samples.keys(), (series) => series.split('{')[0]!));
}

it('alerts and the dashboard name only metrics that there are', async () => {
  const known = await metricNames();
  const { groups } = readYaml(
    'alerts.yml',
    v.object({
      groups: v.array(
        v.object({
          name: v.string(),
          rules: v.array(v.looseObject({ alert: v.string(), expr: v.string() })),
        }),
      ),
    }),
  );
  const { panels } = v.parse(
    v.looseObject({
      panels: v.array(v.looseObject({ targets: v.array(v.looseObject({ expr: v.string() })) })),
    }),
    JSON.parse(read('grafana/edge-node.json')),
  );
  const expressions = [
    ...groups.flatMap(({ rules }) => rules),
    ...panels.flatMap(({ targets }) => targets),
  ].flatMap(({ expr }) => expr.match(METRIC) ?? []);
  expect(new Set(expressions).size).toBeGreaterThan(12);
  expect(expressions.filter((name) => !known.has(name))).toEqual([]);
  // docs/operations.md says of each what to do
  const operations = readFileSync(join(PROJECT, 'docs/operations.md'), 'utf8');
  const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
  expect(alerts.filter((alert) => !operations.includes(`\`${alert}\``))).toEqual([]);
});

it('Prometheus reads the rules, and the services that there are', () => {
  const { rule_files, scrape_configs } = readYaml(
    'prometheus.yml',
    v.looseObject({
      rule_files: v.array(v.string()),
      scrape_configs: v.array(
        v.looseObject({ static_configs: v.array(v.object({ targets: v.array(v.string()) })) }),
      ),
    }),
  );
  expect(rule_files).toEqual(['alerts.yml']);
  for (const { targets } of scrape_configs.flatMap(({ static_configs }) => static_configs))
    for (const target of targets) expect(compose.services).toHaveProperty(target.split(':')[0]!);
  if (hasTool('promtool')) execFileSync('promtool', ['check', 'rules', join(FOLDER, 'alerts.yml')]);
});

it('each alert fires when it should, and not before', () => {
  const tests = readFileSync(join(import.meta.dirname, 'alerts.yml'), 'utf8');
  const alerts = Array.from(read('alerts.yml').matchAll(/- alert: (\w+)/g), ([, name]) => name);
  expect(alerts.length).toBeGreaterThan(7);
  for (const name of alerts) {
    expect(tests).toContain(`alertname: ${name}, exp_alerts: [] }`);
    expect(tests).toContain(`alertname: ${name}\n        exp_alerts:\n          - exp_labels`);
  }
  if (hasTool('promtool'))
    execFileSync('promtool', ['test', 'rules', 'alerts.yml'], { cwd: import.meta.dirname });
});

it('nginx limits both routes of the white flag, and counts clients as the Worker does', () => {
  const conf = read('nginx.conf');
  for (const path of ['/api/core/v2/whiteflag', '/api/edge/v1/whiteflag'])
    expect(conf).toMatch(new RegExp(`location = ${path} \\{(?:\\s+limit_req [^;]*;){2}`));
  const keys = Array.from(conf.matchAll(/limit_\w+_zone (\S+) zone=(\w+)/g), ([, ...key]) => key);
  for (const [key, zone] of keys) expect(key).toBe(zone!.endsWith('_site') ? '$site' : '$client');
  const rates = Array.from(conf.matchAll(/rate=(\d+)r/g), ([, rate]) => Number(rate));
  expect(rates).toEqual([2, 16 * 2, 1, 16]);
});

it('passwords have no default, and the edge node may open as many files as it needs', () => {
  const text = read('compose.yml');
  expect(text).toContain('GF_SECURITY_ADMIN_PASSWORD: ${GRAFANA_PASSWORD:?');
  const [ulimit] = text.slice(text.indexOf('edge-node:')).match(/(?<=nofile: )\d+/) ?? [];
  expect(limitConnections(Number(ulimit))).toEqual({ maxConnections: 20_000, note: undefined });
  const unit = readFileSync(join(PROJECT, 'systemd/stardust-edge-node@.service'), 'utf8');
  expect(unit).toContain(`LimitNOFILE=${ulimit}\n`);
});

it('Grafana finds its files', () => {
  const { datasources } = readYaml(
    'grafana/datasources.yml',
    v.looseObject({ datasources: v.array(v.looseObject({ uid: v.string() })) }),
  );
  expect(read('grafana/edge-node.json')).toContain(`"uid": "${datasources[0]!.uid}"`);
  const { providers } = readYaml(
    'grafana/dashboards.yml',
    v.looseObject({
      providers: v.array(v.looseObject({ options: v.object({ path: v.string() }) })),
    }),
  );
  const { volumes } = compose.services.grafana!;
  expect(volumes.some((volume) => volume.includes(`:${providers[0]!.options.path}/`))).toBe(true);
});

it.each([
  [200, 0],
  [401, 0],
  [500, 1],
  [503, 1],
])('the health check of a node that answers %i exits with %i', async (answered, code) => {
  const server = createServer((_, response) => response.writeHead(answered).end());
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const command = /^HEALTHCHECK .*? CMD (\[[^\]]+\])/ms.exec(dockerfile)![1]!;
  const [, ...args] = JSON.parse(command.replaceAll('\\\n', '').replace('8787', String(port)));
  const child = execFile(process.execPath, args);
  expect((await once(child, 'exit'))[0]).toBe(code);
});
