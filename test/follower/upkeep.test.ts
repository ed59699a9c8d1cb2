/** The room for unreferenced blocks, as upkeep measures it. */
import { expect, it, onTestFinished, vi } from 'vitest';
import {
  createFollowerMemory,
  noteLedger,
  takePushed,
} from '../../src/follower/follower-context.ts';
import { readPosition } from '../../src/follower/ledger-position.ts';
import { storePushed } from '../../src/follower/pushed/store-pushed.ts';
import { keepUp } from '../../src/follower/upkeep.ts';
import type { Database } from '../../src/ledger/core/database.ts';
import { measureUnreferenced, UNREFERENCED_LIMITS } from '../../src/ledger/write/drop-blocks.ts';
import {
  ledgerIndex,
  passOnce,
  startNew,
  storeNow,
  withTips,
} from '../support/ledger/ledger-harness.ts';
import { openMemory } from '../support/ledger/memory-database.ts';
import { storedBlocks } from '../support/ledger/stored-blocks.ts';
import { basic, metadata } from '../support/payloads/outputs.ts';
import { stopClock } from '../support/stopped-clock.ts';

stopClock();

it('measures the room for blocks while a milestone waits for a block that is nowhere', async () => {
  const before = { ...UNREFERENCED_LIMITS };
  UNREFERENCED_LIMITS.blocks = 20;
  try {
    const db = await openMemory();
    const { network, rig, root } = await startNew(db, 'no room');
    const lost = network.note([root]);
    network.milestone({ parents: [root, lost] });
    rig.node.confirm(2);
    const readBlock = async (id: string) =>
      `0x${id}` === lost ? undefined : rig.upstream.readBlock(id);
    const upstreams = [{ ...rig.upstream, readBlock, readTips: async () => [] }];
    const following = { ...rig.following, upstreams };
    await passOnce({ following });
    following.memory = createFollowerMemory();
    await passOnce({ following });
    let last = root;
    for (let round = 0; round < 5; round++) {
      for (let i = 0; i < 10; i++) {
        last = network.note([last], new Uint8Array([round, i]));
        takePushed(following.memory, 'block', network.blocks.get(last)!.bytes);
      }
      await storePushed(following);
      await passOnce({ following });
    }
    expect(await ledgerIndex(db)).toBe(1);
    // one and a half times the limit
    expect((await storedBlocks(db)).length).toBe(30);
  } finally {
    Object.assign(UNREFERENCED_LIMITS, before);
  }
});

it('leaves room for no more mentions of outputs, or bytes, than the limits have', async () => {
  const before = { ...UNREFERENCED_LIMITS };
  try {
    for (const [limit, most] of [
      ['mentions', 1000],
      ['bytes', 100_000],
    ] as const) {
      Object.assign(UNREFERENCED_LIMITS, before, { [limit]: most });
      const db = await openMemory();
      const { network, rig, root } = await startNew(db, 'much in few blocks');
      const { memory } = rig.following;
      noteLedger(memory, await readPosition(db, rig.following));
      takePushed(memory, 'block', network.blocks.get(root)!.bytes);
      const [spend] = network.genesisSpends;
      for (let i = 0; i < 30; i++) {
        const output = basic(network.account(1), { features: [metadata(new Uint8Array([i]))] });
        const transaction = network.transaction([spend!], Array(100).fill(output));
        const id = network.attachTransaction(transaction, [root]);
        takePushed(memory, 'block', network.blocks.get(id)!.bytes);
      }
      // in one go: nothing is measured meanwhile
      expect(await storePushed(rig.following)).toBeGreaterThan(2);
      const { excess, room } = await measureUnreferenced(db);
      // one and a half times the limit, and a block
      expect(excess, limit).toBeGreaterThan(1);
      expect(excess, limit).toBeLessThan(2);
      expect(room, limit).toBeLessThan(UNREFERENCED_LIMITS.blocks / 2);
    }
  } finally {
    Object.assign(UNREFERENCED_LIMITS, before);
  }
});

it('evicts nothing that a tip of any upstream needs', async () => {
  const before = { ...UNREFERENCED_LIMITS };
  const db = await openMemory();
  const { network, rig, root } = await startNew(db, 'two upstreams');
  const ids = [0, 1, 2].map((i) => network.note([root], new Uint8Array([i])));
  for (const id of ids) await storeNow(withTips(rig, id), db);
  UNREFERENCED_LIMITS.blocks = 1;
  try {
    const upstreams = ids.slice(1).map((id) => withTips(rig, id).upstream);
    await keepUp({ ...rig.following, upstreams });
    const stored = (await storedBlocks(db)).map(({ id }) => `0x${id}`);
    expect(ids.map((id) => stored.includes(id))).toEqual([false, true, true]);
  } finally {
    Object.assign(UNREFERENCED_LIMITS, before);
  }
});

it('evicts again within minutes though the clock was set ahead by a day meanwhile', async () => {
  const before = { ...UNREFERENCED_LIMITS };
  UNREFERENCED_LIMITS.blocks = 7;
  try {
    const { network, rig, root } = await startNew(await openMemory(), 'day ahead');
    for (let i = 0; i < 8; i++) network.note([root]);
    await storeNow(rig, rig.db);
    const now = vi.mocked(Date.now);
    let evictions = 0;
    const readTips = async () => {
      // nothing is stored of this: nothing is evicted
      if (evictions++ === 0) now.mockReturnValue(Date.now() + 86_400_000);
      return ['ff'.repeat(32)];
    };
    const following = { ...rig.following, upstreams: [{ ...rig.upstream, readTips }] };
    await keepUp(following);
    await keepUp(following);
    expect(evictions).toBe(1);
    now.mockReturnValue(Date.now() + 300_000);
    await keepUp(following);
    expect(evictions).toBe(2);
  } finally {
    Object.assign(UNREFERENCED_LIMITS, before);
  }
});

it('logs once a minute what fails in each pass', async () => {
  const db = await openMemory();
  const { rig } = await startNew(db, 'fails in each pass');
  await db.prepare('UPDATE head SET sum = sum + 1').run();
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  onTestFinished(() => warn.mockRestore());
  for (let pass = 0; pass < 5; pass++) await keepUp(rig.following);
  const events = warn.mock.calls.map(([line]) => JSON.parse(line).event);
  expect(events).toContain('follower.prune-failed');
  expect(events).toEqual([...new Set(events)]);
});

it('logs for each follower of an isolate what fails there', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  onTestFinished(() => warn.mockRestore());
  const pruning = async () => {
    warn.mockClear();
    const { rig } = await startNew(await openMemory(), 'fails in two');
    const db = { prepare: () => expect.unreachable('no database') } as unknown as Database;
    await keepUp({ ...rig.following, db });
    return warn.mock.calls.map(([line]) => JSON.parse(line).event);
  };
  expect(await pruning()).toContain('follower.prune-failed');
  expect(await pruning()).toContain('follower.prune-failed');
});

it('does not pass over what a second module carries', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  onTestFinished(() => warn.mockRestore());
  const { rig } = await startNew(await openMemory(), 'two carry');
  const carry = async () => expect.unreachable('it is not known whose');
  const states = await keepUp({ ...rig.following, ledgerParts: [{ carry }, {}, { carry }] });
  expect(states.prune).toBe('failed');
  expect(warn.mock.calls.flat().join()).toContain('two modules carry');
});
