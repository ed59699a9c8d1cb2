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
import { Head, Id } from '../parts/parts.tsx';
import { Remark } from '../parts/standing.tsx';
import { recognise } from '../recognise.ts';
import type { View } from '../route.ts';

interface Attempt {
  what: string;
  read(id: string): Promise<unknown>;
  view(id: string): View;
}

const ATTEMPTS: readonly Attempt[] = [
  { what: 'an NFT', read: readNft, view: (id) => ({ name: 'nft', id }) },
  { what: 'a block', read: readBlockMetadata, view: (id) => ({ name: 'block', id }) },
  { what: 'a transaction', read: readIncludedBlock, view: (id) => ({ name: 'transaction', id }) },
  {
    what: 'a milestone',
    read: readMilestoneBytes,
    view: (id) => ({ name: 'milestone', milestone: id }),
  },
];

/** @param open shows a view in place of this one, with a note on how it was found */
export function SearchView({ text, open }: { text: string; open(view: View, note: string): void }) {
  const meaning = recognise(text);
  useEffect(() => {
    if (meaning.kind === 'view') open(meaning.view, '');
  }, [text]);
  if (meaning.kind === 'view') return null;
  if (meaning.kind === 'ambiguous') return <Tries key={meaning.id} id={meaning.id} open={open} />;
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
}

function Tries({ id, open }: { id: string; open(view: View, note: string): void }) {
  const [tried, setTried] = useState<readonly Tried[]>([]);
  const isOver = tried.length === ATTEMPTS.length && tried.every(({ failure }) => failure);
  useEffect(() => {
    let dropped = false;
    async function tryAll(): Promise<void> {
      const failed: Tried[] = [];
      for (const { what, read, view } of ATTEMPTS) {
        setTried([...failed, { what, failure: undefined }]);
        try {
          await read(id);
          if (!dropped) open(view(id), describe(failed, what));
          return;
        } catch (error) {
          if (dropped) return;
          const isMissing = error instanceof NodeError && error.status === 404;
          failed.push({ what, failure: isMissing ? 'not here' : (error as Error).message });
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
      <Head kind="Search">{isOver ? 'Not found' : 'Searching'}</Head>
      <p>
        <Id id={id} what="the ID" whole />
      </p>
      <p class="reason">32 bytes can be the ID of four things. This node was asked for each:</p>
      <div role="status">
        {tried.map(({ what, failure }) => (
          <Remark key={what}>
            {what}: {failure ?? 'looking …'}
          </Remark>
        ))}
      </div>
      {isOver && (
        <p class="hint">
          An NFT that was burned, a block or a transaction that is pruned, and a milestone that is
          too old are not here any more. Aliases and foundries are not indexed by this node.
        </p>
      )}
    </section>
  );
}

function describe(failed: readonly Tried[], found: string): string {
  const before = failed.map(({ what }) => `not ${what}`).join(', ');
  return `32 bytes can be the ID of four things. This is ${before === '' ? '' : `${before}, but `}${found}, this node says.`;
}
