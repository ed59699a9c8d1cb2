/**
 * A ledger that is over (docs/final-ledger.md): trees over it, proofs that lead to its final root, and
 * statements of addresses.
 */
import type { Operations } from '../../http/openapi/operation.ts';
import { lists } from '../lists/module.ts';
import type { Module } from '../module.ts';
import { buildFinalLedger } from './build-final-ledger.ts';
import type { StatementLimits } from './read-statement.ts';
import { describeFinalLedger, finalLedgerRoutes } from './routes/final-ledger.ts';
import { describeStatement, statementRoutes } from './routes/statement.ts';

const routesOf = (limits: StatementLimits) => ({
  ...finalLedgerRoutes(limits.layout),
  ...statementRoutes(limits),
});

/** @param limits of statements, and how trees are cut, for tests */
export function createFinal(limits: StatementLimits = {}): Module {
  return {
    name: 'final',
    needs: [lists],
    routes: routesOf(limits),
    upkeep: {
      final: {
        failure: 'follower.final-ledger-not-built',
        run: ({ db, finalMilestone }) => buildFinalLedger(db, finalMilestone),
      },
    },
  };
}

export const final = createFinal();

export const describeFinal = (): Operations<ReturnType<typeof routesOf>> => ({
  ...describeFinalLedger(),
  ...describeStatement(),
});
