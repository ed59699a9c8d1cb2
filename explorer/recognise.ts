/**
 * What a text in the search box can mean: an ID in hex, a milestone index, an address, a DID, or a
 * link of this or another explorer that names one of them. 32 bytes in hex may be the ID of several
 * things; which one, only the ledger says.
 */
import { parseBech32Address } from '../src/stardust/bech32.ts';
import { fromHex } from '../src/stardust/encoding/bytes.ts';
import { type Address, AddressType } from '../src/stardust/wire/address.ts';
import { parseRoute, type View } from './route.ts';

export type Recognised =
  | { kind: 'view'; view: View }
  /** 0x and 64 hex digits: an NFT, an alias, a block, a transaction, a milestone or an address. */
  | { kind: 'ambiguous'; id: string }
  /** The bytes of an address: its text needs the prefix of the network. */
  | { kind: 'address'; address: Address }
  | { kind: 'nothing'; reason: string };

/** A uint32 in decimal digits. */
const MAX_INDEX = 0xffff_ffff;

/** What people copy along with an ID: quotes, brackets, the end of a sentence. */
const AROUND = /[\s"'`“”„‘’«»<>()[\]{}]/u;
const BEHIND = /[\s"'`“”„‘’«»<>()[\]{}.,;:]/u;

function withoutAround(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && AROUND.test(text[start]!)) start++;
  while (end > start && BEHIND.test(text[end - 1]!)) end--;
  return text.slice(start, end);
}

export function recognise(typed: string): Recognised {
  // characters that nobody sees come with text of web pages
  const text = withoutAround(typed.replaceAll(/\p{Cf}/gu, ''));
  if (text === '') return { kind: 'nothing', reason: 'Nothing was typed.' };
  const did = /^did:iota:(?:[a-z0-9]{1,20}:)?(?<id>0x[0-9a-f]{64})(?:[/?#].*)?$/i.exec(text);
  if (did?.groups !== undefined) return ofView({ name: 'alias', id: did.groups.id!.toLowerCase() });
  return (text.includes('/') && recogniseLink(text)) || recogniseName(text);
}

const ofView = (view: View): Recognised => ({ kind: 'view', view });

/** The words before an ID in the links of explorers, wallets, marketplaces and nodes. */
const KINDS = new Map<string, 'nft' | 'alias' | 'block' | 'transaction' | 'milestone'>([
  ['nft', 'nft'],
  ['nfts', 'nft'],
  ['alias', 'alias'],
  ['block', 'block'],
  ['blocks', 'block'],
  ['message', 'block'],
  ['transaction', 'transaction'],
  ['transactions', 'transaction'],
  ['tx', 'transaction'],
  ['milestone', 'milestone'],
  ['milestones', 'milestone'],
  ['by-index', 'milestone'],
]);

/** What the last part of a link means that means something. Undefined if the text is no link. */
function recogniseLink(text: string): Recognised | undefined {
  const url = /^[a-z][a-z0-9+.-]*:/i.test(text) ? URL.parse(text) : URL.parse(`https://${text}`);
  if (text.startsWith('#/') || url?.hash.startsWith('#/')) {
    const view = parseRoute(url === null || text.startsWith('#/') ? text : url.hash);
    if (view.name === 'search') return recognise(view.text);
    if (view.name !== 'unknown' && view.name !== 'home') return ofView(view);
  }
  if (url === null) return undefined;
  const parts = [...url.pathname.split('/'), ...url.searchParams.values()].filter(Boolean);
  for (const [place, part] of [...parts.entries()].reverse()) {
    const kind = KINDS.get(parts[place - 1]?.toLowerCase() ?? '');
    // a number may be anything, such as a page of a list
    if (/^\d+$/.test(part) && kind !== 'milestone') continue;
    const meaning = part.startsWith('did:') ? recognise(part) : recogniseName(part);
    if (meaning.kind === 'ambiguous' && kind !== undefined)
      return ofView(
        kind === 'milestone'
          ? { name: kind, milestone: meaning.id }
          : { name: kind, id: meaning.id },
      );
    if (meaning.kind !== 'nothing') return meaning;
  }
  return {
    kind: 'nothing',
    reason: 'This link names no ID, no address and no milestone that can be searched.',
  };
}

function recogniseName(spaced: string): Recognised {
  // IDs are broken into lines where they are copied from
  const text = spaced.replaceAll(/\s/g, '');
  const digits = /^(?:0x)?(?<digits>[0-9a-f]+)$/i.exec(text)?.groups?.digits;
  if (digits !== undefined) {
    const id = `0x${digits.toLowerCase()}`;
    if (digits.length === 64) return { kind: 'ambiguous', id };
    const address = digits.length === 66 ? addressOf(id) : undefined;
    if (address !== undefined) return { kind: 'address', address };
    if (digits.length === 68) return ofView({ name: 'output', id });
    // the ID of a native token is that of its foundry
    if (digits.length === 76) return ofView({ name: 'foundry', id });
  }
  // people write 17,339 and 17 339
  const number = text.replaceAll(/[,_']/g, '');
  if (/^\d{1,10}$/.test(number))
    return Number(number) <= MAX_INDEX
      ? ofView({ name: 'milestone', milestone: String(Number(number)) })
      : { kind: 'nothing', reason: `Milestone indexes end at ${MAX_INDEX}.` };
  if (parseBech32Address(text) !== undefined)
    return ofView({ name: 'address', address: text.toLowerCase() });
  return { kind: 'nothing', reason: describeFault(text) };
}

/** An address as the ledger has it: its type, and 32 bytes. */
function addressOf(hex: string): Address | undefined {
  const [type, id] = [Number.parseInt(hex.slice(2, 4), 16), fromHex(`0x${hex.slice(4)}`)];
  if (type === AddressType.Ed25519) return { type, id };
  return type === AddressType.Alias || type === AddressType.Nft ? { type, id } : undefined;
}

/** What is most likely wrong. */
function describeFault(text: string): string {
  const hex = /^0x(?<digits>[0-9a-f]*)$/i.exec(text)?.groups?.digits;
  if (hex !== undefined)
    return `This has ${hex.length} hex digits. IDs of NFTs, aliases, blocks, transactions and milestones have 64, addresses 64 or 66, IDs of outputs 68, IDs of foundries and tokens 76.`;
  if (text.includes('…') || text.includes('...'))
    return 'This is a shortened ID: the middle is missing. Copy the whole ID.';
  if (/^[a-z]{1,10}1[0-9a-z]{20,}$/i.test(text))
    return 'This looks like an address, but its checksum is wrong: a character is missing or mistyped.';
  return 'This is neither an ID in hex, nor a milestone index, nor an address.';
}
