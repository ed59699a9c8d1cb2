/** Reads of single blocks that the follower fetches (src/follower/bring/bring-blocks.ts). */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import type { BringContext } from '../../../src/follower/bring/bring-blocks.ts';
import { createBringer, patienceOf } from '../../../src/follower/bring/bring-blocks.ts';
import { waitForCalls } from '../../../src/ledger/core/wrap-database.ts';
import { loadSnapshot } from '../../../src/ledger/import/load-snapshot.ts';
import { pause, withSignal } from '../../../src/platform/clock.ts';
import { createSharedLimit } from '../../../src/platform/concurrency.ts';
import { type Upstream, UpstreamFailure } from '../../../src/upstream/upstream.ts';
import { defaultSettings } from '../../support/default-settings.ts';
import { asFile, startLedger } from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { storedBlocks } from '../../support/ledger/stored-blocks.ts';
import { fullSnapshot } from '../../support/network/network-snapshot.ts';
import { SyntheticNetwork } from '../../support/network/synthetic-network.ts';

afterEach(() => vi.useRealTimers());

/** A database that answers when it is told to. */
function createHangingContext() {
  const ends: (() => void)[] = [];
  const db: object = {
    prepare: () => db,
    bind: () => db,
    batch: () => new Promise((_, reject) => ends.push(() => reject(new Error('ended')))),
  };
  return { ends, context: { db } as unknown as BringContext };
}

it('a read that waits for half a second is refused, and leaves its place to others', async () => {
  vi.useFakeTimers();
  const { ends, context } = createHangingContext();
  const bringer = createBringer(() => context);
  const errors: string[] = [];
  const read = (client: string) =>
    bringer.readUnstored('ab', client).catch(({ message }: Error) => errors.push(message));
  const reads = Array.from({ length: 10 }, () => read('192.0.2.1'));
  await vi.advanceTimersByTimeAsync(499);
  expect(ends).toHaveLength(1);
  expect(errors).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(errors).toEqual(Array.from({ length: 9 }, () => 'too many requests wait for blocks'));
  for (const end of ends.splice(0)) end();
  await Promise.all(reads);
  expect(ends).toHaveLength(0);
  const later = read('192.0.2.1');
  await vi.advanceTimersByTimeAsync(500);
  expect(ends).toHaveLength(1);
  ends[0]!();
  await later;
  expect(errors).toHaveLength(11);
});

it('a read of a block leaves it in no memory, as strangers read many', async () => {
  const network = new SyntheticNetwork({ seed: 'old read' });
  const old = network.note();
  network.milestone({ parents: [old] });
  network.milestone();
  // the import names neither
  const rig = await startLedger(await openMemory(), network, 2);
  const bringer = createBringer(() => ({ ...rig.following, db: rig.db }));
  const id = old.slice(2);
  expect(await bringer.readUnstored(id, '192.0.2.1')).toBeUndefined();
  expect(rig.following.memory.pool.get(id)).toBeUndefined();
  const young = network.note().slice(2);
  expect(await bringer.readUnstored(young, '192.0.2.1')).toBeDefined();
  expect(rig.following.memory.pool.get(young)).toBeUndefined();
});

it('blocks of a request that has been given up are not brought any more', async () => {
  vi.useFakeTimers();
  const { ends, context } = createHangingContext();
  const bringer = createBringer(() => context);
  const given: unknown[] = [];
  const bring = (id: string) => bringer.bring({ blocks: [id], undecided: [] }, '192.0.2.1');
  const all = ['a', 'b', 'c', 'd'].map((id) =>
    bring(id).then(
      (notBrought) => given.push(notBrought),
      () => {},
    ),
  );
  await vi.advanceTimersByTimeAsync(1500);
  const late = { fault: 'upstream-failed', detail: 'too many requests wait for blocks' };
  expect(given).toEqual([late, late, late]);
  expect(ends).toHaveLength(1);
  for (const end of ends.splice(0)) end();
  await Promise.all(all);
  expect(ends).toHaveLength(0);
});

