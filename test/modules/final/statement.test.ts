/**
 * Statements of addresses at a final ledger (docs/final-ledger.md#a-statement-of-an-address): they
 * have what the address holds, each changed one is refused, and a second implementation agrees.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LedgerDamaged } from '../../../src/ledger/core/checksum.ts';
import type { Database } from '../../../src/ledger/core/database.ts';
import { LedgerMoved } from '../../../src/ledger/core/fence.ts';
import { readFinalLedger } from '../../../src/modules/final/prove-final.ts';
import { readStatement } from '../../../src/modules/final/read-statement.ts';
import { toBech32 } from '../../../src/stardust/bech32.ts';
import { toHexDigits } from '../../../src/stardust/encoding/bytes.ts';
import {
  partOf,
  STATEMENT_PARTS,
  type Statement,
  verifyStatement,
} from '../../../src/stardust/proof/statement.ts';
import { type Address, addressKey } from '../../../src/stardust/wire/address.ts';
import type { Output } from '../../../src/stardust/wire/output.ts';
import { MADE_HOLDER, MADE_INDEX } from '../../support/cli/made-snapshot.ts';
import { buildWhole, madeFinalLedger, SMALL } from '../../support/final-ledger/made-ledger.ts';
import { disturbed, startLedger } from '../../support/ledger/ledger-harness.ts';
import { sealRows } from '../../support/ledger/seal-rows.ts';
import { Random } from '../../support/network/random.ts';
import { SyntheticNetwork } from '../../support/network/synthetic-network.ts';
import { indexEveryKind, listedLedger } from '../../support/nft-list/listed-ledger.ts';
import { plainList } from '../../support/nft-list/plain-list.ts';
import { LAST_INDEX, recordedOutputs } from '../../support/nft-list/recorded-nfts.ts';
import {
  alias,
  aliasAddress,
  basic,
  depositReturn,
  expiration,
  foundry,
  idOf,
} from '../../support/payloads/outputs.ts';
import { changeField, placeIn } from '../../support/stardust/changed-json.ts';
import { hasTool } from '../../support/tools.ts';

const CHANGED = Number(process.env.STATEMENTS ?? 30);
const LIMITS = { layout: SMALL, maxOutputs: 7 };

/** The recorded ledger with outputs of every kind, and all its addresses. */
async function recordedFinal() {
  const db = await listedLedger(LAST_INDEX);
  await indexEveryKind(db);
  await buildWhole(db, LAST_INDEX);
  const found = await readFinalLedger(db, LAST_INDEX);
  if (!found.ok) throw new Error('the trees are not built');
  const outputs = recordedOutputs('network-n')(LAST_INDEX);
  const addresses = new Map<string, Address>();
  for (const { output } of outputs)
    for (const condition of output.unlockConditions) {
      if ('address' in condition) addresses.set(addressKey(condition.address), condition.address);
      if ('returnAddress' in condition)
        addresses.set(addressKey(condition.returnAddress), condition.returnAddress);
    }
  const foreign = await state(db, LAST_INDEX, { type: 0, id: idOf('x') }, 'xyz');
  if (foreign.ok || foreign.why !== 'foreign') throw new Error('the prefix was accepted');
  return {
    db,
    root: found.root,
    outputs,
    addresses: [...addresses.values()],
    prefix: foreign.prefix,
  };
}

const state = (db: Database, index: number, address: Address, prefix: string, after?: string) =>
  readStatement(
    db,
    index,
    {
      address,
      prefix,
      after:
        after === undefined
          ? undefined
          : { createdTime: Number.parseInt(after.slice(0, 8), 16), outputId: after.slice(8) },
    },
    LIMITS,
  );

