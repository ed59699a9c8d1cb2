/** Events (TIP-28): the broker, whom the follower tells what it applied and stored (README.md). */
import { counter, gauge, type MetricFamily } from '../../http/routes/node/prometheus.ts';
import type { Module } from '../module.ts';
import { createAnnouncer } from './announcer.ts';
import type { EventCounts } from './event-broker.ts';
import { brokerOf } from './events-stub.ts';
import { eventRoutes } from './routes/events.ts';

export { describeEvents } from './routes/events.ts';

export const events: Module = {
  name: 'events',
  routes: eventRoutes,
  createAnnouncer: (env, log) =>
    env.EVENTS && createAnnouncer(() => brokerOf(env.EVENTS)!, Date.now, log),
  async readMetrics(settings) {
    const counts = await brokerOf(settings.events)?.readCounts();
    return counts === undefined ? [] : countEvents(counts);
  },
};

function countEvents({ clients, topics, messages, closes }: EventCounts): MetricFamily[] {
  return [
    gauge('stardust_event_clients', 'Clients that are connected for events.', clients),
    gauge('stardust_event_topics', 'Topics that they listen to, counted for each client.', topics),
    counter('stardust_event_messages_total', 'Messages sent to them.', [{ value: messages }]),
    counter(
      'stardust_event_closes_total',
      'Connections that ended.',
      Object.entries(closes).map(([why, value]) => ({ labels: { why }, value })),
    ),
  ];
}
