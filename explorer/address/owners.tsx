/**
 * Who owns the NFTs of an issuer, and how many: those of the most first.
 */
import { formatCount, plural } from '../format.ts';
import { readOwners } from '../node/ledger.ts';
import type { Owners } from '../node/shapes.ts';
import { Id, LoadedPart } from '../parts/parts.tsx';
import { useLoad } from '../use-load.ts';

/** Rows; the others are folded. */
const FIRST = 10;

export function CollectionOwners({ issuer }: { issuer: string }) {
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
            <OwnerRows owners={owners.slice(0, FIRST)} />
            {owners.length > FIRST && (
              <details class="folded">
                <summary>{plural(owners.length - FIRST, 'more owner')}</summary>
                <OwnerRows owners={owners.slice(FIRST)} />
              </details>
            )}
          </>
        )}
      </LoadedPart>
    </section>
  );
}

function OwnerRows({ owners }: Pick<Owners, 'owners'>) {
  return (
    <ol class="owners">
      {owners.map(({ address, nftCount }) => (
        <li key={address}>
          <Id id={address} what="address" view={{ name: 'address', address }} />{' '}
          <span class="hint">{plural(nftCount, 'NFT')}</span>
        </li>
      ))}
    </ol>
  );
}
