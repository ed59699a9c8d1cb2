/**
 * Snapshot files of a network at any of its milestones (docs/snapshot-format.md).
 */
import { fromHex } from '../../../src/stardust/encoding/bytes.ts';
import { encode } from '../../../src/stardust/encoding/codec.ts';
import { protocolParameters } from '../../../src/stardust/wire/parameters.ts';
import { type WrittenDiff, writeDelta, writeFull } from '../snapshot/snapshot-writer.ts';
import {
  changesOf,
  ledgerAt,
  milestoneAt,
  type Network,
  parametersAt,
  treasuryAt,
  ZERO_ID,
} from './network-model.ts';

export interface FullOptions {
  /** The milestone that the file is about. */
  target: number;
  /** The milestone of the outputs in it; default: the target. */
  ledger?: number;
  /**
   * How many diffs it has beyond those from the ledger back to the target; the reference writes 30.
   */
  moreDiffs?: number;
  /**
   * Blocks that later ones will stand on; those that milestones up to the target reference are entry
   * points. A node names only what later blocks stand on when it writes the file.
   */
  stoodOn?: readonly string[];
}

export function fullSnapshot(network: Network, options: FullOptions): Generator<Uint8Array, void> {
  const { target, ledger = target, moreDiffs = 0, stoodOn = [] } = options;
  const milestone = milestoneAt(network, target);
  const outputs = ledgerAt(network, ledger);
  const { since, parameters } = parametersAt(network, ledger);
  return writeFull({
    genesisIndex: network.genesis.index,
    target: {
      index: target,
      timestamp: (milestone ?? network.genesis).timestamp,
      id: fromHex(milestone?.id ?? ZERO_ID),
    },
    ledgerIndex: ledger,
    treasury: treasuryAt(network, ledger),
    parameters: encode(protocolParameters, parameters),
    parametersTarget: since,
    outputCount: outputs.length,
    outputs,
    diffs: diffs(network, target + 1 - moreDiffs, ledger).reverse(),
    solidEntryPoints: solidEntryPoints(network, target, stoodOn),
  });
}

/** The delta from a full snapshot with the target `from` to the milestone `target`. */
export function deltaSnapshot(
  network: Network,
  from: number,
  target: number,
): Generator<Uint8Array, void> {
  return writeDelta({
    targetIndex: target,
    targetTimestamp: milestoneAt(network, target)!.timestamp,
    fullTargetId: fromHex(milestoneAt(network, from)?.id ?? ZERO_ID),
    diffs: diffs(network, from + 1, target),
    solidEntryPoints: solidEntryPoints(network, target),
  });
}

function diffs(network: Network, from: number, to: number): WrittenDiff[] {
  return network.milestones
    .filter(({ index }) => index >= from && index <= to)
    .map(({ index, payload, receipt }) => ({
      payload,
      ...(receipt === undefined ? {} : { spentTreasury: treasuryAt(network, index - 1) }),
      ...changesOf(network, index),
    }));
}

/** The blocks that milestones up to `target` reference and that blocks beyond have as parents. */
export function solidEntryPoints(
  network: Network,
  target: number,
  stoodOn: readonly string[] = [],
): Uint8Array[] {
  const isOpen = (id: string) =>
    (network.blocks.get(id)?.referenced?.index ?? Number.POSITIVE_INFINITY) > target;
  const points = new Set<string>(target === network.genesis.index ? [ZERO_ID] : []);
  for (const id of stoodOn) if (!isOpen(id)) points.add(id);
  for (const { id, parents } of network.blocks.values()) {
    if (!isOpen(id)) continue;
    for (const parent of parents) {
      if (!network.blocks.has(parent) || !isOpen(parent)) points.add(parent);
    }
  }
  return [...points].map(fromHex);
}
