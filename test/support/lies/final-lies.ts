/**
 * Lies about a final ledger, which is checked against a root that the visitor has.
 */
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import type { FinalTreeName } from '../../../src/stardust/proof/final-ledger.ts';
import type { MadeLedger } from '../final-ledger/made-ledger.ts';
import { type FinalQuestion, type Lie, lie, onPage } from './lie.ts';
import type { Rule } from './lying-node.ts';
import { always, endless, inJson, type Json, never, withField, withStatus } from './rules.ts';
import { ANY_FINAL_PROOF, FINAL, INFO, MADE_UP } from './sample-paths.ts';

const ANY_FINAL = /^\/api\/edge\/v1\/final/;

/** The sample, if its network had ended with another ledger. */
export function finalTruth({ ledger, ask }: MadeLedger): readonly Rule[] {
  return [
    withField(INFO, 'features', ['finalMilestone']),
    always(FINAL, () => ledger),
    always(ANY_FINAL_PROOF, ({ path }) => {
      const [, tree, id] = /final\/(\w+)\/0x(\w+)$/.exec(path)!;
      return ask(tree as FinalTreeName, id!);
    }),
  ];
}

/** What is asked: an NFT that the ledger has. */
export function finalQuestion({ root, keys }: MadeLedger): FinalQuestion {
  return { root: toHex(root), id: `0x${keys.nfts[3]}` };
}

/** The ledger, wherever it is told. */
const inLedger = (change: (ledger: Json) => unknown) =>
  inJson(ANY_FINAL, (json) => void change(json.ledger ?? json));

const inProof = (change: (json: Json) => unknown) => inJson(ANY_FINAL_PROOF, change);

const inRecord = (change: (entry: Json) => Json) =>
  inProof(({ entry }) => void Object.assign(entry, change(entry)));

export function finalLies(made: MadeLedger): readonly Lie[] {
  const truth = finalTruth(made);
  const final = finalQuestion(made);
  const other = made.keys.nfts[4]!;
  const absent = { root: final.root, id: MADE_UP };
  const entryOfOther = always(ANY_FINAL_PROOF, () => made.ask('nfts', other));
  const lies: readonly [name: string, rule: Rule, words?: Partial<Lie>][] = [
    ['the root of a final ledger', inLedger(({ nfts }) => Object.assign(nfts, { root: MADE_UP }))],
    ['its number of NFTs', inLedger(({ nfts }) => nfts.count++)],
    ['its network', inLedger((ledger) => Object.assign(ledger, { networkName: 'Made' }))],
    ['its milestone', inLedger((ledger) => ledger.milestoneIndex++)],
    [
      'a record of a final ledger',
      inRecord(({ record }) => ({ record: `${record.slice(0, -2)}5a` })),
    ],
    ['its place', inRecord(({ position }) => ({ position: position ^ 1 }))],
    [
      'an NFT as not there, with itself beside the gap',
      inProof(({ ledger, entry }) => ({ ledger, present: false, before: entry, after: null })),
    ],
    [
      'an NFT as not there, with nothing beside the gap',
      inProof(({ ledger }) => ({ ledger, present: false, before: null, after: null })),
    ],
    ['the proof of another NFT', entryOfOther],
    [
      'a proof of another ledger than the one before',
      inProof(({ ledger }) => void ledger.outputs.count++),
    ],
    [
      'a neighbour of a gap, one place off',
      inProof(({ before, after }) => void (after ?? before).position++),
      { final: absent },
    ],
    ['an NFT that is not there, with the record of another', entryOfOther, { final: absent }],
  ];
  const refuted = /^False: the node proves nothing of this\. /m;
  const rows = lies.map(([name, rule, words]) => lie(name, rule, { refuted, ...words }));
  const missing = [
    lie('no final ledger', withStatus(ANY_FINAL, 404), {
      notChecked: /^Not checked: .*status 404/m,
    }),
    lie('a final ledger without an end', endless(ANY_FINAL), {
      notChecked: /^Not checked: .*without end/m,
    }),
    lie('a final ledger that never comes', never(ANY_FINAL), {
      notChecked: /^Not checked: .*within 30 seconds/m,
      waits: true,
    }),
  ];
  return onPage('#/verify', [...rows, ...missing], { final, truth });
}
