/**
 * The head of an HTTP/1.1 request (RFC 9112), read strictly: what two servers may read differently is
 * refused. So the path that a proxy looked at is the path that the Worker sees.
 *
 * workerd puts Host and target together to one URL and resolves dots in it: `Host: x/metrics?` would
 * move the path.
 */

/** How many bytes follow the head: a number, or chunks. */
export type BodyLength = number | 'chunked';

export interface RequestHead {
  /** As it is passed on, without `Content-Length` and without the empty line at its end. */
  text: string;
  bodyLength: BodyLength;
  /** Whether it is for the route of the white flag. */
  isWhiteFlag: boolean;
  /** Whether it asks for a WebSocket. */
  isUpgrade: boolean;
  /** Whether the client waits for `100 Continue` before it sends the body. */
  expectsContinue: boolean;
  /** Address of the client, for a proxy that is believed: that of the client behind it. */
  address: string;
}

/** Why a request is not passed on. The detail is for people. */
export interface HeadRefusal {
  status: 400 | 404;
  detail: string;
}

/** The Worker's path; its explanation is for people, and takes turns with other reads. */
const WHITE_FLAG = 'POST /api/core/v2/whiteflag ';

const REQUEST_LINE = /^[A-Z]{1,16} (\/[\x21-\x7e]*) HTTP\/1\.([01])$/;

/** Segments that a URL parser resolves, and its other slash. */
const OTHER_SPELLING = /\\|\/(?:\.|%2e){1,2}(?:\/|$)/i;

/** A name, a colon, and a value of visible characters, spaces, tabs and bytes above ASCII. */
const HEADER = /^([!#$%&'*+\-.^_`|~\w]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)$/;

const AUTHORITY = /^(?:[A-Za-z0-9._~-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;

/** Longer ones are never a body that the Worker reads. */
const CONTENT_LENGTH = /^\d{1,15}$/;

const refuse = (detail: string, status: 400 | 404 = 400): HeadRefusal => ({ status, detail });

/**
 * @param head latin1, without the empty line at its end
 * @param peer address of the other end of the connection
 * @param isProxy whether the peer's X-Forwarded-For is believed
 */
export function readRequestHead(
  head: string,
  peer: string,
  isProxy: boolean,
): RequestHead | HeadRefusal {
  const lines = head.split('\r\n');
  const requestLine = lines[0]!;
  const [, target, minor] = REQUEST_LINE.exec(requestLine) ?? [];
  if (target === undefined || target.includes('#')) return refuse('the request line is malformed');
  const [path] = target.split('?', 1);
  if (OTHER_SPELLING.test(path!)) return refuse('no such route', 404);
  let host: string | undefined;
  let length: string | undefined;
  let isChunked = false;
  let isUpgrade = false;
  let expectsContinue = false;
  let forwardedFor: string | undefined;
  let text = `${requestLine}\r\n`;
  for (let i = 1; i < lines.length; i++) {
    const line = lines[i]!;
    const [, name, value] = HEADER.exec(line) ?? [];
    if (name === undefined || value === undefined) return refuse('a header line is malformed');
    switch (name.toLowerCase()) {
      case 'host':
        if (host !== undefined) return refuse('Host must be given once');
        host = value.trim();
        break;
      case 'content-length':
        if (length !== undefined) return refuse('Content-Length must be given once');
        length = value.trim();
        continue;
      case 'transfer-encoding':
        if (isChunked || value.trim().toLowerCase() !== 'chunked')
          return refuse('Transfer-Encoding must be chunked');
        isChunked = true;
        continue;
      case 'expect':
        expectsContinue = value.trim().toLowerCase() === '100-continue';
        continue;
      case 'upgrade':
        isUpgrade = true;
        break;
      case 'x-forwarded-for':
        forwardedFor = value;
        continue;
      // what a client says of its own address
      case 'cf-connecting-ip':
        continue;
    }
    text += `${line}\r\n`;
  }
  if (host === undefined || !isAuthority(host)) return refuse('Host must be a host and a port');
  if (length !== undefined && (isChunked || !CONTENT_LENGTH.test(length)))
    return refuse('Content-Length is malformed');
  if (isChunked && minor === '0') return refuse('HTTP/1.0 has no Transfer-Encoding');
  const bodyLength = isChunked ? 'chunked' : Number(length ?? 0);
  if (isUpgrade && bodyLength !== 0) return refuse('a request to upgrade must have no body');
  const address = (isProxy && forwardedFor?.split(',').at(-1)?.trim()) || peer;
  return {
    text: `${text}CF-Connecting-IP: ${address}\r\n`,
    bodyLength,
    isWhiteFlag: requestLine.startsWith(WHITE_FLAG),
    isUpgrade,
    expectsContinue,
    address,
  };
}

/** The last one that was checked: nearly all requests have the same. */
let checked = '';

/** Whether it is what RFC 9110 §7.2 allows, and a URL parser takes it. */
function isAuthority(host: string): boolean {
  if (host === checked) return true;
  if (!AUTHORITY.test(host) || !URL.canParse(`http://${host}`)) return false;
  checked = host;
  return true;
}
