/**
 * A recorded network in workerd, by real D1. The others are followed in
 * recorded-networks.test.ts.
 */
import '../support/vectors-in-workerd.ts';
import { env } from 'cloudflare:workers';
import { describe } from 'vitest';
import { testRecordedNetwork } from '../support/ledger/recorded-network-tests.ts';

describe('network-c', () => {
  testRecordedNetwork('network-c', async () => env.LEDGER);
});
