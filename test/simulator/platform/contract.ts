/**
 * What the node relies on of the platform. The doubles and workerd pass the same tests
 * (contract.test.ts, contract.worker.test.ts).
 */
import { expect, test } from 'vitest';

/** The part of a Durable Object's state that the node uses. */
interface State {
  storage: {
    getAlarm(): Promise<number | null>;
    setAlarm(at: number): Promise<void>;
    deleteAlarm(): Promise<void>;
    kv: {
      get(key: string): unknown;
      put(key: string, value: unknown): void;
      delete(key: string): unknown;
    };
  };
}

interface WebSocketEnd {
  accept(): void;
  send(data: Uint8Array | string): void;
  close(code?: number, reason?: string): void;
  readyState: number;
  binaryType: string;
  serializeAttachment(value: unknown): void;
  deserializeAttachment(): unknown;
  addEventListener(name: string, heard: (event: never) => void): void;
}

export interface Platform {
  /** Runs a test: the doubles let time pass meanwhile. */
  run(test: () => Promise<void>): Promise<void>;
  d1: D1Database;
  kv: KVNamespace;
  caches: CacheStorage;
  follower: {
    readCounts(): Promise<object>;
    readUnstored(id: string, client: string): Promise<unknown>;
  };
  inObject<T>(work: (state: State) => T | Promise<T>): Promise<T>;
  /** Another stub of the follower. */
  openFollower(): Platform['follower'];
  /** Resets the follower. */
  reset(): Promise<void>;
  makePair(): [WebSocketEnd, WebSocketEnd];
  respond(status: number, webSocket: WebSocketEnd): { status: number; webSocket: unknown };
  sleep(ms: number): Promise<void>;
}

