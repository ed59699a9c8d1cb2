/**
 * Subscribers that follow docs/developers.md#events, while their sockets are torn and somebody kills the node:
 * each must have HORNET's NFTs whenever both are at the same milestone, and hear of nothing that
 * did not happen. `npx node test/slow/subscribers.ts NODE HORNET INDEXER MINUTES`, all three with
 * their URLs, while a network is live.
 */
import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { type AddressInfo, createServer, connect as openSocket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import mqtt from 'mqtt';
import { runMain, UsageError } from '../../scripts/lib/process/command-line.ts';

const CONFIRMED = 'milestone-info/confirmed';

/** The mean time for which a socket lives. */
const SOCKET_MS = 15_000;

/** NFTs that one subscriber of single NFTs watches. */
const WATCHED = 100;

interface Known {
  outputId: string | null;
  at: number;
}

interface Output {
  metadata: { transactionId: string; outputIndex: number; isSpent: boolean; ledgerIndex: number };
}

/** Hands bytes on, and tears each socket after a while. */
async function tear(target: URL): Promise<{ url: string; torn: () => number }> {
  let torn = 0;
  const server = createServer((socket) => {
    const other = openSocket(Number(target.port), target.hostname);
    const timer = setTimeout(
      () => {
        torn++;
        socket.destroy();
      },
      -Math.log(1 - Math.random()) * SOCKET_MS,
    );
    for (const [one, end] of [
      [socket, other],
      [other, socket],
    ] as const) {
      one.pipe(end);
      one.on('error', () => {});
      one.on('close', () => {
        clearTimeout(timer);
        end.destroy();
      });
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, torn: () => torn };
}

/** The JSON of a 200, or the status and the ledger index of another answer. */
async function ask(url: string, confirmed: number) {
  const headers = { 'X-Min-Ledger-Index': String(confirmed) };
  const answer = await fetch(url, { headers, signal: AbortSignal.timeout(10_000) });
  const at = Number(answer.headers.get('X-Ledger-Index') ?? 0);
  if (answer.ok) return { json: (await answer.json()) as Record<string, never>, at };
  await answer.body?.cancel();
  return { status: answer.status, at };
}

/** docs/developers.md#events, with `ids` docs/developers.md#a-few-nfts. */
class Subscriber {
  seen: number | undefined;
  readonly nfts = new Map<string, Known>();
  /** Outputs that messages named. */
  readonly heard = new Set<string>();
  counts = { connections: 0, messages: 0, requests: 0, lists: 0, changes: 0 };
  readonly #url: string;
  readonly #ids: readonly string[] | undefined;
  readonly #client: mqtt.MqttClient;
  #work = Promise.resolve();
  #trusts = false;

  constructor(url: string, ids?: readonly string[]) {
    this.#url = url;
    this.#ids = ids;
    this.#client = mqtt.connect(`${url.replace('http', 'ws')}/api/mqtt/v1`, {
      protocolVersion: 4,
      resubscribe: false,
      reconnectPeriod: 500,
    });
    const then = (work: () => Promise<void> | void) => {
      this.#work = this.#work.then(work).catch(() => {});
    };
    this.#client.on('error', () => {});
    this.#client.on('connect', () => {
      this.counts.connections++;
      then(() => {
        this.#trusts = false;
      });
      this.#client.subscribe([...(ids ?? []).map((id) => `outputs/nft/${id}`), CONFIRMED]);
    });
    this.#client.on('message', (topic, payload) => {
      this.counts.messages++;
      const value = JSON.parse(String(payload));
      if (topic !== CONFIRMED) then(() => this.#hear(topic.slice('outputs/nft/'.length), value));
      else then(() => this.#confirm(value.index));
    });
  }

  #hear(nftId: string, { metadata }: Output): void {
    const index = Buffer.alloc(2);
    index.writeUInt16LE(metadata.outputIndex);
    const outputId = `${metadata.transactionId}${index.toString('hex')}`;
    this.heard.add(outputId);
    this.#learn(nftId, metadata.isSpent ? null : outputId, metadata.ledgerIndex);
  }

  #learn(nftId: string, outputId: string | null, at: number): void {
    if (at >= (this.nfts.get(nftId)?.at ?? 0)) this.nfts.set(nftId, { outputId, at });
  }

  async #confirm(index: number): Promise<void> {
    if (this.#trusts && this.#ids !== undefined) this.seen = Math.max(this.seen!, index);
    else await this.#catchUp(index);
    this.#trusts = true;
  }

  async #catchUp(confirmed: number): Promise<void> {
    while (this.seen === undefined || this.seen < confirmed) {
      this.counts.requests++;
      if (this.seen === undefined) {
        this.counts.lists++;
        this.seen = await this.#list(confirmed);
        continue;
      }
      const url = `${this.#url}/api/edge/v1/changes/nfts?after=${this.seen}`;
      const answer = await ask(url, confirmed);
      if (answer.json === undefined) {
        if (answer.status === 404 && answer.at >= Math.max(confirmed, this.seen))
          this.seen = undefined;
        else throw new Error('not now');
        continue;
      }
      const { changes, to } = answer.json as unknown as {
        to: number;
        changes: { nftId: string; outputId: string | null }[];
      };
      this.counts.changes += changes.length;
      for (const { nftId, outputId } of changes)
        if (this.#ids === undefined || this.#ids.includes(nftId))
          this.#learn(nftId, outputId, answer.at);
      this.seen = to;
    }
  }

  /** Returns the ledger index of the first page. */
  async #list(confirmed: number): Promise<number> {
    const read = async (path: string): Promise<Record<string, never>> => {
      const { json } = await ask(`${this.#url}${path}`, confirmed);
      if (json === undefined) throw new Error('not now');
      return json;
    };
    let first: number | undefined;
    const take = (ids: readonly string[], body: Record<string, never>) => {
      const { ledgerIndex, nfts } = body as unknown as {
        ledgerIndex: number;
        nfts: ({ nftId: string; outputId: string } | null)[];
      };
      first ??= ledgerIndex;
      nfts.forEach((nft, i) => {
        if (nft !== null) this.#learn(nft.nftId, nft.outputId, ledgerIndex);
        else if (this.#ids !== undefined) this.#learn(ids[i]!, null, ledgerIndex);
      });
    };
    if (this.#ids !== undefined) {
      take(this.#ids, await read(`/api/edge/v1/nfts?ids=${this.#ids.join()}`));
      return first!;
    }
    this.nfts.clear();
    for (let cursor = ''; ; ) {
      const page = (await read(
        `/api/indexer/v1/outputs/nft?pageSize=100${cursor && `&cursor=${cursor}`}`,
      )) as unknown as { ledgerIndex: number; items: string[]; cursor?: string };
      first ??= page.ledgerIndex;
      if (page.items.length > 0)
        take(page.items, await read(`/api/edge/v1/nfts?ids=${page.items.join()}`));
      if (page.cursor === undefined) return first;
      cursor = page.cursor;
    }
  }

  end(): void {
    this.#client.end(true);
  }
}

