/**
 * The native tokens of an address, by what their foundries claim of them.
 */
import type { ComponentChildren } from 'preact';
import type { Balance, TokenAmounts } from '../../client/balance.ts';
import { formatTokens, readTokenClaim, type TokenClaim } from '../../client/words/amounts.ts';
import { fromHex, toHex } from '../../src/stardust/encoding/bytes.ts';
import { foundryId } from '../../src/stardust/wire/ids.ts';
import type { FoundryOutput } from '../../src/stardust/wire/output.ts';
import { addressIn, UnlockConditionType } from '../../src/stardust/wire/unlock-condition.ts';
import { cut, formatCount } from '../format.ts';
import type { Info } from '../node/shapes.ts';
import { Foreign, Id, IdLink, To } from '../parts/parts.tsx';
import { type TokenClaims, useTokenClaims } from '../words/token-claims.ts';

/** Each needs the output of its foundry. */
const MAX_TOKENS = 50;

export function TokenList({ tokens, info }: { tokens: Balance['tokens']; info: Info }) {
  const shown = [...tokens].slice(0, MAX_TOKENS);
  const claims = useTokenClaims(
    shown.map(([id, { own }]) => ({ id: fromHex(id), amount: own })),
    info,
  );
  if (shown.length === 0) return null;
  return (
    <section aria-labelledby="tokens-title">
      <h2 id="tokens-title">Native tokens</h2>
      <p class="hint">
        Names and decimals are what their foundries claim; nobody can choose an ID.
      </p>
      <ul class="tokens">
        {shown.map(([id, amounts]) => (
          <TokenRow key={id} id={id} amounts={amounts} claims={claims} />
        ))}
      </ul>
      {tokens.size > shown.length && (
        <p class="hint">{formatCount(tokens.size - shown.length)} more are in the outputs below.</p>
      )}
    </section>
  );
}

const BESIDE = [
  ['locked', 'locked by time'],
  ['claimable', 'to be claimed'],
  ['pending', 'pending to others'],
] as const;

function TokenRow({
  id,
  amounts,
  claims,
}: {
  id: string;
  amounts: TokenAmounts;
  claims: TokenClaims;
}) {
  const claim = claims.get(id);
  const beside = BESIDE.filter(([name]) => amounts[name] > 0n);
  return (
    <TokenItem id={id} claim={claim} amount={amounts.own}>
      {beside.length > 0 && (
        <>
          Beside it:{' '}
          {beside.map(([name, words], i) => (
            <span key={name}>
              {i > 0 && ', '}
              <Foreign text={formatTokens(amounts[name], claim)} /> {words}
            </span>
          ))}
          .
        </>
      )}
    </TokenItem>
  );
}

/** A token of a list, by what its foundry claims of it. */
function TokenItem({
  id,
  claim,
  amount,
  children,
}: {
  id: string;
  claim: TokenClaim | undefined;
  amount: bigint;
  children: ComponentChildren;
}) {
  return (
    <li>
      <p class="what">
        <To view={{ name: 'foundry', id }}>
          <Foreign text={cut(claim?.name ?? 'Token without a name')} />
        </To>{' '}
        <Id id={id} what="token ID" />
      </p>
      <p class="amount">
        <Foreign text={formatTokens(amount, claim)} />
      </p>
      {children !== false && <div class="hint">{children}</div>}
    </li>
  );
}

/** Foundries of a list, as the tokens that they mint. */
export function FoundryItems({ foundries }: { foundries: readonly { foundry: FoundryOutput }[] }) {
  return (
    <ul class="tokens">
      {foundries.map(({ foundry }, place) => {
        const claim = readTokenClaim(foundry);
        const { minted, melted, maximumSupply } = foundry.tokenScheme;
        const id = toHex(foundryId(foundry));
        return (
          <TokenItem key={place} id={id} claim={claim} amount={minted - melted}>
            of at most <Foreign text={formatTokens(maximumSupply, claim)} />, controlled by alias{' '}
            <IdLink
              name="alias"
              id={toHex(addressIn(foundry, UnlockConditionType.ImmutableAlias).id)}
            />
          </TokenItem>
        );
      })}
    </ul>
  );
}
