/**
 * The answers of the front itself, as the Worker would give them (docs/contract.md#errors).
 */
import { STATUS_CODES } from 'node:http';
import { COMMON_HEADERS } from '../../../src/http/answer.ts';
import { type ErrorStatus, errorAnswer, HttpError } from '../../../src/http/errors.ts';

/** Throws an HttpError: the request is not passed on. The detail is for people. */
export function refuseRequest(
  detail: string,
  status: ErrorStatus = 400,
  headers: Record<string, string> = {},
): never {
  throw new HttpError(status, detail, headers);
}

/** The whole answer, after which the connection is closed. To HEAD it has no body. */
export function refusalBytes(error: HttpError, isHead: boolean): string {
  const { status } = error;
  const answer = errorAnswer(error);
  const body = String(answer.body);
  const all = {
    ...COMMON_HEADERS,
    ...answer.headers,
    ...(status === 503 && { 'retry-after': '1' }),
    'content-length': String(Buffer.byteLength(body)),
    connection: status === 426 ? 'close, upgrade' : 'close',
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n`;
  return isHead ? head : head + body;
}