export function describePlatform(platform: Platform): void {
  const check = (name: string, body: () => Promise<void>) => test(name, () => platform.run(body));
  const { d1, kv, caches } = platform;

  check('D1: a batch is a transaction, and returns the rows of each statement', async () => {
    await d1
      .prepare('CREATE TABLE IF NOT EXISTS contract (id INTEGER PRIMARY KEY, text TEXT)')
      .run();
    await d1.prepare('DELETE FROM contract').run();
    const put = d1.prepare('INSERT INTO contract VALUES (?1, ?2)');
    const read = d1.prepare('SELECT id, text FROM contract ORDER BY id');
    const [, , rows] = await d1.batch([put.bind(1, 'one'), put.bind(2, null), read]);
    expect(rows!.results).toEqual([
      { id: 1, text: 'one' },
      { id: 2, text: null },
    ]);
    await expect(d1.batch([put.bind(3, 'three'), put.bind(1, 'again')])).rejects.toThrow('UNIQUE');
    expect((await read.all()).results).toHaveLength(2);
    expect(await read.first()).toEqual({ id: 1, text: 'one' });
    expect(await read.first('text')).toBe('one');
    expect(await d1.prepare('SELECT id FROM contract WHERE id = 9').first('id')).toBeNull();
    const { meta } = await d1.prepare('UPDATE contract SET text = ?1').bind('same').run();
    expect(meta.changes).toBe(2);
  });

  check('D1: a statement without value for a parameter, and one too many', async () => {
    const one = d1.prepare('SELECT ?1 AS value');
    await expect(async () => one.bind(undefined).all()).rejects.toThrow('undefined');
    const many = Array.from({ length: 101 }, (_, i) => `?${i + 1}`).join();
    const values = Array.from({ length: 101 }, (_, i) => i);
    await expect(async () =>
      d1
        .prepare(`SELECT ${many}`)
        .bind(...values)
        .all(),
    ).rejects.toThrow(/variable|parameter/i);
  });

  check('D1: what a statement may not have', async () => {
    const list = (length: number, each: string, by: string) => Array(length).fill(each).join(by);
    const read = async (sql: string, ...values: unknown[]) =>
      d1
        .prepare(`SELECT ${sql}`)
        .bind(...values)
        .all();
    await read(list(5, '1', ' UNION ALL SELECT '));
    await expect(read(list(6, '1', ' UNION ALL SELECT '))).rejects.toThrow('compound SELECT');
    await read(`'' LIKE ?1`, '%'.repeat(50));
    await expect(read(`'' LIKE ?1`, '%'.repeat(51))).rejects.toThrow('pattern too complex');
    await read(list(100, '1', '+'));
    await expect(read(list(101, '1', '+'))).rejects.toThrow('maximum depth 100');
    await expect(read(list(101, '1', ','))).rejects.toThrow('too many columns');
    // workerd: 127
    await expect(read(`max(${list(128, '1', ',')})`)).rejects.toThrow('too many arguments');
    await expect(read(`'${'x'.repeat(100_000)}'`)).rejects.toThrow('TOOBIG');
    // workerd: 2.2 MB and more
    await expect(read('length(zeroblob(10000000))')).rejects.toThrow('too big');
  });

  check('D1: a key beyond 2^53 is taken', async () => {
    await d1.prepare('CREATE TABLE IF NOT EXISTS keys (key INTEGER PRIMARY KEY)').run();
    await d1.prepare('DELETE FROM keys').run();
    await d1.prepare(`INSERT INTO keys SELECT 257 * ${2 ** 53 - 1}`).run();
    const read = d1.prepare('SELECT CAST(key AS TEXT) AS key FROM keys');
    expect(await read.first('key')).toBe(String(257n * (2n ** 53n - 1n)));
  });

  check('D1: a session reads what it wrote, and what others wrote', async () => {
    await d1
      .prepare('CREATE TABLE IF NOT EXISTS contract (id INTEGER PRIMARY KEY, text TEXT)')
      .run();
    const session = d1.withSession('first-primary');
    await session.prepare('REPLACE INTO contract VALUES (7, ?1)').bind('mine').run();
    const read = 'SELECT text FROM contract WHERE id = 7';
    expect(await session.prepare(read).first('text')).toBe('mine');
    expect(await d1.withSession('first-primary').prepare(read).first('text')).toBe('mine');
  });

  check('KV: texts by key, null where there is none', async () => {
    expect(await kv.get('no such key', { type: 'text' })).toBeNull();
    await kv.put('key', 'value');
    expect(await kv.get('key', { type: 'text' })).toBe('value');
  });

  check('KV: a key of 512 bytes at most', async () => {
    expect(await kv.get('é'.repeat(256), { type: 'text' })).toBeNull();
    await expect(kv.get('é'.repeat(257), { type: 'text' })).rejects.toThrow('414');
  });

  check('Cache: by name and URL, as long as max-age says', async () => {
    const cache = await caches.open('contract');
    const url = 'https://contract.test/?a=1';
    expect(await cache.match(url)).toBeUndefined();
    await cache.put(url, new Response('kept', { headers: { 'cache-control': 'max-age=60' } }));
    expect(await (await cache.match(url))?.text()).toBe('kept');
    expect(await cache.match('https://contract.test/?a=2')).toBeUndefined();
    expect(await (await caches.open('another')).match(url)).toBeUndefined();
  });

  check('objects: an alarm is one time, and can be taken back', async () => {
    const later = Date.now() + 3_600_000;
    const seen = await platform.inObject(async ({ storage }) => {
      await storage.setAlarm(later);
      await storage.setAlarm(later + 1);
      const set = await storage.getAlarm();
      await storage.deleteAlarm();
      return [set, await storage.getAlarm()];
    });
    expect(seen).toEqual([later + 1, null]);
  });

  check('objects: values are copied into the storage, and out of it', async () => {
    const [first, second, gone] = await platform.inObject(({ storage: { kv: values } }) => {
      const value = { list: [1] };
      values.put('contract', value);
      value.list.push(2);
      const read = values.get('contract') as typeof value;
      read.list.push(3);
      const again = values.get('contract');
      values.delete('contract');
      return [[...read.list], again, values.get('contract')];
    });
    expect(first).toEqual([1, 3]);
    expect(second).toEqual({ list: [1] });
    expect(gone).toBeUndefined();
  });

  check('objects: a call returns a copy, or rejects with what the object threw', async () => {
    const [one, other] = [
      await platform.follower.readCounts(),
      await platform.follower.readCounts(),
    ];
    expect(one).toEqual(other);
    expect(one).not.toBe(other);
    const failure = await platform.follower.readUnstored('00'.repeat(32), '').then(
      () => undefined,
      (error: Error) => error,
    );
    expect(failure).toBeInstanceOf(Error);
    expect(failure!.message).toBe('no keys are set');
  });

  check('objects: a stub fails for ever once the object that it called is reset', async () => {
    const [stub, unused] = [platform.openFollower(), platform.openFollower()];
    await stub.readUnstored('00'.repeat(32), '').catch(() => {});
    expect(await stub.readCounts()).toBeDefined();
    await platform.reset();
    for (let i = 0; i < 2; i++) {
      const failure = await stub.readCounts().catch((error: unknown) => error);
      expect(failure).toMatchObject({ durableObjectReset: true });
    }
    expect(await unused.readCounts()).toBeDefined();
    expect(await platform.openFollower().readCounts()).toBeDefined();
  });

  check(
    'WebSockets: messages in order, held until they are accepted; both ends close',
    async () => {
      const [theirs, ours] = platform.makePair();
      const heard: unknown[] = [];
      theirs.binaryType = 'arraybuffer';
      theirs.addEventListener('message', ({ data }: { data: ArrayBuffer | string }) => {
        heard.push(typeof data === 'string' ? data : [...new Uint8Array(data)]);
      });
      theirs.addEventListener('close', ({ code }: { code: number }) => heard.push(code));
      ours.accept();
      const bytes = Uint8Array.of(1, 2);
      ours.send(bytes);
      bytes[0] = 9;
      ours.send('text');
      await platform.sleep(20);
      expect(heard).toEqual([]);
      theirs.accept();
      await platform.sleep(20);
      expect(heard).toEqual([[1, 2], 'text']);
      ours.close(1000, 'done');
      await platform.sleep(20);
      expect(heard).toEqual([[1, 2], 'text', 1000]);
      expect(() => ours.send('late')).toThrow();
    },
  );

  check('WebSockets: attachments are copies; an answer with one has status 101', async () => {
    const [theirs, ours] = platform.makePair();
    const value = { topics: ['a'] };
    ours.serializeAttachment(value);
    value.topics.push('b');
    expect(ours.deserializeAttachment()).toEqual({ topics: ['a'] });
    expect(() => ours.serializeAttachment(new Uint8Array(16_385))).toThrow(/cannot be larger/);
    const response = platform.respond(101, theirs);
    expect(response.status).toBe(101);
    expect(response.webSocket).toBe(theirs);
  });
}
