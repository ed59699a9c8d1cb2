/** Outputs of an address by when they came, the newest first, a page at a time. */
import { formatAmount } from '../../client/words/amounts.ts';
import { chainOf, KIND_WORDS, outputKind } from '../../client/words/kind.ts';
import { fromHex } from '../../src/stardust/encoding/bytes.ts';
import { formatTime } from '../../src/stardust/provenance/words.ts';
import type { Address } from '../../src/stardust/wire/address.ts';
import { formatCount, plural } from '../format.ts';
import { readMetadata } from '../nft/claims.ts';
import type { ListedOutput } from '../node/lists.ts';
import { hasNoBlock, type Info, type Output as NftJson } from '../node/shapes.ts';
import { Foreign, IdLink, MilestoneText, To } from '../parts/parts.tsx';
import type { View } from '../route.ts';
import { networkWords } from '../words/network.tsx';
import { SentenceText } from '../words/words.tsx';
import { describeTenure } from './tenure.ts';

export const ROWS = 25;

/** The IDs of a page, which begins with 1. */
export function idsOnPage<T>(all: readonly T[], page: number, size: number): readonly T[] {
  return all.slice((page - 1) * size, page * size);
}

interface OutputsProps {
  address: Address;
  unixTime: number;
  info: Info;
}

export function AddressOutputs({
  outputs,
  ...of
}: OutputsProps & { outputs: readonly ListedOutput[] }) {
  const arrivals = Map.groupBy(outputs, ({ metadata }) => metadata.milestoneIndexBooked);
  return (
    <ol class="timeline">
      {Array.from(arrivals, ([index, all]) => (
        <li key={index}>
          <h3>
            {formatTime(all[0]!.metadata.milestoneTimestampBooked)} UTC,{' '}
            <MilestoneText index={index} info={of.info} />
          </h3>
          <ol class="outputs">
            {all.map((each) => (
              <AddressOutputRow key={each.outputId} {...each} {...of} />
            ))}
          </ol>
        </li>
      ))}
    </ol>
  );
}

function AddressOutputRow({
  outputId,
  output,
  json,
  metadata,
  address,
  unixTime,
  info,
}: ListedOutput & OutputsProps) {
  const kind = outputKind(output);
  const chain = chainOf(output, fromHex(outputId));
  const name = kind === 'nft' ? readMetadata(json as NftJson)?.claims?.name : undefined;
  const tokens = output.nativeTokens.length;
  const isKept = metadata.milestoneIndexBooked > info.status.pruningIndex && !hasNoBlock(metadata);
  return (
    <li>
      <p class="what">
        {chain === undefined ? (
          KIND_WORDS[kind]
        ) : (
          <To view={{ name: chain.kind, id: chain.id }}>
            {KIND_WORDS[kind]} {name !== undefined && <Foreign text={name} />}
          </To>
        )}
      </p>
      <p class="amount">
        {formatAmount(output.amount, info.baseToken)}
        {tokens > 0 && ` and ${plural(tokens, 'native token')}`}
      </p>
      <div class="hint">
        {describeTenure(output, address, unixTime).map((sentence, i) => (
          <SentenceText key={i} sentence={sentence} network={networkWords(undefined, info)} />
        ))}
        <p>
          <IdLink name="output" id={outputId} />
          {isKept && (
            <>
              , by <To view={{ name: 'transaction', id: metadata.transactionId }}>transaction</To>
            </>
          )}
        </p>
      </div>
    </li>
  );
}

/** Links to the pages before and after. */
export function Pager({
  page,
  size,
  count,
  view,
}: {
  page: number;
  size: number;
  count: number;
  view(page: number): View;
}) {
  const pages = Math.max(1, Math.ceil(count / size));
  if (pages === 1 && page === 1) return null;
  return (
    <nav class="pager" aria-label="Pages">
      {page > 1 && <To view={view(Math.min(page - 1, pages))}>← Newer</To>}
      <span>
        Page {formatCount(page)} of {formatCount(pages)}
      </span>
      {page < pages && <To view={view(page + 1)}>Older →</To>}
    </nav>
  );
}
