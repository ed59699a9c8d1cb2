/**
 * Mistakes that the simulator must find: each is a patch of one to ten lines. A text that is not
 * found exactly once is an error, so that none of them rots when the code changes (plants.test.ts).
 */

export interface Change {
  /** From the project's root. */
  file: string;
  /** Found exactly once in the file. */
  text: string;
  instead: string;
}

export interface Plant {
  /** The part of the node, and a number. */
  name: string;
  /** What is wrong then. */
  wrong: string;
  changes: readonly Change[];
  /** Who must find it; by default the simulator. It takes our rules as they are. */
  by?: 'reference';
}

/** @param texts what is found, and what stands there instead, once or more often */
const plant = (name: string, wrong: string, file: string, ...texts: string[]): Plant => ({
  name,
  wrong,
  changes: texts.flatMap((text, i) =>
    i % 2 === 0 ? [{ file: `src/${file}`, text, instead: texts[i + 1]! }] : [],
  ),
});

/** Faults that were there (3173ff79), by the names of their findings. */
const former: readonly Plant[] = [
  plant(
    'former-L1',
    'a transaction whose input is not known any more is chosen again for ever',
    'ledger/write/resolve-verdicts.ts',
    'inputs.every((id) => known.has(id))',
    'inputs.every((id) => !pack.unresolved.has(id) || known.has(id))',
    'if (completed.size === 0) return { made: 0, isMore: false };',
    'if (completed.size === 0) return { made: 0, isMore: chosen.length < ready.length };',
  ),
  {
    name: 'former-L2',
    wrong: 'blocks are stored without a limit while a milestone waits for a block',
    changes: [
      {
        file: 'src/follower/upkeep.ts',
        text: '    upkeep.room = (await measureUnreferenced(db)).room;\n',
        instead: '',
      },
      {
        file: 'src/follower/follower-context.ts',
        text: 'room: undefined,',
        instead: 'room: Number.POSITIVE_INFINITY,',
      },
    ],
  },
  plant(
    'former-L3',
    'copies of a milestone with bad signatures stop the ledger',
    'ledger/view/cone-blocks.ts',
    'most = Number.POSITIVE_INFINITY',
    'most = MAX_VERIFIED_FOR_REQUEST',
  ),
  plant(
    'former-L4-chain',
    'a damaged chain of an output is carried on when the output is spent',
    'ledger/write/output-changes.ts',
    "      if (isNft !== (chain !== null && row.textOrNull('held') === id))\n        throw new LedgerDamaged('rows of the tables output and nft');\n",
    '',
  ),
  plant(
    'former-L4-changed',
    'a damaged time of change of an NFT hides the change',
    'nft-index/d1-ledger.ts',
    'LEFT JOIN nft n ON n.id = c.id',
    'JOIN nft n ON n.id = c.id AND n.changed = c.milestone',
  ),
  plant(
    'former-L6',
    'signatures of milestones are not counted in the heap of the pool',
    'upstream/block-pool.ts',
    'milestone ? MILESTONE_FACTOR : 1',
    '1',
  ),
  {
    name: 'former-L7',
    wrong: 'a referenced block whose ID is forgotten is called unreferenced',
    changes: [
      {
        file: 'src/ledger/packs/live-packs.ts',
        text: "row.integer('at')) === 0\n",
        instead: "row.integer('at')) >= 0\n",
      },
    ],
  },
  plant(
    'former-L8',
    'values in KV have no checksum',
    'nft-index/kv-values.ts',
    'if (text.slice(0, start) !==',
    'if (text.length < 0 && text.slice(0, start) !==',
  ),
  {
    name: 'former-L10',
    wrong: 'each pass queries about the same few blocks, the lowest ones',
    changes: [
      {
        file: 'src/ledger/view/doubtful-blocks.ts',
        text: 'positions[chain[(chain.length - 1) >> 1]!]!',
        instead: 'positions[chain.at(-1)!]!',
      },
      {
        file: 'src/follower/store/leave-out.ts',
        text: 'if (budget.fetchesLeft < due.length)',
        instead: 'if (budget.fetchesLeft < due.length || doubtful.referenced().length > 2)',
      },
    ],
  },
  plant(
    'former-operator-1',
    'answers of the white flag outlive the ledger that they were made from',
    'http/routes/core/white-flag.ts',
    'async function answerWhiteFlag({',
    'const kept = new Map();\nasync function answerWhiteFlag({',
    'const result = await node.computeWhiteFlag(asked, clientKeyOf(request));',
    'const key = JSON.stringify(asked);\n  const result = kept.get(key) ?? (await node.computeWhiteFlag(asked, clientKeyOf(request)));\n  if (result.ok) kept.set(key, result);',
  ),
];

