/**
 * White-flag requests over HTTP. Every answer is checked, and computed: none comes from the cache
 * of answers.
 */
import { strict as assert } from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WhiteFlagCase } from '../../test/support/network/network-model.ts';
import { LoadConnection } from './connection.ts';
import { median, time } from './measure.ts';

const PATH = '/api/core/v2/whiteflag';

/**
 * Between two requests: the Worker puts an answer into the cache after it has sent it, which is not
 * to be measured with the next request.
 */
const PAUSE_MS = 20;

export class Questioner {
  readonly #connection: LoadConnection;
  /** Milliseconds by stage, of each answer. */
  readonly stages: Record<string, number>[] = [];
  #later = Math.floor(Math.random() * 2 ** 28);

  constructor(url: string) {
    this.#connection = new LoadConnection(url);
  }

  /**
   * Asks the question with a later timestamp than ever before. That changes no verdict, as the
   * transactions of these cones do not depend on time. Returns milliseconds.
   */
  async ask({ request, response }: WhiteFlagCase): Promise<number> {
    this.#later++;
    return this.#ask({ ...request, timestamp: request.timestamp + this.#later }, response);
  }

  /** Median of `count` answers, in milliseconds, after as many and at least a second to warm up. */
  async measure(question: WhiteFlagCase, count = 21): Promise<number> {
    const start = performance.now();
    for (let i = 0; i < count || performance.now() - start < 1000; i++) await this.ask(question);
    const times: number[] = [];
    for (let i = 0; i < count; i++) {
      await sleep(PAUSE_MS);
      times.push(await this.ask(question));
    }
    return median(times);
  }

  /** Medians of the last `count` answers, by stage. */
  stagesOf(count: number): Record<string, number> {
    const last = this.stages.slice(-count);
    return Object.fromEntries(
      Object.keys(last[0] ?? {}).map((stage) => [
        stage,
        median(last.map((each) => each[stage] ?? 0)),
      ]),
    );
  }

  close(): void {
    this.#connection.close();
  }

  async #ask(
    request: WhiteFlagCase['request'],
    response: WhiteFlagCase['response'],
  ): Promise<number> {
    let answer: Awaited<ReturnType<LoadConnection['post']>> | undefined;
    const ms = await time(async () => {
      answer = await this.#connection.post(PATH, request);
    });
    assert.equal(answer!.status, 200, answer!.headers.get('x-error-detail') ?? answer!.body);
    assert.deepEqual(JSON.parse(answer!.body), response);
    this.stages.push(readTimings(answer!.headers.get('server-timing') ?? ''));
    return ms;
  }
}

/** Of a Server-Timing header. */
function readTimings(header: string): Record<string, number> {
  return Object.fromEntries(
    header.split(', ').map((entry) => {
      const [name = '', ms = ''] = entry.split(';dur=');
      return [name, Number(ms)];
    }),
  );
}
