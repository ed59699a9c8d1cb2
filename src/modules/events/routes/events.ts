/**
 * GET /api/mqtt/v1 (docs/contract.md#events): events of TIP-28, by MQTT 3.1.1 over a WebSocket, at
 * HORNET's path.
 */
import { clientKeyOf } from '../../../http/access/client-address.ts';
import type { Answer } from '../../../http/answer.ts';
import { HttpError } from '../../../http/errors.ts';
import type { Operations } from '../../../http/openapi/operation.ts';
import type { RouteContext, RouteTable } from '../../../http/route.ts';
import { CLIENT_HEADER } from '../client.ts';
import { brokerOf } from '../events-stub.ts';

export const eventRoutes = {
  connectToEvents: {
    method: 'GET',
    path: '/api/mqtt/v1',
    limit: 'eventsLimit',
    isOffered: ({ events }) => events !== undefined,
    handle: answerEvents,
  },
} satisfies RouteTable;

/** The subprotocol (MQTT-6.0.0-3). inx-mqtt also takes clients that name another one, or none. */
const SUBPROTOCOL = 'mqtt';

const RETRY_AFTER_SECONDS = '60';

async function answerEvents({ request, settings }: RouteContext): Promise<Answer> {
  const broker = brokerOf(settings.events);
  if (broker === undefined) throw new HttpError(404, 'this node has no events');
  const { headers } = request;
  if (request.method !== 'GET' || headers.get('upgrade')?.toLowerCase() !== 'websocket')
    throw new HttpError(400, 'connect by WebSocket: Upgrade must be websocket');
  const offered = headers.get('sec-websocket-protocol')?.split(',') ?? [];
  const isOffered = offered.some((each) => each.trim() === SUBPROTOCOL);
  const init = { headers: { upgrade: 'websocket', [CLIENT_HEADER]: clientKeyOf(request) } };
  const { webSocket } = await broker.fetch('https://events.invalid/', init);
  // it takes no more clients
  if (!webSocket)
    throw new HttpError(503, 'no more clients fit', { 'retry-after': RETRY_AFTER_SECONDS });
  return {
    status: 101,
    ...(isOffered && { headers: { 'sec-websocket-protocol': SUBPROTOCOL } }),
    body: null,
    webSocket,
  };
}

export const describeEvents = (): Operations<typeof eventRoutes> => ({
  connectToEvents: {
    tag: 'node',
    summary: 'Events (TIP-28) by MQTT 3.1.1 over a WebSocket',
    answer: { description: 'Not without a WebSocket.' },
    statuses: { 101: 'Connected, with the subprotocol mqtt if it was offered.' },
    errors: [400, 404, 426],
  },
});
