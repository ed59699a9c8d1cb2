/**
 * What the scripts need of wrangler.toml.
 *
 * Wrangler's own reader comes with all of wrangler, 300 MB of memory; of TOML this one knows the lines that are looked for: names of tables, and keys with a text
 * or a number. A test compares it with wrangler's.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const PROJECT = join(import.meta.dirname, '..', '..');

export interface WranglerConfig {
  /** Names the ledger's database on Cloudflare. */
  databaseName: string;
  /** Names its file here. */
  localDatabaseId: string;
  /** Names the namespace of the index here. */
  localNamespaceId: string;
  vars: Record<string, string>;
}

export function readWranglerConfig(path = join(PROJECT, 'wrangler.toml')): WranglerConfig {
  const tables = parseTables(readFileSync(path, 'utf8'));
  const bound = (kind: string, binding: string) => {
    const table = tables.find(({ name, values }) => name === kind && values.binding === binding);
    if (table === undefined)
      throw new Error(`${path} has no [[${kind}]] with binding = "${binding}"`);
    return table.values;
  };
  const database = bound('d1_databases', 'LEDGER');
  const namespace = bound('kv_namespaces', 'NFT_INDEX');
  return {
    databaseName: database.database_name ?? 'LEDGER',
    localDatabaseId: database.preview_database_id ?? database.database_id ?? 'LEDGER',
    localNamespaceId: namespace.preview_id ?? namespace.id ?? 'NFT_INDEX',
    vars: tables.find(({ name }) => name === 'vars')?.values ?? {},
  };
}

interface Table {
  name: string;
  values: Record<string, string>;
}

const HEADER = /^\s*\[{1,2}\s*(?<name>[\w.-]+)\s*\]{1,2}\s*(?:#.*)?$/;
const ENTRY =
  /^\s*(?<key>[\w-]+)\s*=\s*(?:(?<text>"(?:[^"\\]|\\.)*")|'(?<literal>[^']*)'|(?<number>\d+))\s*(?:#.*)?$/;

function parseTables(toml: string): Table[] {
  const tables: Table[] = [];
  for (const line of toml.split(/\r?\n/)) {
    const header = HEADER.exec(line)?.groups;
    if (header?.name !== undefined) tables.push({ name: header.name, values: {} });
    const entry = ENTRY.exec(line)?.groups;
    if (entry?.key === undefined) continue;
    const { key, text, literal, number } = entry;
    const table = tables.at(-1);
    if (table !== undefined)
      table.values[key] = text === undefined ? (literal ?? number ?? '') : String(JSON.parse(text));
  }
  return tables;
}
