/** Each error class of src is in docs/architecture.md#errors, and nothing else has. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT } from '../cli/lib/project.ts';

const ERROR_CLASS = /^(?:export )?class (\w+) extends (?:\w*Error|SnapshotRefusal)\b/gm;

function errorClasses(): string[] {
  const src = join(PROJECT, 'src');
  return readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => [...readFileSync(join(src, name), 'utf8').matchAll(ERROR_CLASS)])
    .map(([, name]) => name!);
}

it('has each error class', () => {
  const text = readFileSync(join(PROJECT, 'docs/architecture.md'), 'utf8');
  const section = text.split('\n## ').find((each) => each.startsWith('Errors\n'))!;
  const rows = [...section.matchAll(/(?:^- |\. )`([A-Z]\w+)`/gm)].map(([, name]) => name!);
  expect(rows.toSorted()).toEqual(errorClasses().toSorted());
});
