/**
 * Changes of NFTs after a milestone (src/modules/histories/nft-changes.ts) against a model made of the
 * network's own outputs: any milestone asked about, while milestones are applied, pruned, interrupted
 * and replaced by imports.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { SqliteDatabase } from '../../../cli/lib/wrangler/sqlite-database.ts';
import { loadSnapshot } from '../../../src/ledger/import/load-snapshot.ts';
import { prune } from '../../../src/ledger/write/prune.ts';
import { type NftChanges, readNftChanges } from '../../../src/modules/histories/nft-changes.ts';
import { openIndexLedger } from '../../../src/nft-index/d1-ledger.ts';
import { beginState } from '../../../src/nft-index/publisher-state.ts';
import {
  asFile,
  disturbed,
  type Rig,
  startLedger,
  takeNext,
} from '../../support/ledger/ledger-harness.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { fullSnapshot } from '../../support/network/network-snapshot.ts';
import { nftLives } from '../../support/network/nft-lives.ts';
import { holdersOf, nftsAt, nftsChangedAt } from '../../support/network/nft-places.ts';

const MILESTONES = 24;

const network = nftLives('changes of NFTs', MILESTONES, 8);
const holders = holdersOf(network);
const changedAt = (index: number) => nftsChangedAt(holders, index).map((id) => id.slice(2));
const stateAt = (index: number) =>
  new Map([...nftsAt(holders, index)].map(([id, output]) => [id.slice(2), output.slice(2)]));

type Action =
  | { kind: 'apply'; count: number; crashAt: number }
  | { kind: 'prune'; retention: number; crashAt: number }
  | { kind: 'publish'; behind: number }
  | { kind: 'import'; back: number }
  /** `back`: milestones behind the ledger's next one. */
  | { kind: 'ask'; back: number; most: number }
  | { kind: 'client'; most: number };

const upTo = (max: number, min = 0) => fc.integer({ min, max });
const most = upTo(12, 1);
/** The batch that fails; mostly none. */
const crashAt = upTo(6, -6);
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 6, arbitrary: actionOf('apply', { count: upTo(4, 1), crashAt }) },
  { weight: 2, arbitrary: actionOf('prune', { retention: upTo(12), crashAt }) },
  { weight: 2, arbitrary: actionOf('publish', { behind: upTo(6) }) },
  { weight: 1, arbitrary: actionOf('import', { back: upTo(4) }) },
  { weight: 6, arbitrary: actionOf('ask', { back: upTo(16), most }) },
  { weight: 3, arbitrary: actionOf('client', { most }) },
);

function actionOf<Kind extends Action['kind'], T>(
  kind: Kind,
  fields: { [K in keyof T]: fc.Arbitrary<T[K]> },
): fc.Arbitrary<{ kind: Kind } & T> {
  return fc.record(fields).map((each) => ({ kind, ...each }) as { kind: Kind } & T);
}

/** A ledger, and what is known of it without asking it. */
class Modelled {
  ledger = 0;
  /** The first milestone that is kept. */
  first = 0;
  /** Up to where the publisher needs no changes. */
  from = -1;
  readonly db: SqliteDatabase;
  rig: Rig | undefined;
  /** What a client knows, and up to which milestone. */
  client: { at: number; nfts: Map<string, string> } | undefined;

  constructor(db: SqliteDatabase) {
    this.db = db;
  }

  async act(next: Action): Promise<void> {
    switch (next.kind) {
      case 'apply':
        for (let i = 0; i < next.count && this.ledger < MILESTONES; i++) {
          const isOver = await crashed(this.db, next.crashAt, (db) => takeNext(this.rig!, db));
          if (isOver) this.ledger = await this.number('SELECT ledger AS n FROM head');
          else this.ledger++;
        }
        return;
      case 'prune':
        if (await crashed(this.db, next.crashAt, (db) => prune(db, next.retention))) {
          this.first = await this.number('SELECT min(idx) AS n FROM milestone');
          return;
        }
        this.first = Math.max(this.first, this.ledger - next.retention);
        expect(await this.changesBefore(Math.min(this.first, this.from))).toBe(0);
        return;
      case 'publish': {
        const from = Math.max(0, this.from, this.ledger - next.behind);
        const index = openIndexLedger(this.db);
        const { head, stored } = await index.readState();
        const state = beginState({ generation: head!.generation, ledgerIndex: from });
        await index.swap(stored?.token, { token: crypto.randomUUID(), state });
        this.from = from;
        return;
      }
      case 'import': {
        const target = Math.max(0, this.ledger - next.back);
        await loadSnapshot(this.db, asFile(fullSnapshot(network, { target })), undefined);
        Object.assign(this, { ledger: target, first: target, from: -1, client: undefined });
        return;
      }
      case 'ask':
        expect(await this.ask(this.before(next.back), next.most)).toEqual(
          this.expected(this.before(next.back), next.most),
        );
        return;
      case 'client':
        await this.catchUp(next.most);
        expect(this.client).toEqual({ at: this.ledger, nfts: stateAt(this.ledger) });
    }
  }

