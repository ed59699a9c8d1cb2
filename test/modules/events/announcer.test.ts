/** When the broker of events is called, and that nothing that it does is felt. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createAnnouncer } from '../../../src/modules/events/announcer.ts';
import type { EventDemand } from '../../../src/modules/events/event-broker.ts';
import type { ParsedBlock } from '../../../src/stardust/wire/block.ts';

const NOBODY: EventDemand = { published: undefined, blocks: false };

function setUp(answer: () => Promise<EventDemand> | EventDemand) {
  let now = 1_000_000;
  const applied = vi.fn(async () => answer());
  const stored = vi.fn(async (_blocks: readonly Uint8Array[]) => {});
  const log = vi.fn();
  const broker = { applied, stored } as unknown as ReturnType<
    Parameters<typeof createAnnouncer>[0]
  >;
  const announcer = createAnnouncer(
    () => broker,
    () => now,
    log,
  );
  return {
    applied,
    stored,
    log,
    announcer,
    pass: (ms: number) => {
      now += ms;
    },
    move: async (ledger: number, generation = 'one') => {
      announcer.moved({ generation, ledger });
      await new Promise((resolve) => setTimeout(resolve));
    },
  };
}

const block = (length: number) => ({ bytes: new Uint8Array(length) }) as ParsedBlock;

describe('the broker is told', () => {
  it('of each milestone while somebody listens, and of none twice', async () => {
    let ledger = 0;
    const { applied, move } = setUp(() => ({ published: ledger, blocks: false }));
    for (ledger = 5; ledger < 9; ledger++) {
      await move(ledger);
      await move(ledger);
    }
    expect(applied).toHaveBeenCalledTimes(4);
    ledger = 3;
    await move(3, 'imported again');
    expect(applied).toHaveBeenCalledTimes(5);
  });

  it('each ten seconds while nobody listens', async () => {
    const { applied, move, pass } = setUp(() => NOBODY);
    for (let second = 0; second < 31; second++) {
      await move(second);
      pass(1000);
    }
    expect(applied).toHaveBeenCalledTimes(4);
  });

  it('each ten seconds while the ledger stands still: somebody may begin to listen to blocks', async () => {
    let blocks = false;
    const { applied, stored, announcer, move, pass } = setUp(() => ({ published: 5, blocks }));
    await move(5);
    blocks = true;
    await move(5);
    announcer.stored([block(1)]);
    expect([applied, stored].map(({ mock }) => mock.calls.length)).toEqual([1, 0]);
    pass(10_000);
    await move(5);
    announcer.stored([block(1)]);
    expect([applied, stored].map(({ mock }) => mock.calls.length)).toEqual([2, 1]);
  });

  it('again after ten seconds if it has not published, or has failed', async () => {
    let answer = () => Promise.resolve<EventDemand>({ published: 4, blocks: false });
    const { applied, move, pass, log } = setUp(() => answer());
    await move(5);
    await move(5);
    expect(applied).toHaveBeenCalledTimes(1);
    pass(10_000);
    answer = () => Promise.reject(new Error('reset'));
    await move(5);
    await move(6);
    expect(applied).toHaveBeenCalledTimes(2);
    expect(log).toHaveBeenCalledOnce();
    pass(10_000);
    await move(6);
    expect(applied).toHaveBeenCalledTimes(3);
  });

  it('once of all that comes while it is busy', async () => {
    const { promise, resolve } = Promise.withResolvers<EventDemand>();
    let calls = 0;
    const answer = () => (calls++ === 0 ? promise : { published: 9, blocks: false });
    const { applied, move } = setUp(answer);
    for (const ledger of [5, 6, 7, 8, 9]) await move(ledger);
    expect(applied).toHaveBeenCalledTimes(1);
    resolve({ published: 5, blocks: false });
    await move(9);
    expect(applied).toHaveBeenCalledTimes(2);
  });
});

describe('blocks', () => {
  it('are handed over where they are wanted, in calls of a few megabytes', async () => {
    const { announcer, stored, move } = setUp(() => ({ published: 1, blocks: true }));
    await move(1);
    announcer.stored([]);
    announcer.stored(Array.from({ length: 300 }, () => block(32_000)));
    expect(stored.mock.calls.map(([blocks]) => blocks.length)).toEqual([126, 126, 48]);
  });

  it('are handed over until the broker has said that nobody wants them', async () => {
    const { announcer, stored, move } = setUp(() => NOBODY);
    announcer.stored([block(100)]);
    expect(stored).toHaveBeenCalledOnce();
    await move(1);
    announcer.stored([block(100)]);
    expect(stored).toHaveBeenCalledOnce();
  });

  it('are not missed by anybody where the broker fails at once', async () => {
    const { announcer, stored, move, log } = setUp(() => ({ published: 1, blocks: true }));
    await move(1);
    stored.mockImplementation(() => {
      throw new TypeError('no function');
    });
    expect(() => announcer.stored([block(10)])).not.toThrow();
    expect(log).toHaveBeenCalledOnce();
  });

  it('do not wait in memory for a broker that hangs, which hears of later ones', async () => {
    const { announcer, stored, move, log } = setUp(() => ({ published: 1, blocks: true }));
    await move(1);
    const hang = Promise.withResolvers<void>();
    stored.mockImplementation(() => hang.promise);
    for (let i = 0; i < 100; i++) announcer.stored([block(10)]);
    expect(stored).toHaveBeenCalledTimes(4);
    expect(log).toHaveBeenCalledTimes(96);
    hang.resolve();
    await move(2);
    announcer.stored([block(10)]);
    expect(stored).toHaveBeenCalledTimes(5);
  });

  it('and milestones are told again after calls that never settle', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const hang = Promise.withResolvers<EventDemand>();
    let answer: () => Promise<EventDemand> | EventDemand = () => hang.promise;
    const { announcer, applied, stored, pass } = setUp(() => answer());
    stored.mockImplementation(() => hang.promise as unknown as Promise<void>);
    announcer.moved({ generation: 'one', ledger: 1 });
    for (let i = 0; i < 4; i++) announcer.stored([block(10)]);
    await vi.advanceTimersByTimeAsync(901_000);
    pass(901_000);
    answer = () => ({ published: 2, blocks: true });
    announcer.moved({ generation: 'one', ledger: 2 });
    await vi.advanceTimersByTimeAsync(0);
    expect(applied).toHaveBeenCalledTimes(2);
    announcer.stored([block(10)]);
    expect(stored).toHaveBeenCalledTimes(5);
  });

  it('that fail late leave alone what the broker has said since', async () => {
    const { announcer, stored, move, pass } = setUp(() => ({ published: 1, blocks: true }));
    await move(1);
    const late = Promise.withResolvers<void>();
    stored.mockImplementationOnce(() => late.promise);
    announcer.stored([block(10)]);
    pass(10_000);
    await move(2);
    late.reject(new Error('the broker does not answer'));
    await new Promise((resolve) => setTimeout(resolve));
    announcer.stored([block(10)]);
    expect(stored).toHaveBeenCalledTimes(2);
  });
});
