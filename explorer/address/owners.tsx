/**
 * Who owns the NFTs of an issuer, and how many: those of the most first.
 */
import { formatCount, plural } from '../format.ts';
import { readOwners } from '../node/ledger.ts';
import { Listed } from '../parts/listed.tsx';
import { IdLink, LoadedPart } from '../parts/parts.tsx';
import { useLoad } from '../use-load.ts';

export function OwnersOfCollection({ issuer }: { issuer: string }) {
  const loaded = useLoad(() => readOwners(issuer), [issuer]);
  return (
    <section class="said" data-standing="said" aria-labelledby="owners-title">
      <h2 id="owners-title">Owners</h2>
      <p class="said-label">This node says. Not checked.</p>
      <LoadedPart loaded={loaded}>
        {({ owners, ownerCount, nftCount }) => (
          <>
            <p class="hint">
              {plural(nftCount, 'NFT')} of {plural(ownerCount, 'owner')}
              {ownerCount > owners.length && `; the first ${formatCount(owners.length)} by address`}
            </p>
            <Listed
              kind="owners"
              all={owners}
              show={({ address, nftCount }) => (
                <>
                  <IdLink name="address" id={address} />{' '}
                  <span class="hint">{plural(nftCount, 'NFT')}</span>
                </>
              )}
            />
          </>
        )}
      </LoadedPart>
    </section>
  );
}
