/**
 * A Worker that keeps a feed of the upstream in its URL (`/?upstream=…&messages=…`) until so many
 * messages have come, and answers with them; for the WebSocket of workerd.
 */
import { keepFeed } from '../../../src/modules/feed/keep-feed.ts';
import { openSocket } from '../../../src/modules/feed/web-socket.ts';
import { createRanking } from '../../../src/upstream/ask-in-turn.ts';

export default {
  async fetch(request: Request): Promise<Response> {
    const { searchParams } = new URL(request.url);
    const wanted = Number(searchParams.get('messages'));
    const states = new Set<string>();
    const messages: { kind: string; payload: string }[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const feed = keepFeed({
      upstreams: [searchParams.get('upstream')!],
      ranking: createRanking(Date.now),
      fetch: (...question: Parameters<typeof fetch>) => fetch(...question),
      openSocket,
      clock: Date.now,
      take(kind, payload) {
        messages.push({ kind, payload: payload.toHex() });
        states.add(feed.state());
        if (messages.length === wanted) resolve();
      },
    });
    await promise;
    feed.stop();
    return Response.json({ states: [...states], messages });
  },
};
