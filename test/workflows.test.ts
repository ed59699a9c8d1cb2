/** .github/workflows: what they run is what was looked at, and a release can be traced to it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { PROJECT } from '../cli/lib/project.ts';

const FOLDER = join(PROJECT, '.github/workflows');
const workflows = readdirSync(FOLDER).map((name) => readFileSync(join(FOLDER, name), 'utf8'));

it('every action is named by its commit, with its version beside it', () => {
  const lines = workflows.flatMap((text) => text.match(/^.*\buses: .*$/gm) ?? []);
  const actions = lines.filter((line) => !line.includes('uses: ./'));
  expect(actions.length).toBeGreaterThan(4);
  for (const line of actions)
    expect(line).toMatch(/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});

it('one release publishes the package of the protocol, with its provenance', () => {
  const Job = v.looseObject({
    permissions: v.optional(v.record(v.string(), v.string())),
    steps: v.optional(v.array(v.looseObject({ run: v.optional(v.string(), '') })), []),
  });
  const jobs = workflows.flatMap((text) =>
    Object.values(v.parse(v.looseObject({ jobs: v.record(v.string(), Job) }), parse(text)).jobs),
  );
  const publishing = jobs.filter(({ steps }) =>
    steps.some(({ run }) => run.includes('npm publish')),
  );
  expect(publishing).toHaveLength(1);
  expect(publishing[0]!.permissions).toEqual({ contents: 'read', 'id-token': 'write' });
  expect(publishing[0]!.steps.map(({ run }) => run).join('\n')).toContain(
    'npm publish --provenance ',
  );
  expect(readFileSync(join(PROJECT, '.ci/run'), 'utf8')).toContain('npm publish --dry-run ');
});
