/**
 * The recorded networks, on SQLite in this process, which takes a tenth of the time that workerd
 * does.
 */
import { describe } from 'vitest';
import { openMemory } from '../support/ledger/memory-database.ts';
import { testRecordedNetwork } from '../support/ledger/recorded-network-tests.ts';

describe.each(['network-a', 'network-n'] as const)('%s', (name) => {
  testRecordedNetwork(name, openMemory);
});
