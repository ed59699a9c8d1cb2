/**
 * Whether an answer had ended when workerd closed its connection. If so, the client's connection can
 * stay; if not, the client must see that it was broken off.
 */

const LENGTH = /\r\ncontent-length: *(\d{1,15})\r\n/i;

const CLOSES = /\r\nconnection: *close\r\n/i;

const LONGEST_HEAD = 8192;

/**
 * False also where nothing says so: of chunks, of HEAD, of HTTP/1.0, and where the client was told
 * that the connection ends.
 *
 * @param first bytes of the answer
 * @param bytes of the answer so far, and of nothing else
 */
export function isWholeAnswer(first: Buffer, bytes: number): boolean {
  const text = first.toString('latin1', 0, LONGEST_HEAD);
  if (!text.startsWith('HTTP/1.1 ')) return false;
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const head = text.slice(0, end + 2);
  const length = LENGTH.exec(head)?.[1];
  return length !== undefined && !CLOSES.test(head) && bytes === end + 4 + Number(length);
}
