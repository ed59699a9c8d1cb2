/** Opening the upstreams of an object once: what its passes and requests share. */
import * as v from 'valibot';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { createReferenceReader } from '../../src/upstream/read-references.ts';
import { createUpstreams, parseAnswer } from '../../src/upstream/rest-upstream.ts';
import { type Upstream, UpstreamFailure } from '../../src/upstream/upstream.ts';
import { defaultSettings } from '../support/default-settings.ts';

const PATIENT = { timeout: 10_000, attempts: 3 };
const URGENT = { timeout: 1000, attempts: 1, urgency: 'stranger' } as const;
const KNOWN = { ...URGENT, urgency: 'known' } as const;
const ID = '00'.repeat(32);

const settingsOf = (...upstreams: string[]) => ({ ...defaultSettings({}), upstreams });

/** Answers are given when the test says so: what is asked, in its order, by host and then block. */
function holdAnswers() {
  const asked: string[] = [];
  const waiting: (() => void)[] = [];
  vi.stubGlobal('fetch', async (url: string) => {
    asked.push(`${new URL(url).host} ${url.at(-1)}`);
    await new Promise<void>((resolve) => waiting.push(resolve));
    return new Response(null, { status: 404 });
  });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const answer = async () => {
    waiting.shift()!();
    await settle();
  };
  return { asked, answer, settle };
}

afterEach(() => {
  vi.unstubAllGlobals();
});

const read = (upstream: Upstream, block: number) => upstream.readBlock(ID.slice(1) + block);

it('names each of several upstreams of one host by itself, without its path', () => {
  const urls = ['https://a.example/x', 'https://b.example', 'https://a.example/y'];
  const names = createUpstreams()(settingsOf(...urls), PATIENT).map(({ name }) => name);
  expect(names).toEqual(['a.example', 'b.example', 'a.example (2)']);
});

it('has four connections for all upstreams, whoever asks, and asks for requests first', async () => {
  const { asked, answer, settle } = holdAnswers();
  const open = createUpstreams();
  const settings = settingsOf('https://a.example', 'https://b.example');
  const [pass, other] = open(settings, PATIENT);
  const work = [1, 2, 3, 4, 5].map((block) => read(pass!, block));
  const [request] = open(settings, URGENT);
  work.push(read(request!, 8), read(other!, 9));
  await settle();
  // two of the platform's six are left to D1, and one of the others to other upstreams
  expect(asked).toEqual([...[1, 2, 3].map((block) => `a.example ${block}`), 'b.example 9']);
  await answer();
  await answer();
  expect(asked.slice(4)).toEqual(['a.example 8', 'a.example 4']);
  for (let left = work.length - 2; left > 0; left--) await answer();
  await Promise.all(work);
});

it.each([URGENT, KNOWN])('lets a pass on while each $urgency asks on', async (patience) => {
  const { asked, answer, settle } = holdAnswers();
  const open = createUpstreams();
  const settings = settingsOf('https://a.example');
  const [request] = open(settings, patience);
  const ask = () => read(request!, 1);
  const work = Array.from({ length: 12 }, ask);
  work.push(read(open(settings, PATIENT)[0]!, 2));
  await settle();
  for (let answers = 0; answers < 3; answers++) {
    await answer();
    work.push(ask());
  }
  expect(asked).toContain('a.example 2');
  for (let left = work.length - 3; left > 0; left--) await answer();
  await Promise.all(work);
});

it('asks what an upstream is before all else that passes ask', async () => {
  const { asked, answer, settle } = holdAnswers();
  const [pass] = createUpstreams()(settingsOf('https://a.example'), PATIENT);
  const work = Array.from({ length: 6 }, () => read(pass!, 1));
  work.push(expect(pass!.readHeads()).rejects.toThrow('no info') as Promise<undefined>);
  await settle();
  await answer();
  expect(asked.at(-1)).toBe('a.example o');
  for (let left = work.length - 1; left > 0; left--) await answer();
  await Promise.all(work);
});

/** Never answers, as a host that drops packets; counts what it was asked. */
function dropPackets() {
  const asked = { times: 0 };
  vi.stubGlobal('fetch', (_: string, { signal }: { signal: AbortSignal }) => {
    asked.times++;
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')));
    });
  });
  return asked;
}

