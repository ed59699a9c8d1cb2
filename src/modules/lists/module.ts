/** Lists of outputs by what they say, and the outputs of aliases and foundries (TIP-26). */
import type { Operations } from '../../http/openapi/operation.ts';
import type { Module } from '../module.ts';
import { chainLookupRoutes, describeChainLookup } from './routes/chain-lookup.ts';
import { describeOutputLists, outputListRoutes } from './routes/output-lists.ts';

const routes = { ...outputListRoutes, ...chainLookupRoutes };

export const lists: Module = { name: 'lists', routes };

export const describeLists = (): Operations<typeof routes> => ({
  ...describeOutputLists(),
  ...describeChainLookup(),
});
