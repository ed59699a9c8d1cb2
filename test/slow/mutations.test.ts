/**
 * Whether random histories find mistakes in the NFT index. Each of the mistakes below is made in a
 * copy of the sources, and one of 20,000 histories has to catch it: `npm run test:slow -- mutations`.
 *
 * Two mistakes are not among them, as all answers stay true: to write the publisher's state without
 * comparing its token, and to publish a window although another publisher has written the state
 * since. What a state says of entries remains true, and what has left a window has settled. These
 * two checks only keep a reindexing from being forgotten; publish.test.ts tests them.
 */
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { PROJECT } from '../../cli/lib/project.ts';
import { launch } from '../support/edge/launch.ts';

type Edit = [file: string, text: string, instead: string];

const RESOLVE = 'src/nft-index/resolve.ts';
const STATE = 'src/nft-index/publisher-state.ts';
const ENTRIES = 'src/nft-index/put-entries.ts';
const LOOK_UP = 'src/nft-index/look-up-nft.ts';
const PUT_RECENT = 'src/nft-index/put-recent.ts';
/**
 * Stands for the SQL of src/nft-index/d1-ledger.ts; test/support/nft-index/ledger-contract.ts holds
 * them together.
 */
const D1_MODEL = 'test/support/nft-index/memory-ledger.ts';
const TIMES = 'src/nft-index/timing-assumptions.ts';