const follower: readonly Plant[] = [
  plant(
    'follower-1',
    'a block is shown though a parent of it is not',
    'follower/store/store-unreferenced.ts',
    'visible.has(id) && parents.every(isVisible)',
    'visible.has(id)',
  ),
  plant(
    'follower-2',
    'a pushed milestone that is forged is tried again for ever',
    'follower/apply-next.ts',
    'milestones.refuse(tried.index, tried.payload);',
    '',
  ),
  {
    name: 'follower-3',
    wrong: 'no other upstream is asked while the first one fails, nor first in the next pass',
    changes: [
      {
        file: 'src/follower/summarize-pass.ts',
        text: "    case 'failed':\n    case 'stuck':\n    case 'diverged':\n      return true;",
        instead: "    case 'failed':\n    case 'stuck':\n    case 'diverged':\n      return false;",
      },
      {
        file: 'src/follower/pass.ts',
        text: 'if (first !== undefined) known.ranking.beginWith(first);',
        instead: '',
      },
    ],
  },
  plant(
    'follower-4',
    'nothing is ever pruned',
    'follower/upkeep.ts',
    'prune(db, retention, options)',
    'prune(db, retention + 1_000_000, options)',
  ),
  plant(
    'follower-5',
    'listeners are not told of new blocks',
    'modules/events/announcer.ts',
    '      if (length > 0) flush();\n',
    '',
  ),
];

const write: readonly Plant[] = [
  plant(
    'write-1',
    'an output that is spent in the milestone that makes it stays in the ledger',
    'ledger/write/milestone-changes.ts',
    'kept.filter((index) => !spent.has(creating.outputAt(index)))',
    'kept',
  ),
  plant(
    'write-2',
    'an NFT that moves keeps the output that it had',
    'ledger/write/output-changes.ts',
    'SET output = excluded.output, changed = excluded.changed`',
    'SET changed = excluded.changed`',
  ),
  plant(
    'write-3',
    'that an output was spent before is forgotten where blocks wait for it',
    'ledger/write/apply-statements.ts',
    'spent: known?.spent || gone',
    'spent: gone',
  ),
  plant(
    'write-4',
    'changes of NFTs are deleted while the index in KV still needs them',
    'ledger/write/prune.ts',
    "SELECT min(i.state ->> 'from', (SELECT min(idx) FROM milestone))",
    'SELECT (SELECT min(idx) FROM milestone)',
  ),
  plant(
    'write-5',
    'IDs are forgotten long before their milestones',
    'ledger/write/write-ids.ts',
    'second.first <= ledger - retention)',
    'second.first <= ledger - 3)',
  ),
];

const nftIndex: readonly Plant[] = [
  plant(
    'nft-index-1',
    'an entry counts though `recent` says that such an NFT changed since',
    'nft-index/resolve.ts',
    "if (hasPrefixOf(recent.value, nftId)) return askLedger('changed lately');",
    '',
  ),
  plant(
    'nft-index-2',
    'copies count as settled after a second',
    'nft-index/timing-assumptions.ts',
    'MAX_COPY_AGE_MS + MAX_CLOCK_SKEW_MS;',
    'SECOND_MS;',
  ),
  plant(
    'nft-index-3',
    'an entry claims to be true a milestone later than it was read',
    'nft-index/put-entries.ts',
    'writeEntry({ nft, generation, ledgerIndex, outputId: output })',
    'writeEntry({ nft, generation, ledgerIndex: ledgerIndex + 1, outputId: output })',
  ),
  plant(
    'nft-index-4',
    'changes leave the window as soon as their mark is set',
    'nft-index/publisher-state.ts',
    'settled?.milestone ?? state.from',
    'marks.at(-1)?.milestone ?? state.from',
  ),
  plant(
    'nft-index-5',
    'a lookup answers from KV below the ledger index that was asked for',
    'nft-index/look-up-nft.ts',
    "if (found.kind === 'answer' && found.ledgerIndex >= minLedgerIndex) {",
    "if (found.kind === 'answer') {",
  ),
];

