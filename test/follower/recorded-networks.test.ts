/**
 * The recorded networks, on SQLite in this process, which takes a tenth of the time that workerd
 * does.
 */
import { describe } from 'vitest';
import { openMemory } from '../support/ledger/memory-database.ts';
import { testRecordedNetwork } from '../support/ledger/recorded-network-tests.ts';
import type { RecordedName } from '../support/network/recorded-network.ts';

const NAMES: RecordedName[] = process.env.SLOW ? ['network-a', 'network-n'] : ['network-n'];

describe.each(NAMES)('%s', (name) => {
  testRecordedNetwork(name, openMemory);
});
