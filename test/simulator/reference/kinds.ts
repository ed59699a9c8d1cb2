/**
 * How much of what was compared with the reference.
 */
import type { ParsedBlock } from '../../../src/stardust/wire/block.ts';
import type { Milestone } from '../../../src/stardust/wire/milestone.ts';
import { type Output, OutputType } from '../../../src/stardust/wire/output.ts';

const OUTPUTS = new Map<number, string>(
  Object.entries(OutputType).map(([name, type]) => [type, name.toLowerCase()]),
);
const CONDITIONS = ['address', 'deposit return', 'timelock', 'expiration'];
const MORE_CONDITIONS = ['state controller', 'governor', 'immutable alias'];
const FEATURES = ['sender', 'issuer', 'metadata', 'tag'];
const UNLOCKS = ['signature', 'reference', 'alias', 'NFT'];
const PAYLOADS: Record<number, string> = { 5: 'tagged data', 6: 'transaction', 7: 'milestone' };

export class Kinds {
  /** By group and kind. */
  readonly counts = new Map<string, Map<string, number>>();

  count(group: string, kind: string, by = 1): void {
    const counts = this.counts.get(group) ?? new Map<string, number>();
    this.counts.set(group, counts.set(kind, (counts.get(kind) ?? 0) + by));
  }

  block(parsed: ParsedBlock | undefined, isValid: boolean): void {
    if (parsed === undefined || !isValid) {
      this.count('blocks', parsed === undefined ? 'no block by its bytes' : 'not admitted');
      return;
    }
    const { payload } = parsed.block;
    this.count('blocks', payload === undefined ? 'no payload' : PAYLOADS[payload.type]!);
    const { transaction } = parsed;
    if (transaction === undefined) return;
    for (const { type } of transaction.value.unlocks) this.count('unlocks', UNLOCKS[type]!);
    for (const output of transaction.value.essence.outputs) this.output(output);
  }

  output(output: Output): void {
    this.count('outputs', OUTPUTS.get(output.type)!);
    if (output.nativeTokens.length > 0) this.count('outputs', 'with native tokens');
    for (const { type } of output.unlockConditions)
      this.count('unlock conditions', [...CONDITIONS, ...MORE_CONDITIONS][type]!);
    for (const { type } of output.features) this.count('features', FEATURES[type]!);
    const immutable = 'immutableFeatures' in output ? output.immutableFeatures : [];
    for (const { type } of immutable) this.count('features', `immutable ${FEATURES[type]!}`);
  }

  milestone({ options }: Milestone): void {
    this.count('milestones', 'all');
    for (const { type } of options)
      this.count('milestones', type === 0 ? 'with a receipt' : 'with parameters');
  }

  verdict(state: string, conflict: number, isChance: boolean): void {
    this.count('verdicts', state === 'conflicting' ? `conflict ${conflict}` : state);
    if (isChance) this.count('verdicts', 'of several reasons');
  }

  /** One line a group. */
  toString(): string {
    return [...this.counts]
      .map(([group, counts]) => {
        const inOrder = [...counts].sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }));
        return `${group}: ${inOrder.map(([kind, count]) => `${kind} ${count}`).join(', ')}`;
      })
      .join('\n');
  }
}
