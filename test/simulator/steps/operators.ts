/** The operator: imports, settings, damaged files. */
import { lastIndex } from '../../support/network/network-model.ts';
import type { Random } from '../../support/network/random.ts';
import type { World } from '../world.ts';
import type { Step, Steps } from './step.ts';

const operator = (often: number, run: Step['run']): Step => ({
  actor: 'operator',
  often,
  isHostile: true,
  run,
});

export const operatorSteps = {
  importAgain: operator(1, (world, random) => importAgain(world, random)),
  importDamaged: operator(2, importDamaged),
  backUp: {
    actor: 'operator',
    often: 2,
    needs: ({ ending }) => ending === 'restore',
    run: (world) => {
      const { isDamaged, isImporting } = world;
      if (!isDamaged && !isImporting) world.backup = world.node.sqlite.serialize();
    },
  } satisfies Step,
  setKeys: {
    ...operator(1, (world) => world.setKeys()),
    needs: ({ missingKeys }) => missingKeys > 0,
  },
  switchHistory: operator(1, ({ node }) => {
    node.deploy({ HISTORY: node.vars.HISTORY === 'all' ? '' : 'all' });
  }),
  switchIndex: operator(1, ({ node }) => {
    node.deploy({ INDEX: node.vars.INDEX === 'all' ? '' : 'all' });
  }),
  setRetention: operator(1, ({ node }, random) => {
    node.deploy({ RETENTION_MILESTONES: random.pick(['35', '17280']) });
  }),
} satisfies Steps;

/** A snapshot of one of the last milestones replaces the ledger, while everything goes on. */
function importAgain(world: World, random: Random): void {
  if (world.isImporting) return;
  const last = lastIndex(world.network);
  const target = random.between(Math.max(1, last - 4), last);
  world.startImport(target);
}

/** Outputs in the file have wrong owners; later the right file is imported, as the runbook says. */
function importDamaged(world: World, random: Random): void {
  if (world.isImporting || world.isDamaged) return;
  const { simulation } = world;
  world.isDamaged = true;
  world.startImport(lastIndex(world.network), (chunks) => changeOwners(chunks, random));
  simulation.atForWorld(simulation.now + random.between(8, 20) * 1000, () => world.repair());
}

const BASIC = 3;
/** Of an output's record: its own bytes, and in those of a basic output its owner. */
const OUTPUT_AT = 34 + 32 + 4 + 4 + 4;
const OWNER_AT = OUTPUT_AT + 1 + 8 + 1 + 1 + 1 + 1;

/** Outputs of a snapshot are not signed, so nobody can tell. */
function changeOwners(chunks: readonly Uint8Array[], random: Random): Uint8Array[] {
  return chunks.map((chunk, i) => {
    const isCoin = i > 0 && chunk.length > OWNER_AT + 32 && chunk[OUTPUT_AT] === BASIC;
    if (!isCoin || random.chance(0.5)) return chunk;
    const changed = chunk.slice();
    changed[OWNER_AT + random.below(32)]! ^= 1;
    return changed;
  });
}
