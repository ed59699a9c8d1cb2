/**
 * Reads vector files as streams: JSON lines or one JSON document, plain or gzipped.
 */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';

/** Of a vector: a file, above all a device, may have no end. */
const MAX_CHARACTERS = 256 * 1024 * 1024;

/** A piece of a file that should be JSON, and the line on which it begins, from 1. */
export interface RawVector {
  line: number;
  json: string;
}

/**
 * The vectors of a file. Throws if it cannot be read to its end. A file is one document if its name
 * ends with .json or its first line is a lone brace.
 */
export async function* readVectors(path: string): AsyncGenerator<RawVector> {
  const document: string[] = [];
  const isDocument = /\.json(\.gz)?$/.test(path);
  let line = 0;
  let length = 0;
  for await (const json of splitLines(await openText(path))) {
    line++;
    if (isDocument || document.length > 0 || json.trim() === '{') {
      length += json.length + 1;
      requireRoom(length);
      document.push(json);
    } else if (json.trim() !== '') yield { line, json };
  }
  if (document.length > 0) yield { line: line - document.length + 1, json: document.join('\n') };
}

function requireRoom(characters: number): void {
  if (characters > MAX_CHARACTERS)
    throw new Error(`a vector of more than ${MAX_CHARACTERS} characters`);
}

async function* splitLines(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let rest: string[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    const [first, ...others] = chunk.split('\n');
    rest.push(first!);
    length = others.at(-1)?.length ?? length + first!.length;
    requireRoom(length);
    for (const other of others) {
      yield rest.join('');
      rest = [other];
    }
  }
  yield rest.join('');
}

async function openText(path: string): Promise<AsyncIterable<string>> {
  const gzipped = await isGzipped(path);
  const raw = createReadStream(path);
  if (!gzipped) return raw.setEncoding('utf8');
  const text = createGunzip();
  // pipe() does not forward errors
  raw.on('error', (error) => text.destroy(error));
  return raw.pipe(text).setEncoding('utf8');
}

/** By the first bytes, as names can be wrong. */
async function isGzipped(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(2), 0, 2, 0);
    return buffer[0] === 0x1f && buffer[1] === 0x8b;
  } finally {
    await file.close();
  }
}