it('counts the wait for a connection as time, and asks nothing again that was late', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const asked = dropPackets();
  const open = createUpstreams();
  const settings = settingsOf('https://a.example');
  const failures: unknown[] = [];
  for (const patience of [PATIENT, { ...PATIENT, urgency: 'stranger' } as const]) {
    const [upstream] = open(settings, patience);
    for (let i = 0; i < 100; i++)
      read(upstream!, i % 10).catch((error: unknown) => failures.push(error));
  }
  await vi.advanceTimersByTimeAsync(9_999);
  expect(asked.times).toBe(4);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked.times).toBeLessThanOrEqual(200);
  expect(failures).toHaveLength(200);
  for (const failure of failures) expect(failure).toMatchObject({ isBusy: true });
});

it('asks one that hangs one question at a time, until it answers', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let isUp = false;
  const open = { a: 0, b: 0 };
  const most = { a: 0, b: 0 };
  vi.stubGlobal('fetch', async (url: string, { signal }: { signal: AbortSignal }) => {
    const name = new URL(url).hostname[0] as 'a' | 'b';
    most[name] = Math.max(most[name], ++open[name]);
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')));
      if (isUp || name === 'b') setTimeout(resolve, 20);
    }).finally(() => open[name]--);
    return new Response(null, { status: 404 });
  });
  const settings = settingsOf('https://a.example', 'https://b.example');
  const [a, b] = createUpstreams()(settings, KNOWN);
  const askMany = async (upstream: Upstream, times: number) => {
    let answers = 0;
    const count = () => void answers++;
    for (let i = 0; i < times; i++) read(upstream, 1).then(count, () => {});
    await vi.advanceTimersByTimeAsync(1000);
    return answers;
  };
  expect(await askMany(a!, 10)).toBe(0);
  expect(most.a).toBe(3);
  most.a = 0;
  const [ofA, ofB] = await Promise.all([askMany(a!, 10), askMany(b!, 10)]);
  expect([ofA, most.a, ofB, most.b]).toEqual([0, 1, 10, 3]);
  isUp = true;
  await askMany(a!, 1);
  expect([await askMany(a!, 10), most.a]).toEqual([10, 3]);
});

it.each([
  ['never gives a block', 20_000],
  ['gives each block just in time', 9000],
])('asks others for requests while one answers what it is, and %s', async (_, ms) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  vi.stubGlobal('fetch', async (url: string, { signal }: { signal: AbortSignal }) => {
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')));
      setTimeout(resolve, url.startsWith('https://a.example') && !url.endsWith('/info') ? ms : 20);
    });
    return new Response(null, { status: 404 });
  });
  const open = createUpstreams();
  const settings = settingsOf('https://a.example', 'https://b.example');
  const [liar] = open(settings, PATIENT);
  const [, honest] = open(settings, URGENT);
  let answers = 0;
  for (let second = 0; second < 40; second++) {
    if (second % 5 === 0) liar!.readHeads().catch(() => {});
    for (let i = 0; i < 6; i++) read(liar!, i).catch(() => {});
    read(honest!, 1).then(
      () => answers++,
      () => {},
    );
    await vi.advanceTimersByTimeAsync(1000);
  }
  expect(answers).toBe(40);
});

it.each([
  [1, 'for some blocks, which strangers ask for', (url: string) => url.endsWith('1')],
  [4, 'and the last one does not', (url: string) => !url.startsWith('https://d.example')],
])('asks for who is known at once while %i hang, %s', async (count, _, hangs) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  vi.stubGlobal('fetch', async (url: string, { signal }: { signal: AbortSignal }) => {
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')));
      if (!hangs(url)) setTimeout(resolve, 20);
    });
    return new Response(null, { status: 404 });
  });
  const hosts = ['a', 'b', 'c', 'd'].slice(0, count);
  const settings = settingsOf(...hosts.map((host) => `https://${host}.example`));
  const open = createUpstreams();
  const [strangers, passes, known] = [URGENT, PATIENT, KNOWN].map((each) => open(settings, each));
  const late: number[] = [];
  for (let asked = 0; asked < 60; asked++) {
    for (const upstream of strangers!)
      for (let i = 0; i < 3; i++) read(upstream, 1).catch(() => {});
    for (const upstream of passes!) upstream.readHeads().catch(() => {});
    const began = Date.now();
    // before it is known that they hang, all do
    if (asked >= 30)
      read(known!.at(-1)!, 2).then(
        () => late.push(Date.now() - began),
        () => late.push(1e9),
      );
    await vi.advanceTimersByTimeAsync(400);
  }
  await vi.advanceTimersByTimeAsync(2000);
  expect(late).toHaveLength(30);
  expect(Math.max(...late)).toBeLessThan(100);
});

