/**
 * What a text in the search box can mean. 32 bytes in hex may be the ID of several things; which one,
 * only the ledger says.
 */
import { parseBech32Address } from '../src/stardust/bech32.ts';
import type { View } from './route.ts';

export type Recognised =
  | { kind: 'view'; view: View }
  /** 0x and 64 hex digits: an NFT, an alias, a block, a transaction or a milestone. */
  | { kind: 'ambiguous'; id: string }
  | { kind: 'nothing'; reason: string };

/** A uint32 in decimal digits. */
const MAX_INDEX = 0xffff_ffff;

export function recognise(typed: string): Recognised {
  const text = typed.trim();
  if (text === '') return { kind: 'nothing', reason: 'Nothing was typed.' };
  const digits = /^(?:0x)?(?<digits>[0-9a-f]+)$/i.exec(text)?.groups?.digits;
  if (digits !== undefined) {
    const id = `0x${digits.toLowerCase()}`;
    if (digits.length === 64) return { kind: 'ambiguous', id };
    if (digits.length === 68) return { kind: 'view', view: { name: 'output', id } };
    // the ID of a native token is that of its foundry
    if (digits.length === 76) return { kind: 'view', view: { name: 'foundry', id } };
  }
  // people write 17,339 and 17 339
  const number = text.replaceAll(/[,\s_']/g, '');
  if (/^\d{1,10}$/.test(number))
    return Number(number) <= MAX_INDEX
      ? { kind: 'view', view: { name: 'milestone', milestone: String(Number(number)) } }
      : { kind: 'nothing', reason: `Milestone indexes end at ${MAX_INDEX}.` };
  const parsed = parseBech32Address(text);
  if (parsed !== undefined)
    return { kind: 'view', view: { name: 'address', address: text.toLowerCase() } };
  return { kind: 'nothing', reason: describeFault(text) };
}

/** What is most likely wrong. */
function describeFault(text: string): string {
  const hex = /^0x(?<digits>[0-9a-f]*)$/i.exec(text)?.groups?.digits;
  if (hex !== undefined)
    return `This has ${hex.length} hex digits. IDs of NFTs, aliases, blocks, transactions and milestones have 64, IDs of outputs 68, IDs of foundries and tokens 76.`;
  if (/^[a-z]{1,10}1[0-9a-z]{20,}$/i.test(text))
    return 'This looks like an address, but its checksum is wrong: a character is missing or mistyped.';
  return 'This is neither an ID in hex, nor a milestone index, nor an address.';
}