it('a request waits for its own turn, though a stranger waits for the same block', async () => {
  vi.useRealTimers();
  const { ends, context } = createHangingContext();
  const bringer = createBringer(() => context);
  const bring = (client: string, id: string) =>
    bringer.bring({ blocks: [id], undecided: [] }, client).catch(() => undefined);
  // one at a time: c waits
  const all = ['a', 'c'].map((id) => bring('192.0.2.1', id));
  all.push(bring('192.0.2.2', 'c'));
  await new Promise((resolve) => setTimeout(resolve));
  expect(ends).toHaveLength(2);
  const endAll = setInterval(() => {
    for (const end of ends.splice(0)) end();
  });
  await Promise.all(all);
  clearInterval(endAll);
});

it('a known client does not wait for the equal wish of a stranger', async () => {
  const network = new SyntheticNetwork({ seed: 'equal wishes' });
  network.milestone();
  const rig = await startLedger(await openMemory(), network, 1);
  const { promise: silence, resolve: end } = Promise.withResolvers<undefined>();
  let hangs = false;
  const hanging: Upstream = {
    ...rig.upstream,
    readBlock: (id) => (hangs ? silence : rig.upstream.readBlock(id)),
  };
  const bringer = createBringer((whose) => {
    const upstreams = [whose === 'stranger' ? hanging : rig.upstream];
    return { ...rig.following, db: rig.db, upstreams };
  });
  const bring = (id: string, client: string) =>
    bringer.bring({ blocks: [id.slice(2)], undecided: [] }, client);
  const last = network.milestoneBlock!;
  expect(await bring(network.note([last]), '192.0.2.1')).toBeUndefined();
  hangs = true;
  const wanted = network.note([last]);
  const ofStranger = bring(wanted, '192.0.2.2');
  expect(await bring(wanted, '192.0.2.1')).toBeUndefined();
  end(undefined);
  await ofStranger;
});

it('upstreams are asked for reads as for strangers, whoever reads', async () => {
  const network = new SyntheticNetwork({ seed: 'reads' });
  network.milestone();
  const rig = await startLedger(await openMemory(), network, 1);
  const opened: string[] = [];
  const bringer = createBringer((whose) => {
    opened.push(whose);
    return { ...rig.following, db: rig.db };
  });
  for (let i = 0; i < 2; i++) {
    const id = network.note([network.milestoneBlock!]).slice(2);
    expect(await bringer.readUnstored(id, '192.0.2.1')).toBeDefined();
  }
  expect(opened).toEqual(['stranger', 'stranger']);
});

it('where other walks hold as many blocks as may be, a walk brings a few, and else fails', async () => {
  const network = new SyntheticNetwork({ seed: 'many large blocks' });
  network.milestone();
  const rig = await startLedger(await openMemory(), network, 1);
  const last = network.milestoneBlock!;
  const large = () => network.random.bytes(30_000);
  let level = Array.from({ length: 80 }, () => network.note([last], large()));
  while (level.length > 1)
    level = Array.from({ length: Math.ceil(level.length / 8) }, (_, i) =>
      network.note(level.slice(8 * i, 8 * i + 8), large()),
    );
  const few = network.note([last], large());
  const { fetched } = rig.following.memory;
  const bringer = createBringer(() => ({ ...rig.following, db: rig.db }));
  const bring = (id: string) =>
    bringer.bring({ blocks: [id.slice(2)], undecided: [] }, '192.0.2.1');
  fetched.heap = 34_000_000;
  expect(await bring(level[0]!)).toMatchObject({ fault: 'upstream-failed' });
  expect(await bring(few)).toBeUndefined();
  expect(fetched.heap).toBe(34_000_000);
  fetched.heap = 0;
  expect(await bring(level[0]!)).toBeUndefined();
  expect(fetched.heap).toBe(0);
});

