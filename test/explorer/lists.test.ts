/** Lists of outputs as the explorer reads them: whole, of one moment, or their newest part. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { indexesFrom, readKnownNft } from '../../explorer/node/ledger.ts';
import { readIds, readNewest } from '../../explorer/node/lists.ts';
import { Random } from '../support/network/random.ts';

afterEach(() => vi.unstubAllGlobals());

const MOST_ITEMS = 1000;
const NOW = 1_700_000_000;

const idOf = (place: number) => `0x${place.toString(16).padStart(68, '0')}`;

interface Asked {
  ledgerIndex: number;
  /** How many requests there were. */
  count: number;
}

/** Answers as a node whose outputs were created at these seconds, the oldest first. */
function serve(times: readonly number[], onAsked: (asked: Asked) => void = () => {}): Asked {
  const asked: Asked = { ledgerIndex: 10, count: 0 };
  vi.stubGlobal('fetch', async (path: string) => {
    asked.count++;
    onAsked(asked);
    const { searchParams } = new URL(path, 'http://node');
    const after = Number(searchParams.get('createdAfter') ?? -1);
    const from = Number(searchParams.get('cursor')?.split('.')[0] ?? 0);
    const places = [...times.keys()].filter((place) => times[place]! > after && place >= from);
    const items = places.slice(0, MOST_ITEMS).map(idOf);
    const next = places[MOST_ITEMS];
    const cursor = next === undefined ? {} : { cursor: `${next}.${MOST_ITEMS}` };
    return Response.json({
      ledgerIndex: asked.ledgerIndex,
      pageSize: MOST_ITEMS,
      items,
      ...cursor,
    });
  });
  return asked;
}

const newestFirst = (count: number) => Array.from({ length: count }, (_, i) => idOf(count - 1 - i));

describe('a whole list', () => {
  it.each([0, 1, MOST_ITEMS, MOST_ITEMS + 1, 10_000])('of %i outputs', async (count) => {
    serve(Array(count).fill(NOW));
    expect(await readIds('nft', {})).toEqual({ ledgerIndex: 10, ids: newestFirst(count) });
  });

  it('of more than 10,000 is refused, not cut', async () => {
    serve(Array(10_001).fill(NOW));
    await expect(readIds('nft', {})).rejects.toThrow(/more than 10,000 outputs/);
  });

  it('is read again if the ledger moves between two pages', async () => {
    const asked = serve(Array(1500).fill(NOW), (now) => {
      if (now.count === 2) now.ledgerIndex++;
    });
    expect(await readIds('nft', {})).toEqual({ ledgerIndex: 11, ids: newestFirst(1500) });
    expect(asked.count).toBe(4);
  });

  it('whose pages are empty and never end is refused', async () => {
    let pages = 0;
    vi.stubGlobal('fetch', async () => {
      if (pages++ > 20) throw new Error('it reads on');
      return Response.json({ ledgerIndex: 10, items: [], cursor: 'next' });
    });
    await expect(readIds('nft', {})).rejects.toThrow(/more than 10,000 outputs/);
    expect(pages).toBe(10);
  });

  it('is an error if the ledger always moves', async () => {
    serve(Array(1500).fill(NOW), (now) => now.ledgerIndex++);
    await expect(readIds('nft', {})).rejects.toThrow(/The ledger moved on each time/);
  });
});

describe('the newest of a list', () => {
  it.each<[string, number[]]>([
    ['without outputs', []],
    ['with fewer than are wanted', [1, 2, 3]],
    ['whose outputs are old', Array.from({ length: 50 }, (_, i) => i)],
    ['whose outputs came in one second, more than a page', Array(2500).fill(NOW)],
    ['with a page and more in the last minute', Array(1500).fill(NOW - 30)],
    [
      'of two bursts',
      [...Array(3000).fill(NOW - 500_000), ...Array(3000).fill(NOW - 400_000), NOW - 2, NOW - 1],
    ],
  ])('%s', async (_, times) => {
    const asked = serve(times);
    expect(await readNewest('nft', 6, NOW)).toEqual(newestFirst(times.length).slice(0, 6));
    expect(asked.count).toBeLessThan(40);
  });

  it('whenever they came', async () => {
    const random = new Random('newest');
    for (let i = 0; i < 50; i++) {
      const spread = random.pick([10, 1000, 1_000_000, NOW]);
      const times = Array.from({ length: random.below(4000) }, () => NOW - random.below(spread));
      times.sort((a, b) => a - b);
      serve(times);
      expect(await readNewest('nft', 6, NOW)).toEqual(newestFirst(times.length).slice(0, 6));
    }
  });
});

it.each([
  [100, 3, 0, [100, 99, 98]],
  [100, 3, 98, [100, 99]],
  [100, 3, 100, []],
  [2, 5, 0, [2, 1]],
])('milestones from %i, up to %i, after %i', (index, count, pruned, expected) => {
  expect(indexesFrom(index, count, pruned)).toEqual(expected);
});

describe('an NFT', () => {
  const id = `0x${'5a'.repeat(32)}`;
  const [owner, change] = [
    { address: 'smr1a', canUnlock: true },
    { milestoneIndex: 10, milestoneTimestamp: NOW, transactionId: id, blockId: id },
  ];
  const minted = { ...change, outputId: idOf(1), kind: 'minted', owner };
  const burned = { ...change, outputId: null, kind: 'burned', owner: null };
  const metadata = {
    ...{ blockId: id, transactionId: id, outputIndex: 0, isSpent: false, ledgerIndex: 10 },
    ...{ milestoneIndexBooked: 10, milestoneTimestampBooked: NOW },
  };
  const held = {
    nftId: id,
    ledgerIndex: 10,
    outputId: idOf(1),
    owner,
    metadata,
    output: { type: 6 },
  };

  /** Answers as a node; returns the ledger indexes that were demanded of the NFT. */
  function serveNft(changes: object[], isHeld: (request: number) => boolean) {
    const demanded: unknown[] = [];
    vi.stubGlobal('fetch', async (path: string, { headers }: { headers: object }) => {
      if (path.includes('/history'))
        return Response.json({ nftId: id, ledgerIndex: 10, since: 1, complete: true, changes });
      demanded.push((headers as Record<string, string>)['x-min-ledger-index']);
      return isHeld(demanded.length)
        ? Response.json(held)
        : Response.json({ error: { code: 404, message: '' } }, { status: 404 });
    });
    return demanded;
  }

  it('that was minted between two answers is held', async () => {
    const demanded = serveNft([minted], (request) => request > 1);
    expect(await readKnownNft(id, false)).toMatchObject({ nft: { said: held } });
    expect(demanded).toEqual([undefined, '10']);
  });

  it('that nothing holds has its history alone', async () => {
    const demanded = serveNft([burned, minted], () => false);
    const burning = { gone: { said: { changes: [burned, minted] } } };
    expect(await readKnownNft(id, false)).toMatchObject(burning);
    expect(demanded).toHaveLength(1);
    // a node that contradicts itself
    serveNft([minted], () => false);
    expect(await readKnownNft(id, false)).toMatchObject({ gone: { said: { changes: [minted] } } });
  });

  it.each([
    [false, 404],
    [true, 429],
  ])('whose history is needed (%s), and is not read, is %i', async (needsHistory, status) => {
    vi.stubGlobal('fetch', async (path: string) => {
      const code = path.includes('/history') ? 429 : 404;
      return Response.json({ error: { code, message: '' } }, { status: code });
    });
    await expect(readKnownNft(id, needsHistory)).rejects.toMatchObject({ status });
  });
});
