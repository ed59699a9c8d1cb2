/**
 * The one broker of this Worker, and what others know of it.
 */
import type { EventBroker } from './event-broker.ts';

/** Undefined where the Worker has none. */
export function brokerOf(
  namespace: Env['EVENTS'] | undefined,
): DurableObjectStub<EventBroker> | undefined {
  return namespace?.get(namespace.idFromName('events'));
}
