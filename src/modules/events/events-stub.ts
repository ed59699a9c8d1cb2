/** The one broker of this Worker, and its interface. */
import type { EventBroker } from './event-broker.ts';

/** Returns undefined if the Worker has no broker. */
export function brokerOf(
  namespace: Env['EVENTS'] | undefined,
): DurableObjectStub<EventBroker> | undefined {
  return namespace?.get(namespace.idFromName('events'));
}
