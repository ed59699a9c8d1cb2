/**
 * What people do on the explorer, by scripts that run in it; and what can be seen of it.
 */
import { expect } from 'vitest';
import type { DrivenPage } from './driven-page.ts';

const quote = (text: string) => JSON.stringify(text);

/** Opens a view by its fragment, such as `/nft/0x…`. */
export async function open(page: DrivenPage, fragment: string): Promise<void> {
  await page.evaluate(`void (location.hash = ${quote(fragment)})`);
}

/** Waits until the text of an element, by its selector, matches. */
export async function untilText(page: DrivenPage, selector: string, text: RegExp): Promise<void> {
  const read = `document.querySelector(${quote(selector)})?.textContent ?? ''`;
  await expect.poll(() => page.evaluate(read), { message: selector }).toMatch(text);
}

/** The number of elements with a selector. */
export async function countOf(page: DrivenPage, selector: string): Promise<number> {
  return Number(await page.evaluate(`document.querySelectorAll(${quote(selector)}).length`));
}

/** Waits until so many elements match. */
export async function untilCount(page: DrivenPage, selector: string, count: number): Promise<void> {
  await expect.poll(() => countOf(page, selector), { message: selector }).toBe(count);
}

/** Clicks the first element with a selector whose text matches. */
export async function click(page: DrivenPage, selector: string, text = ''): Promise<void> {
  const find = `[...document.querySelectorAll(${quote(selector)})]
    .find((each) => each.textContent.includes(${quote(text)}))`;
  await expect.poll(() => page.evaluate(`${find} !== undefined`), { message: text }).toBe(true);
  await page.evaluate(`void ${find}.dispatchEvent(
    new MouseEvent('click', { bubbles: true, cancelable: true }))`);
}

/** Types into a field, as far as its form notices. */
export async function fill(page: DrivenPage, selector: string, value: string): Promise<void> {
  await page.evaluate(`(() => {
    const field = document.querySelector(${quote(selector)});
    field.value = ${quote(value)};
    field.dispatchEvent(new Event('input', { bubbles: true }));
    field.dispatchEvent(new Event('change', { bubbles: true }));
  })()`);
}

/** Searches for a text by the box. */
export async function search(page: DrivenPage, text: string): Promise<void> {
  await fill(page, '#search', text);
  await page.evaluate(`void document.querySelector('form.search').requestSubmit()`);
}

/** The verdicts on the page, each with its tone and its sentence. */
export async function verdictsOn(
  page: DrivenPage,
  within: string,
): Promise<{ tone: string; text: string }[]> {
  const verdicts = await page.evaluate(
    `[...document.querySelectorAll(${quote(`${within} .verdict`)})].map((each) =>
      ({ tone: each.classList[1], text: each.lastElementChild.textContent }))`,
  );
  return verdicts as { tone: string; text: string }[];
}

/** How much wider than the screen the page is, in pixels. */
export async function overhangOf(page: DrivenPage): Promise<number> {
  return (await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  )) as number;
}

/** Where the focus is: the element's label, a field's ID, or what it says. */
export async function focusOf(page: DrivenPage): Promise<string> {
  return (await page.evaluate(`(() => {
    const focused = document.activeElement;
    const isField = ['INPUT', 'TEXTAREA'].includes(focused.tagName);
    const text = isField ? focused.id : focused.textContent.trim();
    return focused.getAttribute('aria-label') ?? text;
  })()`)) as string;
}

/** Whether people see where the focus is: it is outlined, and not out of the window. */
export async function isFocusSeen(page: DrivenPage): Promise<boolean> {
  return (await page.evaluate(`(() => {
    const focused = document.activeElement;
    const halo = focused.querySelector(':scope > .halo');
    const { outlineStyle, outlineWidth } = getComputedStyle(focused);
    const isOutlined = halo === null
      ? outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1
      : getComputedStyle(halo).stroke !== 'none';
    const { top, bottom } = focused.getBoundingClientRect();
    return isOutlined && top < innerHeight && bottom > 0;
  })()`)) as boolean;
}
