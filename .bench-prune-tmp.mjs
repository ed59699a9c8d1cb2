import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import fs from 'node:fs';
const mf = new Miniflare(convertV4MiniflareOptions({ modules: true, script: 'export default {fetch(){return new Response("")}}', d1Databases: { LEDGER: 'x' } }));
const db = await mf.getD1Database('LEDGER');
for (const f of fs.readdirSync('/work/main/migrations').sort()) for (const s of fs.readFileSync('/work/main/migrations/' + f, 'utf8').replace(/--.*$/gm, '').split(';')) if (s.trim()) await db.prepare(s).run();
const N = 60000, PER = 60;
await db.prepare("insert into head values(1,'g',0,0,?,'0','0',0)").bind(N / PER).run();
await db.prepare("insert into parameters values(0,0,?)").bind((await import('/work/main/src/stardust/codec.ts')).encode((await import('/work/main/src/stardust/milestone.ts')).protocolParametersOption, { type: 1, targetMilestoneIndex: 0, protocolVersion: 2, parameters: (await import('/work/main/src/stardust/codec.ts')).encode((await import('/work/main/src/stardust/parameters.ts')).protocolParameters, { version: 2, networkName: 'x', bech32Hrp: 'x', minPowScore: 0, belowMaxDepth: 15, rentStructure: { vByteCost: 1, vByteFactorData: 1, vByteFactorKey: 1 }, tokenSupply: 1n }) }).toBase64()).run();
const n = (c) => `WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v+1 FROM n WHERE v < ${c})`;
await db.prepare(`${n(N / PER)} insert into milestone select v, printf('%064x',v), v, 'AAAA' from n`).run();
for (let i = 0; i < N; i += 10000) {
  const w = `${n(10000)}`;
  await db.prepare(`${w} insert into block select v+${i}, printf('%064x',v+${i}), (v+${i})/${PER}+1, v, 0, printf('%064x',v+${i}), hex(randomblob(60)), 0 from n`).run();
  await db.prepare(`${w} insert into block_bytes select v+${i}, hex(randomblob(300)) from n`).run();
  await db.prepare(`${w} insert into output select v+${i}, printf('%064x',v+${i})||'0000', hex(randomblob(60)), null, 'x', (v+${i})/${PER}+1, 0, (v+${i})/${PER}+2, 0, 'x', v+${i} from n`).run();
  await db.prepare(`${w} insert into input select v+${i}, v+${i}-1 from n`).run();
  await db.prepare(`${w} insert into spent select (v+${i})/${PER}+2, v+${i} from n`).run();
}
// 1M unspent outputs
for (let i = 0; i < 10; i++) await db.prepare(`${n(100000)} insert into output select 1000000+v+${i}*100000, printf('%064x',1000000+v+${i}*100000)||'0000', hex(randomblob(60)), null, 'x', 0, 0, null, null, null, 0 from n`).run();
const { prune } = await import('/work/main/src/ledger/prune.ts');
for (let i = 0; i < 12; i++) {
  const t = performance.now();
  const before = (await db.prepare('select count(*) c from block_bytes').first()).c;
  const t1 = performance.now();
  await prune(db, 100);
  const t2 = performance.now();
  console.log(i, 'blocks', before, 'ms', Math.round(t2 - t1), (await db.prepare('select count(*) c from spent').first()).c, (await db.prepare('select min(idx) c from milestone').first()).c);
}
// idle
await db.prepare('update head set ledger = 100').run();
let reads = 0; const counted = { prepare: (s) => db.prepare(s), batch: async (s) => { const r = await db.batch(s); for (const x of r) reads += x.meta.rows_read; return r; } };
const t = performance.now(); await prune(counted, 1000); console.log('idle', performance.now() - t, 'rows', reads);
await mf.dispose(); process.exit(0);
