/**
 * What a view is expected to look like: a picture of it is in test/browser/pictures. Fonts differ
 * from machine to machine, so both are compared at a coarse size: what is missing, moved or in other
 * colours is seen, and another font is not. UPDATE_PICTURES=1 writes them again, to be looked at.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { DrivenPage } from './driven-page.ts';

const FOLDER = join(import.meta.dirname, '../../browser/pictures');

/** Of the pictures that are compared. */
const COARSE = { width: 32, height: 24 };

/** Mean difference of the channels, of 255. */
const MAX_DIFFERENCE = 9;

/** Compares what is in the window. */
export async function expectPicture(page: DrivenPage, name: string): Promise<void> {
  const path = join(FOLDER, `${name}.jpg`);
  const seen = await page.screenshot({ type: 'jpeg', quality: 30 });
  if (process.env.UPDATE_PICTURES === '1') writeFileSync(path, seen);
  if (!existsSync(path)) throw new Error(`${path} is missing: UPDATE_PICTURES=1 makes it`);
  const both = [seen, readFileSync(path)].map((jpeg) => Buffer.from(jpeg).toString('base64'));
  const difference = await page.evaluate(
    `(${compare})(${JSON.stringify(both)}, ${JSON.stringify(COARSE)})`,
  );
  expect(difference, `${name} looks different`).toBeLessThan(MAX_DIFFERENCE);
}

/** Runs in the page, whose policy does not allow data URLs. */
const compare = `async (jpegs, { width, height }) => {
  const pixels = await Promise.all(jpegs.map(async (jpeg) => {
    const image = await createImageBitmap(new Blob([Uint8Array.fromBase64(jpeg)]));
    const canvas = Object.assign(document.createElement('canvas'), { width, height });
    const context = canvas.getContext('2d');
    context.imageSmoothingQuality = 'high';
    context.drawImage(image, 0, 0, width, height);
    return context.getImageData(0, 0, width, height).data;
  }));
  const [a, b] = pixels;
  return a.reduce((sum, value, i) => sum + Math.abs(value - b[i]), 0) / a.length;
}`;