it('a walk in whose midst the database fails holds no blocks afterwards', async () => {
  const network = new SyntheticNetwork({ seed: 'failed walk' });
  network.milestone();
  const rig = await startLedger(await openMemory(), network, 1);
  const wanted = network.note([network.milestoneBlock!]);
  const { fetched } = rig.following.memory;
  let most = 0;
  const db = waitForCalls(rig.db, async (run) => {
    most = Math.max(most, fetched.heap);
    if (fetched.heap > 0) throw new Error('D1 is down');
    return run;
  });
  const bringer = createBringer(() => ({ ...rig.following, db }));
  const bringing = bringer.bring({ blocks: [wanted.slice(2)], undecided: [] }, '192.0.2.1');
  await expect(bringing).rejects.toThrow('D1 is down');
  expect(most).toBeGreaterThan(0);
  expect(fetched.heap).toBe(0);
});

it('blocks of a stranger are in time from a slow upstream, while another one is down', async () => {
  const network = new SyntheticNetwork({ seed: 'slow' });
  network.milestone();
  const rig = await startLedger(await openMemory(), network, 1);
  const last = network.milestoneBlock!;
  const createLimit = createSharedLimit(4);
  const limits = [createLimit(3), createLimit(3)];
  const bringer = createBringer((urgency) => {
    const settings = {
      ...defaultSettings({}),
      upstreams: ['https://a.example', 'https://b.example'],
    };
    const { timeout } = patienceOf(settings, urgency);
    const late = () => new UpstreamFailure('late', true);
    const [slow, down] = limits.map(
      (limit, place): Upstream => ({
        ...rig.upstream,
        readBlock: (id) =>
          withSignal(timeout, late, (signal) =>
            limit(
              async () => {
                if (place === 1) throw new UpstreamFailure('down');
                await pause(300);
                signal.throwIfAborted();
                return rig.upstream.readBlock(id);
              },
              signal,
              urgency,
            ),
          ),
      }),
    );
    return { ...rig.following, db: rig.db, upstreams: [slow!, down!], voters: [rig.upstream] };
  });
  const parents = Array.from({ length: 4 }, () => network.note([last]));
  const wanted = { blocks: [network.note(parents).slice(2)], undecided: [] };
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  let isOver = false;
  const bringing = bringer.bring(wanted, '192.0.2.1').finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await vi.advanceTimersByTimeAsync(1);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await bringing).toBeUndefined();
});

it('a block that one upstream called referenced is not stored, though that one fails then', async () => {
  // a stranger stands on a chain from before the import, of which the snapshot names one block
  const network = new SyntheticNetwork({ seed: 'below the import' });
  network.milestone();
  const chain = [network.milestoneBlock!];
  for (let i = 0; i < 40; i++) chain.push(network.note([chain.at(-1)!]));
  network.milestone({ parents: [chain.at(-1)!] });
  network.milestone({ parents: [network.milestoneBlock!] });
  const { index } = network.milestones.at(-1)!;
  const rig = await startLedger(await openMemory(), network, index);
  const file = asFile(fullSnapshot(network, { target: index, stoodOn: [chain[20]!] }));
  await loadSnapshot(rig.db, file, undefined);
  rig.node.confirm(index);
  const top = network.note([chain.at(-2)!]).slice(2);
  let times = 0;
  // later than the blocks come
  const honest: Upstream = {
    ...rig.upstream,
    name: 'honest',
    async readReference(id) {
      await sleep(3);
      if (times++ > 0) throw new UpstreamFailure('down');
      return rig.upstream.readReference(id);
    },
  };
  const liar: Upstream = { ...rig.upstream, name: 'liar', readReference: () => sleep(5, null) };
  const context = { ...rig.following, db: rig.db, upstreams: [honest, liar] };
  const bringer = createBringer(() => context);
  const notBrought = await bringer.bring({ blocks: [top], undecided: [] }, '192.0.2.1');
  expect(notBrought?.fault).toBe('referenced-before');
  const open = (await storedBlocks(rig.db)).filter(({ milestone }) => milestone === null);
  expect(open.map(({ id }) => network.blocks.get(`0x${id}`)?.referenced)).toEqual([]);
});
