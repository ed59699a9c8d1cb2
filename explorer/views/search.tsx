/**
 * A search whose text may mean several things: the node is asked about all of them at once, and the
 * first thing that it has is shown.
 */
import { useEffect, useState } from 'preact/hooks';
import { toBech32 } from '../../src/stardust/bech32.ts';
import { fromHex } from '../../src/stardust/encoding/bytes.ts';
import { AddressType } from '../../src/stardust/wire/address.ts';
import { isMissing } from '../node/ask.ts';
import {
  askIncludedBlock,
  readBlockMetadata,
  readKnownNft,
  readMilestoneBytes,
} from '../node/ledger.ts';
import { hasOutputs, readIdOfChain } from '../node/lists.ts';
import { type Info, indexesAll, saysEnded } from '../node/shapes.ts';
import { Head, Id, To } from '../parts/parts.tsx';
import { Remark } from '../parts/standing.tsx';
import { recognise } from '../recognise.ts';
import type { View } from '../route.ts';
import { asError, type Loaded } from '../use-load.ts';
import { useUnapplied } from '../verify/use-unapplied.ts';

// it comes while the node is asked whether anything else is here; that it fails is said later
import('../verify/find-transaction.ts').catch(() => {});

interface Question {
  what: string;
  /** What would have been found, where nothing was. */
  finds: string;
  /** A 404 says that it is not here, as false does. */
  read(id: string): Promise<unknown>;
  view(id: string): View;
}

/** What 32 bytes can be the ID of, as far as the node can tell. */
function questionsOf(info: Info): readonly Question[] {
  const isAll = indexesAll(info);
  const bech32 = (id: string) => addressOf(id, info);
  const kept = `since milestone ${info.status.pruningIndex + 1}`;
  return [
    {
      what: 'an NFT',
      finds: 'each NFT that an output holds, and burned ones as far as the node keeps histories',
      read: (id) => readKnownNft(id, true),
      view: (id) => ({ name: 'nft', id }),
    },
    ...(isAll
      ? [
          {
            what: 'an alias',
            finds: 'each alias that was not destroyed',
            read: (id: string) => readIdOfChain('alias', id),
            view: (id: string): View => ({ name: 'alias', id }),
          },
        ]
      : []),
    {
      what: 'a block',
      finds: `blocks ${kept}`,
      read: readBlockMetadata,
      view: (id) => ({ name: 'block', id }),
    },
    {
      what: 'a transaction that was applied',
      finds: `transactions ${kept}`,
      read: askIncludedBlock,
      view: (id) => ({ name: 'transaction', id }),
    },
    {
      what: 'a milestone',
      finds: `milestones ${kept}`,
      read: readMilestoneBytes,
      view: (id) => ({ name: 'milestone', milestone: id }),
    },
    {
      what: 'an address',
      finds: isAll ? 'an address that holds something' : 'an address that holds an NFT',
      read: (id) => hasOutputs(isAll ? undefined : 'nft', bech32(id)),
      view: (id) => ({ name: 'address', address: bech32(id) }),
    },
  ];
}

function addressOf(id: string, { protocol }: Info): string {
  return toBech32(protocol.bech32Hrp, { type: AddressType.Ed25519, id: fromHex(id) });
}

interface SearchProps {
  text: string;
  info: Info;
  /** Shows a view in place of this one, with a note on how it was found. */
  open(view: View, note: string): void;
}

export function SearchView({ text, info, open }: SearchProps) {
  const meaning = recognise(text);
  useEffect(() => {
    if (meaning.kind === 'view') open(meaning.view, '');
    if (meaning.kind === 'address') {
      const address = toBech32(info.protocol.bech32Hrp, meaning.address);
      open({ name: 'address', address }, '');
    }
  }, [text]);
  if (meaning.kind === 'ambiguous')
    return <Questions key={meaning.id} id={meaning.id} info={info} open={open} />;
  if (meaning.kind !== 'nothing') return null;
  return (
    <section class="page missing">
      <Head kind="Search">Not recognised</Head>
      <p class="mono whole">
        <bdi>{text.slice(0, 300)}</bdi>
      </p>
      <p class="reason">{meaning.reason}</p>
      <p class="hint">
        You can search for an ID in hex, a milestone index such as{' '}
        {info.status.confirmedMilestone.index}, an address such as {info.protocol.bech32Hrp}1…, a
        DID, or the link of an explorer.
      </p>
    </section>
  );
}

type Answers = readonly Loaded<boolean>[];

function Questions({ id, info, open }: Omit<SearchProps, 'text'> & { id: string }) {
  const [questions] = useState(() => questionsOf(info));
  const [answers, setAnswers] = useState<Answers>(() =>
    questions.map(() => ({ state: 'loading' })),
  );
  useEffect(() => {
    let dropped = false;
    for (const [place, { what, read, view }] of questions.entries()) {
      const show = (answer: Loaded<boolean>) =>
        dropped || setAnswers((before) => before.with(place, answer));
      read(id).then(
        (found) => {
          if (found !== false && !dropped) open(view(id), `This is ${what}, this node says.`);
          else show({ state: 'done', value: false });
        },
        (error: unknown) =>
          show(
            isMissing(error)
              ? { state: 'done', value: false }
              : { state: 'failed', error: asError(error) },
          ),
      );
    }
    return () => {
      dropped = true;
    };
  }, [id]);
  const isOver = answers.every(({ state }) => state !== 'loading');
  // what is not applied takes more requests: it is looked for if nothing else is here
  const { looked, search } = useUnapplied(id, info, isOver);
  const found = search.state === 'done' ? search.value.blockId : undefined;
  useEffect(() => {
    if (found !== undefined)
      open(
        { name: 'transaction', id },
        'This is a transaction that was not applied, or too long ago, this node says.',
      );
  }, [found]);
  const isSilent = [...answers, search].some(({ state }) => state === 'failed');
  return (
    <section class="page missing">
      <Head kind="Search">
        {search.state === 'loading' ? 'Searching' : isSilent ? 'Not answered' : 'Not found'}
      </Head>
      <p>
        <Id id={id} what="the ID" whole />
      </p>
      <Remark>This node was asked for everything that can have such an ID:</Remark>
      <div role="status">
        <ul class="asked">
          {questions.map(({ what, finds }, place) => (
            <li key={what}>
              {what.charAt(0).toUpperCase() + what.slice(1)}:{' '}
              {describe(answers[place]!, `not here. This would have found ${finds}.`)}
            </li>
          ))}
          <li>A transaction that failed or waits: {describe(search, `not here. ${looked}`)}</li>
        </ul>
      </div>
      {isOver && (
        <p class="hint">
          {saysEnded(info)
            ? 'The network has ended. This node has its last ledger, and of its past only what it kept. '
            : 'A node drops what is older. '}
          {!indexesAll(info) && 'This node does not list aliases. '}
          Any 32 bytes can also be an address:{' '}
          <To view={{ name: 'address', address: addressOf(id, info) }}>open the address</To>
        </p>
      )}
    </section>
  );
}

function describe(answer: Loaded<unknown>, absent: string): string {
  if (answer.state === 'loading') return 'looking …';
  return answer.state === 'failed' ? answer.error.message : absent;
}
