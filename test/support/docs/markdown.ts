/**
 * What other texts can refer to in a Markdown document: its sections, and where it links to.
 */

/** The anchors of a document: its headings by GitHub's rules, and explicit ones. */
export function anchorsOf(markdown: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading] of withoutCode(markdown).matchAll(/^#{1,6} +(.*?) *#* *$/gm)) {
    const slug = slugOf(heading!);
    let anchor = slug;
    for (let i = 1; anchors.has(anchor); i++) anchor = `${slug}-${i}`;
    anchors.add(anchor);
  }
  for (const [, id] of markdown.matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(id!);
  return anchors;
}

/**
 * GitHub's rule: the text of the heading in lower case, without all but letters, digits, `_`, `-`
 * and spaces, each space a `-`.
 */
export function slugOf(heading: string): string {
  return heading
    .replace(/!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-');
}

/** The targets of links and images that are not URLs, and the lines on which they are, from 1. */
export function linksOf(markdown: string): { line: number; target: string }[] {
  const text = withoutCode(markdown);
  const link = /\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)|^\[[^\]]+\]:[ \t]*(\S+)/gm;
  return Array.from(text.matchAll(link), (match) => ({
    line: text.slice(0, match.index).split('\n').length,
    target: (match[1] ?? match[2])!,
  })).filter(({ target }) => !/^[a-z][a-z+.-]*:/.test(target));
}

/** Fenced blocks of code are emptied; the number of lines stays. */
function withoutCode(markdown: string): string {
  return markdown.replace(/^ *(```+|~~~+)[^\n]*\n[\s\S]*?^ *\1 *$/gm, (block) =>
    block.replace(/[^\n]/g, ''),
  );
}
