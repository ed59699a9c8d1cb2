/**
 * The table of lies about the sample. Every row runs against the page (test/browser/lies.spec.ts)
 * and against `stardust-edge verify` (test/e2e/lies.test.ts).
 */
import { madeFinalLedger } from '../final-ledger/made-ledger.ts';
import { BLOCK_LIES } from './block-lies.ts';
import { CERTIFICATE_LIES } from './certificate-lies.ts';
import { CONE_LIES } from './cone-lies.ts';
import { EVENT_LIES } from './event-lies.ts';
import { finalLies } from './final-lies.ts';
import { LEDGER_LIES } from './ledger-lies.ts';
import type { Lie } from './lie.ts';
import { MILESTONE_LIES } from './milestone-lies.ts';
import { PROPOSAL_LIES } from './proposal-lies.ts';
import { TRANSPORT_LIES } from './transport-lies.ts';
import { VERIFY_LIES } from './verify-lies.ts';

/** 150 outputs, 15 of them NFTs. */
export const FINAL_LEDGER = await madeFinalLedger(150);

export const LIES: readonly Lie[] = [
  ...MILESTONE_LIES,
  ...CONE_LIES,
  ...BLOCK_LIES,
  ...PROPOSAL_LIES,
  ...LEDGER_LIES,
  ...CERTIFICATE_LIES,
  ...VERIFY_LIES,
  ...TRANSPORT_LIES,
  ...EVENT_LIES,
  ...finalLies(FINAL_LEDGER),
];
