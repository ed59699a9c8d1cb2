/**
 * The feed of an upstream, by MQTT (docs/protocol.md#what-an-upstream-pushes): it pushes to the
 * follower what polling would fetch.
 */
import type { Module } from '../module.ts';
import { keepFeed } from './keep-feed.ts';
import { openSocket } from './web-socket.ts';

export const feed: Module = {
  name: 'feed',
  openFeed: ({ upstreams, upstreamToken: token }, ranking, take) =>
    keepFeed({
      upstreams,
      token,
      ranking,
      fetch: (...request) => fetch(...request),
      openSocket,
      clock: Date.now,
      take,
    }),
};
