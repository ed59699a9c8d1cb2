/**
 * The ways in which a node's answers are changed, as rules of a {@link LyingNode}. A rule that
 * changes nothing is an error: the lie would not be one.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { decode, encode } from '../../../src/stardust/encoding/codec.ts';
import { type Milestone, milestone } from '../../../src/stardust/wire/milestone.ts';
import type { Answer, Asked, Rule } from './lying-node.ts';

/** What the tests know of an answer in JSON: it has the fields that they change. */
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape, each changed in one place
export type Json = any;

/** A path, with its query, or a pattern of paths. */
export type Paths = string | RegExp;

/** JSON in place of another, or nothing if it was changed where it is. */
export type ChangeJson = (json: Json, asked: Asked) => unknown;

type Kind = 'json' | 'bytes' | 'both';

function concerns(paths: Paths, kind: Kind): Rule['concerns'] {
  return ({ path, wantsBytes }) =>
    (typeof paths === 'string' ? path === paths : paths.test(path)) &&
    (kind === 'both' || wantsBytes === (kind === 'bytes'));
}

const toJson = (json: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(json));

function mustDiffer(before: Uint8Array, after: Uint8Array, path: string): Uint8Array {
  if (Buffer.from(before).equals(after)) throw new Error(`nothing is changed in ${path}`);
  return after;
}

function inBody(paths: Paths, kind: Kind, change: (answer: Answer, asked: Asked) => Uint8Array) {
  return {
    concerns: concerns(paths, kind),
    async tell(asked, next) {
      const answer = await next(asked);
      if (answer.status !== 200) return answer;
      return { ...answer, body: mustDiffer(answer.body, change(answer, asked), asked.path) };
    },
  } satisfies Rule;
}

/** JSON is changed. */
export function inJson(paths: Paths, change: ChangeJson): Rule {
  return inBody(paths, 'json', ({ body }, asked) => {
    const json = JSON.parse(new TextDecoder().decode(body));
    return toJson(change(json, asked) ?? json);
  });
}

/** A field of JSON, by its path, has another value. */
export function withField(paths: Paths, field: string, value: unknown): Rule {
  return inJson(paths, (json) => {
    const names = field.split('.');
    const last = names.pop()!;
    const within = names.reduce((at, name) => at[name], json);
    within[last] = typeof value === 'function' ? value(within[last]) : value;
  });
}

/** JSON text is changed: for what no JSON.stringify writes. */
export function inText(paths: Paths, change: (text: string) => string): Rule {
  return inBody(paths, 'json', ({ body }) =>
    new TextEncoder().encode(change(new TextDecoder().decode(body))),
  );
}

/** The bytes of a block or a milestone are changed. */
export function inBytes(paths: Paths, change: (bytes: Uint8Array) => Uint8Array): Rule {
  return inBody(paths, 'bytes', ({ body }) => change(Uint8Array.from(body)));
}

/** One bit of the byte at this place is another; negative: from the end. */
export const flip = (at: number) => (bytes: Uint8Array) => bytes.with(at, bytes.at(at)! ^ 1);

/** The milestone's bytes are those of a changed one; its signatures stay as the change leaves them. */
export function inMilestone(paths: Paths, change: (value: Milestone) => Milestone): Rule {
  return inBytes(paths, (bytes) => encode(milestone, change(decode(milestone, bytes))));
}

/** What another path answers to GET. */
export function asIfAsked(paths: Paths, other: string): Rule {
  return {
    concerns: concerns(paths, 'both'),
    tell: (asked, next) => next({ ...asked, method: 'GET', body: undefined, path: other }),
  };
}

/** This, or what it resolves to, in place of an answer. Text is sent as it is, the rest as JSON. */
export function always(paths: Paths, told: (asked: Asked) => unknown, kind: Kind = 'json'): Rule {
  return {
    concerns: concerns(paths, kind),
    async tell(asked) {
      const found = await told(asked);
      const body = typeof found === 'string' ? new TextEncoder().encode(found) : toJson(found);
      return { status: 200, headers: { 'content-type': 'application/json' }, body };
    },
  };
}

export function withStatus(paths: Paths, status: number, kind: Kind = 'both'): Rule {
  const body = toJson({ error: { code: status, message: 'no' } });
  return {
    concerns: concerns(paths, kind),
    tell: async () => ({ status, headers: { 'content-type': 'application/json' }, body }),
  };
}

/** Headers besides those that there are. */
export function withHeaders(paths: Paths, headers: Answer['headers']): Rule {
  return {
    concerns: concerns(paths, 'both'),
    async tell(asked, next) {
      const answer = await next(asked);
      return { ...answer, headers: { ...answer.headers, ...headers } };
    },
  };
}

/** Sent to the same path under another host name of this machine. */
export function redirected(paths: Paths): Rule {
  return {
    concerns: concerns(paths, 'both'),
    tell: async ({ host, path }) => ({
      status: 302,
      headers: { location: `http://${host.replace('127.0.0.1', 'localhost')}${path}` },
      body: new Uint8Array(),
    }),
  };
}

/** No answer, ever. */
export function never(paths: Paths, kind: Kind = 'both'): Rule {
  return { hangs: true, concerns: concerns(paths, kind), tell: () => new Promise(() => {}) };
}

/** What nobody should read. */
const ENDLESS_MIB = 512;

/** A body of white space that goes on as long as somebody reads it, up to {@link ENDLESS_MIB}. */
export function endless(paths: Paths, kind: Kind = 'both'): Rule {
  const chunk = new Uint8Array(1 << 20).fill(0x20);
  return {
    concerns: concerns(paths, kind),
    async tell() {
      const body = (async function* () {
        for (let i = 0; i < ENDLESS_MIB; i++) {
          yield chunk;
          // a browser's process for the network reads on until the page's word reaches it
          await sleep(10);
        }
      })();
      return { status: 200, headers: { 'content-type': 'application/json' }, body };
    },
  };
}

/** JSON text of this many levels. */
export const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

/** An explanation with zeros for its blocks, so many that it is as long as an answer may be. */
export const zerosForBlocks = (text: string) =>
  text.replace(/"blocks":\[.*\]/s, `"blocks":[${'0,'.repeat(8_388_000)}0]`);
