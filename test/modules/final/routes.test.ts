/** The routes of a final ledger (docs/contract.md#final-ledger), and who checks what they answer. */
import { describe, expect, it } from 'vitest';
import { type NodeClient, NotVerified } from '../../../client/node-client.ts';
import { proveFinalRecords } from '../../../client/verify-final.ts';
import { createFinal } from '../../../src/modules/final/module.ts';
import { toBech32 } from '../../../src/stardust/bech32.ts';
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import { verifyFinalProof } from '../../../src/stardust/proof/final-ledger.ts';
import { verifyStatement } from '../../../src/stardust/proof/statement.ts';
import { provedValue } from '../../../src/stardust/provenance/proved.ts';
import { MADE_HOLDER, MADE_INDEX } from '../../support/cli/made-snapshot.ts';
import { madeFinalLedger, SMALL } from '../../support/final-ledger/made-ledger.ts';
import { errorBody } from '../../support/http/contract.ts';
import { fetchFrom } from '../../support/http/stub-node.ts';
import { openMemory } from '../../support/ledger/memory-database.ts';
import { sealRows } from '../../support/ledger/seal-rows.ts';
import { indexEveryKind } from '../../support/nft-list/listed-ledger.ts';

const FINAL = '/api/edge/v1/final';
const ABSENT = { outputs: `0x${'5a'.repeat(34)}`, nfts: `0x${'5a'.repeat(32)}` };
const HOLDER = `${FINAL}/addresses/${toBech32('mde', MADE_HOLDER)}`;
const PATHS = [FINAL, `${FINAL}/outputs/${ABSENT.outputs}`, `${FINAL}/nfts/${ABSENT.nfts}`, HOLDER];

const made = await madeFinalLedger(150, undefined, 40);
const { db, keys, root } = made;
await indexEveryKind(db);

function fetchAt(finalMilestone: number, from = db) {
  return fetchFrom({
    node: { session: () => from },
    settings: { finalMilestone },
    modules: [createFinal({ layout: SMALL, maxOutputs: 15 })],
  });
}

const fetch = fetchAt(MADE_INDEX);

describe('at the final milestone', () => {
  it('answers roots, counts and the final root', async () => {
    const response = await fetch(FINAL);
    expect(response.status).toBe(200);
    expect(response.headers.get('x-ledger-index')).toBe(String(MADE_INDEX));
    expect(response.headers.get('x-final-milestone')).toBe(String(MADE_INDEX));
    expect(response.headers.get('cache-control')).toBe(
      'public, max-age=86400, immutable, stale-if-error=0',
    );
    const body = await response.json();
    expect(body).toMatchObject({
      networkName: 'made',
      milestoneIndex: MADE_INDEX,
      outputs: { count: 150 },
      nfts: { count: keys.nfts.length },
      finalRoot: toHex(root),
    });
    expect(body).not.toHaveProperty('snapshotSha256');
  });

  it('names the file, if the import knew its hash', async () => {
    const sha256 = 'ab'.repeat(32);
    const { db: named } = await madeFinalLedger(3, sha256);
    expect(await (await fetchAt(MADE_INDEX, named)(FINAL)).json()).toMatchObject({
      snapshotSha256: sha256,
    });
  });

  it('proves what is there and what is not', async () => {
    for (const tree of ['outputs', 'nfts'] as const) {
      for (const id of [`0x${keys[tree][7]}`, ABSENT[tree]]) {
        const response = await fetch(`${FINAL}/${tree}/${id}`);
        expect(response.headers.get('cache-control')).toBe(
          'public, max-age=86400, immutable, stale-if-error=0',
        );
        const key = Uint8Array.fromHex(id.slice(2));
        const present = id !== ABSENT[tree];
        const verdict = verifyFinalProof(await response.json(), tree, key, root);
        expect(verdict).toMatchObject({ ok: true, present });
      }
    }
  });

  it.each(['outputs/0x12', `outputs/${ABSENT.nfts}`, `nfts/${ABSENT.outputs}`, 'nfts/x'])(
    '%s is 400',
    async (path) => {
      expect((await fetch(`${FINAL}/${path}`)).status).toBe(400);
    },
  );
});

