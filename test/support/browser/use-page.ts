/**
 * What people do on the explorer, by scripts that run in it; and what can be seen of it.
 */
import { expect } from 'vitest';
import type { DrivenPage } from './driven-page.ts';

const quote = (text: string) => JSON.stringify(text);

/** Opens a view by its path, such as `/nft/0x…`, as links of before did: in the fragment. */
export async function open(page: DrivenPage, fragment: string): Promise<void> {
  await page.evaluate(`new Promise((resolve) => {
    const hash = '#' + ${quote(fragment)};
    if (location.hash === hash) return resolve();
    // after the page itself has heard of it
    addEventListener('hashchange', () => resolve(), { once: true });
    location.hash = hash;
  })`);
}

/** Waits until the text of an element, by its selector, matches. */
export async function untilText(page: DrivenPage, selector: string, text: RegExp): Promise<void> {
  const read = `document.querySelector(${quote(selector)})?.textContent ?? ''`;
  await expect.poll(() => page.evaluate(read), { message: selector }).toMatch(text);
}

/** The text of the first element with a selector as it is seen, in one line; empty without one. */
export async function readText(page: DrivenPage, selector: string): Promise<string> {
  return (await page.evaluate(
    `(document.querySelector(${quote(selector)})?.innerText ?? '').trim().replaceAll(/\\s+/g, ' ')`,
  )) as string;
}

/** For an expectation of {@link readText}, which is tried until it holds. */
export function textOf(page: DrivenPage, selector: string) {
  return expect.poll(() => readText(page, selector), { message: selector });
}

/** Waits until the title of the window matches: the page writes it a frame after the heading. */
export async function untilTitle(page: DrivenPage, title: string | RegExp): Promise<void> {
  await expect.poll(() => page.evaluate('document.title')).toMatch(title);
}

/** Terms and values of the first list of facts, for an expectation that is tried until it holds. */
export function factsOf(page: DrivenPage, within = 'main') {
  return expect.poll(() =>
    page.evaluate(`Object.fromEntries(
      [...(document.querySelector(${quote(within)} + ' .facts')?.children ?? [])].map((row) =>
        [...row.children].map((each) => each.innerText.trim().replaceAll(/\\s+/g, ' '))))`),
  );
}

/** The path of the view that is shown, as `#/nft/0x…`. */
export async function fragmentOf(page: DrivenPage): Promise<string> {
  return (await page.evaluate(`'#' + location.pathname + location.search`)) as string;
}

/** The number of elements with a selector. */
export async function countOf(page: DrivenPage, selector: string): Promise<number> {
  return Number(await page.evaluate(`document.querySelectorAll(${quote(selector)}).length`));
}

/** Waits until so many elements match. */
export async function untilCount(page: DrivenPage, selector: string, count: number): Promise<void> {
  await expect.poll(() => countOf(page, selector), { message: selector }).toBe(count);
}

/** Clicks the first element with a selector whose text matches, once it is there and enabled. */
export async function click(page: DrivenPage, selector: string, text = ''): Promise<void> {
  const clickFound = `(() => {
    const found = [...document.querySelectorAll(${quote(selector)})]
      .find((each) => each.textContent.includes(${quote(text)}) && !each.disabled);
    found?.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }));
    return found !== undefined;
  })()`;
  await expect.poll(() => page.evaluate(clickFound), { message: text }).toBe(true);
}

/** Types into a field once it is there, as far as its form notices. */
export async function fill(page: DrivenPage, selector: string, value: string): Promise<void> {
  await expect.poll(() => countOf(page, selector), { message: selector }).toBeGreaterThan(0);
  await page.evaluate(`(() => {
    const field = document.querySelector(${quote(selector)});
    field.value = ${quote(value)};
    field.dispatchEvent(new Event('input', { bubbles: true }));
    field.dispatchEvent(new Event('change', { bubbles: true }));
  })()`);
}

/** Opens everything that is folded. */
export async function unfold(page: DrivenPage): Promise<void> {
  await page.evaluate(`document.querySelectorAll('details').forEach((each) => (each.open = true))`);
}

/** Searches for a text by the box. */
export async function search(page: DrivenPage, text: string): Promise<void> {
  await fill(page, '#search', text);
  await page.evaluate(`void document.querySelector('form.search').requestSubmit()`);
}

/** How much wider than the window the page is, in pixels. */
export async function overhangOf(page: DrivenPage): Promise<number> {
  // on a phone the client width grows with what is in it
  return (await page.evaluate(`(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return scrollWidth - Math.min(clientWidth, ${page.width});
  })()`)) as number;
}

/**
 * Where the focus is: the element's label, a field's ID, or what it says; and whether people see
 * it: it is outlined, and not out of the window.
 */
export async function readFocus(page: DrivenPage): Promise<{ label: string; isSeen: boolean }> {
  return (await page.evaluate(`(() => {
    const focused = document.activeElement;
    const isField = ['INPUT', 'TEXTAREA'].includes(focused.tagName);
    const text = isField ? focused.id : focused.textContent.trim();
    const label = focused.getAttribute('aria-label') ?? text;
    const halo = focused.querySelector(':scope > .halo');
    const { outlineStyle, outlineWidth } = getComputedStyle(focused);
    const isOutlined = halo === null
      ? outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1
      : getComputedStyle(halo).stroke !== 'none';
    const { top, bottom } = focused.getBoundingClientRect();
    return { label, isSeen: isOutlined && top < innerHeight && bottom > 0 };
  })()`)) as { label: string; isSeen: boolean };
}