const events: readonly Plant[] = [
  plant(
    'events-1',
    'milestones are skipped where several were applied',
    'modules/events/publisher.ts',
    'const index = before.index + 1;',
    'const index = Math.max(before.index + 1, at.head.ledger);',
  ),
  plant(
    'events-2',
    'one milestone is published for each that the follower tells of, and none after it',
    'modules/events/event-broker.ts',
    'if (await this.#publisher.publishNext(this.#audience())) this.#isDue = true;',
    'await this.#publisher.publishNext(this.#audience());',
  ),
  plant(
    'events-3',
    'an NFT that moved is told to have ended as well',
    'modules/events/milestone-events.ts',
    '    if (topic !== undefined && !gone.has(event.outputId)) ends.delete(topic);\n',
    '',
  ),
  plant(
    'events-4',
    'one who leaves takes the subscriptions of others along',
    'modules/events/clients.ts',
    'if (clients.size === 0) byTopic.delete(topic);',
    'byTopic.delete(topic);',
  ),
  plant(
    'events-5',
    'who listened is forgotten when the object is evicted',
    'modules/events/client.ts',
    '    client.topics.set(topic, packTopic(topic, prefix)!);',
    '    packTopic(topic, prefix)!;',
  ),
];

const http: readonly Plant[] = [
  plant(
    'http-1',
    'an output that the last milestone spent is called unspent',
    'modules/objects/routes/outputs.ts',
    'isSpent: spent !== undefined,',
    'isSpent: spent !== undefined && spent.index < ledgerIndex,',
  ),
  plant(
    'http-2',
    'the parents of a proposal are sorted, though their order decides',
    'http/routes/core/white-flag.ts',
    '[...new Set(parents.map(digitsOf))]',
    '[...new Set(parents.map(digitsOf))].sort()',
  ),
  plant(
    'http-3',
    'changes of NFTs lack those of the first milestone',
    'modules/histories/routes/nft-changes.ts',
    'readNftChanges(node.session(minLedgerIndex), from)',
    'readNftChanges(node.session(minLedgerIndex), from + 1)',
  ),
  plant(
    'http-4',
    'any block with the payload of a milestone is called its block',
    'modules/objects/routes/blocks.ts',
    'if (payload?.type !== 7 || !carriesMilestone(parents, payload.parents)) return undefined;',
    'if (payload?.type !== 7) return undefined;',
  ),
  plant(
    'http-5',
    'a ledger that has not come so far answers all the same',
    'http/ledger-answer.ts',
    'if (ledgerIndex < minLedgerIndex)',
    'if (ledgerIndex + 1000 < minLedgerIndex)',
  ),
];

/** Faults that were there, or would be without a part of the code: each was found by random steps. */
const stored: readonly Plant[] = [
  plant(
    'stored-1',
    'notes of outputs count that no block keeps true',
    'ledger/packs/view-pages.ts',
    'created >= index || !consumed.has(own)',
    'created >= index',
  ),
  plant(
    'stored-2',
    'no verdict is made later',
    'ledger/write/resolve-verdicts.ts',
    'if (chosen.length === 0)',
    'if (chosen.length >= 0)',
  ),
  plant(
    'stored-3',
    'blocks that an earlier milestone referenced stay',
    'follower/store/leave-out.ts',
    'if (knowsEveryReference(head))',
    'if (head.start >= head.genesis)',
  ),
  plant(
    'stored-4',
    'milestones leave notes of outputs as they are',
    'ledger/write/apply-statements.ts',
    'isChanged && { states: statesAfter(',
    'index < 0 && { states: statesAfter(',
  ),
  plant(
    'stored-5',
    'each known parent proves its child unreferenced',
    'ledger/intake/prove-unreferenced.ts',
    'milestone > forgotten && (milestone > start || start === genesis)',
    'true',
  ),
  plant(
    'stored-6',
    'a verdict that somebody else makes meanwhile counts as damaged',
    'follower/complete-milestone.ts',
    'made === 0 && isFruitless',
    'made === 0',
  ),
];

