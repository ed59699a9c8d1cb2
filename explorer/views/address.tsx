/**
 * An address: what it holds, as far as the node lists it, its NFTs and those that it issued.
 */
import { useState } from 'preact/hooks';
import { type Tenure, tenureOf } from '../../client/balance.ts';
import { parseBech32Address } from '../../src/stardust/bech32.ts';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import { formatTime, isLive } from '../../src/stardust/provenance/words.ts';
import { type Address, AddressType } from '../../src/stardust/wire/address.ts';
import { AddressOutputs, idsOnPage, Pager, ROWS } from '../address/address-outputs.tsx';
import { BalanceParts } from '../address/balance-parts.tsx';
import { outputsToCsv } from '../address/csv.ts';
import { type NamedAddress, useHoldings } from '../address/holdings.ts';
import { OwnersOfCollection } from '../address/owners.tsx';
import { TokenList } from '../address/token-list.tsx';
import { formatCount, formatSince, plural } from '../format.ts';
import { goTo } from '../navigate.ts';
import { countListed, type ListedOutput, listPath } from '../node/lists.ts';
import { type Info, indexesAll, saysEnded } from '../node/shapes.ts';
import { Later } from '../parts/later.tsx';
import { Head, Id, NotRead, ReadingNote } from '../parts/parts.tsx';
import { saveFile } from '../parts/save.ts';
import { NotChecked } from '../parts/standing.tsx';
import { type AddressViewName, formatRoute } from '../route.ts';
import { useLoad } from '../use-load.ts';
import { Gallery } from './gallery.tsx';

export function AddressView({
  name,
  address: text,
  page = 1,
  info,
}: {
  name: AddressViewName;
  address: string;
  page?: number;
  info: Info;
}) {
  const parsed = parseBech32Address(text);
  const { bech32Hrp } = info.protocol;
  if (parsed === undefined || parsed.prefix !== bech32Hrp)
    return (
      <section class="page missing">
        <Head kind="Address">Not found</Head>
        <p class="mono whole">
          <bdi>{text.slice(0, 200)}</bdi>
        </p>
        <p class="reason">
          {parsed === undefined
            ? `This is no address: a character is missing or mistyped. Addresses of this network begin with ${bech32Hrp}1.`
            : `This is an address of another network. Those of this one begin with ${bech32Hrp}1, the node says.`}
        </p>
      </section>
    );
  const bech32 = text.toLowerCase();
  const isAll = indexesAll(info);
  return (
    <article class="page">
      <Head
        kind={name === 'issuer' ? 'Issuer' : 'Address'}
        api={pathOf(name, bech32, isAll)}
        title={bech32}
        id={name === 'issuer' && <Id id={bech32} what="address" />}
      >
        {name === 'issuer' ? 'NFTs of one issuer' : <Id id={bech32} what="address" />}
      </Head>
      <ChainOf address={parsed.address} />
      {name === 'address' && <AddressCode address={bech32} />}
      <Tabs shown={name} address={bech32} isAll={isAll} />
      {name === 'address' && !isAll && (
        <p class="reason" data-standing="said">
          This node lists NFTs alone, it says. Of base tokens, native tokens, aliases and foundries
          that this address may hold it tells nothing. A node with <code>INDEX=all</code> does.
        </p>
      )}
      {name === 'address' && isAll ? (
        <Held bech32={bech32} address={parsed.address} page={page} info={info} />
      ) : (
        <Gallery name={name} address={bech32} page={page} info={info} />
      )}
      {name === 'issuer' && <OwnersOfCollection issuer={bech32} />}
      {name === 'address' && saysEnded(info) && (
        <button
          type="button"
          class="main"
          onClick={() => {
            goTo({ name: 'statement', of: bech32 });
          }}
        >
          Prove what this address held
        </button>
      )}
    </article>
  );
}

const loadQrCode = async () => (await import('../parts/qr-code.tsx')).QrCode;

function AddressCode({ address }: { address: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="folded" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>QR code</summary>
      {isOpen && <Later load={loadQrCode} text={address} label="QR code of this address" />}
    </details>
  );
}

/** The address of a chain leads to its page. */
function ChainOf({ address: { type, id } }: { address: Address }) {
  if (type === AddressType.Ed25519) return null;
  const name = type === AddressType.Alias ? 'alias' : 'nft';
  return (
    <p>
      Whoever unlocks {name === 'alias' ? 'the alias' : 'the NFT'}{' '}
      <Id id={toHex(id)} what={`${name} ID`} view={{ name, id: toHex(id) }} /> unlocks what this
      address holds.
    </p>
  );
}

