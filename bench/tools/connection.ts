/**
 * HTTP/1.1 over one open connection, one request after the other. The client does as little as it
 * can, so that the server is measured.
 *
 * Reads what workerd sends: bodies with their length, in chunks, or none.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface LoadAnswer {
  status: number;
  /** Names in lower case. */
  headers: Map<string, string>;
  body: string;
}

const HEAD_END = '\r\n\r\n';

export class LoadConnection {
  readonly #url: URL;
  #socket: Socket | undefined;
  #received = Buffer.alloc(0);
  #waiting: PromiseWithResolvers<LoadAnswer> | undefined;

  constructor(url: string) {
    this.#url = new URL(url);
  }

  /** The bytes of a request, to be sent any number of times. */
  encode(method: string, path: string, body?: string): Buffer {
    const lines = [`${method} ${path} HTTP/1.1`, `Host: ${this.#url.host}`];
    if (body !== undefined)
      lines.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`);
    return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body ?? ''}`);
  }

  async send(request: Buffer): Promise<LoadAnswer> {
    // a server closes a connection that is idle for some seconds
    if (this.#socket === undefined || this.#socket.destroyed) this.#socket = await this.#open();
    this.#waiting = Promise.withResolvers();
    this.#socket.write(request);
    return this.#waiting.promise;
  }

  get(path: string): Promise<LoadAnswer> {
    return this.send(this.encode('GET', path));
  }

  post(path: string, body: unknown): Promise<LoadAnswer> {
    return this.send(this.encode('POST', path, JSON.stringify(body)));
  }

  close(): void {
    this.#socket?.destroy();
  }

  async #open(): Promise<Socket> {
    const socket = connect(Number(this.#url.port), this.#url.hostname);
    await once(socket, 'connect');
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', (error) => this.#waiting?.reject(error));
    socket.on('close', () => this.#waiting?.reject(new Error('connection closed')));
    socket.on('end', () => socket.destroy());
    return socket;
  }

  #receive(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    const headLength = this.#received.indexOf(HEAD_END);
    if (headLength < 0) return;
    const [first, ...lines] = this.#received.toString('latin1', 0, headLength).split('\r\n');
    const headers = new Map(lines.map(headerOf));
    const body = readBody(headers, this.#received.subarray(headLength + HEAD_END.length));
    if (body === undefined) return;
    this.#received = Buffer.alloc(0);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve({ status: Number(first!.split(' ')[1]), headers, body });
  }
}

function headerOf(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

/** Undefined while it is not all there. */
function readBody(headers: ReadonlyMap<string, string>, rest: Buffer): string | undefined {
  if (headers.get('transfer-encoding') === 'chunked') return readChunks(rest);
  const length = Number(headers.get('content-length') ?? 0);
  return rest.length < length ? undefined : rest.toString('utf8', 0, length);
}

function readChunks(rest: Buffer): string | undefined {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const end = rest.indexOf('\r\n', at);
    if (end < 0) return undefined;
    const length = Number.parseInt(rest.toString('latin1', at, end), 16);
    if (rest.length < end + 2 + length + 2) return undefined;
    if (length === 0) return Buffer.concat(chunks).toString();
    chunks.push(rest.subarray(end + 2, end + 2 + length));
    at = end + 2 + length + 2;
  }
}
