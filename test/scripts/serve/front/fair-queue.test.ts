/** Whose request is next. */
import { expect, it } from 'vitest';
import { createFairQueue } from '../../../../scripts/serve/front/fair-queue.ts';

function createQueue() {
  const state = { now: 0, isOpen: true };
  const queue = createFairQueue(
    () => state.now,
    () => state.isOpen,
  );
  const started: string[] = [];
  /** Returns what makes it leave. */
  const enter = (client: string, name: string, isWhiteFlag = false) => {
    const request = { client, isWhiteFlag, start: () => void started.push(name) };
    queue.enter(request);
    return () => queue.leave(request);
  };
  return { state, queue, started, enter };
}

it('32 requests are passed on at once, then clients take turns', () => {
  const { started, enter } = createQueue();
  const leaves = Array.from({ length: 32 }, (_, i) => enter('a', `a${i}`));
  for (let i = 32; i < 40; i++) enter('a', `a${i}`);
  for (let i = 0; i < 3; i++) enter('b', `b${i}`);
  enter('c', 'c0');
  expect(started).toHaveLength(32);
  for (const leave of leaves) leave();
  expect(started.slice(32)).toEqual([
    'a32',
    'b0',
    'c0',
    'a33',
    'b1',
    'a34',
    'b2',
    'a35',
    'a36',
    'a37',
    'a38',
    'a39',
  ]);
});

it('the white flag waits for nobody else, and others wait for it but for a few', () => {
  const { started, enter } = createQueue();
  const reads = Array.from({ length: 100 }, (_, i) => enter('a', `a${i}`));
  const flag = enter('b', 'flag', true);
  expect(started.at(-1)).toBe('flag');
  for (const leave of reads.slice(0, 31)) leave();
  expect(started).toHaveLength(33 + 3);
  flag();
  expect(started).toHaveLength(33 + 31);
});

it('nor does a flood of the white flag stop reads, or the white flag of another', () => {
  const { started, enter } = createQueue();
  const flood = Array.from({ length: 50 }, (_, i) => enter('a', `a${i}`, true));
  enter('b', 'b', true);
  enter('c', 'c');
  expect(started).toHaveLength(8 + 1);
  expect(started).toContain('c');
  flood[0]!();
  flood[1]!();
  expect(started).toContain('b');
});

it('one that goes while it waits is passed over, and may go twice', () => {
  const { started, enter } = createQueue();
  const running = Array.from({ length: 32 }, (_, i) => enter('a', `a${i}`));
  const gone = enter('b', 'gone');
  enter('b', 'b');
  gone();
  gone();
  running[0]!();
  running[0]!();
  expect(started.slice(32)).toEqual(['b']);
});

it('one that has no answer for long takes no place', () => {
  const { state, queue, started, enter } = createQueue();
  for (let i = 0; i < 33; i++) enter('a', `a${i}`);
  state.now = 249;
  queue.look();
  expect(started).toHaveLength(32);
  state.now = 250;
  queue.look();
  expect(started).toHaveLength(33);
});

it('all wait while nothing can be passed on; then the white flag is first', () => {
  const { state, queue, started, enter } = createQueue();
  state.isOpen = false;
  enter('a', 'a0');
  enter('b', 'flag', true);
  queue.look();
  expect(started).toEqual([]);
  state.isOpen = true;
  queue.look();
  expect(started).toEqual(['flag', 'a0']);
});
