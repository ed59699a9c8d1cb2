/**
 * GET /api/indexer/v1/outputs, …/outputs/KIND and the lookups of aliases and foundries, from a
 * database with the ledger of network-n at its end.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import type { SqliteDatabase } from '../../../cli/lib/wrangler/sqlite-database.ts';
import { readHead } from '../../../src/ledger/core/head.ts';
import { fillIndex } from '../../../src/ledger/output-list/fill-index.ts';
import { toHexDigits } from '../../../src/stardust/encoding/bytes.ts';
import { chainIdOf } from '../../../src/stardust/wire/ids.ts';
import { OutputType } from '../../../src/stardust/wire/output.ts';
import { checkLedgerRead, expectError, type Fetch } from '../../support/http/contract.ts';
import { fetchFrom } from '../../support/http/stub-node.ts';
import { nodeOver } from '../../support/nft-list/list-node.ts';
import {
  EVERY_KIND,
  indexEveryKind,
  listedLedger,
  ONLY_NFTS,
} from '../../support/nft-list/listed-ledger.ts';
import { LAST_INDEX, recordedOutputs } from '../../support/nft-list/recorded-nfts.ts';

const OUTPUTS = '/api/indexer/v1/outputs';
const INDEXED = ['', '/basic', '/alias', '/foundry'];

const outputs = recordedOutputs('network-n')(LAST_INDEX);

let db: SqliteDatabase;
let fetch: Fetch;

beforeAll(async () => {
  db = await listedLedger(LAST_INDEX);
  fetch = fetchFrom({ node: nodeOver(db) });
});

describe('a ledger that indexes NFTs alone', () => {
  it('says so, and gives no list of other kinds', async () => {
    for (const list of INDEXED) {
      const headers = { 'x-ledger-index': String(LAST_INDEX) };
      await expectError(fetch, OUTPUTS + list, 404, undefined, headers);
      const answer = await fetch(OUTPUTS + list);
      expect(answer.headers.get('x-error-detail')).toContain('INDEX=all');
    }
    expect((await fetch(`${OUTPUTS}/alias/0x${'00'.repeat(32)}`)).status).toBe(404);
    expect(await (await fetch('/api/routes')).json()).toMatchObject({ indexed: ['nft'] });
    expect((await fetch(`${OUTPUTS}/nft`)).status).toBe(200);
  });

  it('says that it is filled where INDEX=all is set, as after an import', async () => {
    const wanted = fetchFrom({ settings: { indexAll: true }, node: nodeOver(db) });
    for (const list of [...INDEXED, `/alias/0x${'00'.repeat(32)}`, `/foundry/0x${'00'.repeat(38)}`])
      await expectError(wanted, OUTPUTS + list, 500);
    const over = fetchFrom({ settings: { finalMilestone: LAST_INDEX }, node: nodeOver(db) });
    await expectError(over, `${OUTPUTS}/alias`, 500);
  });

  it('gives none either before all of its outputs are indexed', async () => {
    expect(await fillIndex(db, EVERY_KIND, 40)).toBe(false);
    for (const list of [...INDEXED, `/alias/0x${'00'.repeat(32)}`, `/foundry/0x${'00'.repeat(38)}`])
      await expectError(fetch, OUTPUTS + list, 500);
    expect(await (await fetch('/api/routes')).json()).toMatchObject({ indexed: ['nft'] });
  });
});

describe('a ledger that indexes every kind', () => {
  beforeAll(() => indexEveryKind(db));

  it('is one with outputs of each', () => {
    const types = Object.groupBy(outputs, ({ output }) => output.type);
    for (const type of Object.values(OutputType)) expect(types[type]?.length).toBeGreaterThan(5);
  });

  it('finds each alias and foundry, and no other', async () => {
    const chains = outputs.flatMap(({ output, outputId }) => {
      const id = chainIdOf(output, Uint8Array.fromHex(outputId));
      const kind = { 4: 'alias', 5: 'foundry', 3: '', 6: '' }[output.type];
      return id && kind ? [{ path: `${OUTPUTS}/${kind}/0x${toHexDigits(id)}`, outputId }] : [];
    });
    expect(chains.length).toBeGreaterThan(50);
    for (const { path, outputId } of chains) {
      const answer = await fetch(path);
      const items = [`0x${outputId}`];
      expect(await answer.json()).toEqual({ ledgerIndex: LAST_INDEX, items });
      expect(answer.headers.get('etag')).toBe(`W/"${LAST_INDEX}-${outputId}"`);
      expect((await fetch(path.replace('/0x', '/0X').toUpperCase())).status).toBe(404);
    }
    const [alias, foundry] = ['00'.repeat(32), '00'.repeat(38)];
    await expectError(fetch, `${OUTPUTS}/alias/0x${alias}`, 404);
    await expectError(fetch, `${OUTPUTS}/foundry/0x${foundry}`, 404);
    for (const path of [`alias/0x${foundry}`, `foundry/0x${alias}`, 'alias/x/y', 'foundry//'])
      await expectError(fetch, `${OUTPUTS}/${path}`, 400);
    for (const path of ['alias/', 'foundry/', ''])
      await expectError(fetch, `${OUTPUTS}/${path}`, 404);
  });

  it('is damaged where the row of an alias names another output, or none', async () => {
    const { output, outputId } = outputs.find((each) => each.output.type === OutputType.Alias)!;
    const id = chainIdOf(output, Uint8Array.fromHex(outputId))!.toHex();
    const other = outputs.find((each) => each.output.type === OutputType.Basic)!.outputId;
    const change = 'UPDATE output_detail SET output = unhex(?1) WHERE chain = unhex(?2)';
    for (const named of [other, 'ff'.repeat(34)]) {
      await db.prepare(change).bind(named, id).run();
      await expectError(fetch, `${OUTPUTS}/alias/0x${id}`, 500);
    }
    await db.prepare(change).bind(outputId, id).run();
    expect((await fetch(`${OUTPUTS}/alias/0x${id}`)).status).toBe(200);
  });

  it('is told, as are later ledgers and other methods', async () => {
    const indexed = ['basic', 'alias', 'foundry', 'nft'];
    expect(await (await fetch('/api/routes')).json()).toMatchObject({ indexed });
    for (const list of INDEXED) {
      await checkLedgerRead(fetch, OUTPUTS + list, LAST_INDEX);
      const post = { method: 'POST' };
      await expectError(fetch, OUTPUTS + list, 405, post);
    }
  });

  it('stays one where INDEX is taken back', async () => {
    expect(await fillIndex(db, ONLY_NFTS)).toBe(true);
    expect((await readHead(db))?.indexed).toBe('all');
    expect((await fetch(OUTPUTS)).status).toBe(200);
  });
});
