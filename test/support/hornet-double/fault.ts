/**
 * What can go wrong between a follower and its upstream: one fault for one request, chosen by a
 * function of the request.
 */
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { createGzip } from 'node:zlib';
import type { Network } from '../network/network-model.ts';
import { type Answer, answerError, JSON_TYPE, RAW_TYPE, type Route } from './routes.ts';

export interface SeenRequest {
  method: string;
  /** With its query, as it was sent. */
  path: string;
  accept: string | undefined;
  route: Route;
  /** 1 for the first request to this path, 2 for the second, and so on. */
  time: number;
}

export type Fault =
  /** Milliseconds before the right answer. */
  | { kind: 'late'; delay: number }
  /** Another status, with an error body in the reference's form. */
  | { kind: 'status'; status: number }
  /** The right Content-Length, and the connection lost after half of the bytes. */
  | { kind: 'cut' }
  /** The connection is lost without a byte. */
  | { kind: 'drop' }
  /** The connection stays open, and never a byte comes. */
  | { kind: 'silence' }
  /**
   * Status 200 and 100 MB of zeros. `announced`: with a Content-Length. `gzip`: compressed, some
   * hundred KB; not with `announced`, which says the length of what is sent.
   */
  | { kind: 'oversize'; announced: boolean; gzip?: boolean }
  | { kind: 'redirect'; to: string }
  /** The right body under another content type. */
  | { kind: 'type'; type: string }
  /** Status 200, JSON by its type and not by its content. */
  | { kind: 'notJson' }
  /**
   * Status 200 and these bytes: another block, or a milestone of another network or with other
   * signatures or roots (test/support/network/milestones.ts).
   */
  | { kind: 'bytes'; bytes: Uint8Array };

export type ChooseFault = (request: SeenRequest) => Fault | undefined;

/** The bytes of another block of the network than the one asked for. */
export function otherBlock(network: Network, request: Pick<SeenRequest, 'route'>): Fault {
  const asked = 'id' in request.route ? request.route.id : undefined;
  for (const { id, bytes } of network.blocks.values()) {
    if (id !== asked) return { kind: 'bytes', bytes };
  }
  throw new Error(`${network.name} has no two blocks`);
}

/** What the fault makes of the right answer, where it is still an answer. */
export function distort(right: Answer, fault: Fault | undefined): Answer {
  switch (fault?.kind) {
    case 'status':
      return answerError(fault.status, `fault ${fault.status}`);
    case 'type':
      return { ...right, type: fault.type };
    case 'notJson':
      return { status: 200, type: JSON_TYPE, body: Buffer.from('<html>') };
    case 'bytes':
      return { status: 200, type: RAW_TYPE, body: fault.bytes };
    default:
      return right;
  }
}

/** Does what is not an answer. True when it did: then nothing more is to be sent. */
export async function disturb(
  response: ServerResponse,
  right: Answer,
  fault: Fault | undefined,
): Promise<boolean> {
  switch (fault?.kind) {
    case 'drop':
      response.destroy();
      return true;
    case 'silence':
      return true;
    case 'cut': {
      response.writeHead(right.status, {
        'Content-Type': right.type ?? RAW_TYPE,
        'Content-Length': right.body.length,
      });
      const half = right.body.subarray(0, right.body.length >> 1);
      await new Promise((done) => response.write(half, done));
      await setTimeout(5);
      response.destroy();
      return true;
    }
    case 'redirect':
      response.writeHead(302, { Location: fault.to }).end();
      return true;
    case 'oversize':
      await sendZeros(response, right, fault.announced, fault.gzip ?? false);
      return true;
    default:
      return false;
  }
}

const OVERSIZE_BYTES = 100_000_000;

async function sendZeros(
  response: ServerResponse,
  right: Answer,
  announced: boolean,
  gzip: boolean,
) {
  response.writeHead(200, {
    'Content-Type': right.type ?? RAW_TYPE,
    ...(announced ? { 'Content-Length': OVERSIZE_BYTES } : {}),
    ...(gzip ? { 'Content-Encoding': 'gzip' } : {}),
  });
  const chunk = new Uint8Array(65536);
  const zeros = Readable.from(
    (function* () {
      for (let sent = 0; sent < OVERSIZE_BYTES; sent += chunk.length)
        yield chunk.subarray(0, OVERSIZE_BYTES - sent);
    })(),
  );
  // the client may go away at any time: that is the point
  await (gzip ? pipeline(zeros, createGzip(), response) : pipeline(zeros, response)).catch(
    () => undefined,
  );
}
