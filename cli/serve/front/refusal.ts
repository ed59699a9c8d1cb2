/**
 * The answers of the front itself, as the Worker would give them (docs/contract.md#errors).
 */
import { COMMON_HEADERS } from '../../../src/http/answer.ts';
import { type ErrorStatus, errorAnswer, HttpError } from '../../../src/http/errors.ts';

const REASONS = { 400: 'Bad Request', 404: 'Not Found', 503: 'Service Unavailable' } as const;

const RETRY_AFTER_SECONDS = '1';

/** The whole answer, after which the connection is closed. */
export function refusalBytes(status: keyof typeof REASONS & ErrorStatus, detail: string): string {
  const retry = status === 503 ? { 'retry-after': RETRY_AFTER_SECONDS } : {};
  const { body, headers } = errorAnswer(new HttpError(status, detail, retry));
  const all = {
    ...COMMON_HEADERS,
    ...headers,
    'content-length': String(body?.length ?? 0),
    connection: 'close',
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${REASONS[status]}\r\n${lines.join('')}\r\n${body}`;
}
