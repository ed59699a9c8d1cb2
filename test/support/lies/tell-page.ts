/**
 * Tells lies to the explorer in a browser: one page, which is loaded again for each.
 */
import { expect } from 'vitest';
import type { DrivenBrowser, DrivenPage, Size } from '../browser/driven-page.ts';
import { readShown, type Shown } from '../browser/read-standing.ts';
import { countOf, fill, overhangOf } from '../browser/use-page.ts';
import type { Lie } from './lie.ts';
import { type LyingNode, MAX_ENDLESS_BYTES } from './lying-node.ts';

/** For a row; one takes less than a second where nothing else runs, and no row waits for it. */
const PATIENCE_MS = 60_000;

/** Between two looks at the page. */
const LOOK_MS = 60;

/** After which time passes for a page that waits. */
const LOOKS_HELD = 50;

/** Events go on for so long before the page is looked at. */
const EVENTS_MS = 6000;

type Question = Pick<Lie, 'page' | 'truth' | 'final'>;

export interface Teller {
  /** What the page shows if the node is honest. */
  honestly(question: Question): Promise<Shown>;
  /** Tells a lie, and expects nothing to be shown as proved that is not. */
  tell(lie: Lie): Promise<void>;
  /** Opens another page in place of one that hangs. */
  reopen(): Promise<void>;
}

export async function startTeller(
  browser: DrivenBrowser,
  node: LyingNode,
  size: Size,
): Promise<Teller> {
  const openPage = () => browser.open(`${node.url}/#/no/such/page`, size, { holdsLimits: true });
  let page = await openPage();
  const honest = new Map<string, Promise<Shown>>();

  async function show(fragment: string): Promise<void> {
    page.faults.splice(0);
    await page.evaluate(`localStorage.clear()`);
    await page.evaluate(`history.replaceState(null, '', ${JSON.stringify(fragment)})`);
    await page.reload();
  }

  /**
   * What is shown once the page has come to rest.
   *
   * @param isHeld whether it may wait for an answer that never comes
   */
  async function atRest(watch: (shown: Shown) => void = () => {}, isHeld = false): Promise<Shown> {
    const until = Date.now() + PATIENCE_MS;
    for (let quiet = 0, looks = 1; ; looks++) {
      // what it asked for since the last time waits again
      if (isHeld && looks % LOOKS_HELD === 0) await page.evaluate('passTime()');
      const shown = await readShown(page);
      watch(shown);
      quiet = shown.isLoading || node.told().busy > 0 ? 0 : quiet + 1;
      if (quiet === 3) return shown;
      if (Date.now() > until) throw new Error(`the page does not come to rest: ${shown.text}`);
      await pause(LOOK_MS);
    }
  }

  async function readHonest(question: Question): Promise<Shown> {
    node.lie(question.truth ?? []);
    await show(question.page);
    await ask(page, question);
    return atRest();
  }

  function honestly(question: Question): Promise<Shown> {
    const key = JSON.stringify([question.page, question.final]);
    const shown = honest.get(key) ?? readHonest(question);
    honest.set(key, shown);
    return shown;
  }

  return {
    honestly,
    async tell(lie) {
      const { by } = await honestly(lie);
      const proved = new Set<string>();
      const watch = (shown: Shown) => {
        for (const line of shown.by.proved) proved.add(line);
      };
      node.lie([...lie.rules, ...(lie.truth ?? [])], lie.upgrade);
      await show(lie.page);
      await ask(page, lie);
      if (lie.waits) {
        await expect.poll(() => lie.rules.some((rule) => node.told().used.has(rule))).toBe(true);
        await pause(500);
        watch(await readShown(page));
        await page.evaluate('passTime()');
      }
      if (lie.upgrade !== undefined) await pause(EVENTS_MS);
      const shown = await atRest(watch, lie.waits);
      const { errors, used, endlessBytes } = node.told();
      expect(errors).toEqual([]);
      expect(lie.rules.some((rule) => used.has(rule))).toBe(!lie.isUnheard);
      expect(endlessBytes).toBeLessThan(MAX_ENDLESS_BYTES);
      // what was not unfolded yet is a part of the line
      const isTrue = (line: string) =>
        by.proved.some((each) => each.startsWith(line)) || lie.alsoProved?.test(line);
      const all = JSON.stringify(shown.by, undefined, 1);
      expect(
        [...proved].filter((line) => !isTrue(line)),
        all,
      ).toEqual([]);
      expectWords(lie, shown, all);
      expect(page.faults.filter((fault) => !isOfNetwork(fault))).toEqual([]);
      expect(await overhangOf(page)).toBe(0);
    },
    async reopen() {
      void page.close().catch(() => {});
      node.lie([]);
      page = await openPage();
    },
  };
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** What the visitor does on the verify page. */
async function ask(page: DrivenPage, { page: fragment, final }: Question): Promise<void> {
  if (fragment !== '#/verify') return;
  const form = final === undefined ? 'article form.fields' : '#final-ledger form';
  // without info there is no form
  await expect
    .poll(async () => (await countOf(page, form)) + (await countOf(page, '.verdict')))
    .toBeGreaterThan(0);
  if (final !== undefined) {
    await fill(page, `${form} input[name=root]`, final.root);
    await fill(page, `${form} input[name=id]`, final.id);
  }
  await page.evaluate(`document.querySelector('${form}').requestSubmit()`);
}

function expectWords(lie: Lie, { text, content, by, marked }: Shown, all: string): void {
  expect(content.length, 'an empty page').toBeGreaterThan(30);
  if (lie.refuted) expect(by.refuted.join('\n'), all).toMatch(lie.refuted);
  if (lie.notChecked) expect(by['not-checked'].join('\n'), all).toMatch(lie.notChecked);
  if (lie.said) expect(by.said.join('\n'), all).toMatch(lie.said);
  if (lie.shows) expect(text).toMatch(lie.shows);
  if (lie.hides) expect(text).not.toMatch(lie.hides);
  if (lie.marks) expect(marked).toEqual(lie.marks);
}

/** What a browser reports of answers that a page deals with. */
function isOfNetwork(fault: string): boolean {
  return /Failed to load resource|net::ERR|WebSocket|NetworkError|can.t establish/.test(fault);
}
