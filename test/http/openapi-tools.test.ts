/** openapi.json in the eyes of a tool that people use it with. */
import { join } from 'node:path';
import { lint, loadConfig } from '@redocly/openapi-core';
import { expect, it } from 'vitest';

const PROJECT = join(import.meta.dirname, '../..');
const DOCUMENT = join(PROJECT, 'src/http/assets/openapi.json');

it('is valid for Redocly, without warnings', async () => {
  // also reads .redocly.lint-ignore.yaml
  const problems = await lint({ ref: DOCUMENT, config: await loadConfig() });
  const open = problems.filter(({ ignored }) => !ignored);
  expect(open.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
});