/** What clients read, and what operators do, of each new kind one. */
const kinds: readonly Plant[] = [
  plant(
    'kinds-1',
    'a replica that is behind answers one who has seen a later milestone',
    'node/edge-node.ts',
    "minLedgerIndex > 0 ? ledger.withSession('first-primary') : nearest()",
    'minLedgerIndex >= 0 ? nearest() : nearest()',
  ),
  plant(
    'kinds-2',
    'receipts come newest first',
    'modules/objects/routes/receipts.ts',
    'ORDER BY migrated_at, milestone`',
    'ORDER BY migrated_at DESC, milestone`',
  ),
  plant(
    'kinds-3',
    'of several native tokens one is counted',
    'ledger/output-list/list-rows.ts',
    'nativeTokens: nativeTokens.length',
    'nativeTokens: Math.min(nativeTokens.length, 1)',
  ),
  plant(
    'kinds-4',
    'a client keeps a body that names an older ledger index',
    'http/ledger-answer.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is in the source
    'headers.has(MIN_LEDGER_INDEX) ? `W/"${state}"`',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is in the source
    'headers.has(MIN_LEDGER_INDEX) || state ? `W/"${state}"`',
  ),
  plant(
    'kinds-5',
    'an NFT that a restored ledger has not put into KV yet counts as burned',
    'nft-index/resolve.ts',
    "  if (fromTime === null) return askLedger('index is not complete');\n",
    '',
  ),
  plant(
    'kinds-6',
    'a final ledger proves no NFT that moved in its last milestones',
    'modules/final/final-tables.ts',
    ' AND n.id > ?1 ORDER BY n.id',
    ' AND n.changed < 20 AND n.id > ?1 ORDER BY n.id',
  ),
  plant(
    'kinds-7',
    'the path to the applied root is that of the whole cone',
    'modules/proofs/routes/block-proof.ts',
    'proofAmong(included, applied, position, leafHashes)',
    'proofAmong(included, included.map((_, i) => i), position, leafHashes)',
  ),
];

/** Rules misread: the simulator's networks are made by the same reading. */
const rules: readonly Plant[] = [
  plant(
    'rules-1',
    'a deposit may be returned by an output with features',
    'stardust/semantics/deposits.ts',
    'unlockConditions.length !== 1 || features.length !== 0 ||',
    'unlockConditions.length !== 1 ||',
  ),
  plant(
    'rules-2',
    'a deposit is due though the return address itself unlocked the input',
    'stardust/semantics/deposits.ts',
    '!isUnlockedBy(unlocked, returnAddress, input)',
    '!isUnlockedBy(unlocked, returnAddress, -1)',
  ),
  plant(
    'rules-3',
    'the state controller may change the metadata feature',
    'stardust/semantics/alias-transition.ts',
    '    equalFeatures(metadata(current), metadata(next)) &&\n',
    '',
  ),
  plant(
    'rules-4',
    'new foundries may come in any order',
    'stardust/semantics/foundry-transition.ts',
    'every((earlier) => earlier < serialNumber)',
    'every(() => true)',
  ),
  plant(
    'rules-5',
    "keys cost no more than data in an output's deposit",
    'stardust/admission.ts',
    'rent.vByteFactorKey * OUTPUT_ID_LENGTH',
    'rent.vByteFactorData * OUTPUT_ID_LENGTH',
  ),
].map((each) => ({ ...each, by: 'reference' as const }));

export const PLANTS: readonly Plant[] = [
  ...former,
  ...follower,
  ...write,
  ...nftIndex,
  ...events,
  ...http,
  ...stored,
  ...kinds,
  ...rules,
];
