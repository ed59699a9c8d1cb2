/**
 * Lies about a final ledger, which is checked against a root that the visitor has.
 */
import { toHex } from '../../../src/stardust/encoding/bytes.ts';
import type { FinalTreeName } from '../../../src/stardust/proof/final-ledger.ts';
import type { MadeLedger } from '../final-ledger/made-ledger.ts';
import type { FinalQuestion, Lie } from './lie.ts';
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
const inLedger = (change: (ledger: Json) => void) =>
  inJson(ANY_FINAL, (json) => change(json.ledger ?? json));

const inProof = (change: (json: Json) => unknown) => inJson(ANY_FINAL_PROOF, change);

const inRecord = (change: (entry: Json) => Json) =>
  inProof(({ entry }) => void Object.assign(entry, change(entry)));

export function finalLies(made: MadeLedger): readonly Lie[] {
  const truth = finalTruth(made);
  const final = finalQuestion(made);
  const other = made.keys.nfts[4]!;
  const absent = { root: final.root, id: MADE_UP };
  const lies: readonly Omit<Lie, 'page'>[] = [
    {
      name: 'the root of a final ledger',
      rules: [inLedger(({ nfts }) => void Object.assign(nfts, { root: MADE_UP }))],
    },
    { name: 'its number of NFTs', rules: [inLedger(({ nfts }) => void nfts.count++)] },
    {
      name: 'its network',
      rules: [inLedger((ledger) => void Object.assign(ledger, { networkName: 'Made' }))],
    },
    { name: 'its milestone', rules: [inLedger((ledger) => void ledger.milestoneIndex++)] },
    {
      name: 'a record of a final ledger',
      rules: [inRecord(({ record }) => ({ record: `${record.slice(0, -2)}5a` }))],
    },
    { name: 'its place', rules: [inRecord(({ position }) => ({ position: position ^ 1 }))] },
    {
      name: 'an NFT as not there, with itself beside the gap',
      rules: [
        inProof(({ ledger, entry }) => ({ ledger, present: false, before: entry, after: null })),
      ],
    },
    {
      name: 'an NFT as not there, with nothing beside the gap',
      rules: [inProof(({ ledger }) => ({ ledger, present: false, before: null, after: null }))],
    },
    {
      name: 'the proof of another NFT',
      rules: [always(ANY_FINAL_PROOF, () => made.ask('nfts', other))],
    },
    {
      name: 'a proof of another ledger than the one before',
      rules: [inProof(({ ledger }) => void ledger.outputs.count++)],
    },
    {
      name: 'a neighbour of a gap, one place off',
      rules: [inProof(({ before, after }) => void (after ?? before).position++)],
      final: absent,
    },
    {
      name: 'an NFT that is not there, with the record of another',
      rules: [always(ANY_FINAL_PROOF, () => made.ask('nfts', other))],
      final: absent,
    },
    {
      name: 'no final ledger',
      notChecked: /^Not checked: .*status 404/m,
      rules: [withStatus(ANY_FINAL, 404)],
    },
    {
      name: 'a final ledger without an end',
      notChecked: /^Not checked: .*without end/m,
      rules: [endless(ANY_FINAL)],
    },
    {
      name: 'a final ledger that never comes',
      notChecked: /^Not checked: .*within 30 seconds/m,
      rules: [never(ANY_FINAL)],
      waits: true,
    },
  ];
  return lies.map((lie) => ({
    page: '#/verify',
    final,
    ...(lie.notChecked === undefined && { refuted: /^False: the node proves nothing of this\. /m }),
    ...lie,
    truth,
  }));
}
