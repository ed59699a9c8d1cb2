/**
 * Compresses answers for clients that accept gzip (RFC 9110, 8.4 and 12.5.3). What is kept of an
 * answer tells the two forms apart by `Vary`; the compressed form has a weak ETag, as those of nginx,
 * and If-None-Match compares weakly, so either form has 304.
 */
import { gzip } from 'node:zlib';
import type { AnswerHead } from './answer-reader.ts';

/** Below, a packet is saved at best. */
const MIN_BYTES = 1024;

/** The whole answer is held until it is compressed. */
const MAX_BYTES = 8 * 1024 * 1024;

/** Answers that are being compressed. Others are sent as they are. */
const MAX_AT_ONCE = 4;

/** 1 is fastest, 9 smallest. */
const LEVEL = 4;

const COMPRESSIBLE = /^(?:text\/|application\/(?:json|javascript|manifest\+json|wasm)|image\/svg)/;

export interface Compression {
  /** Whether it has a place; if so, `end` must be called. */
  begin(): boolean;
  end(): void;
}

export function createCompression(): Compression {
  let running = 0;
  return {
    begin() {
      if (running === MAX_AT_ONCE) return false;
      running += 1;
      return true;
    },
    end() {
      running -= 1;
    },
  };
}

export function isCompressible({ status, type, length, isEncoded, mayTransform }: AnswerHead) {
  if (status !== 200 || isEncoded || !mayTransform || length === undefined) return false;
  return length >= MIN_BYTES && length <= MAX_BYTES && COMPRESSIBLE.test(type);
}

export function compress(body: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    gzip(body, { level: LEVEL }, (error, bytes) => (error ? reject(error) : resolve(bytes)));
  });
}

/** Header lines of an answer by which caches tell its forms apart. */
export function formLines({ etag, vary }: AnswerHead, isCompressed: boolean): string {
  const all = vary === undefined ? 'Accept-Encoding' : `${vary}, Accept-Encoding`;
  let lines = `Vary: ${all}\r\n`;
  if (isCompressed) lines += 'Content-Encoding: gzip\r\n';
  if (etag !== undefined)
    lines += `ETag: ${isCompressed && !etag.startsWith('W/') ? 'W/' : ''}${etag}\r\n`;
  return lines;
}
