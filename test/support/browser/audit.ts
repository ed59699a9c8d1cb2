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
 * A sentence for each element with which something is wrong, or of which axe cannot decide it. An
 * Error if axe did not look at enough to say anything.
 */
export async function audit(page: DrivenPage): Promise<string[]> {
  const json = await page.evaluate(`(async () => {
    if (globalThis.axe === undefined) { ${AXE} }
    return JSON.stringify(await axe.run(document));
  })()`);
  const { violations, incomplete, passes } = JSON.parse(json as string) as AxeResults;
  if (passes.length < 20) throw new Error(`axe tried only ${passes.length} rules`);
  return [...violations, ...incomplete].flatMap(({ id, help, nodes }) =>
    nodes
      .filter(({ html }) => !isUndecidable(id, html))
      .map(({ html, any }) => `${id}: ${help}: ${html} ${any[0]?.message ?? ''}`),
  );
}

/**
 * Axe never decides the contrast of text in SVG. The graph's numbers have the colours of the hint on
 * an NFT's picture, of which it does.
 */
function isUndecidable(id: string, html: string): boolean {
  return id === 'color-contrast' && html.startsWith('<text');
}
