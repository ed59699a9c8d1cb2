/**
 * Pushed milestones that are not applied yet: payloads, and the upstream's confirmed index. The
 * plug-in pushes the payload of every block that carries a milestone, signed or not: whoever takes
 * one verifies it, and refuses it if it is none. The one that was due is fetched then.
 */
import * as v from 'valibot';
import { equalBytes } from '../../stardust/encoding/bytes.ts';
import { decode } from '../../stardust/encoding/codec.ts';
import { StardustError } from '../../stardust/error.ts';
import { MAX_BLOCK_LENGTH } from '../../stardust/wire/block.ts';
import { type Milestone, milestone } from '../../stardust/wire/milestone.ts';

const MAX_HELD = 16;

/** Payloads held of one index: any sender of a block can make up one. */
const MAX_OF_INDEX = 4;

const info = v.object({
  index: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(0xffff_ffff)),
});

export type PushedMilestones = ReturnType<typeof createPushedMilestones>;

/** Payloads are as they were signed, type first. */
export function createPushedMilestones() {
  const held = new Map<number, Uint8Array[]>();
  let confirmed: number | undefined;
  let last = Number.NEGATIVE_INFINITY;

  return {
    push(bytes: Uint8Array) {
      const payload = new Uint8Array(bytes);
      const value = parsePushed(payload);
      if (value === undefined || value.index <= last) return;
      const { index } = value;
      const others = (held.get(index) ?? []).filter((each) => !equalBytes(each, payload));
      held.set(index, [payload, ...others].slice(0, MAX_OF_INDEX));
      if (held.size > MAX_HELD) held.delete(Math.max(...held.keys()));
    },
    /** Takes JSON about the milestone that the upstream has confirmed. */
    confirm(json: Uint8Array) {
      confirmed = readIndex(json) ?? confirmed;
    },
    /** Payloads that may be the milestone with this index, the newest first. */
    at: (index: number): readonly Uint8Array[] => held.get(index) ?? [],
    refuse(index: number, payload: Uint8Array) {
      const others = (held.get(index) ?? []).filter((each) => each !== payload);
      if (others.length === 0) held.delete(index);
      else held.set(index, others);
    },
    applied(ledger: number) {
      last = ledger;
      for (const index of held.keys()) if (index <= ledger) held.delete(index);
    },
    clear() {
      held.clear();
      confirmed = undefined;
      last = Number.NEGATIVE_INFINITY;
    },
    /** Index of the last milestone that the upstream said it had confirmed. */
    get confirmed() {
      return confirmed;
    },
  };
}

function parsePushed(payload: Uint8Array): Milestone | undefined {
  if (payload.length > MAX_BLOCK_LENGTH) return undefined;
  try {
    return decode(milestone, payload);
  } catch (error) {
    if (error instanceof StardustError) return undefined;
    throw error;
  }
}

function readIndex(json: Uint8Array): number | undefined {
  try {
    return v.parse(info, JSON.parse(new TextDecoder().decode(json))).index;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof v.ValiError) return undefined;
    throw error;
  }
}
