/**
 * Native tokens: the foundries of the ledger with their supplies, the newest first.
 */
import { formatTokens, readTokenClaim } from '../../client/words/amounts.ts';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import { foundryId } from '../../src/stardust/wire/ids.ts';
import { OutputType } from '../../src/stardust/wire/output.ts';
import { addressIn, UnlockConditionType } from '../../src/stardust/wire/unlock-condition.ts';
import { Pager, pageOf, ROWS } from '../address/address-outputs.tsx';
import { TokenItem } from '../address/token-list.tsx';
import { plural } from '../format.ts';
import { NodeError } from '../node/ask.ts';
import { type ListedOutput, readAll, readIds } from '../node/lists.ts';
import { type Info, indexesAll } from '../node/shapes.ts';
import { Foreign, Head, Id, LoadedPart } from '../parts/parts.tsx';
import { NotChecked } from '../parts/standing.tsx';
import { useLoad } from '../use-load.ts';

async function readTokens(page: number) {
  const { ids, ledgerIndex } = await readIds('foundry', {});
  const outputs = await readAll(pageOf(ids, page, ROWS));
  if (outputs === undefined) throw new NodeError(0, 'The ledger moved on. Try again.');
  return { outputs, count: ids.length, ledgerIndex };
}

export function TokensView({ page = 1, info }: { page?: number; info: Info }) {
  const loaded = useLoad(() => readTokens(page), [page]);
  return (
    <article class="page">
      <Head kind="Tokens" api="/api/indexer/v1/outputs/foundry">
        Native tokens
      </Head>
      {indexesAll(info) ? (
        <LoadedPart loaded={loaded}>
          {({ outputs, count, ledgerIndex }) => (
            <section class="said" data-standing="said">
              <p class="said-label">This node says. Not checked. The newest first.</p>
              <p class="hint">
                {plural(count, 'foundry')} at ledger index {ledgerIndex}. Names and decimals are
                what they claim; nobody can choose an ID.
              </p>
              {outputs.length === 0 && page > 1 && (
                <NotChecked>there is no page {page}.</NotChecked>
              )}
              <ul class="tokens">
                {outputs.map((each) => (
                  <TokenRow key={each.outputId} {...each} />
                ))}
              </ul>
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

function TokenRow({ output }: ListedOutput) {
  if (output.type !== OutputType.Foundry) return null;
  const claim = readTokenClaim(output);
  const { minted, melted, maximumSupply } = output.tokenScheme;
  const id = toHex(foundryId(output));
  const alias = toHex(addressIn(output, UnlockConditionType.ImmutableAlias).id);
  return (
    <TokenItem id={id} claim={claim} amount={minted - melted}>
      of at most <Foreign text={formatTokens(maximumSupply, claim)} />, controlled by alias{' '}
      <Id id={alias} what="alias ID" view={{ name: 'alias', id: alias }} />
    </TokenItem>
  );
}
