import { describe, expect, it } from 'vitest';
import { createReferenceReader } from '../../src/upstream/read-references.ts';
import { type Upstream, UpstreamFailure } from '../../src/upstream/upstream.ts';

/** The milestone that is proposed. */
const INDEX = 10;

type Word = number | null | undefined;

/** What one upstream says, and what it was asked. */
function upstreamSaying(
  name: string,
  readReference: () => Promise<Word>,
  confirmed: () => Promise<number> = async () => INDEX - 1,
): Upstream & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    name,
    async readHeads() {
      asked.push('info');
      const latest = { index: INDEX, timestamp: 0, milestoneId: '' };
      return { confirmed: await confirmed(), latest };
    },
    readReference(id) {
      asked.push(id);
      return readReference();
    },
    readMilestone: async () => undefined,
    readBlock: async () => undefined,
    readTips: async () => [],
  };
}

const says = (word: Word, confirmed = INDEX - 1) =>
  upstreamSaying(
    `says ${word}`,
    async () => word,
    async () => confirmed,
  );
const failing = () => upstreamSaying('failing', () => Promise.reject(new UpstreamFailure('down')));
const dead = () =>
  upstreamSaying(
    'dead',
    async () => null,
    () => Promise.reject(new UpstreamFailure('dead')),
  );
const busyFailure = () => new UpstreamFailure('no answer in time', true);
const hanging = () => upstreamSaying('hanging', () => new Promise<Word>(() => {}));
const hangingAtHeads = () =>
  upstreamSaying(
    'hanging',
    async () => 3,
    () => new Promise<number>(() => {}),
  );

const read = (...upstreams: Upstream[]) => createReferenceReader({ upstreams, index: INDEX })('aa');

describe('whether a block is referenced, by several upstreams', () => {
  it.each([
    ['first', () => [says(4), says(null)]],
    ['last', () => [says(null), says(4)]],
    [
      'between others that do not know, fail or are behind',
      () => [says(undefined), failing(), says(4), says(null), says(null, INDEX - 2)],
    ],
    ['and behind itself', () => [says(null), says(4, INDEX - 2)]],
  ])('any yes wins: %s', async (_, upstreams) => {
    expect(await read(...upstreams())).toBe(4);
  });

  it.each([
    ['another one fails', () => [failing(), says(null)]],
    ['another one is dead', () => [says(null), dead()]],
    ['another one is behind', () => [says(null, INDEX - 2), says(null)]],
    ['another one does not know the block', () => [says(undefined), says(null)]],
    ['the other says that a later milestone references it', () => [says(INDEX), says(null)]],
    ['all do', () => [says(null), says(null)]],
  ])('one no is enough where %s', async (_, upstreams) => {
    expect(await read(...upstreams())).toBeNull();
  });

  it.each([
    ['behind', () => [says(null, INDEX - 2), says(undefined)], 'is at milestone 8, behind 9'],
    ['failing', () => [says(undefined), failing()], 'down'],
    ['dead', () => [dead(), dead()], 'dead'],
  ])('nobody can tell where all are %s or do not know', async (_, upstreams, message) => {
    await expect(read(...upstreams())).rejects.toThrow(message);
  });

  it('nobody knows the block', async () => {
    expect(await read(says(undefined), says(undefined))).toBeUndefined();
  });

  it.each([
    ['metadata', hanging],
    ['info', hangingAtHeads],
  ])('does not decide while one hangs at its %s', async (_, hang) => {
    const ask = createReferenceReader({ upstreams: [hang(), says(null)], index: INDEX });
    const late = new Promise((resolve) => setTimeout(resolve, 300, 'late'));
    expect(await Promise.race([ask('a'), late])).toBe('late');
  });

  it.each([
    ['at its metadata', () => upstreamSaying('busy', () => Promise.reject(busyFailure()))],
    [
      'at its info',
      () =>
        upstreamSaying(
          'busy',
          async () => null,
          () => Promise.reject(busyFailure()),
        ),
    ],
  ])('nobody can tell where one is late %s, but for a yes', async (_, busy) => {
    for (const upstreams of [
      [busy(), says(null), failing()],
      [failing(), says(null), busy()],
    ])
      await expect(read(...upstreams)).rejects.toThrow(UpstreamFailure);
    expect(await read(busy(), says(4))).toBe(4);
  });

  it('waits for a yes that comes later', async () => {
    const late = upstreamSaying('late', async () => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      return 4;
    });
    expect(await read(says(null), late)).toBe(4);
  });

  it('asks each how far it is once', async () => {
    const upstreams = [says(null), says(null)];
    const ask = createReferenceReader({ upstreams, index: INDEX });
    await Promise.all(['a', 'b'].map((id) => ask(id)));
    await ask('c');
    expect(upstreams.map(({ asked }) => asked.filter((what) => what === 'info'))).toEqual([
      ['info'],
      ['info'],
    ]);
  });

  it('asks one no more that answers nothing', async () => {
    const fails = () => Promise.reject(new UpstreamFailure('down'));
    const down = upstreamSaying('down', fails, fails);
    const ask = createReferenceReader({ upstreams: [down, says(null)], index: INDEX });
    for (const id of ['a', 'b', 'c']) expect(await ask(id)).toBeNull();
    expect(down.asked).toEqual(['info', 'a']);
  });

  it('does not hide an error of ours', async () => {
    const broken = upstreamSaying('broken', () => Promise.reject(new TypeError('ours')));
    await expect(read(broken, says(null))).rejects.toThrow('ours');
  });
});
