/**
 * A ledger with a past: milestones of a thousand transfers now, and so many milestones ago, with small ones in between.
 */
import type { WhiteFlagCase } from '../../test/network/model.ts';
import { SyntheticNetwork } from '../../test/network/synthetic.ts';
import { fromHex, toHex } from '../../src/stardust/bytes.ts';
import { keptLedger } from './ledger.ts';
import { blocksBetween, importNetwork, storeBlocks, takeIn } from './network-ledger.ts';
