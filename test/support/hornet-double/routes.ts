/**
 * HORNET 2.0.1's REST routes as far as a follower can need them
 * (docs/protocol.md#routes-of-hornet): what a path asks for, and the node's answer.
 */

import { decode } from '../../../src/stardust/encoding/codec.ts';
import { blockToJson, type Json, milestoneToJson } from '../../../src/stardust/json/rest-json.ts';
import { block } from '../../../src/stardust/wire/block.ts';
import { readMilestone } from '../network/blocks.ts';
import type { NodeState } from './node-state.ts';

export const RAW_TYPE = 'application/vnd.iota.serializer-v1';
export const MQTT_ROUTE = 'mqtt/v1';
export const JSON_TYPE = 'application/json; charset=UTF-8';

export type Route =
  | { name: 'health' | 'routes' | 'info' | 'tips' | 'unknown' }
  | { name: 'block' | 'blockMetadata'; id: string }
  | { name: 'milestoneByIndex'; index: number }
  | { name: 'invalid' };

export interface Answer {
  status: number;
  /** Undefined for an empty body. */
  type: string | undefined;
  body: Uint8Array;
}

const plain = new Map<string, Route>([
  ['/health', { name: 'health' }],
  ['/api/routes', { name: 'routes' }],
  ['/api/core/v2/info', { name: 'info' }],
  ['/api/core/v2/tips', { name: 'tips' }],
]);

/**
 * Reads a path without its query. The reference puts IDs in lower case. An ID of the wrong form is
 * `invalid`, except a block ID of the wrong length.
 */
export function routeOf(path: string): Route {
  const route = plain.get(path);
  if (route !== undefined) return route;
  const parts = /^\/api\/core\/v2\/(blocks|milestones)\/([^/]+)(\/[^/]+)?$/.exec(path);
  const [, kind, text = '', rest] = parts ?? [];
  const id = text.toLowerCase();
  if (kind === 'milestones' && text === 'by-index' && rest !== undefined)
    return milestoneByIndex(rest.slice(1));
  if (kind !== 'blocks' || (rest !== undefined && rest !== '/metadata')) return { name: 'unknown' };
  if (!/^0x([0-9a-f]{2})*$/.test(id)) return { name: 'invalid' };
  return { name: rest === undefined ? 'block' : 'blockMetadata', id };
}

function milestoneByIndex(text: string): Route {
  const index = /^\d{1,10}$/.test(text) ? Number(text) : Infinity;
  return index < 2 ** 32 ? { name: 'milestoneByIndex', index } : { name: 'invalid' };
}

function answerJson(value: Json, status = 200): Answer {
  return { status, type: JSON_TYPE, body: Buffer.from(`${JSON.stringify(value)}\n`) };
}

/** The reference's error body; its code is text. */
export function answerError(status: number, message: string): Answer {
  return answerJson({ error: { code: `${status}`, message } }, status);
}

function answerRaw(bytes: Uint8Array): Answer {
  return { status: 200, type: RAW_TYPE, body: bytes };
}

/**
 * The node's answer to a GET.
 *
 * @param accept chooses between bytes and JSON, by how it begins, as in the reference
 * @param mqtt whether the MQTT plug-in runs
 */
export function answer(node: NodeState, route: Route, accept = '', mqtt = false): Answer {
  const raw = accept.startsWith(RAW_TYPE);
  const notSynced = answerError(503, 'node is not synced: service unavailable');
  switch (route.name) {
    case 'health':
      return { status: node.healthy ? 200 : 503, type: undefined, body: new Uint8Array() };
    case 'routes':
      return answerJson({ routes: mqtt ? ['core/v2', MQTT_ROUTE] : ['core/v2'] });
    case 'info':
      return answerJson(node.infoJson());
    case 'tips':
      return node.almostSynced ? answerJson({ tips: node.tips }) : notSynced;
    case 'block':
    case 'blockMetadata': {
      if (route.name === 'blockMetadata' && !node.almostSynced) return notSynced;
      const found = node.block(route.id);
      if (found === undefined) return answerError(404, `block not found: ${route.id}: Not Found`);
      if (route.name === 'blockMetadata') return answerJson(node.metadataJson(found));
      return raw ? answerRaw(found.bytes) : answerJson(blockToJson(decode(block, found.bytes)));
    }
    case 'milestoneByIndex': {
      const found = node.milestone(route.index);
      if (found === undefined) return answerError(404, 'milestone not found: Not Found');
      return raw
        ? answerRaw(found.payload)
        : answerJson(milestoneToJson(readMilestone(found.payload)));
    }
    case 'invalid':
      return answerError(400, 'invalid parameter');
    case 'unknown':
      return answerError(404, 'Not Found');
  }
}

/** The node's answer as `fetch` gives it. */
export function respond(node: NodeState, url: string, accept: string): Response {
  const { status, type, body } = answer(node, routeOf(new URL(url).pathname), accept);
  return new Response(body, { status, headers: { 'content-type': type! } });
}
