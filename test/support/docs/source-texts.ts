/**
 * The texts in a source file that people read: comments and strings.
 *
 * No parser of TypeScript is at hand (the compiler is native), so this is a small lexer. It knows
 * comments, strings, templates and regular expressions, which is what it needs to tell them apart.
 */

export interface SourceText {
  kind: 'comment' | 'string';
  /** Line on which it begins, from 1. */
  line: number;
  /** Comments: without markers, lines joined by a space, neighbouring `//` lines as one. */
  text: string;
}

/**
 * The texts of a TypeScript file. Throws an Error if a text does not end: the lexer lost its way.
 */
export function readTypeScript(source: string, file = 'source'): SourceText[] {
  const texts: SourceText[] = [];
  /** Brackets that are open; a `$` is the `${` of a template. */
  const open: string[] = [];
  let at = 0;
  let line = 1;
  /** The last token: decides whether a slash begins a regular expression. */
  let before = '';

  const skip = (length: number): string => {
    const skipped = source.slice(at, at + length);
    line += skipped.split('\n').length - 1;
    at += length;
    return skipped;
  };
  const skipTo = (end: RegExp, what: string): string => {
    end.lastIndex = at;
    const found = end.exec(source);
    if (found === null) throw new Error(`${file}:${line}: ${what} does not end`);
    return skip(found.index + found[0].length - at);
  };
  /** From after a backtick or the end of a `${}` to the next backtick or `${`. */
  const readTemplate = () => {
    const start = line;
    const text = skipTo(/(?<=(?<!\\)(?:\\\\)*)(?:`|\$\{)/g, 'a template');
    const end = text.endsWith('`') ? 1 : 2;
    texts.push({ kind: 'string', line: start, text: text.slice(0, -end) });
    if (end === 2) open.push('$');
    before = end === 2 ? '(' : 'a';
  };

  while (at < source.length) {
    const rest = source.slice(at, at + 2);
    const start = line;
    if (rest === '//') {
      const text = skip((/[^\n]*/.exec(source.slice(at)) ?? [''])[0].length);
      // `///` is for the compiler
      if (!text.startsWith('///')) addLineComment(texts, start, text.slice(2).trim());
    } else if (rest === '/*') {
      const body = skipTo(/\*\//g, 'a comment').slice(2, -2);
      const lines = body.split('\n').map((each) => each.replace(/^[\s*]+|\s+$/g, ''));
      texts.push({ kind: 'comment', line: start, text: lines.join(' ').trim() });
    } else if (source[at] === "'" || source[at] === '"') {
      const quote = skip(1);
      const text = skipTo(
        new RegExp(`(?:[^\\\\${quote}\\n]|\\\\[\\s\\S])*${quote}`, 'y'),
        'a string',
      );
      texts.push({ kind: 'string', line: start, text: text.slice(0, -1) });
      before = 'a';
    } else if (source[at] === '`') {
      skip(1);
      readTemplate();
    } else if (source[at] === '/' && beginsRegExp(before)) {
      skipTo(/\/(?:[^\\/[\n]|\\.|\[(?:[^\\\]\n]|\\.)*\])+\/\w*/y, 'a regular expression');
      before = 'a';
    } else if (/[\w$]/.test(source[at]!)) {
      before = skip(/[\w$]+/.exec(source.slice(at))![0].length);
    } else {
      const character = skip(1);
      if ('([{'.includes(character)) open.push(character);
      if (')]}'.includes(character) && open.pop() === '$') readTemplate();
      // `a!` is a value as `a` is
      else if (/\S/.test(character) && (character !== '!' || beginsRegExp(before)))
        before = character;
    }
  }
  if (open.length > 0) throw new Error(`${file}: ${open.length} brackets do not close`);
  return texts;
}

function addLineComment(texts: SourceText[], line: number, text: string): void {
  const last = texts.at(-1);
  if (last?.kind === 'comment' && lastLines.get(last) === line - 1) {
    last.text += ` ${text}`;
    lastLines.set(last, line);
    return;
  }
  const added: SourceText = { kind: 'comment', line, text };
  lastLines.set(added, line);
  texts.push(added);
}

/** The last line of a comment of `//` lines. */
const lastLines = new WeakMap<SourceText, number>();

/** After a value a slash divides; after an operator, a bracket or such a word it does not. */
function beginsRegExp(before: string): boolean {
  if (/^(?:return|case|typeof|in|of|await|yield)$/.test(before)) return true;
  return !/[\w$)\]]$/.test(before);
}

/** The comments of a file in which they begin with a marker, `#` or `--`, and end with the line. */
export function readLineComments(source: string, marker: '#' | '--'): SourceText[] {
  const texts: SourceText[] = [];
  const comment = new RegExp(`(?:^|\\s)${marker}(?!!)\\s?(.*)$`);
  source.split('\n').forEach((each, i) => {
    const found = comment.exec(each);
    if (found !== null) addLineComment(texts, i + 1, found[1]!.trim());
  });
  return texts;
}

/** The paragraphs of a document. */
export function readParagraphs(source: string): { line: number; text: string }[] {
  return Array.from(source.matchAll(/\S.*(?:\n.*\S.*)*/g), (paragraph) => ({
    line: source.slice(0, paragraph.index).split('\n').length,
    text: paragraph[0],
  }));
}
