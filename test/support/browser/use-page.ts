/**
 * What people do on the page, by scripts that run in it; and what can be seen of it.
 */
import { expect } from 'vitest';
import type { DrivenPage } from './driven-page.ts';

const at = (id: string) => `document.getElementById(${JSON.stringify(id)})`;

/** Waits until the text of an element matches. */
export async function untilText(page: DrivenPage, id: string, text: RegExp): Promise<void> {
  await expect.poll(() => page.evaluate(`${at(id)}.textContent`), { message: id }).toMatch(text);
}

/** Fills fields, by their IDs. */
export async function fill(page: DrivenPage, fields: Record<string, string>): Promise<void> {
  for (const [id, value] of Object.entries(fields))
    await page.evaluate(`void (${at(id)}.value = ${JSON.stringify(value)})`);
}

/** Sends a form, by its ID, once it does nothing any more. */
export async function send(page: DrivenPage, form: string): Promise<void> {
  const busy = `${at(form)}.querySelector('[aria-disabled]') !== null`;
  await expect.poll(() => page.evaluate(busy)).toBe(false);
  await page.evaluate(`void ${at(form)}.requestSubmit()`);
}

/** The lines of the verification on the page, each with whether it was found right. */
export async function checksOn(page: DrivenPage): Promise<{ tone: string; text: string }[]> {
  const checks = await page.evaluate(
    `[...${at('verify-checks')}.children].map(({ className: tone, textContent: text }) =>
      ({ tone, text }))`,
  );
  return checks as { tone: string; text: string }[];
}

/** How much wider than the screen the page is, in pixels. */
export async function overhangOf(page: DrivenPage): Promise<number> {
  return (await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  )) as number;
}

/** Where the focus is: an ID, or what the element says. */
export async function focusOf(page: DrivenPage): Promise<string> {
  const { id, text } = (await page.evaluate(
    `({ id: document.activeElement.id, text: document.activeElement.textContent })`,
  )) as { id: string; text: string };
  return id || text;
}

/** Whether people see where the focus is: it is outlined, and not out of the window. */
export async function isFocusSeen(page: DrivenPage): Promise<boolean> {
  return (await page.evaluate(`(() => {
    const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
    const { top, bottom } = document.activeElement.getBoundingClientRect();
    const isOutlined = outlineStyle === 'solid' && parseFloat(outlineWidth) >= 2;
    return isOutlined && top < innerHeight && bottom > 0;
  })()`)) as boolean;
}

/**
 * Notes from now on what screen readers announce: text that changes in live regions that were
 * there, and not hidden, before it changed.
 */
export async function noteAnnouncements(page: DrivenPage): Promise<void> {
  await page.evaluate(`void (globalThis.announced = {});
    for (const region of document.querySelectorAll('[aria-live="polite"], [role="status"]')) {
      if (!region.checkVisibility({ visibilityProperty: true })) continue;
      new MutationObserver(() => (announced[region.id] ??= []).push(region.textContent))
        .observe(region, { childList: true, characterData: true, subtree: true });
    }`);
}

/** Waits until a region has announced it. */
export async function untilAnnounced(
  page: DrivenPage,
  region: string,
  text: RegExp,
): Promise<void> {
  const announced = `(announced[${JSON.stringify(region)}] ?? []).at(-1) ?? ''`;
  await expect.poll(() => page.evaluate(announced), { message: region }).toMatch(text);
}
