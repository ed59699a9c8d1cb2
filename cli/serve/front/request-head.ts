/**
 * The head of an HTTP request (RFC 9112), read strictly: what two servers may read differently is
 * refused. So the path that a proxy looked at is the path that the Worker sees.
 *
 * workerd puts Host and target together to one URL and resolves dots in it: `Host: x/metrics?` would
 * move the path.
 */
import { refuseRequest } from './refusal.ts';

/** How many bytes follow the head: a number, or chunks. */
export type BodyLength = number | 'chunked';

export interface RequestHead {
  /** As it is passed on, in latin1; the reader adds `Content-Length` and the body. */
  text: string;
  /** Of the client; for a proxy that is believed: of the client behind it. */
  address: string;
  bodyLength: BodyLength;
  isHead: boolean;
  /** Whether it is for the route of the white flag. */
  isWhiteFlag: boolean;
  /** Whether it asks for a WebSocket. */
  isUpgrade: boolean;
  /** Whether the client waits for `100 Continue` before it sends the body. */
  expectsContinue: boolean;
  /** The connection ends with the answer, and nothing behind the request is read. */
  isLast: boolean;
  acceptsGzip: boolean;
}

/** The Worker's path; its explanation is for people, and takes turns with other reads. */
const WHITE_FLAG = /^POST \/api\/core\/v2\/whiteflag[ ?]/;

