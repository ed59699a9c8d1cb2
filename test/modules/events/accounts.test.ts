/** Who is closed where clients use too much: the largest client of the address that uses most. */
import { describe, expect, it } from 'vitest';
import {
  createAccounts,
  type Holder,
  newUsage,
  SHARED_LIMITS,
} from '../../../src/modules/events/accounts.ts';

interface Client extends Holder {
  name: string;
}

function client(name: string, address: string, seen = 0): Client {
  return { name, address, seen, usage: newUsage() };
}

function open(...clients: Client[]) {
  const accounts = createAccounts<Client>();
  for (const each of clients) accounts.open(each);
  return accounts;
}

const MANY = 40_000_000;

describe('what clients share', () => {
  it('is taken from the largest client of the address that uses most', () => {
    // one client has more than each of the three, but less than all of them
    const clients = ['a', 'b', 'c'].map((name) => client(name, 'many'));
    const alone = client('alone', 'one');
    const small = client('small', 'two');
    const accounts = open(alone, ...clients, small);
    for (const [i, each] of clients.entries()) accounts.use(each, 'topics', 20_000 + i);
    accounts.use(alone, 'topics', 39_997);
    expect(accounts.excess()).toBeUndefined();
    accounts.use(small, 'topics', 1);
    expect(accounts.excess()?.name).toBe('c');
    accounts.end(clients[2]!);
    expect(accounts.excess()).toBeUndefined();
    accounts.use(small, 'topics', 20_004);
    // now the other address has more
    expect(accounts.excess()?.name).toBe('b');
    accounts.use(alone, 'topics', 40_003);
    expect(accounts.excess()?.name).toBe('alone');
  });

  it.each([
    ['a /56', (i: number) => `2001:db8:0:${i.toString(16)}::/64`],
    ['a /48', (i: number) => `2001:db8:0:${((i << 8) & 0xffff).toString(16)}::/64`],
  ])('is taken from %s, where its networks together use most', (_, network) => {
    const honest = ['192.0.2.1', '192.0.2.2'].map((address) => client('honest', address));
    const accounts = open(...honest);
    for (const each of honest) accounts.use(each, 'topics', 1000);
    for (let i = 0; i < 250; i++) {
      const own = client('flood', network(i));
      accounts.open(own);
      accounts.use(own, 'topics', 400);
    }
    expect(accounts.excess()?.name).toBe('flood');
  });

  it('is taken from the youngest address of a crowd', () => {
    const accounts = open(client('honest', '192.0.2.1'));
    for (let i = 0; i < SHARED_LIMITS.connections; i++)
      accounts.open(client('crowd', `crowd ${i}`));
    expect(accounts.excess()?.name).toBe('crowd');
  });

  it('is taken from who has been silent for longest, where all use the same', () => {
    const silent = client('silent', 'x', 5);
    const accounts = open(client('first', 'x', 10), silent, client('other', 'y', 1));
    for (let i = 3; i < SHARED_LIMITS.connections; i++) accounts.open(client('', 'x', 10 + i));
    expect(accounts.excess()).toBeUndefined();
    accounts.open(client('', 'z', 0));
    expect(accounts.excess()).toBe(silent);
    const end = accounts.end(silent);
    expect(accounts.excess()).toBeUndefined();
    end();
  });
});

describe('what was sent', () => {
  it('is checked each 64 MB: the largest of the largest address are asked to connect again', () => {
    const [a, b, c] = [client('a', 'x'), client('b', 'x'), client('c', 'x')];
    const honest = client('honest', 'y');
    const accounts = open(a, b, c, honest);
    expect(accounts.send(a, 3_000_000)).toEqual([]);
    expect(accounts.send(b, 2_000_000)).toEqual([]);
    expect(accounts.send(c, 1_000_000)).toEqual([]);
    expect(accounts.send(honest, 5_000_000)).toEqual([]);
    for (let i = 0; i < 23; i++) {
      const other = client('other', `other ${i}`);
      accounts.open(other);
      expect(accounts.send(other, 2_300_000)).toEqual([]);
    }
    expect(accounts.send(honest, 200_000)).toEqual([a, b]);
    expect(accounts.send(honest, 200_000)).toEqual([]);
  });

  it('counts while the connection is there: who comes and goes has nobody closed', () => {
    const honest = client('honest', 'y');
    const accounts = open(honest);
    expect(accounts.send(honest, 2_000_000)).toEqual([]);
    for (let i = 0; i < 200; i++) {
      const brief = client('brief', 'x');
      accounts.open(brief);
      expect(accounts.send(brief, 1_000_000)).toEqual([]);
      accounts.end(brief)();
    }
    expect(accounts.send(honest, 100)).toEqual([]);
    // one that stays is found
    const staying = client('staying', 'x');
    accounts.open(staying);
    expect(accounts.send(staying, 64_000_000)).toEqual([staying]);
  });

  it('counts since the last check: who was sent much before and leaves puts the next off by nothing', () => {
    const [reader, other, deaf] = ['reader', 'other', 'deaf'].map((name) => client(name, name));
    const accounts = open(reader!, other!, deaf!);
    expect(accounts.send(reader!, 30_000_000)).toEqual([]);
    expect(accounts.send(other!, 35_000_000)).toEqual([other]);
    expect(accounts.send(deaf!, 60_000_000)).toEqual([]);
    accounts.end(reader!)();
    expect(accounts.send(deaf!, 10_000_000)).toEqual([deaf]);
  });

  it('closes all of an address whose closed connections stay, and its later ones early', () => {
    const [a, b] = [client('a', 'x'), client('b', 'x')];
    const accounts = open(a, b);
    accounts.send(b, 1_000_000);
    expect(accounts.send(a, 2 * MANY)).toEqual([a]);
    const gone = accounts.end(a);
    // the same bytes again
    const honest = client('honest', 'y');
    accounts.open(honest);
    expect(accounts.send(honest, MANY)).toEqual([]);
    expect(accounts.send(honest, MANY)).toEqual([b]);
    accounts.end(b);
    const later = client('later', 'x');
    accounts.open(later);
    expect(accounts.send(later, 60_000)).toEqual([]);
    expect(accounts.send(later, 5000)).toEqual([later]);
    gone();
    expect(accounts.send(later, 5000)).toEqual([]);
  });

  it.each([1, 256])('closes those who do not read, in %i networks of a site', (networks) => {
    const accounts = createAccounts<Client>();
    const deaf = new Set<Client>();
    for (let i = 0; i < 2048; i++) {
      const one = client('deaf', `2001:db8:0:${(i % networks).toString(16)}::/64`, i);
      accounts.open(one);
      deaf.add(one);
    }
    let unread = 0;
    while (deaf.size > 0 && unread < 150_000_000)
      for (const each of deaf) {
        unread += 4096;
        for (const closed of accounts.send(each, 4096))
          if (deaf.delete(closed)) accounts.end(closed);
      }
    expect(deaf.size).toBe(0);
  });

  it('closes few of the many readers of an address, though their sockets take a moment to go', () => {
    const readers = Array.from({ length: 30 }, (_, i) => client(`reader ${i}`, 'x'));
    const accounts = open(...readers);
    const closed = new Set<Client>();
    for (let i = 0; i < 33; i++)
      for (const each of readers) {
        if (closed.has(each)) continue;
        for (const one of accounts.send(each, 70_000)) {
          closed.add(one);
          accounts.end(one);
        }
      }
    expect(closed.size).toBe(2);
  });
});
