/**
 * A test double of HORNET 2.0.1's REST API. It serves a network over HTTP on the loopback
 * interface, as a node does that confirms the network milestone by milestone. It answers slowly or
 * wrongly if told so, and counts what it is asked.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { listen } from '../edge/launch.ts';
import type { Network } from '../network/network-model.ts';
import { type ChooseFault, distort, disturb, type SeenRequest } from './fault.ts';
import { type MqttBroker, startMqttBroker } from './mqtt-broker.ts';
import { NodeState } from './node-state.ts';
import { type Answer, answer, answerError, routeOf } from './routes.ts';

export interface DoubleOptions {
  /** The milestone confirmed at the start; default: the genesis. */
  confirmed?: number;
  /** Milliseconds before every answer. */
  latency?: number;
  fault?: ChooseFault;
  /** Whether it runs the MQTT plug-in (mqtt-broker.ts). */
  mqtt?: boolean;
}

export class NodeDouble {
  readonly node: NodeState;
  /** Milliseconds before every answer. */
  latency: number;
  fault: ChooseFault | undefined;
  /** All requests, in the order in which they came. */
  requests: SeenRequest[] = [];
  /** Its MQTT plug-in, if it runs one. */
  mqtt: MqttBroker | undefined;
  readonly #server: Server;
  #url = '';
  readonly #times = new Map<string, number>();

  private constructor(network: Network, options: DoubleOptions) {
    this.node = new NodeState(network, options.confirmed ?? network.genesis.index);
    this.latency = options.latency ?? 0;
    this.fault = options.fault;
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  /** Listens on a free port. */
  static async start(network: Network, options: DoubleOptions = {}): Promise<NodeDouble> {
    const double = new NodeDouble(network, options);
    if (options.mqtt) {
      const broker = await startMqttBroker(double.node);
      double.mqtt = broker;
      double.#server.on('upgrade', (...upgrade) => broker.upgrade(...upgrade));
    }
    double.#url = await listen(double.#server);
    return double;
  }

  /** `http://127.0.0.1:<port>`: what UPSTREAM_URL takes. */
  get url(): string {
    return this.#url;
  }

  /** Moves the node to a confirmed milestone; `latest` is the newest that it has heard of. */
  confirm(index: number, latest?: number): void {
    this.node.confirm(index, latest);
  }

  /**
   * The same, and pushes what the node has come to know by then; resolves when it is on its way.
   */
  async pushTo(index: number, latest?: number): Promise<void> {
    this.confirm(index, latest);
    await this.mqtt?.pushNews();
  }

  /** Forgets all counts. */
  forget(): void {
    this.requests = [];
    this.#times.clear();
  }

  /** Ends every connection, requests under way included. */
  async stop(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    await this.mqtt?.stop();
    this.#server.close(() => resolve());
    this.#server.closeAllConnections();
    await promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.resume();
    const seen = this.#see(request);
    const fault = this.fault?.(seen);
    const wait = this.latency + (fault?.kind === 'late' ? fault.delay : 0);
    if (wait > 0) await setTimeout(wait);
    // the answer is that of the moment when it is sent
    const right =
      seen.method === 'GET'
        ? answer(this.node, seen.route, seen.accept, this.mqtt?.running)
        : answerError(405, 'Method Not Allowed');
    if (response.destroyed || (await disturb(response, right, fault))) return;
    send(response, distort(right, fault), request.headers['accept-encoding']);
  }

  #see({ method = '', url: path = '', headers: { accept } }: IncomingMessage): SeenRequest {
    const time = (this.#times.get(path) ?? 0) + 1;
    this.#times.set(path, time);
    const seen = { method, path, accept, route: routeOf(path.split('?', 1)[0]!), time };
    this.requests.push(seen);
    return seen;
  }
}

/** As the reference does: gzip for whoever takes it, and any origin. */
function send(
  response: ServerResponse,
  { status, type, body }: Answer,
  acceptEncoding: string | string[] = '',
): void {
  const gzip = body.length > 0 && acceptEncoding.includes('gzip');
  const sent = gzip ? gzipSync(body) : body;
  response.writeHead(status, {
    ...(type === undefined ? {} : { 'Content-Type': type }),
    ...(gzip ? { 'Content-Encoding': 'gzip' } : {}),
    'Content-Length': sent.length,
    Vary: 'Accept-Encoding',
    'Access-Control-Allow-Origin': '*',
  });
  response.end(sent);
}
