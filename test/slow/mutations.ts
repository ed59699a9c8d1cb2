/**
 * Whether the model of the index can fail: each of these mistakes, made in a copy of the sources, has to be caught by its histories.
 *
 * Two mistakes are not among them, as answers stay true: without the fence between publishers, and with a window that another publisher has moved on. What a state
 * says of entries stays so, and what left a window has settled. Those guards see to it that a rebuilding is not forgotten, and have tests of their own.
 * `npx node test/slow/mutations.ts [histories each]`
 */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Mistake {
  name: string;
  /** File, text, what stands there instead. */
  edits: [file: string, text: string, instead: string][];
}

const RESOLVE = 'src/nft-index/resolve.ts';
const STATE = 'src/nft-index/publisher-state.ts';
const ENTRIES = 'src/nft-index/put-entries.ts';
const PUT_RECENT = 'src/nft-index/put-recent.ts';
const TIMES = 'src/nft-index/timing-assumptions.ts';

const MISTAKES: Mistake[] = [
  {
    name: 'fromTime does not matter',
    edits: [[RESOLVE, 'publishedAt - fromTime < SETTLED', 'publishedAt < fromTime']],
  },
  {
    name: 'an incomplete index counts as complete',
    edits: [
      [RESOLVE, 'fromTime === null', 'fromTime === undefined'],
      [RESOLVE, 'publishedAt - fromTime < SETTLED', 'publishedAt - (fromTime ?? 0) < SETTLED'],
    ],
  },
  {
    name: 'names are not looked at',
    edits: [
      [
        RESOLVE,
        'if (isAmongOthers(recent.value, nftId))',
        'if (isAmongOthers(recent.value, nftId) && now < 0)',
      ],
    ],
  },
  {
    name: 'changes are not looked at',
    edits: [
      [RESOLVE, 'if (change !== undefined)', 'if (change !== undefined && now < 0)'],
      [
        RESOLVE,
        'if (isAmongOthers(recent.value, nftId))',
        'if (isAmongOthers(recent.value, nftId) && now < 0)',
      ],
    ],
  },
  {
    name: 'generation does not matter',
    edits: [[RESOLVE, ' && entry.value.generation === generation', ' && generation.length > 0']],
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
    edits: [[RESOLVE, 'now - publishedAt > RECENT_AGE', 'now - publishedAt > RECENT_AGE * 99']],
  },
  {
    name: 'no tombstones',
    edits: [[ENTRIES, 'page.rows.map(', 'page.rows.filter((row) => row.output !== null).map(']],
  },
  {
    name: 'put again at once',
    edits: [[TIMES, 'AGAIN_AFTER = WRITE_AGE + CLOCKS', 'AGAIN_AFTER = 0']],
  },
  {
    name: 'not put again',
    edits: [
      [
        ENTRIES,
        "if (upTo === undefined) return 'done';",
        "if (upTo !== undefined) return swapState(run, markAgain(run.state, upTo, run.clock()));\n  if (upTo === undefined) return 'done';",
      ],
    ],
  },
  {
    name: 'leaves the window when put again',
    edits: [
      [STATE, 'now - againAt >= SETTLED', 'now >= againAt'],
      [STATE, 'Math.max(entries.since, settled?.againAt ?? 0)', 'entries.since'],
    ],
  },
  {
    name: 'leaves the window without being put again',
    edits: [
      [STATE, 'againAt !== null && now - againAt >= SETTLED)', 'now - (againAt ?? 0) >= SETTLED)'],
    ],
  },
  {
    name: 'copies are younger than W / 2',
    edits: [[TIMES, 'SETTLED = COPY_AGE + CLOCKS', 'SETTLED = COPY_AGE / 2 + CLOCKS']],
  },
  {
    name: 'one page of entries is all',
    edits: [
      [
        ENTRIES,
        'page.rows.length < size ? undefined : page.rows.at(-1);\n    const step = last',
        'page.rows.length < 0 ? page.rows.at(-1) : undefined;\n    const step = last',
      ],
    ],
  },
  {
    name: 'entries may be put at any time',
    edits: [[ENTRIES, 'run.clock() - readAt <= PUT_WITHIN', 'run.clock() >= readAt']],
  },
  {
    name: 'too many changes to be named',
    edits: [
      [PUT_RECENT, 'window.names.length > bounds.others * NAME_LENGTH', 'window.names.length < 0'],
    ],
  },
  { name: 'no names', edits: [[PUT_RECENT, 'others: window.names', "others: ''"]] },
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

const histories = process.argv[2] ?? '20000';
const root = join(import.meta.dirname, '../..');
let survived = 0;
for (const { name, edits } of MISTAKES) {
  const copy = mkdtempSync(join(tmpdir(), 'nft-index-'));
  try {
    for (const part of ['src', 'test/support/nft-index', 'test/slow'])
      cpSync(join(root, part), join(copy, part), { recursive: true });
    mkdirSync(join(copy, 'node_modules'));
    symlinkSync(join(root, 'node_modules/valibot'), join(copy, 'node_modules/valibot'));
    writeFileSync(join(copy, 'package.json'), '{"type":"module"}');
    for (const [file, text, instead] of edits) {
      const source = readFileSync(join(copy, file), 'utf8');
      if (source.split(text).length !== 2) throw new Error(`${name}: not once in ${file}: ${text}`);
      writeFileSync(
        join(copy, file),
        source.replace(text, () => instead),
      );
    }
    const caught = findMistake(copy);
    if (caught === undefined) survived++;
    console.log(
      `${caught === undefined ? 'SURVIVED' : 'caught  '}  ${name}${caught === undefined ? '' : `: ${caught}`}`,
    );
  } finally {
    rmSync(copy, { recursive: true });
  }
}
process.exitCode = survived === 0 ? 0 : 1;

/** What the histories say of the mistake, undefined if nothing. */
function findMistake(copy: string): string | undefined {
  try {
    execFileSync(process.execPath, [join(copy, 'test/slow/histories.ts'), histories], {
      stdio: 'pipe',
    });
    return undefined;
  } catch (error) {
    const { stderr } = error as { stderr: Buffer };
    const message = /^Error: (history \d+: .*)$/m.exec(stderr.toString())?.[1];
    if (message === undefined) throw error;
    return message;
  }
}
