/**
 * What a view is expected to look like: a picture of it is in test/browser/pictures. Fonts differ
 * from machine to machine, so both are compared at a coarse size, and the view must be nearer to its
 * own picture than to those of other views and to an empty page. UPDATE_PICTURES=1 writes them
 * again, to be looked at.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { DrivenPage } from './driven-page.ts';

const FOLDER = join(import.meta.dirname, '../../browser/pictures');

/** Of the pictures that are compared. */
const COARSE = { width: 160, height: 120 };

/**
 * The most that a view may differ from its picture, as a share of how much it differs from the most
 * similar of the others. Between two runs on one machine the share is 0, with another sans serif
 * (Liberation Sans, DejaVu Sans) up to 0.09.
 */
const MAX_SHARE = 0.5;

/** Mean differences of red, green and blue, of 255. */
interface Differences {
  own: number;
  /** By the name of the picture; `empty`: a page in the colour of the background. */
  others: Record<string, number>;
}

/** Compares what is in the window. @param name of the picture, whose last part is the screen */
export async function expectPicture(page: DrivenPage, name: string): Promise<void> {
  const path = join(FOLDER, `${name}.jpg`);
  const seen = await page.screenshot({ type: 'jpeg', quality: 30 });
  if (process.env.UPDATE_PICTURES === '1') writeFileSync(path, seen);
  if (!existsSync(path)) throw new Error(`${path} is missing: UPDATE_PICTURES=1 makes it`);
  const screen = name.slice(name.lastIndexOf('-'));
  const others = readdirSync(FOLDER).filter(
    (each) => each.endsWith(`${screen}.jpg`) && each !== `${name}.jpg`,
  );
  const pictures = Object.fromEntries(others.map((each) => [each, read(join(FOLDER, each))]));
  const views = { seen: toBase64(seen), own: read(path), others: pictures };
  const script = `(${compare})(${JSON.stringify(views)}, ${JSON.stringify(COARSE)})`;
  const { own, others: apart } = (await page.evaluate(script)) as Differences;
  const [nearest, least] = Object.entries(apart).reduce((a, b) => (b[1] < a[1] ? b : a));
  expect(own, `${name} looks different: ${nearest} differs by ${least}`).toBeLessThan(
    MAX_SHARE * least,
  );
}

const read = (path: string) => toBase64(readFileSync(path));
const toBase64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');

/** Runs in the page, whose policy does not allow data URLs. */
const compare = `async ({ seen, own, others }, { width, height }) => {
  const read = async (jpeg) => {
    const image = await createImageBitmap(new Blob([Uint8Array.fromBase64(jpeg)]));
    const canvas = Object.assign(document.createElement('canvas'), { width, height });
    const context = canvas.getContext('2d');
    context.imageSmoothingQuality = 'high';
    context.drawImage(image, 0, 0, width, height);
    const { data } = context.getImageData(0, 0, width, height);
    // without alpha, which never differs
    return data.filter((_, i) => i % 4 !== 3);
  };
  const view = await read(seen);
  const differ = (from) =>
    view.reduce((sum, value, i) => sum + Math.abs(value - from[i]), 0) / view.length;
  // the lower left corner is background on every page
  const background = view.slice((height - 1) * width * 3);
  const empty = view.map((_, i) => background[i % 3]);
  const apart = { empty: differ(empty) };
  for (const [name, jpeg] of Object.entries(others)) apart[name] = differ(await read(jpeg));
  return { own: differ(await read(own)), others: apart };
}`;
