/** Serves requests for blocks that are not stored, within limits; equal wishes share their work. */
import { LedgerMoved } from '../../ledger/core/fence.ts';
import {
  ConeUnavailable,
  type NotBrought,
  type WantedOfFollower,
} from '../../ledger/intake/block-source.ts';
import type { Settings } from '../../settings.ts';
import type { Patience } from '../../upstream/rest-upstream.ts';
import { UpstreamFailure } from '../../upstream/upstream.ts';
import { type BringContext, bring, FETCH_MS, readUnstored } from './bring-blocks.ts';
import { createFairLimit } from './fair-limit.ts';

/** Limits of work under way at once, and of what waits. */
const BRING_LIMITS = { ofClient: 2, ofStrangers: 6, places: 8, waiting: 64 };

/** Limits of single blocks: a flood of them must not come before the follower's work. */
const READ_LIMITS = { ofClient: 4, ofStrangers: 5, places: 6, waiting: 64, maxWaitMs: 500 };

export interface Bringer {
  /**
   * Writes what a request needs (bring-blocks.ts).
   *
   * @param client who is charged for the work
   */
  bring(wanted: WantedOfFollower, client: string): Promise<NotBrought | undefined>;
  /** Returns the bytes of a block that is not stored, if it exists and is unreferenced. */
  readUnstored(id: string, client: string): Promise<Uint8Array | undefined>;
}

/** @param open makes the context of one piece of work; its upstreams have {@link patienceOf} */
export function createBringer(open: () => BringContext): Bringer {
  const refuse = () => new UpstreamFailure('too many requests wait for blocks');
  const limit = createFairLimit<NotBrought | undefined>(
    { ...BRING_LIMITS, refuse },
    (notBrought) => notBrought === undefined,
  );
  const readLimit = createFairLimit<Uint8Array | undefined>(
    { ...READ_LIMITS, refuse },
    (bytes) => bytes !== undefined,
  );
  const underWay = new Map<string, Promise<NotBrought | undefined>>();

  async function bringOnce(wanted: WantedOfFollower): Promise<NotBrought | undefined> {
    const context = open();
    try {
      return await bring(context, wanted);
    } catch (error) {
      if (!(error instanceof LedgerMoved)) throw error;
      return bring(context, wanted);
    }
  }

  return {
    async bring(wanted, client) {
      const name = JSON.stringify(wanted);
      let bringing = underWay.get(name);
      if (bringing === undefined) {
        bringing = limit(client, () => bringOnce(wanted)).finally(() => underWay.delete(name));
        underWay.set(name, bringing);
      }
      try {
        return await bringing;
      } catch (error) {
        if (error instanceof ConeUnavailable) return { fault: error.fault, detail: error.message };
        if (!(error instanceof UpstreamFailure)) throw error;
        return { fault: 'upstream-failed', detail: error.message };
      }
    },
    async readUnstored(id, client) {
      try {
        return await readLimit(client, () => readUnstored(open(), id));
      } catch (error) {
        if (error instanceof ConeUnavailable) return undefined;
        throw error;
      }
    },
  };
}

/** All upstreams but the last may hang, and there is still time to query that one. */
export function patienceOf({ upstreams }: Settings): Patience {
  const parts = upstreams.length === 1 ? 1 : upstreams.length + 1;
  return { timeout: Math.floor(FETCH_MS / parts), attempts: 1, isUrgent: true };
}