describe('the statement of an address', () => {
  it('comes in pages, each with all proofs', async () => {
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const response = await fetch(`${HOLDER}?cursor=${cursor}`);
      expect(response.status).toBe(200);
      expect(response.headers.get('x-ledger-index')).toBe(String(MADE_INDEX));
      expect(response.headers.get('cache-control')).toBe(
        'public, max-age=86400, immutable, stale-if-error=0',
      );
      const body = (await response.json()) as { next: string | null };
      const verdict = verifyStatement(body, root);
      if (!verdict.ok) throw new Error(verdict.reason);
      expect(verdict.statement.after ?? '').toBe(cursor);
      seen.push(...verdict.statement.outputs.map(({ outputId }) => toHex(outputId)));
      cursor = body.next;
    }
    expect(seen).toHaveLength(40);
    expect(new Set(seen).size).toBe(40);
  });

  it.each([
    `${FINAL}/addresses/mde1x`,
    `${FINAL}/addresses/${toBech32('smr', MADE_HOLDER)}`,
    `${HOLDER}?cursor=12`,
    `${HOLDER}?cursor=${'G'.repeat(76)}`,
  ])('%s is 400', async (path) => {
    expect((await fetch(path)).status).toBe(400);
  });

  it('is 500 until its index is whole', async () => {
    const { db: other } = await madeFinalLedger(5);
    for (const indexed of ['', '00']) {
      await other.prepare('UPDATE head SET indexed = ?1').bind(indexed).run();
      await sealRows(other, 'head');
      const response = await fetchAt(MADE_INDEX, other)(HOLDER);
      expect(response.status).toBe(500);
      expect(response.headers.get('x-error-detail')).toContain('is being filled');
    }
  });
});

describe('elsewhere', () => {
  it.each(PATHS)('%s is 404 without a final milestone', async (path) => {
    const response = await fetchFrom()(path);
    expect([response.status, await response.text()]).toEqual([404, errorBody(response.status)]);
    expect(response.headers.get('x-error-detail')).toMatch('FINAL_MILESTONE is not set');
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  it.each(PATHS)('%s is 404 before the final milestone', async (path) => {
    const response = await fetchAt(MADE_INDEX + 1)(path);
    expect(response.status).toBe(404);
    expect(response.headers.get('x-error-detail')).toBe(
      `the ledger is at ${MADE_INDEX}, not at its final milestone`,
    );
  });

  it.each(PATHS)('%s is 503 while the trees are built', async (path) => {
    const { db: building } = await madeFinalLedger(5);
    await building.prepare('DELETE FROM final_root').run();
    const response = await fetchAt(MADE_INDEX, building)(path);
    expect([response.status, await response.text()]).toEqual([503, errorBody(response.status)]);
    expect(response.headers.get('retry-after')).toBe('60');
  });

  it.each(PATHS)('%s is 500 without a ledger', async (path) => {
    expect((await fetchAt(MADE_INDEX, await openMemory())(path)).status).toBe(500);
  });
});

describe('proveFinalRecords', () => {
  const ask: NodeClient = (path) => fetch(path);
  const verify = async (ids: readonly string[], trusted = root, node = ask) =>
    (await Array.fromAsync(proveFinalRecords(node, trusted, ids))).map(provedValue);
  const output = `0x${keys.outputs[9]}`;
  const nft = `0x${keys.nfts[3]}`;

  it('says what is proven', async () => {
    const holder = await db.prepare('SELECT output FROM nft WHERE id = ?1').bind(keys.nfts[3]!);
    const { output: held } = (await holder.first<{ output: string }>())!;
    expect(await verify([output, ABSENT.outputs, nft, ABSENT.nfts])).toEqual([
      `The final root commits to 150 outputs and ${keys.nfts.length} NFTs of made at milestone 10.`,
      `Output ${output} is in the ledger, unspent.`,
      'Basic output, with 1,000,000 base tokens.',
      expect.stringMatching(/^Only 0x00[0-9a-f]{64} can spend it\.$/),
      `Output ${ABSENT.outputs} is not in the ledger.`,
      `NFT ${nft} is in the ledger, in output 0x${held}.`,
      `Output 0x${held} is in the ledger, unspent.`,
      `NFT ${nft}, with 1,000,000 base tokens.`,
      expect.stringMatching(/^Only 0x00[0-9a-f]{64} can spend it\.$/),
      `NFT ${ABSENT.nfts} is not in the ledger.`,
    ]);
  });

  it('takes the root from its caller, not from the answer', async () => {
    const other = await madeFinalLedger(64);
    const [first] = await Promise.allSettled([verify([], other.root)]);
    expect(first).toMatchObject({ status: 'rejected', reason: expect.any(NotVerified) });
    // the header is that of the trusted root, the proofs are another ledger's
    const lying: NodeClient = (path) =>
      path === FINAL ? fetch(path) : fetchAt(MADE_INDEX, other.db)(path);
    await expect(verify([output], root, lying)).rejects.toThrow(NotVerified);
  });

  it('does not take a proof of one ID for another', async () => {
    const lying: NodeClient = (path) =>
      fetch(path === FINAL ? path : `${FINAL}/outputs/${ABSENT.outputs}`);
    await expect(verify([output], root, lying)).rejects.toThrow(NotVerified);
    await expect(verify([nft], root, lying)).rejects.toThrow(NotVerified);
  });
});
