/** GET /api/routes of the core with all modules. */
import { expect, it } from 'vitest';
import type { Settings } from '../../src/settings.ts';
import { fetchFrom } from '../support/http/stub-node.ts';

it('GET /api/routes names the APIs', async () => {
  const response = await fetchFrom()('/api/routes');
  expect(await response.json()).toEqual({
    routes: ['core/v2', 'edge/v1', 'indexer/v1', 'poi/v1'],
    indexed: ['nft'],
  });
  const withEvents = await fetchFrom({ settings: { events: {} as Settings['events'] } })(
    '/api/routes',
  );
  expect(await withEvents.json()).toMatchObject({
    routes: ['core/v2', 'edge/v1', 'indexer/v1', 'mqtt/v1', 'poi/v1'],
  });
});
