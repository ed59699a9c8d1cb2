/**
 * Index of listeners by topic. It also knows whether anybody listens to topics with some beginning:
 * else the broker need not read what such messages are made of.
 */
import { BLOCKS, UNLOCKS } from '../../mqtt/topics.ts';
import type { Client } from './client.ts';

/** Beginnings of topics that {@link TopicIndex.hasAny} knows. */
const BEGINNINGS = [BLOCKS, 'outputs/', UNLOCKS, 'transactions/', 'block-metadata/'];

export interface TopicIndex {
  size(): number;
  /** The client must not listen to it yet. */
  add(client: Client, topic: string): void;
  /** The client must listen to it. */
  remove(client: Client, topic: string): void;
  /** Returns a copy, as listeners may be dropped meanwhile. */
  listeners(topic: string): Client[];
  has(topic: string): boolean;
  hasAny(beginning: string): boolean;
}

export function createTopicIndex(): TopicIndex {
  const byTopic = new Map<string, Set<Client>>();
  const beginnings = new Map<string, number>();
  let size = 0;

  function count(topic: string, change: 1 | -1): void {
    size += change;
    for (const beginning of BEGINNINGS)
      if (topic.startsWith(beginning))
        beginnings.set(beginning, (beginnings.get(beginning) ?? 0) + change);
  }

  return {
    size: () => size,
    add(client, topic) {
      const clients = byTopic.get(topic);
      if (clients === undefined) byTopic.set(topic, new Set([client]));
      else clients.add(client);
      count(topic, 1);
    },
    remove(client, topic) {
      const clients = byTopic.get(topic)!;
      clients.delete(client);
      if (clients.size === 0) byTopic.delete(topic);
      count(topic, -1);
    },
    listeners: (topic) => [...(byTopic.get(topic) ?? [])],
    has: (topic) => byTopic.has(topic),
    hasAny: (beginning) => (beginnings.get(beginning) ?? 0) > 0,
  };
}
