/** What the modules of src/modules/list.ts add by name: of two with one name one would be passed over. */
import { expect, it } from 'vitest';
import { listRoutes } from '../../src/http/routes.ts';
import { MODULES } from '../../src/modules/list.ts';

it.each<[string, string[]]>([
  ['a module', MODULES.map(({ name }) => name)],
  ['an operation', [listRoutes([]), ...MODULES.map(({ routes }) => routes)].flatMap(namesOf)],
  ['a route', Object.values(listRoutes(MODULES)).map(({ method, path }) => `${method} ${path}`)],
  ['upkeep', MODULES.flatMap(({ upkeep }) => namesOf(upkeep))],
  [
    'a table of the scrub',
    MODULES.flatMap(({ ledger }) => ledger?.tables ?? []).map(({ name }) => name),
  ],
])('each name of %s is of one alone', (_, names) => {
  expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
});

function namesOf(table: object = {}): string[] {
  return Object.keys(table);
}
