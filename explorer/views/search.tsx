/**
 * A search whose text may mean several things: each is tried in turn, and the visitor sees it.
 */
import { useEffect, useState } from 'preact/hooks';
import { NodeError } from '../node/ask.ts';
import {
  readBlockMetadata,
  readIncludedBlock,
  readMilestoneBytes,
  readNft,
} from '../node/ledger.ts';
import { readIdOfChain } from '../node/lists.ts';
import { hasEnded, type Info, indexesAll } from '../node/shapes.ts';
import { Head, Id } from '../parts/parts.tsx';
import { Remark } from '../parts/standing.tsx';
import { recognise } from '../recognise.ts';
import type { View } from '../route.ts';

interface Attempt {
  what: string;
  read(id: string): Promise<unknown>;
  view(id: string): View;
}

const ALIAS: Attempt = {
  what: 'an alias',
  read: (id) => readIdOfChain('alias', id),
  view: (id) => ({ name: 'alias', id }),
};

/** What 32 bytes can be the ID of, as far as the node can tell. */
const attemptsOf = (info: Info): readonly Attempt[] => [
  { what: 'an NFT', read: readNft, view: (id) => ({ name: 'nft', id }) },
  ...(indexesAll(info) ? [ALIAS] : []),
  { what: 'a block', read: readBlockMetadata, view: (id) => ({ name: 'block', id }) },
  { what: 'a transaction', read: readIncludedBlock, view: (id) => ({ name: 'transaction', id }) },
  {
    what: 'a milestone',
    read: readMilestoneBytes,
    view: (id) => ({ name: 'milestone', milestone: id }),
  },
];

/** @param open shows a view in place of this one, with a note on how it was found */
export function SearchView({
  text,
  info,
  open,
}: {
  text: string;
  info: Info;
  open(view: View, note: string): void;
}) {
  const meaning = recognise(text);
  useEffect(() => {
    if (meaning.kind === 'view') open(meaning.view, '');
  }, [text]);
  if (meaning.kind === 'view') return null;
  if (meaning.kind === 'ambiguous')
    return <Tries key={meaning.id} id={meaning.id} info={info} open={open} />;
  return (
    <section class="page missing">
      <Head kind="Search">Not recognised</Head>
      <p class="mono whole">
        <bdi>{text.slice(0, 300)}</bdi>
      </p>
      <p class="reason">{meaning.reason}</p>
      <p class="hint">
        An ID in hex, a milestone index such as 17339, or an address such as smr1… can be searched.
      </p>
    </section>
  );
}

interface Tried {
  what: string;
  /** Undefined while it is tried. */
  failure: string | undefined;
  /** Whether the node says that there is none; otherwise it did not tell. */
  isMissing: boolean;
}

function Tries({
  id,
  info,
  open,
}: {
  id: string;
  info: Info;
  open(view: View, note: string): void;
}) {
  const [tried, setTried] = useState<readonly Tried[]>([]);
  const attempts = attemptsOf(info);
  const isOver = tried.length === attempts.length && tried.every(({ failure }) => failure);
  const isMissing = tried.every((each) => each.isMissing);
  useEffect(() => {
    let dropped = false;
    async function tryAll(): Promise<void> {
      const failed: Tried[] = [];
      for (const { what, read, view } of attempts) {
        setTried([...failed, { what, failure: undefined, isMissing: false }]);
        try {
          await read(id);
          if (!dropped) open(view(id), describe(failed, what, attempts.length));
          return;
        } catch (error) {
          if (dropped) return;
          const isMissing = error instanceof NodeError && error.status === 404;
          failed.push({
            what,
            failure: isMissing ? 'not here' : (error as Error).message,
            isMissing,
          });
        }
      }
      setTried(failed);
    }
    void tryAll();
    return () => {
      dropped = true;
    };
  }, [id]);
  return (
    <section class="page missing">
      <Head kind="Search">{!isOver ? 'Searching' : isMissing ? 'Not found' : 'Not answered'}</Head>
      <p>
        <Id id={id} what="the ID" whole />
      </p>
      <p class="reason">
        32 bytes can be the ID of {NUMBERS[attempts.length]} things. This node was asked for each:
      </p>
      <div role="status">
        {tried.map(({ what, failure }) => (
          <Remark key={what}>
            {what}: {failure ?? 'looking …'}
          </Remark>
        ))}
      </div>
      {isOver && <p class="hint">{whyNotFound(info)}</p>}
    </section>
  );
}

/** Of things that 32 bytes can be the ID of. */
const NUMBERS: Record<number, string> = { 4: 'four', 5: 'five' };

function whyNotFound(info: Info): string {
  const [nfts, aliases] = indexesAll(info)
    ? ['An NFT that was burned and an alias that was destroyed are not in a ledger.', '']
    : [
        'An NFT that was burned is not in a ledger.',
        ' Aliases are not looked up: this node lists NFTs alone.',
      ];
  const past = hasEnded(info)
    ? ' The network has ended. This node has its last ledger; blocks, transactions and milestones only as far as it kept them.'
    : ' A block, a transaction or a milestone that is older than what the node keeps is not here any more.';
  return nfts + past + aliases;
}

function describe(failed: readonly Tried[], found: string, count: number): string {
  const before = failed.map(({ what }) => `not ${what}`).join(', ');
  return `32 bytes can be the ID of ${NUMBERS[count]} things. This is ${before === '' ? '' : `${before}, but `}${found}, this node says.`;
}
