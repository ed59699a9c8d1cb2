/** GET /api/mqtt/v1: who may connect, and how. What is said afterwards: test/events/. */
import { exports } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import { MqttClient } from '../../support/events/mqtt-client.ts';
import { errorBody } from '../../support/http/contract.ts';
import { fetchFrom } from '../../support/http/stub-node.ts';

const PATH = '/api/mqtt/v1';
const UPGRADE = { upgrade: 'websocket', 'sec-websocket-protocol': 'mqttv3.1, mqtt' };

function connectable() {
  const connectToEvents = vi.fn(async () => new WebSocketPair()[0]);
  return { hasEvents: true, connectToEvents };
}

it('connects with the subprotocol mqtt', async () => {
  const response = await exports.default.fetch(`http://x${PATH}`, { headers: UPGRADE });
  expect(response.status).toBe(101);
  expect(response.headers.get('sec-websocket-protocol')).toBe('mqtt');
  const client = new MqttClient(response.webSocket!);
  await client.connect('a client');
  await client.ping();
  client.close();
});

it.each([
  ['no upgrade', { 'sec-websocket-protocol': 'mqtt' }, 'Upgrade must be websocket'],
  ['another upgrade', { ...UPGRADE, upgrade: 'h2c' }, 'Upgrade must be websocket'],
  ['no subprotocol', { upgrade: 'websocket' }, 'must name mqtt'],
  ['another subprotocol', { ...UPGRADE, 'sec-websocket-protocol': 'mqttv3.1' }, 'must name mqtt'],
])('400: %s', async (_, headers, detail) => {
  const node = connectable();
  const answer = await fetchFrom({ node })(PATH, { headers });
  expect([answer.status, await answer.text()]).toEqual([400, errorBody(answer.status)]);
  expect(answer.headers.get('x-error-detail')).toContain(detail);
  expect(node.connectToEvents).not.toHaveBeenCalled();
});

it('404 without a broker, 503 where it is full', async () => {
  expect((await fetchFrom()(PATH, { headers: UPGRADE })).status).toBe(404);
  const full = { hasEvents: true, connectToEvents: async () => undefined };
  const answer = await fetchFrom({ node: full })(PATH, { headers: UPGRADE });
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '60']);
});

it('401, 403, 405 and 429 come before', async () => {
  const node = connectable();
  const statusOf = async (
    settings: Parameters<typeof fetchFrom>[0] & object,
    headers: Record<string, string> = UPGRADE,
    method = 'GET',
  ) => (await fetchFrom({ node, ...settings })(PATH, { method, headers })).status;
  const closed = { settings: { publicRoutes: ['/api/core/*'] } };
  expect(await statusOf(closed)).toBe(403);
  const secret = { settings: { protectedRoutes: ['/api/mqtt/*'], apiToken: 'abc' } };
  expect(await statusOf(secret)).toBe(401);
  expect(await statusOf({}, UPGRADE, 'POST')).toBe(405);
  expect(await statusOf({}, UPGRADE, 'HEAD')).toBe(400);
  const limit = async () => ({ success: false });
  expect(await statusOf({ settings: { eventsLimit: { limit } } })).toBe(429);
  expect(node.connectToEvents).not.toHaveBeenCalled();
  // what checks the answer cannot read one with a WebSocket
  await statusOf(secret, { ...UPGRADE, authorization: 'Bearer abc' }).catch(() => {});
  expect(node.connectToEvents).toHaveBeenCalledOnce();
});
