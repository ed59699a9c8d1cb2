/**
 * What the explorer shows as proved, refuted, not checked or said: by the marks that its verdicts
 * and facts have.
 */
import type { DrivenPage } from './driven-page.ts';

type Standing = 'proved' | 'refuted' | 'not-checked' | 'said';

export interface Shown {
  /** All that can be read on the page, what is folded included, in one line. */
  text: string;
  /** The text of what is between the search box and the foot. */
  content: string;
  /** Sentences, and facts as "term: value", by their standing. */
  by: Record<Standing, string[]>;
  /** Places of blocks that are marked as faulty in the graph; as many rows of the table are. */
  marked: number[];
  /** Whether something is still on its way. */
  isLoading: boolean;
}

const READ = `(() => {
  for (const each of document.querySelectorAll('details')) each.open = true;
  const lineOf = (element) => element.innerText.trim().replaceAll(/\\s+/g, ' ');
  const by = { proved: [], refuted: [], 'not-checked': [], said: [] };
  const add = (standing, element) => {
    const rows = element.matches('dl') ? [...element.children] : [element];
    by[standing].push(...rows.map(lineOf).filter((line) => line !== ''));
  };
  for (const element of document.querySelectorAll('[data-standing]'))
    add(element.dataset.standing, element);
  // a tick is one, wherever it stands
  for (const element of document.querySelectorAll('.good:not([data-standing])'))
    add('proved', element);
  return JSON.stringify({
    text: lineOf(document.querySelector('#app')),
    content: [...(document.querySelector('main')?.children ?? [])]
      .filter((each) => !each.matches('search')).map(lineOf).join(' '),
    by,
    marked: [...document.querySelectorAll('svg .faulty')].map((each) => Number(each.dataset.place))
      .slice(0, document.querySelectorAll('tr.faulty').length),
    isLoading: document.querySelector('.loading, .now') !== null || globalThis.awaited > 0,
  });
})()`;

export async function readShown(page: DrivenPage): Promise<Shown> {
  return JSON.parse(String(await page.evaluate(READ)));
}
