/**
 * All that the protocol needs of its platform beyond the language: UTF-8. Browsers, Node, Deno and
 * workerd have both of these (https://encoding.spec.whatwg.org/).
 */
declare class TextEncoder {
  encode(text: string): Uint8Array<ArrayBuffer>;
}

declare class TextDecoder {
  constructor(label?: 'utf-8', options?: { fatal?: boolean; ignoreBOM?: boolean });
  decode(bytes: Uint8Array): string;
}
