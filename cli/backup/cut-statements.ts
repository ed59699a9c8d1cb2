/**
 * Splits long statements of a `wrangler d1 export`, so that D1 can execute it. D1 refuses
 * statements of more than 100,000 bytes (https://developers.cloudflare.com/d1/platform/limits/),
 * but exports each row as one statement. A pack of a few hundred blocks is longer.
 *
 * A row that is too long is inserted with empty texts, to which the texts are appended in pieces.
 * The first column of all our tables with such rows, and those columns that are no texts, are the
 * row's alone: the primary key is among them.
 */

/** Bytes of one statement. */
export const MAX_STATEMENT_BYTES = 100_000;

/** Bytes of SQL around a piece of a text, at most. */
const ROOM_BYTES = 1_000;

const INSERT =
  /^INSERT INTO "(?<table>\w+)" \((?<columns>"\w+"(?:,"\w+")*)\) VALUES\((?<rest>.*)\);$/s;

/** A text, whose quotes are doubled, or anything without one: a number, NULL. */
const VALUE = /'(?:[^']|'')*'|[^',]+/y;

/**
 * @param line of the export. Statements of several lines, which define tables, are short.
 * @param most bytes of a statement
 * @returns statements that do the same. Throws an Error for a line that is too long and no INSERT.
 */
export function* cutStatement(line: string, most = MAX_STATEMENT_BYTES): Generator<string> {
  if (Buffer.byteLength(line) <= most) {
    yield line;
    return;
  }
  const insert = readInsert(line);
  if (insert === undefined)
    throw new Error(`a statement of ${line.length} characters is no INSERT: ${line.slice(0, 80)}`);
  const { table, row } = insert;
  const names = [...row.keys()];
  const values = [...row.values()];
  // a quarter: a character may take three bytes, or be a quote, which is doubled
  const piece = Math.floor((most - ROOM_BYTES) / 4);
  const isLong = (value: string) => value.length > piece / names.length;
  const kept = values.map((value, i) => (i > 0 && isLong(value) ? "''" : value));
  yield `INSERT INTO "${table}" (${names.join(',')}) VALUES(${kept.join(',')});`;
  const where = names
    .map((name, i) => `${name} IS ${values[i]}`)
    .filter((_, i) => i === 0 || !values[i]!.startsWith("'"))
    .join(' AND ');
  for (const [i, value] of values.entries()) {
    if (kept[i] === value) continue;
    if (!value.startsWith("'")) throw new Error(`a long value of ${table} is no text`);
    for (const part of cutText(value.slice(1, -1).replaceAll("''", "'"), piece)) {
      const text = part.replaceAll("'", "''");
      yield `UPDATE "${table}" SET ${names[i]} = ${names[i]} || '${text}' ` + `WHERE ${where};`;
    }
  }
}

/** The table of an INSERT, and its values as SQL, by quoted columns; undefined for other lines. */
export function readInsert(line: string): { table: string; row: Map<string, string> } | undefined {
  const { table, columns, rest } = INSERT.exec(line)?.groups ?? {};
  const names = columns?.split(',') ?? [];
  const values = rest === undefined ? undefined : readValues(rest);
  if (table === undefined || values?.length !== names.length) return undefined;
  return { table, row: new Map(names.map((name, i) => [name, values[i]!])) };
}

function readValues(rest: string): string[] | undefined {
  const values: string[] = [];
  for (let at = 0; at <= rest.length; at = VALUE.lastIndex + 1) {
    VALUE.lastIndex = at;
    const value = VALUE.exec(rest)?.[0];
    const next = rest[VALUE.lastIndex];
    if (value === undefined || (next !== undefined && next !== ',')) return undefined;
    values.push(value);
    if (next === undefined) return values;
  }
  return undefined;
}

/** Pairs of surrogates stay together. */
function* cutText(text: string, length: number): Generator<string> {
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + length, text.length);
    if (/[\ud800-\udbff]/.test(text[end - 1]!)) end -= 1;
    yield text.slice(at, end);
    at = end;
  }
}
