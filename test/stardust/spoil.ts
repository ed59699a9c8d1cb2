/** JSON with one byte changed: of a hex string, a number of text, or a number. */
import { fromHex, toHex } from '../../src/stardust/bytes.ts';

export interface Spoilt {
  /** Where the change is, like `.milestone.signatures.0.publicKey byte 5`. */
  place: string;
  json: unknown;
}

interface Change {
  place: string;
  value: string | number;
}

/** Every value of the JSON with every one of its bytes changed, each by itself. */
export function* spoil(json: unknown): Generator<Spoilt> {
  const leaves: string[] = [];
  JSON.stringify(json, (_, value: unknown) => {
    if (typeof value !== 'object') leaves.push(String(value));
    return value;
  });
  for (const position of leaves.keys()) {
    for (const { place, value } of changesAt(json, position)) {
      yield { place, json: withLeaf(json, position, value).json };
    }
  }
}

function changesAt(json: unknown, position: number): Change[] {
  const { old, path } = withLeaf(json, position, '');
  if (typeof old === 'number') return [{ place: path, value: old + 1 }];
  if (typeof old !== 'string') throw new TypeError(`${path} is neither text nor number`);
  if (/^\d+$/.test(old)) return [{ place: path, value: `${BigInt(old) + 1n}` }];
  const bytes = fromHex(old);
  return Array.from(bytes, (byte, i) => {
    const changed = bytes.with(i, byte ^ (1 << (i % 8)));
    return { place: `${path} byte ${i}`, value: toHex(changed) };
  });
}
