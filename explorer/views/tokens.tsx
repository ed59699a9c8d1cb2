/**
 * Native tokens: the foundries of the ledger with their supplies, the newest first.
 */
import { idsOnPage, Pager, ROWS } from '../address/address-outputs.tsx';
import { FoundryItems } from '../address/token-list.tsx';
import { plural } from '../format.ts';
import { readFoundries } from '../node/lists.ts';
import { type Info, indexesAll } from '../node/shapes.ts';
import { Head, LoadedPart } from '../parts/parts.tsx';
import { NotChecked } from '../parts/standing.tsx';
import { useLoad } from '../use-load.ts';

export function TokensView({ page = 1, info }: { page?: number; info: Info }) {
  const loaded = useLoad(() => readFoundries({}, (ids) => idsOnPage(ids, page, ROWS)), [page]);
  return (
    <article class="page">
      <Head kind="Tokens" api="/api/indexer/v1/outputs/foundry">
        Native tokens
      </Head>
      {indexesAll(info) ? (
        <LoadedPart loaded={loaded}>
          {({ foundries, count, ledgerIndex }) => (
            <section class="said" data-standing="said">
              <p class="said-label">This node says. Not checked. The newest first.</p>
              <p class="hint">
                {plural(count, 'foundry')} at ledger index {ledgerIndex}. Names and decimals are
                what they claim; nobody can choose an ID.
              </p>
              {foundries.length === 0 && page > 1 && (
                <NotChecked>there is no page {page}.</NotChecked>
              )}
              <FoundryItems foundries={foundries} />
              <Pager
                page={page}
                size={ROWS}
                count={count}
                view={(page) => ({ name: 'tokens', page })}
              />
            </section>
          )}
        </LoadedPart>
      ) : (
        <p class="reason" data-standing="said">
          This node lists NFTs alone, it says. A node with <code>INDEX=all</code> lists tokens.
        </p>
      )}
    </article>
  );
}
