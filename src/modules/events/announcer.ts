/**
 * Tells the broker of events what was applied and stored (src/modules/events/README.md). Nothing waits for
 * it: the broker reads from D1 what it publishes, and finds there later what it was not told.
 */
import type { LastLedger } from '../../follower/follower-context.ts';
import type { Announcer } from '../../follower/follower-part.ts';
import { hasPassed, untilSettled } from '../../platform/clock.ts';
import { describeError, type WriteLog } from '../../platform/log.ts';
import type { EventBroker, EventDemand } from './event-broker.ts';

/** Milliseconds until the broker is queried again for listeners, also after a failure. */
const PAUSE_MS = 10_000;

/** Bytes of blocks in one call: the platform takes 32 MiB. */
const MAX_CALL_BYTES = 4_000_000;

/** Calls with blocks that the broker has not taken: it hangs, and they would fill the memory. */
const MAX_WAITING_CALLS = 4;

type MovedLedger = Pick<LastLedger, 'generation' | 'ledger'>;
type Broker = Pick<DurableObjectStub<EventBroker>, 'applied' | 'stored'>;

/** @param open once for each call: a stub whose object was reset fails for ever */
export function createAnnouncer(open: () => Broker, clock: () => number, log: WriteLog): Announcer {
  // until it has asked, somebody may listen
  let demand: EventDemand = { published: undefined, blocks: true };
  /** Generation and index of the ledger that the broker was told last. */
  let told: string | undefined;
  let calledAt = Number.NEGATIVE_INFINITY;
  let isCalling = false;
  /** The ledger as it moved during a call. */
  let next: MovedLedger | undefined;
  let waitingCalls = 0;

  /** @param since when the broker had been called last, as that call began */
  const fail = (error: unknown, since: number) => {
    if (since === calledAt) demand = { published: undefined, blocks: false };
    log('warn', 'events.not-told', { error: describeError(error) });
  };

  async function call({ generation, ledger }: MovedLedger): Promise<void> {
    calledAt = clock();
    isCalling = true;
    try {
      demand = await untilSettled(open().applied(), 'the broker');
      told = `${generation} ${ledger}`;
    } catch (error) {
      fail(error, calledAt);
    }
    isCalling = false;
  }

  async function tellStored(blocks: readonly Uint8Array[]): Promise<void> {
    if (waitingCalls === MAX_WAITING_CALLS)
      return log('warn', 'events.not-told', { error: 'the broker does not take blocks in time' });
    waitingCalls++;
    const since = calledAt;
    try {
      await untilSettled(open().stored(blocks), 'the broker');
    } catch (error) {
      fail(error, since);
    }
    waitingCalls--;
  }

  return {
    moved(ledger) {
      if (isCalling) {
        next = ledger;
        return;
      }
      const listens = demand.published !== undefined;
      const isTold = told === `${ledger.generation} ${ledger.ledger}`;
      // where the ledger stands still, somebody may have begun to listen to blocks
      if (!(listens && !isTold) && !hasPassed(PAUSE_MS, calledAt, clock())) return;
      void call(ledger).then(() => {
        const later = next;
        next = undefined;
        if (later !== undefined) this.moved(later);
      });
    },
    stored(blocks) {
      if (!demand.blocks || blocks.length === 0) return;
      let bytes: Uint8Array[] = [];
      let length = 0;
      const flush = () => {
        void tellStored(bytes);
        bytes = [];
        length = 0;
      };
      for (const block of blocks) {
        bytes.push(block.bytes);
        length += block.bytes.length;
        if (length > MAX_CALL_BYTES) flush();
      }
      if (length > 0) flush();
    },
  };
}