it('asks each one that hangs, however many more do, and hears of one that answers again', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let isUp = false;
  vi.stubGlobal('fetch', async (url: string, { signal }: { signal: AbortSignal }) => {
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')));
      if (url.startsWith('https://a.example')) setTimeout(resolve, 20);
      if (url.startsWith('https://d.example') && isUp) setTimeout(resolve, 100);
    });
    return new Response(null, { status: 404 });
  });
  const hosts = ['a', 'b', 'c', 'd', 'e', 'f'].map((host) => `https://${host}.example`);
  const known = createUpstreams()(settingsOf(...hosts), KNOWN);
  let answers = 0;
  // as a vote: all at once, which are late together
  const vote = async () => {
    for (const upstream of known)
      read(upstream, 1).then(
        () => answers++,
        () => {},
      );
    await vi.advanceTimersByTimeAsync(1100);
  };
  for (let votes = 0; votes < 10; votes++) await vote();
  isUp = true;
  answers = 0;
  for (let votes = 0; votes < 100; votes++) await vote();
  // 100 of the first one; of the other one most of the rest
  expect(answers).toBeGreaterThan(130);
});

it('an upstream that was asked too late, beside others, does not hang', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  vi.stubGlobal('fetch', async (url: string, { signal }: { signal: AbortSignal }) => {
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')));
      if (url.startsWith('https://busy.example')) setTimeout(resolve, 300);
    });
    return new Response(null, { status: 404 });
  });
  const settings = settingsOf('https://busy.example', 'https://hung.example');
  const [busy, hung] = createUpstreams()(settings, URGENT);
  const ask = (upstream: Upstream) => void read(upstream, 1).catch(() => {});
  ask(hung!);
  await vi.advanceTimersByTimeAsync(1000);
  for (let i = 0; i < 20; i++) ask(busy!);
  // three at a time: the last three have 100 ms
  await vi.advanceTimersByTimeAsync(1000);
  ask(hung!);
  await vi.advanceTimersByTimeAsync(100);
  const answer = read(busy!, 1).catch(() => 'late');
  await vi.advanceTimersByTimeAsync(1100);
  expect(await answer).toBeUndefined();
});

it('asks a quick one at once, however many questions of strangers wait for a slow one', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  vi.stubGlobal('fetch', async (url: string) => {
    const ms = url.startsWith('https://slow.example') ? 900 : 20;
    await new Promise<void>((resolve) => setTimeout(resolve, ms));
    return new Response(null, { status: 404 });
  });
  const settings = settingsOf('https://slow.example', 'https://quick.example');
  const open = createUpstreams();
  const passes = open(settings, PATIENT);
  const [slow, quick] = open(settings, URGENT);
  let answers = 0;
  for (let second = 0; second < 20; second++) {
    for (let i = 0; i < 3; i++) read(passes[0]!, i).catch(() => {});
    for (let i = 0; i < 10; i++) read(slow!, i).catch(() => {});
    read(quick!, 1).then(() => answers++);
    await vi.advanceTimersByTimeAsync(100);
    expect(answers).toBe(second + 1);
    await vi.advanceTimersByTimeAsync(900);
  }
});

const URGENCIES = ['known', 'stranger', 'first'] as const;

it.each(URGENCIES)(
  'asks a busy one for %s, while more of these ask a quick one',
  async (urgency) => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    let asked = 0;
    vi.stubGlobal('fetch', async (url: string, { signal }: { signal: AbortSignal }) => {
      const ms = url.startsWith('https://busy.example') ? 200 : 20;
      await new Promise<void>((resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('aborted')));
        setTimeout(resolve, ms + (ms * (asked++ % 7)) / 7);
      });
      return new Response(null, { status: 404 });
    });
    const settings = settingsOf('https://busy.example', 'https://quick.example');
    const open = createUpstreams();
    const [busy, quick] = open(settings, { timeout: 1000, attempts: 1, urgency });
    let isOver = false;
    const askOn = async (upstream: Upstream) => {
      while (!isOver) await read(upstream, 1).catch(() => {});
    };
    for (const other of URGENCIES)
      if (other !== urgency)
        for (let i = 0; i < 6; i++) void askOn(open(settings, { ...PATIENT, urgency: other })[0]!);
    for (let i = 0; i < 6; i++) void askOn(quick!);
    let answers = 0;
    for (let second = 0; second < 20; second++) {
      read(busy!, 1).then(
        () => answers++,
        () => {},
      );
      await vi.advanceTimersByTimeAsync(1000);
    }
    isOver = true;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(answers).toBe(20);
  },
);