/** All pages, each as parsed JSON and as it verifies. */
async function pagesOf(
  db: Database,
  index: number,
  address: Address,
  prefix: string,
  root: Uint8Array,
) {
  const pages: { json: Record<string, unknown>; statement: Statement }[] = [];
  for (let after: string | undefined; ; ) {
    const found = await state(db, index, address, prefix, after);
    if (!found.ok) throw new Error(found.why);
    const json = JSON.parse(JSON.stringify(found.statement));
    const verdict = verifyStatement(json, root);
    if (!verdict.ok) throw new Error(verdict.reason);
    pages.push({ json, statement: verdict.statement });
    after = verdict.statement.next;
    if (after === undefined) return pages;
  }
}

const recorded = await recordedFinal();

describe('a statement', () => {
  it('has every output that the address can unlock, now or later, page by page', async () => {
    const { db, root, outputs, addresses, prefix } = recorded;
    let [most, seen] = [0, new Set<string>()];
    for (const address of addresses) {
      const query = `unlockableByAddress=${toBech32(prefix, address)}`;
      const { items } = plainList(outputs, LAST_INDEX, prefix, query, 'all').response!;
      const pages = await pagesOf(db, LAST_INDEX, address, prefix, root);
      const found = pages.flatMap(({ statement }) => statement.outputs);
      expect(found.map(({ outputId }) => `0x${toHexDigits(outputId)}`)).toEqual(items);
      for (const { statement } of pages.slice(0, -1)) expect(statement.outputs).toHaveLength(7);
      most = Math.max(most, pages.length);
      for (const { part } of found) seen.add(part);
    }
    expect(most).toBeGreaterThan(2);
    expect([...seen].sort()).toEqual([...STATEMENT_PARTS].sort());
  });

  it('adds up to what the outputs hold', async () => {
    const { db, root, addresses, prefix } = recorded;
    for (const address of addresses) {
      for (const { statement, json } of await pagesOf(db, LAST_INDEX, address, prefix, root)) {
        const { totals, outputs } = statement;
        expect((json.totals as { outputs: number }).outputs).toBe(outputs.length);
        const sums = Object.values(totals);
        expect(sums.reduce((sum, each) => sum + each.outputs, 0)).toBe(outputs.length);
        const counted = outputs.filter(({ part }) => part !== 'depositReturn');
        const amount = counted.reduce((sum, { output }) => sum + output.amount, 0n);
        const { depositReturn, ...others } = totals;
        expect(Object.values(others).reduce((sum, each) => sum + each.amount, 0n)).toBe(amount);
        const tokens = (held: Output['nativeTokens']) =>
          held.reduce((sum, token) => sum + token.amount, 0n);
        const inOutputs = counted.reduce(
          (sum, { output }) => sum + tokens(output.nativeTokens),
          0n,
        );
        const inTotals = Object.values(others)
          .flatMap(({ nativeTokens }) => [...nativeTokens.values()])
          .reduce((sum, each) => sum + each, 0n);
        expect(inTotals).toBe(inOutputs);
        expect(depositReturn.nativeTokens.size).toBe(0);
      }
    }
  });

  it('of an address without outputs is empty', async () => {
    const { db, root, prefix } = recorded;
    const address = { type: 0 as const, id: idOf('nobody') };
    const [page, ...more] = await pagesOf(db, LAST_INDEX, address, prefix, root);
    expect(more).toEqual([]);
    expect(page!.statement).toMatchObject({ outputs: [], after: undefined, next: undefined });
  });

  it('ends before the bytes of its records are too many, and has one output at least', async () => {
    const { db, root } = await madeFinalLedger(150, undefined, 40);
    await indexEveryKind(db);
    for (const [maxBytes, most] of [
      [1, 1],
      // of records of 124 bytes
      [371, 2],
      [372, 3],
    ] as const) {
      const limits = { layout: SMALL, maxBytes };
      const query = { address: MADE_HOLDER, prefix: 'mde', after: undefined };
      const found = await readStatement(db, MADE_INDEX, query, limits);
      if (!found.ok) throw new Error(found.why);
      const verdict = verifyStatement(found.statement, root);
      expect(verdict).toMatchObject({ ok: true });
      expect(found.statement.outputs).toHaveLength(most);
      expect(found.statement.next).not.toBeNull();
    }
  });
});