function Tabs({
  shown,
  address,
  isAll,
}: {
  shown: AddressViewName;
  address: string;
  isAll: boolean;
}) {
  const tabs = [
    ['address', 'Holds'],
    ...(isAll ? [['nfts', 'NFTs'] as const] : []),
    ['issuer', 'Issued'],
  ] as const;
  return (
    <nav class="tabs" aria-label="Of this address">
      {tabs.map(([name, title]) => (
        <a
          key={name}
          href={formatRoute({ name, address })}
          aria-current={name === shown ? 'page' : undefined}
        >
          <span>{title}</span> <Count path={pathOf(name, address, isAll)} />
        </a>
      ))}
    </nav>
  );
}

function Count({ path }: { path: string }) {
  const count = useLoad(() => countListed(path), [path]);
  return <span class="count">{count.state === 'done' && count.value}</span>;
}

/** Of the list that a tab shows. */
const pathOf = (name: AddressViewName, address: string, isAll: boolean) =>
  listPath(
    isAll && name === 'address' ? undefined : 'nft',
    name === 'issuer' ? { issuer: address } : { unlockableByAddress: address },
  );

function Held({ page, info, ...named }: NamedAddress & { page: number; info: Info }) {
  const { bech32, address } = named;
  const { reading, isAll, wantAll } = useHoldings(named, info, ({ ids }) =>
    idsOnPage(ids, page, ROWS),
  );
  if (reading.state === 'listing') return <ReadingNote />;
  if (reading.state === 'failed') return <NotRead error={reading.error} />;
  const { list, outputs, unixTime, balance } = reading.holdings;
  if (list.ids.length === 0)
    return (
      <p class="reason" data-standing="said">
        This node says, and it is not checked: at ledger index {list.ledgerIndex}
        {saysEnded(info) && ', the last one of the network,'} no unspent output names this address.
      </p>
    );
  const count = list.ids.length;
  const read = list.ids.flatMap((id) => outputs.get(id) ?? []);
  const shown = idsOnPage(list.ids, page, ROWS);
  const rows = shown.flatMap((id) => outputs.get(id) ?? []);
  const tenures: ReadonlyMap<Tenure, readonly ListedOutput[]> = Map.groupBy(read, ({ output }) =>
    tenureOf(output, address, unixTime),
  );
  return (
    <>
      <section class="said balance" data-standing="said" aria-labelledby="balance-title">
        <p class="said-label">
          This node says. Not checked: a node can leave outputs out of a list.
        </p>
        <h2 id="balance-title" class="unseen">
          Balance
        </h2>
        {balance !== undefined ? (
          <BalanceParts balance={balance} tenures={tenures} info={info} />
        ) : isAll ? (
          <ReadingNote
            words={`Adding up: ${formatCount(read.length)} of ${plural(count, 'output')} read …`}
          />
        ) : (
          <p>
            <button type="button" onClick={wantAll}>
              Add up {plural(count, 'output')}
            </button>
          </p>
        )}
        <p class="hint">
          {plural(count, 'unspent output')} at ledger index {list.ledgerIndex}, judged at{' '}
          {formatTime(unixTime)} UTC{saysEnded(info) ? ', when the network ended' : ageOf(unixTime)}
          .
        </p>
        {balance !== undefined && <TokenList tokens={balance.tokens} info={info} />}
      </section>
      <section aria-labelledby="outputs-title" class="said" data-standing="said">
        <h2 id="outputs-title">What came, and is still here</h2>
        <p class="said-label">This node says. Not checked. The newest first.</p>
        <p class="hint">
          These outputs are unspent. What this address has spent is not listed: a node keeps spent
          outputs by milestone, not by address.
        </p>
        {read.length > 0 && (
          <button
            type="button"
            onClick={() => saveFile(`outputs-${bech32}.csv`, 'text/csv', outputsToCsv(read))}
          >
            Save {plural(read.length, 'output')} as CSV
          </button>
        )}
        {rows.length === shown.length ? (
          <AddressOutputs outputs={rows} address={address} unixTime={unixTime} info={info} />
        ) : (
          <ReadingNote />
        )}
        {shown.length === 0 && <NotChecked>there is no page {formatCount(page)}.</NotChecked>}
        <Pager
          page={page}
          size={ROWS}
          count={count}
          view={(page) => ({ name: 'address', address: bech32, page })}
        />
      </section>
    </>
  );
}

/** What an old ledger says of today is what it said then. */
function ageOf(timestamp: number): string {
  const now = Date.now() / 1000;
  return isLive({ timestamp }, now) ? '' : `, ${formatSince(now - timestamp)}`;
}