it('asks a quick one often, however many questions wait for two slow ones', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  vi.stubGlobal('fetch', async (url: string, { signal }: { signal: AbortSignal }) => {
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')));
      const part = (asked++ * 0.618) % 1;
      setTimeout(resolve, url.startsWith('https://quick.example') ? 20 : 100 + 200 * part);
    });
    return new Response(null, { status: 404 });
  });
  const hosts = ['slow', 'slow-too', 'quick'].map((host) => `https://${host}.example`);
  const open = createUpstreams();
  let [isOver, answers, asked] = [false, 0, 0];
  const askOn = async (upstream: Upstream) => {
    while (!isOver)
      await read(upstream, 1).then(
        () => upstream.name[0] === 'q' && answers++,
        () => {},
      );
  };
  for (const upstream of open(settingsOf(...hosts), { ...KNOWN, timeout: 350 }))
    for (let i = 0; i < 9; i++) void askOn(upstream);
  for (const upstream of open(settingsOf(...hosts), { ...URGENT, timeout: 350 }))
    for (let i = 0; i < 4; i++) void askOn(upstream);
  await vi.advanceTimersByTimeAsync(10_000);
  isOver = true;
  await vi.advanceTimersByTimeAsync(1000);
  // half of what one connection gives
  expect(answers).toBeGreaterThan(250);
});

it.each([1, 2, 3])(
  'asks an honest one beside %i that hang but say what they are',
  async (liars) => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    vi.stubGlobal('fetch', async (url: string, { signal }: { signal: AbortSignal }) => {
      await new Promise<void>((resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('aborted')));
        if (url.startsWith('https://z.example') || url.endsWith('/info')) setTimeout(resolve, 100);
      });
      return new Response(null, { status: 404 });
    });
    const hosts = ['a', 'b', 'c'].slice(0, liars).map((host) => `https://${host}.example`);
    const settings = settingsOf(...hosts, 'https://z.example');
    const open = createUpstreams();
    const passes = open(settings, PATIENT).slice(0, -1);
    const strangers = open(settings, { ...URGENT, timeout: 350 });
    const honest = open(settings, { ...KNOWN, timeout: 350 }).at(-1)!;
    let answers = 0;
    for (let tenth = 0; tenth < 600; tenth++) {
      for (const liar of passes) {
        if (tenth % 10 === 0) liar.readHeads().catch(() => {});
        if (tenth % 2 === 0) read(liar, 1).catch(() => {});
      }
      for (const upstream of strangers) if (tenth % 3 === 0) read(upstream, 1).catch(() => {});
      // before it is known that they hang, all do
      if (tenth >= 110 && tenth % 10 === 5)
        read(honest, 1).then(
          () => answers++,
          () => {},
        );
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(answers).toBe(49);
  },
);

it('lets a pass know soon that one hangs, however many requests ask what is referenced', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  dropPackets();
  const open = createUpstreams();
  const settings = settingsOf('https://a.example');
  const voters = open(settings, { ...PATIENT, urgency: 'stranger' });
  for (let i = 0; i < 300; i++) {
    const readReference = createReferenceReader({ upstreams: voters, index: 1 });
    readReference(ID).catch(() => {});
    await vi.advanceTimersByTimeAsync(100);
  }
  const began = Date.now();
  const failing = expect(open(settings, PATIENT)[0]!.readHeads()).rejects.toThrow(UpstreamFailure);
  const ended = failing.then(() => Date.now());
  await vi.advanceTimersByTimeAsync(90_000);
  expect((await ended) - began).toBeLessThanOrEqual(6000);
});

