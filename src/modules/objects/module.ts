/** Blocks, outputs, milestones, receipts and tips by their IDs (TIP-25). */
import type { Operations } from '../../http/openapi/operation.ts';
import type { Module } from '../module.ts';
import { blockRoutes, describeBlocks } from './routes/blocks.ts';
import { describeMilestones, milestoneRoutes } from './routes/milestones.ts';
import { describeOutputs, outputRoutes } from './routes/outputs.ts';
import { describeReceipts, receiptRoutes } from './routes/receipts.ts';
import { describeTips, tipsRoutes } from './routes/tips.ts';

const routes = {
  ...outputRoutes,
  ...blockRoutes,
  ...milestoneRoutes,
  ...receiptRoutes,
  ...tipsRoutes,
};

export const objects: Module = { name: 'objects', routes };

export const describeObjects = (): Operations<typeof routes> => ({
  ...describeOutputs(),
  ...describeBlocks(),
  ...describeMilestones(),
  ...describeReceipts(),
  ...describeTips(),
});
