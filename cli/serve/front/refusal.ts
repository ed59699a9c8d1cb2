/**
 * The answers of the front itself, as the Worker would give them (docs/contract.md#errors).
 */
import { STATUS_CODES } from 'node:http';
import { COMMON_HEADERS } from '../../../src/http/answer.ts';
import { errorAnswer, HttpError } from '../../../src/http/errors.ts';
import type { HeadRefusal } from './request-head.ts';

const RETRY_AFTER_SECONDS = '1';

/** The whole answer, after which the connection is closed. */
export function refusalBytes({ status, detail, headers, isHead }: HeadRefusal): string {
  const retry = status === 503 ? { 'retry-after': RETRY_AFTER_SECONDS } : {};
  const answer = errorAnswer(new HttpError(status, detail, { ...headers, ...retry }));
  const body = String(answer.body);
  const all = {
    ...COMMON_HEADERS,
    ...answer.headers,
    'content-length': String(Buffer.byteLength(body)),
    connection: status === 426 ? 'close, upgrade' : 'close',
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n`;
  return isHead ? head : head + body;
}
