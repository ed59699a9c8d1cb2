/**
 * The native tokens of an address, by what their foundries claim of them.
 */
import { fromHex } from '../../src/stardust/encoding/bytes.ts';
import { OutputType } from '../../src/stardust/wire/output.ts';
import type { Balance, TokenAmounts } from '../../verifier/balance.ts';
import { formatTokens, readTokenClaim, type TokenClaim } from '../../verifier/words/amounts.ts';
import { formatCount } from '../format.ts';
import { readDecoded, readIdOfChain } from '../node/lists.ts';
import { Foreign } from '../parts/parts.tsx';
import { useLoad } from '../parts/use-load.ts';
import { TokenAmount } from '../words/words.tsx';

/** Each needs the output of its foundry. */
const MAX_TOKENS = 50;

/** What the foundry of a token claims; undefined where it claims nothing, or is no more. */
export async function readClaim(tokenId: string): Promise<TokenClaim | undefined> {
  try {
    const { said } = await readDecoded(await readIdOfChain('foundry', tokenId));
    return said.decoded.type === OutputType.Foundry ? readTokenClaim(said.decoded) : undefined;
  } catch {
    // its ID says what it is
    return undefined;
  }
}

export function TokenList({ tokens }: { tokens: Balance['tokens'] }) {
  const shown = [...tokens].slice(0, MAX_TOKENS);
  if (shown.length === 0) return null;
  return (
    <section aria-labelledby="tokens-title">
      <h2 id="tokens-title">Native tokens</h2>
      <ul class="tokens">
        {shown.map(([id, amounts]) => (
          <TokenRow key={id} id={id} amounts={amounts} />
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

function TokenRow({ id, amounts }: { id: string; amounts: TokenAmounts }) {
  const loaded = useLoad(() => readClaim(id), [id]);
  const claim = loaded.state === 'done' ? loaded.value : undefined;
  const beside = BESIDE.filter(([name]) => amounts[name] > 0n);
  return (
    <li>
      <TokenAmount token={{ id: fromHex(id), amount: amounts.own }} claim={claim} />
      {beside.length > 0 && (
        <p class="hint">
          Beside it:{' '}
          {beside.map(([name, words], i) => (
            <span key={name}>
              {i > 0 && ', '}
              <Foreign text={formatTokens(amounts[name], claim)} /> {words}
            </span>
          ))}
          .
        </p>
      )}
    </li>
  );
}
