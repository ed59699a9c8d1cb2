/**
 * Where the picture of an NFT would be loaded from. A URI of the metadata is anybody's text: only
 * `ipfs:` and `https:` are ever turned into an address.
 */

export interface Gateway {
  /** For people. */
  title: string;
  /** The path of a CID is appended. */
  base: string;
}

/** Public gateways of IPFS: none is asked unless the visitor chooses it. */
export const GATEWAYS: readonly Gateway[] = [
  { title: 'ipfs.io', base: 'https://ipfs.io/ipfs/' },
  { title: 'dweb.link', base: 'https://dweb.link/ipfs/' },
  { title: 'gateway.pinata.cloud', base: 'https://gateway.pinata.cloud/ipfs/' },
];

export type PictureSource =
  /** `path` is a CID and what follows it. */
  | { kind: 'ipfs'; path: string }
  | { kind: 'https'; url: string; host: string }
  | { kind: 'none'; reason: string };

const CID_PATH = /^[A-Za-z0-9]{20,100}(?:\/.*)?$/;

/** How a file is shown: by its media type, as its metadata has it (TIP-27). */
export type Show = 'picture' | 'video' | 'sound' | 'link';

const SHOWN: ReadonlyMap<string, Show> = new Map([
  ['image', 'picture'],
  ['video', 'video'],
  ['audio', 'sound'],
]);

/** @param type without one it is taken for a picture, as most are */
export function showOf(type: string | undefined): Show {
  if (type === undefined) return 'picture';
  return SHOWN.get(type.trim().toLowerCase().split('/', 1)[0]!) ?? 'link';
}

/** @param nftId 0x and 64 hex digits: TIP-27 puts the digits in place of `{id}` */
export function pictureSource(written: string | undefined, nftId: string): PictureSource {
  if (written === undefined) return { kind: 'none', reason: 'Its metadata names no picture.' };
  const wellFormed = written.toWellFormed().trim();
  const uri = wellFormed.replaceAll(/\{id\}|%7Bid%7D/gi, nftId.slice(2));
  const url = URL.parse(uri);
  if (url === null)
    return { kind: 'none', reason: 'Its metadata names no picture that can be loaded.' };
  if (url.protocol === 'https:') return { kind: 'https', url: url.href, host: url.host };
  if (url.protocol !== 'ipfs:')
    return {
      kind: 'none',
      reason: `Its metadata names a picture by ${url.protocol}, which is not loaded.`,
    };
  // not from the URL: a CID is case-sensitive, and hosts are not
  const whole = uri.slice('ipfs:'.length).replace(/^\/*(?:ipfs\/)?/, '');
  // what gateways are told beside the file, such as ?filename=a.png; a # within a name is its own
  const told = whole.search(/\?[\w-]+=/);
  const named = told === -1 ? whole : whole.slice(0, told);
  const path = /^[A-Za-z0-9]+(?=[?#])/.exec(named)?.[0] ?? named;
  // as gatewayUrl decodes it: a browser resolves dots of either spelling
  const segments = path.split('/').map(decodeSafely);
  if (segments.some((each) => each === '.' || each === '..'))
    return { kind: 'none', reason: 'Its metadata names a path by ipfs: that leads elsewhere.' };
  return CID_PATH.test(path)
    ? { kind: 'ipfs', path }
    : { kind: 'none', reason: 'Its metadata names something by ipfs: that is no content ID.' };
}

/** The URL of an IPFS path at a gateway. */
export function gatewayUrl({ base }: Gateway, path: string): string {
  return (
    base +
    path
      .split('/')
      .map((each) => encodeURIComponent(decodeSafely(each)))
      .join('/')
  );
}

function decodeSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // a stray percent sign
    return text;
  }
}
