/** Whose request is next. */
import { expect, it } from 'vitest';
import { createFairQueue } from '../../../../cli/serve/front/fair-queue.ts';

function createQueue() {
  const state = { now: 0, isOpen: true };
  const queue = createFairQueue(
    () => state.now,
    () => state.isOpen,
  );
  const started: string[] = [];
  /** Returns what makes it leave. */
  const enter = (client: string, name: string, isWhiteFlag = false) => {
    const request = {
      client: [client] as const,
      isWhiteFlag,
      start: () => void started.push(name),
    };
    queue.enter(request);
    return () => queue.leave(request);
  };
  return { state, queue, started, enter };
}

it('a client has as many places as are left for others, and clients take turns', () => {
  const { started, enter } = createQueue();
  const leaves = Array.from({ length: 8 }, (_, i) => enter('a', `a${i}`));
  for (let i = 8; i < 12; i++) enter('a', `a${i}`);
  expect(started).toHaveLength(8);
  for (let i = 0; i < 5; i++) enter('b', `b${i}`);
  // 16 places: a has half of them, b half of the rest
  expect(started.slice(8)).toEqual(['b0', 'b1', 'b2', 'b3']);
  for (const leave of leaves) leave();
  expect(started.slice(12)).toEqual(['b4', 'a8', 'a9', 'a10', 'a11']);
});

it('16 requests are passed on at once, then clients take turns', () => {
  const { started, enter } = createQueue();
  const leaves = Array.from({ length: 16 }, (_, i) => enter(`${i}`, `${i}`));
  for (let i = 0; i < 3; i++) enter('a', `a${i}`);
  for (let i = 0; i < 2; i++) enter('b', `b${i}`);
  enter('c', 'c0');
  expect(started).toHaveLength(16);
  for (const leave of leaves) leave();
  expect(started.slice(16)).toEqual(['a0', 'b0', 'c0', 'a1', 'b1', 'a2']);
});

it('the white flag waits for nobody else, and others wait for it but for a few', () => {
  const { started, enter } = createQueue();
  const reads = Array.from({ length: 100 }, (_, i) => enter(`${i}`, `${i}`));
  const flag = enter('b', 'flag', true);
  expect(started.at(-1)).toBe('flag');
  for (const leave of reads.slice(0, 15)) leave();
  expect(started).toHaveLength(17 + 1);
  flag();
  expect(started).toHaveLength(17 + 15);
});

it('a flood of the white flag stops no reads, and no white flag of another', () => {
  const { started, enter } = createQueue();
  for (let i = 0; i < 50; i++) enter('a', `a${i}`, true);
  enter('b', 'b', true);
  enter('c', 'c');
  expect(started).toEqual(['a0', 'a1', 'b', 'c']);
});

it('one that goes while it waits is passed over, and may go twice', () => {
  const { started, enter } = createQueue();
  const running = Array.from({ length: 16 }, (_, i) => enter(`${i}`, `${i}`));
  const gone = enter('b', 'gone');
  enter('b', 'b');
  gone();
  gone();
  running[0]!();
  running[0]!();
  expect(started.slice(16)).toEqual(['b']);
});

it('one that has no answer for long takes no place while others wait', () => {
  const { state, queue, started, enter } = createQueue();
  for (let i = 0; i < 17; i++) enter(`${i}`, `${i}`);
  state.now = 149;
  queue.look();
  expect(started).toHaveLength(16);
  state.now = 150;
  queue.look();
  expect(started).toHaveLength(17);
});

it('no more than 256 have lost their places, of one client half of them', () => {
  const { state, queue, started, enter } = createQueue();
  const own = Array.from({ length: 300 }, (_, i) => enter('a', `a${i}`));
  const pass = () => {
    for (let i = 0; i < 100; i++) {
      state.now += 200;
      queue.look();
    }
  };
  pass();
  expect(started).toHaveLength(128 + 8);
  for (let i = 0; i < 300; i++) enter(`${i}`, `${i}`);
  pass();
  expect(started).toHaveLength(256 + 16);
  // one that is answered makes room
  own[0]!();
  pass();
  expect(started).toHaveLength(256 + 17);
});

it('reads that wait for an upstream keep no white flag waiting, however many sites send them', () => {
  const { state, queue, started, enter } = createQueue();
  for (let i = 0; i < 600; i++) enter(`${i}`, `${i}`);
  for (let i = 0; i < 100; i++) {
    state.now += 200;
    queue.look();
  }
  for (let i = 0; i < 16; i++) enter(`p${i}`, `p${i}`, true);
  enter('coordinator', 'own', true);
  for (let i = 0; i < 4; i++) {
    state.now += 150;
    queue.look();
  }
  expect(started).toContain('own');
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
