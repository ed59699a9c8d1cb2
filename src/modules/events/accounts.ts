/**
 * Usage of the broker's clients, and the one rule for all limits that they share: if all together
 * use too much, the address that uses most, in the IPv6 site that does, loses the client that uses
 * most. So a stranger uses at most what nobody else wants.
 */
import { type ClientPath, clientPath, largestHolder } from '../../platform/client-path.ts';

export const SHARED_LIMITS = {
  /**
   * Each takes 80 to 110 KB of workerd's memory, and one of the object's 10,000 timers until CONNECT;
   * `serve` lets in fewer (cli/serve/README.md).
   */
  connections: 9_900,
  /** Subscriptions: each takes some 330 bytes of the object's 128 MB, and a connection 3 KB. */
  topics: 100_000,
  /** Bytes of packets that wait for their turn, or are not whole. */
  held: 16_000_000,
} as const;

/**
 * workerd keeps what it sends until the client reads it or the connection breaks, also after a
 * close, and does not say how much that is. A client that reads goes at once when it is closed. So
 * after each BYTES_BETWEEN_CHECKS the largest clients of the site that was sent most, with
 * CHECKED_BYTES together, are told to connect again. A site whose closed connections stay does not
 * read: all its clients are closed, and later ones once they were sent what the kernel holds.
 */
const BYTES_BETWEEN_CHECKS = 64_000_000;
const CHECKED_BYTES = 4_000_000;
const KERNEL_BYTES = 64_000;

export type Share = keyof typeof SHARED_LIMITS;

/** `sent`: bytes since the client connected. */
export type Usage = Record<Share | 'sent', number>;

export interface Holder {
  /** Key of the client's address (http/access/client-address.ts). */
  readonly address: string;
  readonly usage: Usage;
  /** Unix milliseconds when its last message came. */
  readonly seen: number;
}

interface Account<Client> {
  readonly client: ClientPath;
  readonly clients: Set<Client>;
  readonly usage: Usage;
  readonly site: Site<Client>;
  /** Closed connections that have not gone, and the bytes that were sent on them. */
  left: number;
  leftBytes: number;
}

/** A client with IPv6 may have all networks of a /48 (platform/client-path.ts). */
interface Site<Client> {
  readonly accounts: Set<Account<Client>>;
  leftBytes: number;
  /** Clients that came while much was left. */
  readonly late: WeakSet<object>;
}

const NOBODY: never[] = [];

const NAMES: readonly (keyof Usage)[] = ['connections', 'topics', 'held', 'sent'];
const SHARES: readonly Share[] = ['connections', 'topics', 'held'];

/** @param sent bytes that the client was sent already */
export function newUsage(sent = 0): Usage {
  return { connections: 1, topics: 0, held: 0, sent };
}

export function createAccounts<Client extends Holder>() {
  const accounts = new Map<string, Account<Client>>();
  const sites = new Map<string, Site<Client>>();
  const total: Usage = { ...newUsage(), connections: 0 };
  let sentSinceCheck = 0;
  /** Bytes of these, by the usage of each connection. */
  const sentTo = new Map<Usage, number>();

  function accountOf({ address }: Holder): Account<Client> {
    let account = accounts.get(address);
    if (account === undefined) {
      const usage = { ...newUsage(), connections: 0 };
      const client = clientPath(address);
      const site = siteOf(client);
      account = { client, clients: new Set(), usage, site, left: 0, leftBytes: 0 };
      site.accounts.add(account);
      accounts.set(address, account);
    }
    return account;
  }

  function siteOf([name]: ClientPath): Site<Client> {
    const site = sites.get(name) ?? { accounts: new Set(), leftBytes: 0, late: new WeakSet() };
    sites.set(name, site);
    return site;
  }

  function add(client: Client, name: keyof Usage, change: number): void {
    accountOf(client).usage[name] += change;
    total[name] += change;
  }

  /** Returns the address that uses most; `sent` counts what is left too. */
  function largestAccount(name: keyof Usage): Account<Client> | undefined {
    const amount = ({ usage, leftBytes }: Account<Client>) =>
      usage[name] + (name === 'sent' ? leftBytes : 0);
    const open = accounts.values().filter(({ clients }) => clients.size > 0);
    return largestHolder(open, amount)[0];
  }

  function check(): Client[] {
    sentSinceCheck = 0;
    sentTo.clear();
    const site = largestAccount('sent')?.site;
    if (site === undefined) return [];
    const clients = [...site.accounts].flatMap((each) => [...each.clients]).sort(byUse('sent'));
    if (site.leftBytes >= CHECKED_BYTES) return clients;
    let checked = 0;
    return clients.filter(({ usage }) => {
      const isEnough = checked >= CHECKED_BYTES;
      checked += usage.sent;
      return !isEnough;
    });
  }

  return {
    /** Counts a new client, with what it uses already. */
    open(client: Client) {
      const { clients, site } = accountOf(client);
      clients.add(client);
      if (site.leftBytes >= CHECKED_BYTES) site.late.add(client);
      for (const name of NAMES) add(client, name, client.usage[name]);
    },
    /** Ends its usage. Returns a function for when its socket has gone, which keeps no client. */
    end(client: Client) {
      const { address, usage } = client;
      const account = accountOf(client);
      for (const name of NAMES) add(client, name, -usage[name]);
      account.clients.delete(client);
      account.left += 1;
      account.leftBytes += usage.sent;
      const { site } = account;
      site.leftBytes += usage.sent;
      return () => {
        account.left -= 1;
        account.leftBytes -= usage.sent;
        site.leftBytes -= usage.sent;
        // they take no memory any more; or who comes and goes would have others closed
        sentSinceCheck -= sentTo.get(usage) ?? 0;
        sentTo.delete(usage);
        if (account.clients.size > 0 || account.left > 0) return;
        accounts.delete(address);
        site.accounts.delete(account);
        if (site.accounts.size === 0) sites.delete(account.client[0]);
      };
    },
    use(client: Client, share: Share, amount: number) {
      add(client, share, amount - client.usage[share]);
      client.usage[share] = amount;
    },
    /** Counts bytes that were sent to the client. Returns the clients to close for that. */
    send(client: Client, bytes: number): Client[] {
      const { usage, site } = accountOf(client);
      client.usage.sent += bytes;
      usage.sent += bytes;
      total.sent += bytes;
      sentSinceCheck += bytes;
      sentTo.set(client.usage, (sentTo.get(client.usage) ?? 0) + bytes);
      if (sentSinceCheck > BYTES_BETWEEN_CHECKS) return check();
      const isSuspect = site.leftBytes >= CHECKED_BYTES && site.late.has(client);
      return isSuspect && client.usage.sent > KERNEL_BYTES ? [client] : NOBODY;
    },
    /** Returns the next client to close, while clients together use more than they may. */
    excess() {
      const share = SHARES.find((name) => total[name] > SHARED_LIMITS[name]);
      const account = share && largestAccount(share);
      return account && [...account.clients].sort(byUse(share!))[0];
    },
  };
}

/** Sorts by use, the largest first; then by silence, the longest first. */
const byUse =
  (name: keyof Usage): ((one: Holder, other: Holder) => number) =>
  (one, other) =>
    other.usage[name] - one.usage[name] || one.seen - other.seen;
