/** What a phone reads from the QR code of a page, by the reader of the same library. */
import decodeQR from 'qr/decode.js';
import type { DrivenPage } from './driven-page.ts';

/** Of a module, in pixels. */
const SCALE = 4;

/** Throws an Error where the page has no QR code that can be read. */
export async function readQrCode(page: DrivenPage): Promise<string> {
  const { size, path } = (await page.evaluate(`(() => {
    const code = document.querySelector('.qr');
    return { size: code.viewBox.baseVal.width, path: code.firstChild.getAttribute('d') };
  })()`)) as { size: number; path: string };
  const width = size * SCALE;
  const data = new Uint8Array(width * width * 4).fill(255);
  for (const [, x, y] of path.matchAll(/M(\d+) (\d+)h1v1h-1z/g))
    for (let i = 0; i < SCALE * SCALE; i++) {
      const [column, row] = [
        Number(x) * SCALE + (i % SCALE),
        Number(y) * SCALE + Math.floor(i / SCALE),
      ];
      data.fill(0, 4 * (row * width + column), 4 * (row * width + column) + 3);
    }
  return decodeQR({ width, height: width, data });
}
