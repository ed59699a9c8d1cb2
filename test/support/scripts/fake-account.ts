/**
 * An account at Cloudflare in memory: what wrangler does to it. It may fail at any point, before or
 * after something was done.
 */
import { SqliteDatabase } from '../../../scripts/lib/wrangler/sqlite-database.ts';

export interface FakeVersion {
  id: string;
  tag: string | undefined;
  vars: Record<string, string>;
  secrets: Record<string, string>;
  /** IDs of the stores that it is bound to. */
  namespaceId: string;
  databaseId: string;
}

export interface FakeWorker {
  versions: FakeVersion[];
  /** Whether it has its cron trigger and its URL, which come after the upload. */
  hasTriggers: boolean;
  /** Its custom domain. */
  domain: string | undefined;
}

export class FakeAccount {
  isLoggedIn = true;
  /** By title: ID and entries. */
  readonly namespaces = new Map<string, { id: string; entries: Map<string, string> }>();
  /** By name. */
  readonly databases = new Map<string, { id: string; database: SqliteDatabase }>();
  readonly workers = new Map<string, FakeWorker>();
  /** The arguments of each call of wrangler, without paths. */
  readonly calls: string[] = [];
  /** Points at which it could have failed so far. */
  points = 0;
  /** Fails at this point. */
  failAt = Number.POSITIVE_INFINITY;
  #ids = 0;

  /** Between any two effects. */
  point(): void {
    if (this.points++ === this.failAt) throw new Error('no connection');
  }

  newId(): string {
    return `id-${++this.#ids}`;
  }

  createNamespace(title: string): string {
    if (this.namespaces.has(title))
      throw new Error('a namespace with this account ID and title already exists [code: 10014]');
    const id = this.newId();
    this.namespaces.set(title, { id, entries: new Map() });
    return id;
  }

  /** @param path its file on this machine */
  createDatabase(name: string, path = ':memory:'): string {
    if (this.databases.has(name)) throw new Error('A database with that name already exists');
    const id = this.newId();
    this.databases.set(name, { id, database: new SqliteDatabase(path) });
    return id;
  }

  upload(name: string, version: FakeVersion): void {
    this.point();
    const worker = this.workers.get(name) ?? {
      versions: [],
      hasTriggers: false,
      domain: undefined,
    };
    this.workers.set(name, worker);
    worker.versions.push(version);
    this.point();
  }

  setTriggers(name: string, domain: string | undefined): void {
    this.point();
    const worker = this.workers.get(name)!;
    worker.hasTriggers = true;
    worker.domain = domain ?? worker.domain;
    this.point();
  }
}

export function currentVersion(account: FakeAccount, name: string): FakeVersion | undefined {
  return account.workers.get(name)?.versions.at(-1);
}
