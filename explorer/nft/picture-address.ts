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

const CID_PATH = /^[A-Za-z0-9]{20,100}(?:\/[^?#]*)?$/;

export function pictureSource(uri: string | undefined): PictureSource {
  if (uri === undefined) return { kind: 'none', reason: 'Its metadata names no picture.' };
  const url = URL.parse(uri.trim());
  if (url === null)
    return { kind: 'none', reason: 'Its metadata names no picture that can be loaded.' };
  if (url.protocol === 'https:') return { kind: 'https', url: url.href, host: url.host };
  if (url.protocol !== 'ipfs:')
    return {
      kind: 'none',
      reason: `Its metadata names a picture by ${url.protocol}, which is not loaded.`,
    };
  // not from the URL: a CID is case-sensitive, and hosts are not
  const path = uri
    .trim()
    .slice('ipfs:'.length)
    .replace(/^\/*(?:ipfs\/)?/, '');
  // as gatewayUrl decodes it: a browser resolves dots of either spelling
  const segments = path.split('/').map(decodeSafely);
  return CID_PATH.test(path) && !segments.some((each) => each === '.' || each === '..')
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
