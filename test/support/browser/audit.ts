/**
 * What axe-core finds on the page as it is now: all of its rules but the experimental ones, those
 * of best practice too (https://dequeuniversity.com/rules/axe/).
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { DrivenPage } from './driven-page.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * Audits the page in its colours, then with the rules of colour in the other ones: the style sheet
 * has both by `light-dark()`, which follows `color-scheme`. What was found on a page that changed
 * meanwhile says nothing of either: it is audited again, until a minute is over.
 */
const RUN = `(async () => {
  const root = document.documentElement;
  let hasChanged;
  const changes = new MutationObserver(() => {
    hasChanged = true;
  });
  changes.observe(document.body, { childList: true, subtree: true });
  const end = Date.now() + 60_000;
  const background = () => getComputedStyle(document.body).backgroundColor;
  const before = background();
  let own;
  do {
    hasChanged = false;
    own = await axe.run(document);
  } while (hasChanged && Date.now() < end);
  const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
  root.style.colorScheme = isDark ? 'light' : 'dark';
  const others = background();
  const other = await axe.run(document, { runOnly: ['color-contrast', 'link-in-text-block'] });
  root.style.colorScheme = '';
  return JSON.stringify({ audits: [own, other], hasBoth: before !== others });
})()`;

/**
 * A sentence for each element with which something is wrong, or of which axe cannot decide it. An
 * Error if axe did not look at enough to say anything.
 */
export async function audit(page: DrivenPage): Promise<string[]> {
  if ((await page.evaluate('globalThis.axe === undefined')) === true)
    await page.evaluate(`void (() => { ${AXE} })()`);
  const { audits, hasBoth } = JSON.parse(String(await page.evaluate(RUN))) as {
    audits: [own: AxeResults, other: AxeResults];
    hasBoth: boolean;
  };
  const [own, other] = audits.map(({ passes }) => passes.length) as [number, number];
  if (own < 20 || other < 1) throw new Error(`axe tried only ${own} and ${other} rules`);
  if (!hasBoth) throw new Error('the colours did not change');
  return audits.flatMap(({ violations, incomplete }) =>
    [...violations, ...incomplete].flatMap(({ id, help, nodes }) =>
      nodes
        .filter(({ html }) => !isUndecidable(id, html))
        .map(({ html, any }) => `${id}: ${help}: ${html} ${any[0]?.message ?? ''}`),
    ),
  );
}

/**
 * Axe never decides the contrast of text in SVG. The graph's numbers have the colours of the hint on
 * an NFT's picture, of which it does.
 */
function isUndecidable(id: string, html: string): boolean {
  return id === 'color-contrast' && html.startsWith('<text');
}
