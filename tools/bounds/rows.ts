/**
 * The bounds that docs/bounds.md lists. `{NAME}` is a constant of the row's file, `{NAME.field}` a
 * field of one, `{FILE#NAME}` a constant of another file, `{NAME:bytes}` one whose name lacks its unit;
 * read-constant.ts reads them. A number that is no constant is in brackets, with what it is from.
 */

/** What is bounded; the file, without `src/`; what happens beyond it, empty: the next pass goes on. */
export type Bound = [bound: string, file: string, beyond: string];

export const SECTIONS: Record<string, Bound[]> = {
  'The core: requests': [
    ['body: {MAX_BODY_BYTES}, {MAX_BODY_VALUES} values', 'http/request.ts', '400'],
    ['blocks of a past cone: {MAX_CONE_BLOCKS}', 'ledger/packs/view-pages.ts', '500'],
    [
      'mentions of outputs by packs of several milestones: {MAX_MENTIONS}',
      'ledger/packs/view-pages.ts',
      '500',
    ],
    [
      'packs in a page of a view: {PAGE}, {PAGE_WITH_IDS} with IDs',
      'ledger/packs/view-pages.ts',
      'another page',
    ],
    [
      'claimed previous milestones: {MAX_VERIFIED_FOR_REQUEST}',
      'ledger/view/cone-blocks.ts',
      '500; for a milestone all',
    ],
    ['readings of a view that moves: {MAX_TRIES}', 'ledger/view/consistent-view.ts', '500'],
    [
      'wait for missing blocks: {REQUEST_MS}; for a milestone that was just issued: {CATCH_UP_MS}',
      'node/answer-once-caught-up.ts',
      '500; as the ledger is',
    ],
    [
      'blocks fetched: {MAX_FETCHED} in {FETCH_MS}, a query about references in {MAX_LEVELS} levels',
      'follower/bring/bring-blocks.ts',
      '404',
    ],
    [
      'requests whose blocks are fetched: {BRING_LIMITS.ofKnown} of known clients, {BRING_LIMITS.ofStrangers} of others, of a client one at a time; waiting {BRING_LIMITS.waiting}, {BRING_LIMITS.maxWaitMs}',
      'follower/bring/bring-blocks.ts',
      '500 for the client with most',
    ],
    [
      'reads of blocks that are not stored: {READ_LIMITS.ofKnown} of known clients, {READ_LIMITS.ofStrangers} of others, of a client one at a time; waiting {READ_LIMITS.waiting}, {READ_LIMITS.maxWaitMs}',
      'follower/bring/bring-blocks.ts',
      '500',
    ],
    [
      'catch-ups: one in {CATCH_UP_INTERVAL_MS}, up to {MAX_CATCH_UP_MILESTONES} milestones',
      'follower/follower.ts',
      'shared',
    ],
    ['IDs that no upstream knew: {MAX_UNKNOWN_IDS}', 'node/edge-node.ts', 'oldest evicted'],
    [
      'changes of NFTs in `recent`: {MAX_WINDOW_CHANGES}',
      'nft-index/recent-changes.ts',
      'D1 answers',
    ],
    ['wait for KV: {MAX_READ_MS}', 'nft-index/timing-assumptions.ts', 'D1 answers'],
    ['entries of KV in an isolate: {MAX_ENTRIES}', 'nft-index/cached-reads.ts', 'oldest evicted'],
    ['answers in memory of `serve`: {MAX_BYTES}', 'http/read-cache.ts', 'oldest evicted'],
    [
      'proposals, scans, explanations, galleries in `serve`: {PLACES.proposal}, {PLACES.scan}, {PLACES.explanation}, {PLACES.gallery}; wait {MAX_WAIT_MS}',
      'http/access/limits.ts',
      '429',
    ],
  ],
  'The core: following': [
    [
      'a pass: {MAX_PASS_MS}, {MAX_PASS_MILESTONES} milestones, {MAX_PASS_FETCHES} fetches and queries',
      'follower/follower.ts',
      '',
    ],
    [
      'queries of D1, operations on KV in an invocation: {MAX_QUERIES} (of 1,000)',
      'follower/apply-next.ts',
      '',
    ],
    [
      'fetching one milestone from one upstream: {MILESTONE_FETCH_MS}',
      'follower/apply-next.ts',
      'the next upstream',
    ],
    [
      'tries of a milestone: {MAX_TRIES}; steps that make verdicts: {MAX_RESOLVING_STEPS}',
      'follower/complete-milestone.ts',
      '',
    ],
    [
      'a large cone in one pass: {STATEMENTS_AT_ONCE} statements, one a level, {OF_PART} a part of {MAX_PART_HEAP_BYTES}',
      'follower/store/store-cone.ts',
      '',
    ],
    [
      '… all unreferenced: {MAX_LIVE_HEAP_BYTES} heap, {MAX_LIVE_BYTES}',
      'follower/store/store-cone.ts',
      'dropped; the next upstream',
    ],
    [
      '… blocks and words: {MAX_MET}; {follower/complete-milestone.ts#MAX_KEPT} of walks that wait',
      'follower/store/store-cone.ts',
      'the next upstream',
    ],
    [
      'walks: {MAX_FETCHED_HEAP_BYTES}, or {MIN_FETCHED_HEAP_BYTES} in one; each: {MAX_QUERIED} queries about references, {QUERIED_AT_ONCE} at once',
      'follower/store/gather-blocks.ts',
      'not proven: not stored',
    ],
    ['blocks fetched below tips: {MAX_FETCHED} in {FETCH_MS}', 'follower/store/store-tips.ts', ''],
    ['pushed tops of a walk: {MAX_TOPS}', 'follower/pushed/store-pushed.ts', ''],
    [
      'pushed milestones: {MAX_HELD}, {MAX_OF_INDEX} of an index; each refusal {follower/apply-next.ts#REFUSED_MS}',
      'follower/pushed/pushed-milestones.ts',
      'dropped',
    ],
    [
      'a step that stores: {MAX_STORED} blocks, {MAX_STORED_HEAP_BYTES}',
      'follower/store/store-gathered.ts',
      '',
    ],
    [
      '… contents of consumed outputs: {MAX_READINGS} times {MAX_READ_LENGTH} characters',
      'ledger/intake/prepare-blocks.ts',
      'verdicts are made later',
    ],
    [
      'a step that makes verdicts, of one pack: {INPUTS_AT_ONCE} different inputs',
      'ledger/write/resolve-verdicts.ts',
      '',
    ],
    [
      '… packs in a step that stores blocks {RESOLVING_STEPS}, for a request {follower/bring/bring-blocks.ts#RESOLVING_STEPS}, in a pass {follower/upkeep.ts#RESOLVING_STEPS}',
      'follower/store/store-unreferenced.ts',
      '',
    ],
    [
      'unreferenced blocks: {UNREFERENCED_LIMITS.blocks}, {UNREFERENCED_LIMITS.mentions} mentions of outputs, or shares of both; {UNREFERENCED_LIMITS.bytes:bytes} in D1',
      'ledger/write/drop-blocks.ts',
      'evicted to {EVICT_TO}; from {STORE_UP_TO} on for milestones only',
    ],
    ['a step that drops: {MAX_STEP_PACKS} packs', 'ledger/write/drop-blocks.ts', ''],
    [
      'tips read for an eviction: {MAX_TIPS} of each upstream, {follower/upkeep.ts#TIPS_MS}',
      'upstream/rest-upstream.ts',
      'a late upstream keeps no block',
    ],
    [
      'a step of the scrub: {STEP_OUTPUTS} outputs or {STEP_ENTRIES} IDs, one in {follower/upkeep.ts#SCRUB_INTERVAL_MS}',
      'ledger/write/scrub.ts',
      '',
    ],
    ['a step that fills an index: {STEP_OUTPUTS} outputs', 'ledger/output-list/fill-index.ts', ''],
    [
      'pool with walks: {MAX_POOL_HEAP_BYTES}, with all unreferenced {MAX_HEAP_BYTES}; answers about references: {MAX_SAID}',
      'follower/follower-context.ts',
      'oldest evicted',
    ],
    [
      'connections of the follower: {MAX_CONNECTIONS}, all but {upstream/rest-upstream.ts#LEFT_TO_DATABASE} to upstreams, one less to each of several and for strangers; to those that hang one for whoever is known, one for strangers, one for passes; puts: {nft-index/put-entries.ts#PUTS_AT_ONCE}',
      'platform/concurrency.ts',
      'wait',
    ],
    ['JSON of an upstream: {MAX_JSON_BYTES}', 'upstream/rest-upstream.ts', 'the next upstream'],
    [
      'the batch of a milestone (85 MB and 4 s for 800 chained transactions of 128 inputs and outputs)',
      'ledger/write/apply-statements.ts',
      'D1 ends it at 1,000 statements or 30 s: not applied',
    ],
    [
      'a pack: {MAX_PACK_BLOCKS} blocks, {MAX_PACK_LENGTH} characters',
      'ledger/packs/pack-columns.ts',
      'a new pack',
    ],
  ],
  Modules: [
    [
      'blocks of a milestone that are listed: {ledger/packs/referenced-blocks.ts#MAX_LISTED_BLOCKS}; of `utxo-changes`: {MAX_CHANGES} inputs and outputs',
      'modules/objects/stored-milestone.ts',
      '500',
    ],
    ['receipts of an answer: {MAX_RECEIPT_BYTES}', 'modules/objects/routes/receipts.ts', '500'],
    ['IDs in a request: {MAX_IDS}', 'modules/objects/routes/outputs.ts', '400'],
    [
      'rows that a page scans: {ROW_BUDGET}, two for an output',
      'modules/lists/list-statements.ts',
      'the next page; without pages 500',
    ],
    [
      'NFTs of a collection: {MAX_COLLECTION}',
      'modules/galleries/routes/collection-owners.ts',
      '500',
    ],
    ['changes of NFTs in an answer: {MAX_CHANGES}', 'modules/histories/nft-changes.ts', '404'],
    [
      'a page of a history: {MAX_HISTORY} changes, {MAX_SEARCHED} characters searched',
      'modules/histories/nft-history.ts',
      'a cursor',
    ],
    [
      'an explanation: {MAX_EXPLAINED_BLOCKS} blocks, {MAX_EXPLAINED_LENGTH} characters of their packs, {MAX_FAULT_INPUTS} inputs judged again',
      'modules/proofs/explain-white-flag.ts',
      '500 before a block is read',
    ],
    ['blocks explained: {MAX_MILESTONE_BLOCKS}', 'modules/proofs/applied-milestone.ts', '500'],
    [
      'a WebSocket message of a feed: {MAX_MESSAGE_BYTES}',
      'modules/feed/feed-connection.ts',
      'another connection',
    ],
    [
      'a proof of inx-poi: {MAX_PROOF_BYTES}, {MAX_PROOF_VALUES} values',
      'modules/proofs/routes/poi.ts',
      '400',
    ],
    [
      'a statement: {MAX_OUTPUTS} outputs, {MAX_BYTES} of records',
      'modules/final/read-statement.ts',
      'the next page',
    ],
    ['a step of the final trees: {MOST_PAGES} pages', 'modules/final/build-final-ledger.ts', ''],
  ],
  Events: [
    [
      'all clients: {SHARED_LIMITS.connections}, {SHARED_LIMITS.topics} topics, {SHARED_LIMITS.held:bytes} of packets that wait',
      'modules/events/accounts.ts',
      'the largest is closed',
    ],
    [
      'sent until the largest receivers connect again: {BYTES_BETWEEN_CHECKS:bytes}',
      'modules/events/accounts.ts',
      'closed',
    ],
    [
      'sockets, closed too, on Cloudflare: {MAX_SOCKETS}; of a site: those left, closed {MAX_LEFT_OF_SITE}',
      'modules/events/event-broker.ts',
      '503',
    ],
    [
      'of a client: message {MAX_MESSAGE_BYTES}, waiting {MAX_WAITING_BYTES}, packet {modules/events/client.ts#MAX_PACKET_BYTES}, {mqtt/packets.ts#MAX_TOPICS} topics, {modules/events/client.ts#MAX_ADDED_TOPICS} added, one in {modules/events/client.ts#ADDED_TOPIC_MS}, {modules/events/clients.ts#CONNECT_TIMEOUT_MS} to CONNECT',
      'modules/events/event-broker.ts',
      'closed',
    ],
    [
      'a turn: {SLICE_PACKETS} packets, or one SUBSCRIBE',
      'modules/events/session.ts',
      'the next turn',
    ],
    [
      'calls to a broker that does not answer: {MAX_WAITING_CALLS}, {MAX_CALL_BYTES} of blocks in one',
      'modules/events/announcer.ts',
      'not announced',
    ],
  ],
  '`npm run serve`': [
    [
      'held for clients: {MAX_HELD_BYTES}: a connection {cli/serve/front/connection.ts#CONNECTION_BYTES}, a WebSocket {cli/serve/front/tunnel.ts#WORKERD_BYTES} more',
      'cli/serve/front/front.ts',
      'the largest holder loses some',
    ],
    [
      'connections: {MIN_CONNECTIONS} to {MAX_CONNECTIONS}, by `ulimit -n`',
      'cli/serve/file-limit.ts',
      "the largest holder's",
    ],
    [
      'WebSockets without a client that workerd has not closed: {MAX_CLOSING}',
      'cli/serve/front/closing-tunnels.ts',
      '503 for these clients',
    ],
    [
      'requests with workerd: {MAX_AT_ONCE}, {MAX_WHITE_FLAGS} white flags, beside these {MAX_BESIDE_WHITE_FLAG}',
      'cli/serve/front/fair-queue.ts',
      'wait',
    ],
    [
      'a place while others wait: {LEASE_MS}, in a crowd {CROWD_LEASE_MS}; without one: {MAX_AWAY} of each kind',
      'cli/serve/front/fair-queue.ts',
      'keep their places',
    ],
    [
      'head {MAX_HEAD_BYTES} (200 lines, a pattern of `request-head.ts`); body {MAX_BODY_BYTES}, {MAX_CHUNKS} chunks',
      'cli/serve/front/request-reader.ts',
      '400',
    ],
    [
      'to arrive {REQUEST_MS}; idle {IDLE_MS}, in workerd {WORKERD_IDLE_MS}; unread {UNREAD_MS}, {MAX_LEFT_BYTES} once gone, abandoned {ABANDONED_MS}; requests behind one: {MAX_AHEAD_BYTES}',
      'cli/serve/front/connection.ts',
      '400; closed; closed; wait',
    ],
    [
      'workerd away: {HOLD_MS}; lost by {MAX_TRIES} of them',
      'cli/serve/front/connection.ts',
      '503',
    ],
    [
      'compressed: answers of {MIN_GZIP_BYTES} to {MAX_GZIP_BYTES}, {MAX_PACKING_BYTES} at once',
      'cli/serve/front/answer.ts',
      'sent as they are',
    ],
    [
      'a WebSocket message: {MAX_MESSAGE_BYTES}, {MAX_FRAMES} frames; {MESSAGE_MS}',
      'cli/serve/front/tunnel.ts',
      'Close 1009, 1008',
    ],
    ['log lines of a kind: {MOST_LINES} in {LINES_MS}', 'platform/log.ts', 'counted'],
  ],
  'The page, `verify` and `explain`': [
    [
      'an answer: JSON {MAX_JSON_BYTES}, bytes {MAX_RAW_BYTES}; {client/node-client.ts#TIMEOUT_MS}',
      'client/answer-bounds.ts',
      '"Not checked"',
    ],
    [
      'blocks of a cone: {MAX_BLOCKS} by `verify` ({LEAST_TIME_MS} and {TIME_PER_BLOCK_MS} a block), {explorer/verify/judge-cone.ts#MAX_READ} on the page',
      'client/verify-node.ts',
      '"Not checked"',
    ],
    ['characters of a value in a terminal: {MAX_CHARACTERS}', 'client/printable.ts', 'cut'],
    ['readings that events cause: one in {LEAST_INTERVAL_MS}', 'explorer/node/use-info.ts', 'none'],
    ['blocks that arrive: marks of {MAX_MARKS}', 'explorer/milestones/arriving.tsx', 'counted'],
  ],
};
