/**
 * Files of SQL for D1 to execute.
 */
import { appendFileSync, writeFileSync } from 'node:fs';
import { quote } from '../../../src/ledger/core/database.ts';

/**
 * Characters of one statement, where D1 takes 100 KB. A row is shorter: the longest value in one is
 * 32 KB in base64.
 * https://developers.cloudflare.com/d1/platform/limits/
 */
const MAX_STATEMENT = 50_000;

export class SqlFile {
  readonly path: string;
  /** Characters so far. */
  length = 0;

  /** Begins an empty file. */
  constructor(path: string) {
    this.path = path;
    writeFileSync(path, '');
  }

  add(...statements: readonly string[]): void {
    const text = statements.map((statement) => `${statement.trim()};\n`).join('');
    appendFileSync(this.path, text);
    this.length += text.length;
  }

  /**
   * Adds rows of a table. They replace rows with the same keys, so the file can be executed twice.
   */
  addRows(table: string, rows: readonly Record<string, unknown>[]): void {
    if (rows[0] === undefined) return;
    const start = `INSERT OR REPLACE INTO ${table} (${Object.keys(rows[0]).join()}) VALUES `;
    let values: string[] = [];
    let length = start.length;
    for (const row of rows) {
      const text = `(${Object.values(row).map(literal).join()})`;
      if (values.length > 0 && length + text.length + 1 > MAX_STATEMENT) {
        this.add(start + values.join());
        values = [];
        length = start.length;
      }
      values.push(text);
      length += text.length + 1;
    }
    this.add(start + values.join());
  }
}

function literal(value: unknown): string {
  if (value === null || typeof value === 'number') return String(value);
  if (typeof value === 'string') return quote(value);
  if (value instanceof Uint8Array) return `X'${value.toHex()}'`;
  throw new TypeError(`no SQL literal for a ${typeof value}`);
}
