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
  const leaves = Array.from({ length: 16 }, (_, i) => enter('a', `a${i}`));
  for (let i = 16; i < 24; i++) enter('a', `a${i}`);
  expect(started).toHaveLength(16);
  for (let i = 0; i < 9; i++) enter('b', `b${i}`);
  // 32 places: a has half of them, b half of the rest
  expect(started.slice(16)).toEqual(['b0', 'b1', 'b2', 'b3', 'b4', 'b5', 'b6', 'b7']);
  for (const leave of leaves) leave();
  expect(started.slice(24)).toEqual(['b8', 'a16', 'a17', 'a18', 'a19', 'a20', 'a21', 'a22', 'a23']);
});

it('32 requests are passed on at once, then clients take turns', () => {
  const { started, enter } = createQueue();
  const leaves = Array.from({ length: 32 }, (_, i) => enter(`${i}`, `${i}`));
  for (let i = 0; i < 3; i++) enter('a', `a${i}`);
  for (let i = 0; i < 2; i++) enter('b', `b${i}`);
  enter('c', 'c0');
  expect(started).toHaveLength(32);
  for (const leave of leaves) leave();
  expect(started.slice(32)).toEqual(['a0', 'b0', 'c0', 'a1', 'b1', 'a2']);
});

it('the white flag waits for nobody else, and others wait for it but for a few', () => {
  const { started, enter } = createQueue();
  const reads = Array.from({ length: 100 }, (_, i) => enter(`${i}`, `${i}`));
  const flag = enter('b', 'flag', true);
  expect(started.at(-1)).toBe('flag');
  for (const leave of reads.slice(0, 31)) leave();
  expect(started).toHaveLength(33 + 3);
  flag();
  expect(started).toHaveLength(33 + 31);
});

it('a flood of the white flag stops no reads, and no white flag of another', () => {
  const { started, enter } = createQueue();
  for (let i = 0; i < 50; i++) enter('a', `a${i}`, true);
  enter('b', 'b', true);
  enter('c', 'c');
  expect(started).toEqual(['a0', 'a1', 'a2', 'a3', 'b', 'c']);
});

it('one that goes while it waits is passed over, and may go twice', () => {
  const { started, enter } = createQueue();
  const running = Array.from({ length: 32 }, (_, i) => enter(`${i}`, `${i}`));
  const gone = enter('b', 'gone');
  enter('b', 'b');
  gone();
  gone();
  running[0]!();
  running[0]!();
  expect(started.slice(32)).toEqual(['b']);
});

it('one that has no answer for long takes no place while others wait', () => {
  const { state, queue, started, enter } = createQueue();
  for (let i = 0; i < 33; i++) enter(`${i}`, `${i}`);
  state.now = 149;
  queue.look();
  expect(started).toHaveLength(32);
  state.now = 150;
  queue.look();
  expect(started).toHaveLength(33);
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
  expect(started).toHaveLength(128 + 16);
  for (let i = 0; i < 300; i++) enter(`${i}`, `${i}`);
  pass();
  expect(started).toHaveLength(256 + 32);
  // one that is answered makes room
  own[0]!();
  pass();
  expect(started).toHaveLength(256 + 33);
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
  for (let i = 0; i < 3; i++) {
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
