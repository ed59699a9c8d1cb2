/** GET /api/mqtt/v1: who may connect, and how. What is said afterwards: test/events/. */

import { exports } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import type { Settings } from '../../../src/settings.ts';
import { MqttClient } from '../../support/events/mqtt-client.ts';
import { errorBody } from '../../support/http/contract.ts';
import { fetchFrom } from '../../support/http/stub-node.ts';

const PATH = '/api/mqtt/v1';
const UPGRADE = { upgrade: 'websocket', 'sec-websocket-protocol': 'mqttv3.1, mqtt' };

/** Settings with a broker that answers with this WebSocket. */
function brokerWith(webSocket: WebSocket | null) {
  const connect = vi.fn(async () => ({ webSocket }));
  const events = { idFromName: () => 'events', get: () => ({ fetch: connect }) };
  return { connect, settings: { events: events as unknown as Settings['events'] } };
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
  ['no', { upgrade: 'websocket' }],
  // rumqttc before 0.22, of iota-client
  ['another', { ...UPGRADE, 'sec-websocket-protocol': 'mqttv3.1' }],
])('connects with %s subprotocol, as inx-mqtt does', async (_, headers) => {
  const response = await exports.default.fetch(`http://x${PATH}`, { headers });
  expect(response.status).toBe(101);
  expect(response.headers.has('sec-websocket-protocol')).toBe(false);
  const client = new MqttClient(response.webSocket!);
  await client.connect('a client');
  client.close();
});

it.each([
  ['no upgrade', { 'sec-websocket-protocol': 'mqtt' }, 'Upgrade must be websocket'],
  ['another upgrade', { ...UPGRADE, upgrade: 'h2c' }, 'Upgrade must be websocket'],
])('400: %s', async (_, headers, detail) => {
  const { connect, settings } = brokerWith(new WebSocketPair()[0]);
  const answer = await fetchFrom({ settings })(PATH, { headers });
  expect([answer.status, await answer.text()]).toEqual([400, errorBody(answer.status)]);
  expect(answer.headers.get('x-error-detail')).toContain(detail);
  expect(connect).not.toHaveBeenCalled();
});

it('404 without a broker, 503 where it is full', async () => {
  expect((await fetchFrom()(PATH, { headers: UPGRADE })).status).toBe(404);
  const { settings } = brokerWith(null);
  const answer = await fetchFrom({ settings })(PATH, { headers: UPGRADE });
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '60']);
});

it('401, 403, 405 and 429 come before', async () => {
  const broker = brokerWith(new WebSocketPair()[0]);
  const { connect } = broker;
  const statusOf = async (
    settings: Partial<Settings>,
    headers: Record<string, string> = UPGRADE,
    method = 'GET',
  ) => {
    const all = { ...broker.settings, ...settings };
    return (await fetchFrom({ settings: all })(PATH, { method, headers })).status;
  };
  const closed = { publicRoutes: ['/api/core/*'] };
  expect(await statusOf(closed)).toBe(403);
  const secret = { protectedRoutes: ['/api/mqtt/*'], apiToken: 'abc' };
  expect(await statusOf(secret)).toBe(401);
  expect(await statusOf({}, UPGRADE, 'POST')).toBe(405);
  expect(await statusOf({}, UPGRADE, 'HEAD')).toBe(400);
  const limit = async () => ({ success: false });
  expect(await statusOf({ eventsLimit: { limit } })).toBe(429);
  expect(connect).not.toHaveBeenCalled();
  // what checks the answer cannot read one with a WebSocket
  await statusOf(secret, { ...UPGRADE, authorization: 'Bearer abc' }).catch(() => {});
  expect(connect).toHaveBeenCalledOnce();
});

it('/metrics has its counts', async () => {
  const counts = { clients: 3, topics: 5, messages: 7, closes: { gone: 2, 'used-up': 1 } };
  const events = { idFromName: () => 'events', get: () => ({ readCounts: async () => counts }) };
  const settings = {
    publicRoutes: ['/metrics'],
    events: events as unknown as Settings['events'],
  };
  const text = await (await fetchFrom({ settings })('/metrics')).text();
  expect(text.split('\n').filter((line) => line.startsWith('stardust_event_'))).toEqual([
    'stardust_event_clients 3',
    'stardust_event_topics 5',
    'stardust_event_messages_total 7',
    'stardust_event_closes_total{why="gone"} 2',
    'stardust_event_closes_total{why="used-up"} 1',
  ]);
});
