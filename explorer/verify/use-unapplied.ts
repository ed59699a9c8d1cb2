/**
 * Looks for a transaction that was not applied, and says where it looked.
 */
import { type Info, saysEnded } from '../node/shapes.ts';
import { type Loaded, useLoad } from '../use-load.ts';
import type { Search } from './find-transaction.ts';

/**
 * @param mayBegin whether to look already: until then the search is loading, and asks for nothing
 * @returns the search, and a sentence on where it looked, which is empty until it is over
 */
export function useUnapplied(
  transactionId: string,
  info: Info,
  mayBegin = true,
): { search: Loaded<Search>; looked: string } {
  const search = useLoad(
    async () =>
      mayBegin
        ? (await import('./find-transaction.ts')).findUnapplied(transactionId.toLowerCase(), info)
        : new Promise<never>(() => undefined),
    [transactionId, mayBegin],
  );
  return { search, looked: search.state === 'done' ? describe(search.value, info) : '' };
}

function describe({ looked }: Search, info: Info): string {
  if (looked === undefined)
    return 'Failed transactions were not looked through: this node keeps no blocks of its milestones, or its newest one has too many of them for this page.';
  const [first, last] = looked;
  return `The page looked through the failed transactions of ${first === last ? `milestone ${first}` : `milestones ${first} to ${last}`}${saysEnded(info) ? '' : ', and through those that wait below the tips that this node names'}.`;
}