it.each([
  [429, '', true],
  [503, '<html>', true],
  [503, '{"error":{"code":"503","message":"service unavailable"}}', true],
  [503, 'x'.repeat(2_000_000), true],
  // HORNET's own
  [503, '{"error":{"code":"503","message":"node is not synced: Service Unavailable"}}', false],
  [504, '{}', true],
  [500, '', false],
  [502, '', false],
])(
  'says whether one that answers with status %i, %.40s, may have the answer',
  async (status, body, isBusy) => {
    let asked = 0;
    vi.stubGlobal('fetch', async () => {
      asked++;
      return new Response(body, { status });
    });
    const [upstream] = createUpstreams()(settingsOf('https://a.example'), URGENT);
    const failure = await upstream!.readTips().catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'UpstreamFailure', isBusy });
    expect(asked).toBe(1);
  },
);

it.each([
  [429, 3, 'resolves'],
  [503, 4, 'resolves'],
  // 100, 300, 700 and 1500 ms later
  [429, 9, 'rejects after 5'],
  [500, 2, 'resolves'],
  [500, 9, 'rejects after 3'],
])('asks again what got status %i %i times: %s', async (status, refusals, outcome) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let asked = 0;
  vi.stubGlobal('fetch', async () => {
    const isRefused = ++asked <= refusals;
    return new Response(null, { status: isRefused ? status : 404 });
  });
  const [upstream] = createUpstreams()(settingsOf('https://a.example'), PATIENT);
  const ended = read(upstream!, 1).then(
    () => 'resolves',
    () => `rejects after ${asked}`,
  );
  await vi.runAllTimersAsync();
  expect(await ended).toBe(outcome);
});

it('asks nothing again that is refused after a second', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let asked = 0;
  vi.stubGlobal('fetch', async () => {
    asked++;
    await new Promise((resolve) => setTimeout(resolve, 1000));
    return new Response(null, { status: 504 });
  });
  const [upstream] = createUpstreams()(settingsOf('https://a.example'), PATIENT);
  const failing = expect(read(upstream!, 1)).rejects.toThrow('status 504');
  await vi.runAllTimersAsync();
  await failing;
  expect(asked).toBe(1);
});

it('keeps no long text of an upstream', async () => {
  const long = 'y'.repeat(900_000);
  const latestMilestone = { index: 1, timestamp: 1, milestoneId: `0x${ID}` };
  const status = { latestMilestone, confirmedMilestone: { index: 1 } };
  vi.stubGlobal('fetch', async () => Response.json({ status, protocol: { networkName: long } }));
  const [upstream] = createUpstreams()(settingsOf('https://a.example'), URGENT);
  const failure = await upstream!.readHeads().catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(UpstreamFailure);
  expect((failure as Error).message.length).toBeLessThan(1000);
});

it('reads an answer no further than its first fault', () => {
  let read = 0;
  const isRight = () => {
    read++;
    return false;
  };
  const schema = v.array(v.pipe(v.unknown(), v.check(isRight)));
  const body = new TextEncoder().encode('[1,2,3]');
  expect(() => parseAnswer(body, schema, 'a.example tips')).toThrow(UpstreamFailure);
  expect(read).toBe(1);
});

it('takes no metadata of another block', async () => {
  const metadata = { blockId: `0x${'11'.repeat(32)}`, parents: [], isSolid: true };
  vi.stubGlobal('fetch', async () => Response.json(metadata));
  const [upstream] = createUpstreams()(settingsOf('http://one'), URGENT);
  await expect(upstream!.readReference(ID)).rejects.toThrow('one: metadata of block 11');
  expect(await upstream!.readReference('11'.repeat(32))).toBeNull();
});

it('reads 1,000 tips, and no JSON that is much longer: as objects it takes 20 times as much', async () => {
  const tips = Array.from({ length: 1000 }, (_, i) => `0x${i}`.padEnd(66, '0'));
  const answer = (more: object) => {
    const headers = { 'content-type': 'application/json' };
    vi.stubGlobal(
      'fetch',
      async () => new Response(JSON.stringify({ tips, ...more }), { headers }),
    );
  };
  const [upstream] = createUpstreams()(settingsOf('https://a.example'), URGENT);
  answer({});
  expect(await upstream!.readTips()).toHaveLength(1000);
  answer({ more: Array(50_000).fill({}) });
  await expect(upstream!.readTips()).rejects.toThrow(UpstreamFailure);
});
