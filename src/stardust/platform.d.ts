/**
 * All that the protocol needs of its platform beyond the language of 2023: UTF-8 and base64, which
 * browsers, Node, Deno and workerd have (https://encoding.spec.whatwg.org/), and what is faster if it
 * is there.
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
