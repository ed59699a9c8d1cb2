/**
 * The platform that the protocol needs beyond the language of 2023: UTF-8 and base64, which
 * browsers, Node, Bun, Deno and workerd have (https://encoding.spec.whatwg.org/), and faster
 * functions if there are any. Only the verifier (verifier.ts) also needs URLs, a time limit, and a
 * `fetch`.
 */
declare class TextEncoder {
  encode(text: string): Uint8Array<ArrayBuffer>;
}

declare class TextDecoder {
  constructor(label?: 'utf-8', options?: { fatal?: boolean; ignoreBOM?: boolean });
  decode(bytes: Uint8Array): string;
}

declare function atob(text: string): string;
declare function btoa(text: string): string;

/** https://tc39.es/proposal-arraybuffer-base64/ */
interface Uint8Array {
  toBase64?(): string;
  toHex?(): string;
}

interface Uint8ArrayConstructor {
  fromBase64?(text: string): Uint8Array<ArrayBuffer>;
  fromHex?(digits: string): Uint8Array<ArrayBuffer>;
}

/** https://url.spec.whatwg.org/ */
declare class URL {
  constructor(text: string);
  readonly origin: string;
  readonly pathname: string;
  readonly protocol: string;
  readonly hostname: string;
  readonly port: string;
  readonly username: string;
  readonly password: string;
}

/** https://dom.spec.whatwg.org/#interface-AbortController */
declare class AbortSignal {
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
}

declare class AbortController {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
}

declare function setTimeout(callback: () => void, milliseconds: number): unknown;
declare function clearTimeout(timer: unknown): void;

/** https://fetch.spec.whatwg.org/, as far as verifier/read-node-json.ts uses it. */
declare function fetch(
  url: string,
  init: { redirect: 'manual'; signal: AbortSignal },
): Promise<import('./verifier/read-node-json.ts').FetchedAnswer>;
