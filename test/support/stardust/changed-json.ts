/** Copies of JSON, each with one change: one for every byte in hex, and one for every number. */
import { fromHex, toHex } from '../../../src/stardust/encoding/bytes.ts';

export interface Spoilt {
  /** Where the change is, like `.milestone.signatures.0.publicKey byte 5`. */
  place: string;
  json: unknown;
}

export function* spoil(json: unknown, place = ''): Generator<Spoilt> {
  if (typeof json !== 'object' || json === null) {
    yield* spoilLeaf(json, place);
    return;
  }
  for (const [key, value] of Object.entries(json)) {
    for (const { place: inside, json: changed } of spoil(value, `${place}.${key}`)) {
      const whole = Array.isArray(json)
        ? json.with(Number(key), changed)
        : { ...json, [key]: changed };
      yield { place: inside, json: whole };
    }
  }
}

function* spoilLeaf(value: unknown, place: string): Generator<Spoilt> {
  if (typeof value === 'number') {
    yield { place, json: value + 1 };
  } else if (typeof value === 'boolean') {
    yield { place, json: !value };
  } else if (/^\d+$/.test(String(value))) {
    yield { place, json: `${BigInt(String(value)) + 1n}` };
  } else if (String(value).length % 2 === 1) {
    // an amount of a native token, which is hex but not of bytes, as it has no leading zeros
    yield { place, json: `0x${(BigInt(String(value)) + 1n).toString(16)}` };
  } else {
    const bytes = fromHex(String(value));
    for (const [i, byte] of bytes.entries()) {
      yield { place: `${place} byte ${i}`, json: toHex(bytes.with(i, byte ^ (1 << (i % 8)))) };
    }
  }
}