/** All unspent NFT outputs of the reference, of one moment; undefined where it moved meanwhile. */
async function readReference(indexer: string) {
  const outputs = new Set<string>();
  let ledgerIndex: number | undefined;
  for (let cursor = ''; ; ) {
    const answer = await fetch(`${indexer}/api/indexer/v1/outputs/nft?pageSize=1000${cursor}`);
    const page = (await answer.json()) as { ledgerIndex: number; items: string[]; cursor?: string };
    ledgerIndex ??= page.ledgerIndex;
    if (ledgerIndex !== page.ledgerIndex) return undefined;
    for (const item of page.items) outputs.add(item);
    if (page.cursor === undefined) return { ledgerIndex, outputs };
    cursor = `&cursor=${page.cursor}`;
  }
}

const USAGE = `Usage: npx node test/slow/subscribers.ts NODE HORNET INDEXER MINUTES

Subscribes to NODE as docs/developers.md#events says, tears the sockets, and compares with HORNET and its
indexer. Exit code 1 at the first difference, or if there was little to compare.`;

await runMain(USAGE, async (args) => {
  const { positionals } = parseArgs({ args, allowPositionals: true });
  const [node, hornet, indexer, minutes] = positionals;
  if (minutes === undefined) throw new UsageError('four arguments are needed');
  const torn = await tear(new URL(node!));
  const all = [new Subscriber(torn.url), new Subscriber(torn.url), new Subscriber(torn.url)];
  const some: Subscriber[] = [];
  let [compared, comparedSome] = [0, 0];
  const deadline = Date.now() + Number(minutes) * 60_000;
  const compare = async () => {
    const before = await readReference(indexer!).catch(() => undefined);
    if (before === undefined) return;
    const states = [...all, ...some].map(({ seen, nfts }) => ({ seen, nfts: [...nfts] }));
    const { ledgerIndex, outputs } = before;
    for (const [i, { seen, nfts }] of states.entries()) {
      if (seen !== ledgerIndex || nfts.some(([, { at }]) => at > ledgerIndex)) continue;
      const unspent = nfts.flatMap(([, { outputId }]) => outputId ?? []);
      const wrong = unspent.filter((id) => !outputs.has(id));
      assert.deepEqual(wrong, [], `subscriber ${i} at ${ledgerIndex}`);
      if (i < all.length) {
        assert.equal(unspent.length, outputs.size, `subscriber ${i} at ${ledgerIndex}`);
        compared++;
      } else comparedSome++;
    }
  };
  for (let round = 0; Date.now() < deadline; round++) {
    await sleep(500);
    await compare();
    if (round % 60 === 40 && some.length < 8) {
      const ids = [...all[0]!.nfts]
        .filter(([, { outputId }]) => outputId !== null)
        .map(([id]) => id);
      if (ids.length >= 20) some.push(new Subscriber(torn.url, ids.slice(-WATCHED)));
    }
    if (round % 120 === 0)
      console.log(
        new Date().toISOString(),
        `compared ${compared} + ${comparedSome}, torn ${torn.torn()}`,
        JSON.stringify(
          [...all, ...some].map(({ seen, nfts, counts }) => [seen, nfts.size, counts]),
        ),
      );
  }
  const heard = new Set(some.flatMap((each) => [...each.heard]));
  let missing = 0;
  for (const id of heard) {
    const answer = await fetch(`${hornet}/api/core/v2/outputs/${id}/metadata`);
    await answer.body?.cancel();
    if (!answer.ok) missing++;
  }
  for (const each of [...all, ...some]) each.end();
  console.log(
    `compared ${compared} states of all NFTs and ${comparedSome} of ${WATCHED}; ` +
      `${torn.torn()} sockets torn; heard of ${heard.size} outputs, of which HORNET lacks ${missing}`,
  );
  return missing === 0 && compared > 20 && comparedSome > 20 ? 0 : 1;
});
