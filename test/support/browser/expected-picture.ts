/**
 * What a view is expected to look like: a picture of it lies in test/browser/pictures. Fonts differ
 * from machine to machine, so both are compared at a coarse size: what is missing, moved or in other
 * colours is seen, and another font is not. UPDATE_PICTURES=1 writes them anew, to be looked at.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const FOLDER = join(import.meta.dirname, '../../browser/pictures');

/** Of the pictures that are compared. */
const COARSE = { width: 32, height: 24 };

/** Mean difference of the channels, of 255. */
const MAX_DIFFERENCE = 9;

/** Compares what is in the window. */
export async function expectPicture(page: Page, name: string): Promise<void> {
  const path = join(FOLDER, `${name}.jpg`);
  const seen = await page.screenshot({ type: 'jpeg', quality: 30, scale: 'css' });
  if (process.env.UPDATE_PICTURES === '1') {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, seen);
  }
  if (!existsSync(path)) throw new Error(`${path} is missing: UPDATE_PICTURES=1 makes it`);
  const blank = await page.context().newPage();
  try {
    const difference = await blank.evaluate(
      `(${compare})(${JSON.stringify([seen, readFileSync(path)].map(toDataUrl))}, ${JSON.stringify(COARSE)})`,
    );
    expect(difference, `${name} looks different`).toBeLessThan(MAX_DIFFERENCE);
  } finally {
    await blank.close();
  }
}

function toDataUrl(jpeg: Buffer): string {
  return `data:image/jpeg;base64,${jpeg.toString('base64')}`;
}

/** Runs in the browser. */
const compare = `async (urls, { width, height }) => {
  const pixels = await Promise.all(urls.map(async (src) => {
    const image = Object.assign(new Image(), { src });
    await image.decode();
    const canvas = Object.assign(document.createElement('canvas'), { width, height });
    const context = canvas.getContext('2d');
    context.imageSmoothingQuality = 'high';
    context.drawImage(image, 0, 0, width, height);
    return context.getImageData(0, 0, width, height).data;
  }));
  const [a, b] = pixels;
  return a.reduce((sum, value, i) => sum + Math.abs(value - b[i]), 0) / a.length;
}`;
