/**
 * Whether random histories find mistakes in the NFT index. Each of the mistakes below is made in a
 * copy of the sources, and a history has to catch it:
 * `npx node test/slow/mutations.ts [histories each]`, by default up to 20,000.
 *
 * Two mistakes are not among them, as all answers stay true: to write the publisher's state without
 * comparing its token, and to publish a window although another publisher has written the state
 * since. What a state says of entries remains true, and what has left a window has settled. These
 * two checks only keep a reindexing from being forgotten; publish.test.ts tests them.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runMain, UsageError } from '../../scripts/lib/process/command-line.ts';

interface Mistake {
  name: string;
  /** File, text, what stands there instead. */
  edits: [file: string, text: string, instead: string][];
}

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

const MISTAKES: Mistake[] = [
  {
    name: 'fromTime does not matter',
    edits: [[RESOLVE, 'publishedAt - fromTime < SETTLING_TIME_MS', 'publishedAt < fromTime']],
  },
  {
    name: 'an incomplete index counts as complete',
    edits: [
      [RESOLVE, 'fromTime === null', 'fromTime === undefined'],
      [
        RESOLVE,
        'publishedAt - fromTime < SETTLING_TIME_MS',
        'publishedAt - (fromTime ?? 0) < SETTLING_TIME_MS',
      ],
    ],
  },
  {
    name: 'prefixes are not looked at',
    edits: [
      [
        RESOLVE,
        'if (hasPrefixOf(recent.value, nftId))',
        'if (hasPrefixOf(recent.value, nftId) && now < 0)',
      ],
    ],
  },
  {
    name: 'states and prefixes are not looked at',
    edits: [
      [RESOLVE, 'if (state !== undefined)', 'if (state !== undefined && now < 0)'],
      [
        RESOLVE,
        'if (hasPrefixOf(recent.value, nftId))',
        'if (hasPrefixOf(recent.value, nftId) && now < 0)',
      ],
    ],
  },
  {
    name: 'generation does not matter',
    edits: [[RESOLVE, 'entry.value.generation === generation &&', 'generation.length > 0 &&']],
  },
  {
    name: 'an entry of another ledger counts as absent',
    edits: [
      [
        RESOLVE,
        "if (own === undefined && entry.kind !== 'absent')",
        "if (own === undefined && entry.kind === 'malformed')",
      ],
    ],
  },
  {
    name: 'a malformed entry counts as absent',
    edits: [
      [
        RESOLVE,
        "if (own === undefined && entry.kind !== 'absent')",
        "if (own === undefined && entry.kind === 'value')",
      ],
    ],
  },
  {
    name: 'any entry is within the range',
    edits: [[RESOLVE, 'own.ledgerIndex >= from', 'own.ledgerIndex >= 0']],
  },
  {
    name: 'a fresher entry is answered at to',
    edits: [
      [RESOLVE, 'return answer(own.ledgerIndex, own.outputId', 'return answer(to, own.outputId'],
    ],
  },
  {
    name: 'an old recent is good enough',
    edits: [
      [
        RESOLVE,
        'now - publishedAt > MAX_RECENT_AGE_MS',
        'now - publishedAt > MAX_RECENT_AGE_MS * 99',
      ],
    ],
  },
  {
    name: 'a cached recent counts as published when it is read',
    edits: [
      [
        LOOK_UP,
        "if (read.kind === 'value') return read;",
        [
          "if (read.kind === 'value')",
          '  return { ...read, value: { ...read.value, publishedAt: now } };',
        ].join('\n'),
      ],
    ],
  },
  {
    name: 'no tombstones',
    edits: [[ENTRIES, 'page.rows.map(', 'page.rows.filter((row) => row.output !== null).map(']],
  },
  {
    name: 'a tombstone expires before every backend has it',
    edits: [[TIMES, 'TOMBSTONE_TTL_S = 60 * 24 * 60 * 60', 'TOMBSTONE_TTL_S = 60']],
  },
  {
    name: 'every entry expires',
    edits: [[ENTRIES, 'output === null ? {', 'output !== undefined ? {']],
  },
  {
    name: 'a burned NFT leaves D1 before its tombstone is put',
    edits: [[D1_MODEL, 'this.#changedAt(nft)! <= from', 'this.#changedAt(nft)! > 0']],
  },
  {
    name: 'every NFT leaves D1 with its change',
    edits: [[D1_MODEL, 'this.#output(nft) === null && ', '']],
  },
  {
    name: 'an entry of an earlier filling counts',
    edits: [[RESOLVE, ' &&\n    entry.value.ledgerIndex >= filledFrom', '']],
  },
  {
    name: 'a new filling does not begin at its own ledger index',
    edits: [[STATE, ', filledFrom: ledgerIndex };', ' };']],
  },
  {
    name: 'an entry is put at once, when writers may hold older ones',
    edits: [[TIMES, 'PUT_AFTER_MS = MAX_WRITE_AGE_MS + MAX_CLOCK_SKEW_MS', 'PUT_AFTER_MS = 0']],
  },
  {
    name: 'an entry is not put',
    edits: [
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
  },
  {
    name: 'a change leaves the window when its entry is put',
    edits: [
      [STATE, 'now - putAt >= SETTLING_TIME_MS', 'now >= putAt'],
      [STATE, 'Math.max(entries.since, settled?.putAt ?? 0)', 'entries.since'],
    ],
  },
  {
    name: 'a change leaves the window although its entry was not put',
    edits: [
      [
        STATE,
        'putAt !== null && now - putAt >= SETTLING_TIME_MS',
        'now - (putAt ?? 0) >= SETTLING_TIME_MS',
      ],
    ],
  },
  {
    name: 'copies are younger than W / 2',
    edits: [
      [
        TIMES,
        'SETTLING_TIME_MS = MAX_COPY_AGE_MS + MAX_CLOCK_SKEW_MS',
        'SETTLING_TIME_MS = MAX_COPY_AGE_MS / 2 + MAX_CLOCK_SKEW_MS',
      ],
    ],
  },
  {
    name: 'one page of entries is all',
    edits: [
      [
        ENTRIES,
        'page.rows.length < size ? undefined : page.rows.at(-1);\n    const result = last',
        'page.rows.length < 0 ? page.rows.at(-1) : undefined;\n    const result = last',
      ],
    ],
  },
  {
    name: 'entries may be put at any time',
    edits: [[ENTRIES, 'run.clock() - readAt <= PUT_WITHIN_MS', 'run.clock() >= readAt']],
  },
  {
    name: 'more changes than prefixes fit',
    edits: [
      [
        PUT_RECENT,
        'window.prefixes.length > bounds.prefixes * PREFIX_LENGTH',
        'window.prefixes.length < 0',
      ],
    ],
  },
  { name: 'no prefixes', edits: [[PUT_RECENT, 'prefixes: window.prefixes', "prefixes: ''"]] },
  {
    name: 'what is put counts though the seal was not seen',
    edits: [[ENTRIES, "return 'seal not seen'", 'run.left.operations += 0']],
  },
  {
    name: 'an adopted index has settled',
    edits: [
      [
        'src/nft-index/seed-index.ts',
        "kind: 'complete', since: now, seal",
        "kind: 'complete', since: 0, seal",
      ],
    ],
  },
  {
    name: 'an index filled anew has settled',
    edits: [[ENTRIES, 'since: run.clock(), seal: key', 'since: 0, seal: key']],
  },
];

const ROOT = join(import.meta.dirname, '../..');

/** What the histories need, to be copied. */
const PARTS = ['src', 'scripts/lib/process', 'test/support/nft-index', 'test/slow'];

/** Makes the mistake in a copy. Returns the first answer that is not true, if there is one. */
function tryMistake({ name, edits }: Mistake, histories: number): string | undefined {
  const copy = mkdtempSync(join(tmpdir(), 'nft-index-'));
  try {
    for (const part of PARTS) cpSync(join(ROOT, part), join(copy, part), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    writeFileSync(join(copy, 'package.json'), '{"type":"module"}');
    for (const [file, text, instead] of edits) {
      const source = readFileSync(join(copy, file), 'utf8');
      if (source.split(text).length !== 2) throw new Error(`${name}: not once in ${file}: ${text}`);
      writeFileSync(
        join(copy, file),
        source.replace(text, () => instead),
      );
    }
    return findMistake(copy, histories);
  } finally {
    rmSync(copy, { recursive: true });
  }
}

/** The first answer that is not true; undefined if all histories pass. */
function findMistake(copy: string, histories: number): string | undefined {
  try {
    execFileSync(process.execPath, [join(copy, 'test/slow/histories.ts'), String(histories)], {
      stdio: 'pipe',
    });
    return undefined;
  } catch (error) {
    const { stderr } = error as { stderr: Buffer };
    const message = /^history \d+: .*$/m.exec(stderr.toString())?.[0];
    if (message === undefined) throw error;
    return message;
  }
}

const USAGE = `Usage: npx node test/slow/mutations.ts [HISTORIES]

Makes each of ${MISTAKES.length} mistakes in a copy of the sources, and runs random histories of the NFT index, by
default 20,000: about a minute in all. Exit code 1 if they do not find one of the mistakes.`;

await runMain(USAGE, (args) => {
  const { positionals } = parseArgs({ args, allowPositionals: true });
  const [histories = 20_000, ...others] = positionals.map(Number);
  if (!Number.isSafeInteger(histories) || others.length > 0)
    throw new UsageError('the number of histories is a whole number');
  let survived = 0;
  for (const mistake of MISTAKES) {
    const caught = tryMistake(mistake, histories);
    if (caught === undefined) survived++;
    const verdict = caught === undefined ? 'SURVIVED' : 'caught  ';
    console.log(`${verdict}  ${mistake.name}${caught === undefined ? '' : `: ${caught}`}`);
  }
  return survived === 0 ? 0 : 1;
});
