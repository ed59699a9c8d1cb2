/** Errors at the border: one class, one body, messages of docs/contract.md#errors only. */
import { type Answer, jsonAnswer } from './answer.ts';

export const MESSAGES = {
  400: 'invalid data provided',
  401: 'unauthorized',
  403: 'not available for public use',
  404: 'could not find data',
  405: 'method not allowed',
  426: 'upgrade required',
  429: 'too many requests',
  500: 'internal server error',
  503: 'service unavailable',
} as const;

export type ErrorStatus = keyof typeof MESSAGES;

/** A header is for people and must stay short. */
const MAX_DETAIL_LENGTH = 200;

/** An answer that is not 200. `detail` is for people, as X-Error-Detail: nothing internal. */
export class HttpError extends Error {
  readonly status: ErrorStatus;
  readonly detail: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** The ledger index at which the error is true, where it depends on the ledger. */
  ledgerIndex: number | undefined;

  constructor(status: ErrorStatus, detail?: string, headers: Record<string, string> = {}) {
    super(detail ?? MESSAGES[status]);
    this.name = 'HttpError';
    this.status = status;
    this.detail = detail;
    this.headers = headers;
  }
}

/** The request names something unknown: 404, unless nothing was imported at all (app.ts). */
export class UnknownHere extends HttpError {
  constructor(detail: string) {
    super(404, detail);
  }
}

export function errorAnswer({ status, detail, headers, ledgerIndex }: HttpError): Answer {
  const body = { error: { code: status, message: MESSAGES[status] } };
  const all = { ...headers, ...detailHeader(detail) };
  return jsonAnswer(body, { status, keep: 'never', ledgerIndex, headers: all });
}

/** Printable ASCII, bounded, and without spaces around it, which a header does not keep. */
export function detailHeader(detail: string | undefined): Record<string, string> {
  if (detail === undefined) return {};
  const printable = detail.slice(0, MAX_DETAIL_LENGTH).replace(/[^\x20-\x7e]/g, '?');
  return { 'x-error-detail': printable.trim() };
}
