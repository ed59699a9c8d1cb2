/**
 * The ledger as the routes see it (src/http/node.ts).
 */
import type { EdgeNode } from '../http/node.ts';
import type { Settings } from '../settings.ts';

export function openNode(_settings: Settings, _ctx: ExecutionContext): EdgeNode {
  throw new Error('the ledger is not connected yet');
}
