/** 5,000 random bad requests over made-up data. */
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { badRequests, checkAnswer } from '../support/http/bad-requests.ts';
import { facts, fetchFrom } from '../support/http/stub-node.ts';

const REQUESTS = 5_000;

it('never a 500, never a body outside the contract, never a hang', {
  timeout: 900_000,
}, async () => {
  // so many lines of log, each sent to vitest's process, take as long as the requests
  vi.spyOn(console, 'log').mockImplementation(() => {});
  const fetch = fetchFrom();
  const statuses = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(badRequests(facts), async (request) => {
      const response = await fetch(request.path, request.init as RequestInit);
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      await checkAnswer(request, response);
    }),
    { numRuns: REQUESTS },
  );
  // the generator reaches what it should
  for (const status of [400, 404, 405])
    expect(statuses.get(status)).toBeGreaterThan(REQUESTS / 100);
  vi.restoreAllMocks();
});
