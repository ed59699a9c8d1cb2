import { expect, it } from 'vitest';
import { limitConnections } from '../../../scripts/serve/file-limit.ts';

it('the limit of open files bounds connections, and too low a one is an error', () => {
  expect(limitConnections(1_048_576)).toEqual({ maxConnections: 20_000, note: undefined });
  expect(limitConnections(Number.POSITIVE_INFINITY).maxConnections).toBe(20_000);
  expect(limitConnections(20_000)).toEqual({ maxConnections: 9750, note: undefined });
  expect(limitConnections(4096)).toEqual({
    maxConnections: 1798,
    note: 'A process may open 4096 files (ulimit -n), enough for 1798 connections: raise the limit to 65536',
  });
  expect(() => limitConnections(999)).toThrow(
    'a process may open only 999 files (ulimit -n): raise the limit to 65536',
  );
});

it('this process has a limit', () => {
  expect(limitConnections().maxConnections).toBeGreaterThan(0);
});