/** The statement with one change, or one name more, but for what only its maker says. */
function mutateStatement({ after, next, ...json }: Record<string, unknown>, random: Random) {
  const changed = structuredClone(json);
  const { within } = placeIn(changed, random);
  if (random.chance(0.05) && !Array.isArray(within)) within.more = 1;
  else changeField(changed, random);
  return JSON.parse(JSON.stringify({ ...changed, after, next }));
}

describe('is refused', () => {
  it('when anything of it is changed, by a second implementation too', async () => {
    const { db, root, addresses, prefix } = recorded;
    const random = new Random('statements');
    const honest = (
      await Promise.all(addresses.map((address) => pagesOf(db, LAST_INDEX, address, prefix, root)))
    ).flat();
    const changed = Array.from({ length: CHANGED }, () =>
      mutateStatement(random.pick(honest).json, random),
    );
    for (const each of changed) {
      const verdict = verifyStatement(each, root);
      expect(verdict.ok, JSON.stringify(each).slice(0, 2000)).toBe(false);
    }
    if (!hasTool('python3')) return;
    const all = [...honest.map(({ json }) => json), ...changed];
    const { stdout, stderr } = spawnSync(
      'python3',
      [join(import.meta.dirname, '../../cli/ledger-root/statement.py'), root.toHex()],
      { encoding: 'utf8', input: all.map((each) => `${JSON.stringify(each)}\n`).join('') },
    );
    expect(stderr).toBe('');
    const lines = stdout.trim().split('\n');
    expect(lines.slice(0, honest.length)).toEqual(
      honest.map(({ statement: { totals } }) =>
        [
          'proved',
          ...STATEMENT_PARTS.map(
            (part) => `${part}:${totals[part].outputs}:${totals[part].amount}`,
          ),
        ].join(' '),
      ),
    );
    const others = lines.slice(honest.length);
    expect(others).toHaveLength(CHANGED);
    expect(others.filter((line) => !line.startsWith('refused '))).toEqual([]);
  });

  it('for another root, another address, or with the outputs of another page', async () => {
    const { db, root, addresses, prefix } = recorded;
    const all = await Promise.all(
      addresses.map((address) => pagesOf(db, LAST_INDEX, address, prefix, root)),
    );
    const [first, second] = all.find((pages) => pages.length > 2)!;
    expect(verifyStatement(first!.json, new Uint8Array(32)).ok).toBe(false);
    const { address } = all.find(([page]) => page!.json.address !== first!.json.address)![0]!.json;
    const verify = (json: object) => verifyStatement({ ...first!.json, ...json }, root);
    expect(verify({ address }).ok).toBe(false);
    expect(verify({ outputs: second!.json.outputs }).ok).toBe(false);
    expect(verify({ after: second!.json.after }).ok).toBe(false);
    // before every cursor, and none
    expect(verify({ after: '' }).ok).toBe(false);
    expect(verify({ next: second!.json.next }).ok).toBe(false);
    expect(verify({}).ok).toBe(true);
    // what only its maker says: that it is the last page
    expect(verify({ next: null })).toMatchObject({ ok: true, statement: { next: undefined } });
  });

  it.each<unknown>([null, [], 'x', {}, { format: 'stardust-statement-1' }])(
    'where it is none: %j',
    (json) => {
      expect(verifyStatement(json, new Uint8Array(32)).ok).toBe(false);
    },
  );
});

