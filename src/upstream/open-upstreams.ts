/**
 * The upstream nodes that the settings name, ready to be asked. They share one limit of concurrent
 * connections.
 */
import type { Settings } from '../settings.ts';
import { CONNECTIONS, createConcurrencyLimit } from './concurrency-limit.ts';
import { restUpstream } from './rest-upstream.ts';
import type { Upstream } from './upstream.ts';

/**
 * @param timeout milliseconds for one answer
 * @param attempts tries of one question
 */
export function openUpstreams(settings: Settings, timeout: number, attempts: number): Upstream[] {
  const gate = createConcurrencyLimit(CONNECTIONS);
  const options = {
    fetch: (...request: Parameters<typeof fetch>) => fetch(...request),
    timeout,
    attempts,
    gate,
  };
  return settings.upstreams.map((url) => restUpstream(url, options));
}
