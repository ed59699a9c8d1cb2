/**
 * What parents prove about unknown blocks (src/ledger/intake/prove-unreferenced.ts), on the random
 * networks whose white flag the oracle decides: whatever a ledger may know, what is proven open is
 * open.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  findDoubtfulRoots,
  findProvenUnreferenced,
  type KnownReference,
  provesUnreferenced,
} from '../../../src/ledger/intake/prove-unreferenced.ts';
import type { ParsedBlock } from '../../../src/stardust/wire/block.ts';
import { lastIndex, type NetworkBlock, ZERO_ID } from '../../support/network/network-model.ts';
import { parsedBlocks } from '../../support/network/oracle-view.ts';
import { Random } from '../../support/network/random.ts';
import { randomNetwork } from '../../support/network/random-network.ts';

const networks = Array.from({ length: 6 }, (_, i) => {
  const network = randomNetwork({
    seed: `prove open ${i}`,
    milestones: 14,
    events: 24,
    genesisIndex: i % 2 === 0 ? 0 : 1000,
  });
  return { network, parsed: parsedBlocks(network) };
});

const digits = (id: string) => id.slice(2);

/** What a ledger may know at one moment, and which blocks it is asked about. */
interface Moment {
  which: number;
  /** Milestones behind the genesis: of the import, and applied since. */
  imported: number;
  applied: number;
  /** Milestones behind the genesis whose IDs are forgotten, and the share of these still found. */
  forgotten: number;
  left: number;
  /** Share of the open blocks that are stored, of the entry points that the snapshot named. */
  stored: number;
  entryPoints: number;
  /** Share of the unknown blocks that are asked about. */
  asked: number;
  seed: string;
}

const share = fc.double({ min: 0, max: 1, noNaN: true });

const moment: fc.Arbitrary<Moment> = fc.record({
  which: fc.nat(networks.length - 1),
  imported: fc.oneof(fc.constant(0), fc.nat(12)),
  applied: fc.nat(14),
  forgotten: fc.oneof(fc.constant(-1), fc.nat(14)),
  left: fc.constantFrom(0, 0, 0.3, 1),
  stored: share,
  entryPoints: share,
  asked: fc.constantFrom(0.3, 1),
  seed: fc.string(),
});

function decide(at: Moment) {
  const { network, parsed } = networks[at.which]!;
  const random = new Random(at.seed);
  const genesis = network.genesis.index;
  const start = genesis + at.imported;
  const ledger = Math.min(lastIndex(network), start + at.applied);
  const forgotten = Math.min(ledger, genesis + at.forgotten);
  const isOpen = ({ referenced }: NetworkBlock) =>
    referenced === undefined || referenced.index > ledger;

  const known = new Map<string, KnownReference>([[digits(ZERO_ID), { milestone: genesis }]]);
  for (const block of network.blocks.values()) {
    const id = digits(block.id);
    if (isOpen(block)) {
      // stored as a ledger stores: behind all parents
      const whole = block.parents.every((parent) => known.has(digits(parent)));
      if (whole && random.chance(at.stored)) known.set(id, { milestone: null });
      continue;
    }
    const { index } = block.referenced!;
    const kept =
      index <= start ? random.chance(at.entryPoints) : index > forgotten || random.chance(at.left);
    if (kept) known.set(id, { milestone: index });
  }
  const blocks = new Map<string, ParsedBlock>();
  for (const [id, block] of parsed) {
    if (!known.has(digits(id)) && random.chance(at.asked)) blocks.set(digits(id), block);
  }
  const proven = findProvenUnreferenced(blocks, known, { genesis, start, forgotten });
  const roots = findDoubtfulRoots(blocks, known, { genesis, start, forgotten });
  const open = [...blocks.keys()].filter((id) => isOpen(network.blocks.get(`0x${id}`)!));
  return { blocks, known, proven, roots, open, forgotten, start };
}

describe('random networks', () => {
  it('have no block called open that a milestone up to the ledger references', () => {
    const seen = { proven: 0, referenced: 0, forgotten: 0, imported: 0 };
    fc.assert(
      fc.property(moment, (at) => {
        const { blocks, proven, open, forgotten, start } = decide(at);
        const truly = new Set(open);
        for (const id of proven) expect(truly.has(id), id).toBe(true);
        seen.proven += proven.size;
        seen.referenced += blocks.size - open.length;
        if (blocks.size > open.length && forgotten > start) seen.forgotten++;
        if (blocks.size > open.length && forgotten <= start) seen.imported++;
      }),
      { numRuns: 1500, seed: 1 },
    );
    // there was something to be wrong about, of each kind
    expect(seen.proven).toBeGreaterThan(10_000);
    expect(seen.referenced).toBeGreaterThan(10_000);
    expect(Math.min(seen.forgotten, seen.imported)).toBeGreaterThan(200);
  });

  it('have no referenced block among those asked for where all roots of what is doubtful are open', () => {
    const seen = { open: 0, refused: 0, roots: 0, doubtful: 0 };
    fc.assert(
      fc.property(moment, (at) => {
        const { blocks, proven, roots, open } = decide(at);
        const truly = new Set(open);
        const areOpen = roots.every((id) => truly.has(id));
        if (areOpen) expect(open.length).toBe(blocks.size);
        if (blocks.size > proven.size) seen[areOpen ? 'open' : 'refused']++;
        seen.roots += roots.length;
        seen.doubtful += blocks.size - proven.size;
      }),
      { numRuns: 1500, seed: 2 },
    );
    expect(Math.min(seen.open, seen.refused)).toBeGreaterThan(100);
    expect(seen.roots).toBeLessThan(seen.doubtful / 2);
  });

  it('have every open block proven where all blocks since the genesis are at hand', () => {
    for (const [which, { network }] of networks.entries()) {
      const everything = { imported: 0, forgotten: -1, left: 0, stored: 0.5, entryPoints: 1 };
      const at = { which, applied: 8, asked: 1, seed: network.name, ...everything };
      const { proven, open } = decide(at);
      expect(open.length).toBeGreaterThan(20);
      expect([...proven].sort()).toEqual(open.sort());
    }
  });
});

describe('a parent', () => {
  const history = { genesis: 0, start: 100, forgotten: 120 };

  it('proves its child open where it is open itself', () => {
    expect(provesUnreferenced({ milestone: null }, history)).toBe(true);
  });

  it('does so where a milestone references it whose IDs are all known', () => {
    expect(provesUnreferenced({ milestone: 121 }, history)).toBe(true);
    expect(provesUnreferenced({ milestone: 120 }, history)).toBe(false);
  });

  it('proves nothing where it is from before the import, unless that brought the genesis', () => {
    expect(provesUnreferenced({ milestone: 100 }, { ...history, forgotten: 0 })).toBe(false);
    expect(provesUnreferenced({ milestone: 101 }, { ...history, forgotten: 0 })).toBe(true);
    expect(
      provesUnreferenced({ milestone: 100 }, { genesis: 100, start: 100, forgotten: 99 }),
    ).toBe(true);
    expect(
      provesUnreferenced({ milestone: 100 }, { genesis: 100, start: 100, forgotten: 100 }),
    ).toBe(false);
  });
});