  before(back: number): number {
    return Math.max(0, this.ledger + 1 - back);
  }

  ask(after: number, maxChanges: number): Promise<NftChanges | undefined> {
    return readNftChanges(this.db, after, maxChanges);
  }

  expected(after: number, maxChanges: number): NftChanges {
    const ledgerIndex = this.ledger;
    if (after < this.first || after > ledgerIndex)
      return { ledgerIndex, ok: false, why: 'not kept' };
    const ids = new Set<string>();
    let to = after;
    let total = 0;
    for (let index = after + 1; index <= ledgerIndex; index++) {
      const changed = changedAt(index);
      total += changed.length;
      if (total > maxChanges) break;
      if (changed.length > 0) to = index;
      for (const id of changed) ids.add(id);
    }
    if (total <= maxChanges) to = ledgerIndex;
    else if (to === after) return { ledgerIndex, ok: false, why: 'too many' };
    const state = stateAt(ledgerIndex);
    const changes = [...ids]
      .sort()
      .map((id): [string, string | null] => [id, state.get(id) ?? null]);
    return { ledgerIndex, ok: true, to, changes };
  }

  /** As docs/developers.md#events says. */
  async catchUp(maxChanges: number): Promise<void> {
    for (;;) {
      const found = this.client && (await this.ask(this.client.at, maxChanges));
      if (this.client === undefined || found?.ok !== true) {
        const rows = await this.db
          .prepare('SELECT id, output FROM nft WHERE output IS NOT NULL')
          .all<{ id: string; output: string }>();
        this.client = {
          at: this.ledger,
          nfts: new Map(rows.results.map(({ id, output }) => [id, output])),
        };
        return;
      }
      for (const [id, output] of found.changes)
        if (output === null) this.client.nfts.delete(id);
        else this.client.nfts.set(id, output);
      this.client.at = found.to;
      if (found.to === found.ledgerIndex) return;
    }
  }

  async changesBefore(index: number): Promise<number> {
    return this.number(`SELECT count(*) AS n FROM nft_change WHERE milestone <= ${index}`);
  }

  async number(sql: string): Promise<number> {
    return Number(await this.db.prepare(sql).first('n'));
  }
}

/** Whether the work ended at that batch, which was not run. */
async function crashed(
  db: SqliteDatabase,
  at: number,
  work: (db: SqliteDatabase) => Promise<unknown>,
): Promise<boolean> {
  let isOver = false;
  const failing = disturbed(db, async (_, batch) => {
    if (batch !== at) return;
    isOver = true;
    throw new Error('crashed');
  });
  try {
    await work(failing as unknown as SqliteDatabase);
  } catch (error) {
    if (!isOver) throw error;
  }
  return isOver;
}

it('every answer has each change, with its state now, and says how far it goes', async () => {
  const changed = Array.from({ length: MILESTONES }, (_, i) => changedAt(i + 1).length);
  expect(Math.max(...changed)).toBeGreaterThan(5);
  expect(changed.filter((count) => count === 0).length).toBeGreaterThan(1);
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { minLength: 30, maxLength: 60, size: 'max' }),
      async (actions) => {
        const model = new Modelled(await openMemory());
        model.rig = await startLedger(model.db, network, 0);
        for (const next of actions) {
          await model.act(next);
          if (next.kind === 'ask') {
            const answer = model.expected(model.before(next.back), next.most);
            seen.add(
              answer.ok ? `${answer.to < answer.ledgerIndex ? 'page' : 'whole'}` : answer.why,
            );
            if (answer.ok && answer.changes.some(([, output]) => output === null))
              seen.add('burned');
          }
        }
      },
    ),
    { numRuns: Number(process.env.RUNS ?? 4), seed: 26, endOnFailure: true },
  );
  expect([...seen].sort()).toEqual(['burned', 'not kept', 'page', 'too many', 'whole']);
});

it('two followers at once count each milestone once', async () => {
  const model = new Modelled(await openMemory());
  model.rig = await startLedger(model.db, network, 0);
  const { rig } = model;
  for (let i = 0; i < 8; i++) {
    const both = await Promise.allSettled([takeNext(rig, model.db), takeNext(rig, model.db)]);
    expect(both.some(({ status }) => status === 'fulfilled')).toBe(true);
  }
  model.ledger = await model.number('SELECT ledger AS n FROM head');
  expect(model.ledger).toBeGreaterThanOrEqual(8);
  for (let after = 0; after <= model.ledger; after++)
    expect(await model.ask(after, 100)).toEqual(model.expected(after, 100));
});
