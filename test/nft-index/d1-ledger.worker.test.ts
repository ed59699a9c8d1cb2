import { env } from 'cloudflare:workers';
import { beforeEach } from 'vitest';
import { openTestLedger, resetState } from '../support/nft-index/d1-test-ledger.ts';
import { describeLedger } from '../support/nft-index/ledger-contract.ts';

beforeEach(() => resetState(env.LEDGER));

describeLedger('D1', () => openTestLedger(env.LEDGER));