const MISTAKES: Record<string, Edit[]> = {
  'fromTime does not matter': [
    [RESOLVE, 'publishedAt - fromTime < SETTLING_TIME_MS', 'publishedAt < fromTime'],
  ],
  'an incomplete index counts as complete': [
    [RESOLVE, 'fromTime === null', 'fromTime === undefined'],
    [
      RESOLVE,
      'publishedAt - fromTime < SETTLING_TIME_MS',
      'publishedAt - (fromTime ?? 0) < SETTLING_TIME_MS',
    ],
  ],
  'prefixes are not looked at': [
    [
      RESOLVE,
      'if (hasPrefixOf(recent.value, nftId))',
      'if (hasPrefixOf(recent.value, nftId) && now < 0)',
    ],
  ],
  'states and prefixes are not looked at': [
    [RESOLVE, 'if (state !== undefined)', 'if (state !== undefined && now < 0)'],
    [
      RESOLVE,
      'if (hasPrefixOf(recent.value, nftId))',
      'if (hasPrefixOf(recent.value, nftId) && now < 0)',
    ],
  ],
  'generation does not matter': [
    [RESOLVE, 'entry.value.generation === generation &&', 'generation.length > 0 &&'],
  ],
  'an entry of another ledger counts as absent': [
    [
      RESOLVE,
      "if (own === undefined && entry.kind !== 'absent')",
      "if (own === undefined && entry.kind === 'malformed')",
    ],
  ],
  'a malformed entry counts as absent': [
    [
      RESOLVE,
      "if (own === undefined && entry.kind !== 'absent')",
      "if (own === undefined && entry.kind === 'value')",
    ],
  ],
  'any entry is within the range': [[RESOLVE, 'own.ledgerIndex >= from', 'own.ledgerIndex >= 0']],
  'a fresher entry is answered at to': [
    [RESOLVE, 'return answer(own.ledgerIndex, own.outputId', 'return answer(to, own.outputId'],
  ],
  'an old recent is good enough': [
    [
      RESOLVE,
      'now - publishedAt > MAX_RECENT_AGE_MS',
      'now - publishedAt > MAX_RECENT_AGE_MS * 99',
    ],
  ],
  'a cached recent counts as published when it is read': [
    [
      LOOK_UP,
      "if (read.kind === 'value') return read;",
      [
        "if (read.kind === 'value')",
        '  return { ...read, value: { ...read.value, publishedAt: now } };',
      ].join('\n'),
    ],
  ],
  'no tombstones': [
    [ENTRIES, 'rows.values()', 'rows.filter((row) => row.output !== null).values()'],
  ],
  'a tombstone expires before every backend has it': [
    [TIMES, 'TOMBSTONE_TTL_S = 60 * 24 * 60 * 60', 'TOMBSTONE_TTL_S = 60'],
  ],
  'every entry expires': [[ENTRIES, 'output === null ? {', 'output !== undefined ? {']],
  'every NFT leaves D1 with its change': [[D1_MODEL, 'this.#output(nft) === null && ', '']],
  'an entry of an earlier filling counts': [
    [RESOLVE, ' &&\n    entry.value.ledgerIndex >= filledFrom', ''],
  ],
  'a new filling does not begin at its own ledger index': [
    [STATE, ', filledFrom: ledgerIndex };', ' };'],
  ],
  'an entry is put at once, when writers may hold older ones': [
    [TIMES, 'PUT_AFTER_MS = MAX_WRITE_AGE_MS + MAX_CLOCK_SKEW_MS', 'PUT_AFTER_MS = 0'],
  ],
  'an entry is not put': [
    [
      ENTRIES,
      "if (upTo === undefined) return 'done';",
      [
        'if (upTo !== undefined)',
        '  return swapState(run, markPut(run.state, upTo, run.clock()));',
        "else return 'done';",
      ].join('\n'),
    ],
  ],
  'a change leaves the window when its entry is put': [
    [STATE, 'now - putAt >= SETTLING_TIME_MS', 'now >= putAt'],
    [STATE, 'Math.max(entries.since, settled?.putAt ?? 0)', 'entries.since'],
  ],
  'a change leaves the window although its entry was not put': [
    [
      STATE,
      'putAt !== null && now - putAt >= SETTLING_TIME_MS',
      'now - (putAt ?? 0) >= SETTLING_TIME_MS',
    ],
  ],
  'copies are younger than W / 2': [
    [
      TIMES,
      'SETTLING_TIME_MS = MAX_COPY_AGE_MS + MAX_CLOCK_SKEW_MS',
      'SETTLING_TIME_MS = MAX_COPY_AGE_MS / 2 + MAX_CLOCK_SKEW_MS',
    ],
  ],
  'one page of entries is all': [
    [
      ENTRIES,
      'page.rows.length < size ? undefined : page.rows.at(-1);\n    const result = last',
      'page.rows.length < 0 ? page.rows.at(-1) : undefined;\n    const result = last',
    ],
  ],
  'entries may be put at any time': [
    [ENTRIES, 'run.clock() - readAt <= PUT_WITHIN_MS', 'run.clock() >= readAt'],
  ],
  'a window that is too large proves old entries': [[PUT_RECENT, ' && from === state.from', '']],
  'no prefixes': [[PUT_RECENT, 'prefixes: window.prefixes', "prefixes: ''"]],
  'what is put counts though the seal was not seen': [
    [ENTRIES, "return 'seal not seen'", 'run.left.operations += 0'],
  ],
  'entries that another version put count': [
    ['src/nft-index/publish.ts', 'entries.version !== run.version', 'entries.version === null'],
  ],
  'an index filled anew has settled': [
    [ENTRIES, 'since: run.clock(), seal: key', 'since: 0, seal: key'],
  ],
};

/** What the histories need, to be copied. */
const PARTS = ['src', 'cli/lib/process', 'test/support/nft-index', 'test/slow'];

const HISTORIES = 20_000;

it.each(Object.entries(MISTAKES))(
  '%s',
  async (_, edits) => {
    const copy = mkdtempSync(join(tmpdir(), 'nft-index-'));
    onTestFinished(() => rmSync(copy, { recursive: true }));
    for (const part of PARTS) cpSync(join(PROJECT, part), join(copy, part), { recursive: true });
    symlinkSync(join(PROJECT, 'node_modules'), join(copy, 'node_modules'));
    writeFileSync(join(copy, 'package.json'), '{"type":"module"}');
    for (const [file, text, instead] of edits) {
      const path = join(copy, file);
      const parts = readFileSync(path, 'utf8').split(text);
      expect(parts, `${text} is in ${file} once`).toHaveLength(2);
      writeFileSync(path, parts.join(instead));
    }
    const script = join(copy, 'test/slow/histories.ts');
    const { child, log } = launch(process.execPath, [script, String(HISTORIES)]);
    const [code] = await once(child, 'close');
    // the first answer that is not true
    expect([code, log.join('\n')]).toEqual([1, expect.stringMatching(/^history \d+: /m)]);
  },
  600_000,
);
