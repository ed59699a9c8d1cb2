/** Bytes of anybody, as a person can read them: JSON, text or hex. */
import { isVisible } from '../../client/words/amounts.ts';
import { parseBoundedJson } from '../../src/stardust/encoding/bounded-json.ts';
import { toHex } from '../../src/stardust/encoding/bytes.ts';

export interface ReadableData {
  form: 'JSON' | 'text' | 'hex';
  text: string;
}

/** Controls, other than line breaks and tabs, stand in no text that people write. */
const CONTROLS = /(?![\n\r\t])\p{Cc}/u;

/** Undefined of no bytes. */
export function readData(bytes: Uint8Array): ReadableData | undefined {
  if (bytes.length === 0) return undefined;
  const text = decodeText(bytes);
  if (text === undefined) return { form: 'hex', text: toHex(bytes) };
  const json = parseStructure(text);
  if (json === undefined) return { form: 'text', text };
  // a number of 20 digits, or a key that is there twice, would be lost
  const isLossless = withoutSpace(JSON.stringify(json)) === withoutSpace(text);
  return { form: 'JSON', text: isLossless ? JSON.stringify(json, undefined, 2) : text };
}

const withoutSpace = (text: string) => text.replaceAll(/\s/g, '');

/** Undefined where the bytes are no UTF-8, or no text. */
function decodeText(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return CONTROLS.test(text) || !isVisible(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

/** A number or a word is JSON too, and is better read as text. */
function parseStructure(text: string): object | undefined {
  try {
    const json = parseBoundedJson(text);
    return typeof json === 'object' && json !== null ? json : undefined;
  } catch {
    return undefined;
  }
}
