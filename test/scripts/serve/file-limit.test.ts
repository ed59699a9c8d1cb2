import { expect, it } from 'vitest';
import { limitConnections } from '../../../scripts/serve/file-limit.ts';

it('the limit of open files bounds connections, and too low a one is an error', () => {
  expect(limitConnections(1_048_576)).toEqual({ maxConnections: 20_000, note: undefined });
  expect(limitConnections(Number.POSITIVE_INFINITY).maxConnections).toBe(20_000);
  expect(limitConnections(60_500)).toEqual({ maxConnections: 20_000, note: undefined });
  expect(limitConnections(60_499).note).toMatch(/^A process may open 60499 files/);
  expect(limitConnections(4096)).toEqual({
    maxConnections: 1198,
    note: 'A process may open 4096 files (ulimit -n), enough for 1198 connections: raise the limit to 65536',
  });
  expect(() => limitConnections(1249)).toThrow(
    'a process may open only 1249 files (ulimit -n): raise the limit to 65536',
  );
});

it('this process has a limit', () => {
  expect(limitConnections().maxConnections).toBeGreaterThan(0);
});
