/** Announcers of modules: one that fails stops neither the follower nor the others. */
import { expect, it } from 'vitest';
import type { Announcer, FollowerPart } from '../../src/follower/follower-part.ts';
import { createAnnouncers } from '../../src/follower/follower-part.ts';

const fail = () => {
  throw new Error('of a module');
};

const partOf = (announcer: Announcer): FollowerPart => ({ createAnnouncer: () => announcer });

it('a module that throws stops neither the follower nor the modules after it', () => {
  const told: unknown[] = [];
  const logged: unknown[] = [];
  const announcer = createAnnouncers(
    [
      {},
      { createAnnouncer: fail },
      partOf({ moved: fail, stored: fail }),
      partOf({ moved: (ledger) => told.push(ledger), stored: (blocks) => told.push(blocks) }),
    ],
    {} as Env,
    (...line) => logged.push(line),
  );
  announcer.moved({ generation: 'a', ledger: 1 });
  announcer.stored([]);
  expect(told).toEqual([{ generation: 'a', ledger: 1 }, []]);
  const line = [
    'error',
    'follower.not-announced',
    { error: expect.stringContaining('of a module') },
  ];
  expect(logged).toEqual([line, line, line]);
});
