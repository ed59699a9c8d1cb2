/**
 * The upstream nodes that the settings name, ready to be asked. They share one concurrency limit.
 * The token is the first one's: the others never see it.
 */
import type { Settings } from '../settings.ts';
import { createConcurrencyLimit, MAX_CONNECTIONS } from './concurrency-limit.ts';
import { type Patience, restUpstream } from './rest-upstream.ts';
import type { Upstream } from './upstream.ts';

export function openUpstreams(settings: Settings, patience: Patience): Upstream[] {
  const options = {
    ...patience,
    fetch: (...request: Parameters<typeof fetch>) => fetch(...request),
    limit: createConcurrencyLimit(MAX_CONNECTIONS),
  };
  return settings.upstreams.map((url, place) =>
    restUpstream(url, { ...options, token: place === 0 ? settings.upstreamToken : undefined }),
  );
}