/** Without `"#<>` and backticks, which no target has (RFC 3986, 2): workerd refuses them as text. */
const REQUEST_LINE = /^([!#$%&'*+\-.^_`|~\w]+) ([!$-;=?-_a-~]+) HTTP\/1\.([01])$/;

/** Those that workerd hands to the Worker. It answers others, such as CONNECT, by itself. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']);
const ALLOW = { allow: 'GET, HEAD, POST, OPTIONS' };

/** RFC 9112, 3.2.2: a target as clients send it to a proxy. Its host counts, not Host. */
const ABSOLUTE = /^http:\/\/([^/?#]+)([/?].*)?$/i;

/** Segments that a URL parser resolves, and its other slash. */
const OTHER_SPELLING = /\\|\/(?:\.|%2e){1,2}(?:\/|$)/i;

/** Names, colons, and values of visible characters, spaces, tabs and bytes above ASCII. */
const LINES = /^(?:\r\n[!#$%&'*+\-.^_`|~\w]+:[\t\x20-\x7e\x80-\xff]*){0,200}$/;

/** The lines that are read here. Those of miniflare (mf-) say to workerd what a request is. */
const READ =
  /\r\n(host|content-length|transfer-encoding|expect|upgrade|connection|accept-encoding|x-forwarded-for|sec-websocket-(?:key|version|extensions)|keep-alive|proxy-connection|cf-connecting-ip|mf-[\w-]+):([^\r]*)/gi;

/** Those of them that are passed on; what a client says of its own address and connection is not. */
const PASSED = new Set(['sec-websocket-key', 'sec-websocket-version']);

const AUTHORITY = /^(?:[A-Za-z0-9._~-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;

/** Of a request that names no host. No route depends on it. */
const NO_HOST = 'localhost';

const WEBSOCKET_VERSION = '13';

/** 16 bytes in base64 (RFC 6455, 4.1). */
const WEBSOCKET_KEY = /^[A-Za-z0-9+/]{22}==$/;

/** Where two could be read differently. */
const ONCE = new Set(['host', 'content-length', 'transfer-encoding']);

/**
 * Throws an HttpError where the request is not passed on.
 *
 * @param head latin1, without the empty line at its end
 * @param peer address of the other end of the connection
 * @param isProxy whether the peer's X-Forwarded-For is believed
 */
export function readRequestHead(head: string, peer: string, isProxy: boolean): RequestHead {
  const [requestLine = ''] = head.split('\r\n', 1);
  const [, method = '', target = '', minor] = REQUEST_LINE.exec(requestLine) ?? [];
  if (method === '') refuseRequest('the request line is malformed');
  if (!METHODS.has(method)) refuseRequest('no route has this method', 405, ALLOW);
  const [place, authority] = readTarget(method, target);
  if (!place.startsWith('/')) refuseRequest('the request line is malformed');
  if (OTHER_SPELLING.test(place.split('?', 1)[0]!)) refuseRequest('no such route', 404);
  const { text, fields } = readHeaders(head.slice(requestLine.length));
  const isOld = minor === '0';
  const host = fields.get('host');
  if (host === undefined && !isOld) refuseRequest('Host must be given');
  if (host && !isAuthority(host)) refuseRequest('Host must be a host and a port');
  if (authority !== undefined && !isAuthority(authority))
    refuseRequest('the target must have a host and a port');
  const bodyLength = readBodyLength(fields, isOld);
  const connection = fields.get('connection')?.toLowerCase() ?? '';
  // an upgrade to something else is not answered, as RFC 9110, 7.8 allows
  const isUpgrade =
    fields.get('upgrade')?.toLowerCase() === 'websocket' &&
    method === 'GET' &&
    !isOld &&
    /\bupgrade\b/.test(connection);
  if (isUpgrade) checkUpgrade(fields, bodyLength);
  const forwardedFor = isProxy ? fields.get('x-forwarded-for') : undefined;
  const address = forwardedFor?.split(',').at(-1)?.trim() || peer;
  const start = `${method} ${place} HTTP/1.1\r\nHost: ${authority ?? (host || NO_HOST)}`;
  const upgrade = isUpgrade ? 'Upgrade: websocket\r\nConnection: Upgrade\r\n' : '';
  return {
    text: `${start}${text}\r\n${upgrade}CF-Connecting-IP: ${address}\r\n`,
    address,
    bodyLength,
    isHead: method === 'HEAD',
    isWhiteFlag: WHITE_FLAG.test(start),
    isUpgrade,
    expectsContinue: !isOld && fields.get('expect')?.toLowerCase() === '100-continue',
    isLast: isOld || /\bclose\b/.test(connection),
    acceptsGzip: doesAcceptGzip(fields.get('accept-encoding') ?? ''),
  };
}

/** Values of {@link READ}; of several lines as one list (RFC 9110, 5.3). `\xa0` is no space. */
type Fields = ReadonlyMap<string, string>;

/** Returns the lines that are passed on, each with a line end before it, and what was read. */
function readHeaders(lines: string): { text: string; fields: Fields } {
  if (!LINES.test(lines)) refuseRequest('a header line is malformed, or there are more than 200');
  const fields = new Map<string, string>();
  const text = lines.replace(READ, (line, given: string, value: string) => {
    const name = given.toLowerCase();
    const before = fields.has(name) ? `${fields.get(name)},` : '';
    if (before && ONCE.has(name)) refuseRequest(`${name} must be given once`);
    fields.set(name, before + value.replaceAll('\xa0', '?').trim());
    return PASSED.has(name) ? line : '';
  });
  return { text, fields };
}

function readBodyLength(fields: Fields, isOld: boolean): BodyLength {
  const length = fields.get('content-length');
  const coding = fields.get('transfer-encoding');
  if (coding === undefined) {
    if (length === undefined) return 0;
    return /^\d{1,15}$/.test(length)
      ? Number(length)
      : refuseRequest('Content-Length is malformed');
  }
  if (isOld) refuseRequest('HTTP/1.0 has no Transfer-Encoding');
  if (length !== undefined) refuseRequest('a body has Content-Length or Transfer-Encoding');
  return coding.toLowerCase() === 'chunked'
    ? 'chunked'
    : refuseRequest('Transfer-Encoding must be chunked');
}

function checkUpgrade(fields: Fields, bodyLength: BodyLength): void {
  if (bodyLength !== 0) refuseRequest('a request to upgrade must have no body');
  if (fields.get('sec-websocket-version') !== WEBSOCKET_VERSION) {
    const names = { 'sec-websocket-version': WEBSOCKET_VERSION, upgrade: 'websocket' };
    refuseRequest(`Sec-WebSocket-Version must be ${WEBSOCKET_VERSION}`, 426, names);
  }
  if (!WEBSOCKET_KEY.test(fields.get('sec-websocket-key') ?? ''))
    refuseRequest('Sec-WebSocket-Key must be 16 bytes in base64');
}

/** Path with query, and the host of a target that names one. */
function readTarget(method: string, target: string): [place: string, authority?: string] {
  if (target.startsWith('/')) return [target];
  if (target === '*' && method === 'OPTIONS') return ['/'];
  const [, authority, place = '/'] = ABSOLUTE.exec(target) ?? [];
  if (authority === undefined) return [''];
  return [place.startsWith('?') ? `/${place}` : place, authority];
}

/** RFC 9110, 12.5.3: the most specific of those that match, unless its weight is 0; as far as read. */
function doesAcceptGzip(value: string): boolean {
  let any = false;
  for (const each of value.slice(0, 1000).toLowerCase().split(',')) {
    const [coding, ...parameters] = each.split(';').map((part) => part.trim());
    const isRefused = parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
    if (coding === 'gzip' || coding === 'x-gzip') return !isRefused;
    if (coding === '*') any = !isRefused;
  }
  return any;
}

/** Whether it is what RFC 9110 §7.2 allows, and a URL parser takes it. */
const isAuthority = (host: string) => AUTHORITY.test(host) && URL.canParse(`http://${host}`);