it('what an output is to an address is the first part that it fits', () => {
  const [anna, bert] = ['anna', 'bert'].map((name) => ({ type: 0 as const, id: idOf(name) }));
  const cases: [Output, string | undefined, string | undefined][] = [
    [basic(anna!), 'own', undefined],
    [basic(anna!, { conditions: [expiration(bert!, 5)] }), 'untilExpiration', 'fromExpiration'],
    [basic(anna!, { conditions: [expiration(anna!, 5)] }), 'own', undefined],
    [basic(anna!, { conditions: [depositReturn(bert!, 5n)] }), 'own', 'depositReturn'],
    [
      basic(anna!, { conditions: [depositReturn(bert!, 5n), expiration(bert!, 5)] }),
      'untilExpiration',
      'fromExpiration',
    ],
    [alias(anna!, bert!), 'own', 'governed'],
    [alias(anna!, anna!), 'own', undefined],
  ];
  for (const [output, toAnna, toBert] of cases) {
    expect(partOf(output, addressKey(anna!))).toBe(toAnna);
    expect(partOf(output, addressKey(bert!))).toBe(toBert);
  }
  expect(partOf(foundry(idOf('alias')), addressKey(aliasAddress(idOf('alias'))))).toBe('own');
});

describe('no statement', () => {
  const query = { address: MADE_HOLDER, prefix: 'mde', after: undefined };

  it('of a ledger that does not index every kind, or not yet', async () => {
    const { db } = await madeFinalLedger(150, undefined, 40);
    for (const [indexed, why] of [
      ['', 'not indexed'],
      ['00', 'filling'],
    ]) {
      await db.prepare('UPDATE head SET indexed = ?1').bind(indexed!).run();
      await sealRows(db, 'head');
      expect(await readStatement(db, MADE_INDEX, query, LIMITS)).toMatchObject({ ok: false, why });
    }
  });

  it('where the index and the outputs differ, or the tree is damaged', async () => {
    const { db, keys } = await madeFinalLedger(150, undefined, 40);
    await indexEveryKind(db);
    const image = db.serialize();
    const held = `(SELECT output FROM output_detail WHERE address = unhex('${addressKey(MADE_HOLDER)}') LIMIT 1)`;
    for (const damage of [
      `UPDATE output_detail SET created_time = created_time + 1 WHERE output = ${held}`,
      `UPDATE output_detail SET output = unhex('${keys.outputs[1]!.replace(/..$/, '77')}') WHERE output = ${held}`,
      `UPDATE output_detail SET address = unhex('${addressKey(MADE_HOLDER)}')
        WHERE address <> unhex('${addressKey(MADE_HOLDER)}')`,
      `DELETE FROM output WHERE id = lower(hex(${held}))`,
      `DELETE FROM final_range WHERE tree = 'outputs'`,
      `DELETE FROM final_page WHERE tree = 'outputs' AND page = 0`,
    ]) {
      db.deserialize(image);
      await db.prepare(damage).run();
      await expect(readStatement(db, MADE_INDEX, query, { layout: SMALL }), damage).rejects.toThrow(
        LedgerDamaged,
      );
    }
  });

  it('of a ledger that is replaced meanwhile', async () => {
    const { db } = await madeFinalLedger(150, undefined, 40);
    await indexEveryKind(db);
    const network = new SyntheticNetwork({ seed: 'replaced' });
    network.milestone();
    let calls = 0;
    const replaced = disturbed(db, async () => {
      if (++calls === 2) await startLedger(db, network, 1);
    });
    await expect(readStatement(replaced, MADE_INDEX, query, LIMITS)).rejects.toThrow(LedgerMoved);
  });

  it('before the final milestone, or while the trees are built', async () => {
    const { db } = await madeFinalLedger(5);
    await indexEveryKind(db);
    const none = { ok: false, why: 'no final ledger' };
    const before = await readStatement(db, MADE_INDEX + 1, query, LIMITS);
    expect(before).toMatchObject({ ...none, isBuilding: false });
    await db.prepare('DELETE FROM final_root').run();
    const building = await readStatement(db, MADE_INDEX, query, LIMITS);
    expect(building).toMatchObject({ ...none, isBuilding: true });
  });
});
