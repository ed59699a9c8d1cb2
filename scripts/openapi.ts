/** Writes src/http/openapi.json, which the Worker serves; a test says when it is not up to date. `npm run openapi` */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildDocument } from './openapi/document.ts';

const root = join(import.meta.dirname, '..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
writeFileSync(
  join(root, 'src/http/openapi.json'),
  `${JSON.stringify(buildDocument(version), undefined, 2)}\n`,
);
