/**
 * The state of the ledger, as long as the page is open.
 */
import { useEffect, useState } from 'preact/hooks';
import type { Finding, SignedMilestone } from '../../src/stardust/provenance/provenance.ts';
import { asError, type Loaded } from '../use-load.ts';
import { listenForMilestones } from './events.ts';
import { readInfo } from './ledger.ts';
import { type Info, saysEnded } from './shapes.ts';

/** What views are given. */
export interface Known {
  info: Info;
  /** The milestone that the node names as its newest; undefined while it is judged. */
  head: Finding<SignedMilestone> | undefined;
}

/** Between two readings of the ledger's state: where the node announces milestones, and elsewhere. */
const INFO_INTERVAL_MS = { announced: 60_000, polled: 5000 };

/** From an event to the reading: milestones may come in bursts. */
const EVENT_DELAY_MS = 100;

/** Between two readings, however often the node announces something. */
const LEAST_INTERVAL_MS = 1000;

/**
 * Reads the state of the ledger whenever the node announces a milestone, or every five seconds where
 * it does not; but not while nobody looks, nor once it is over.
 */
export function useInfo(): { info: Loaded<Info>; isSilent: boolean } {
  const [info, setInfo] = useState<Loaded<Info>>({ state: 'loading' });
  const [isSilent, setSilent] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    /** Closes the connection that announces milestones. */
    let stop: (() => void) | undefined;
    let hasEvents = false;
    /** When the page may try to connect. */
    let connectFrom = 0;
    let lastRead = 0;
    /** Readings: the last one that began, and the last one that is shown. */
    let [begun, shown] = [0, 0];
    /** When the next reading is due. A later wish never puts it off. */
    let due = Infinity;
    function readIn(milliseconds: number): void {
      const at = performance.now() + milliseconds;
      if (timer !== undefined && due <= at) return;
      clearTimeout(timer);
      due = at;
      timer = setTimeout(read, milliseconds);
    }
    function listen(): void {
      // a failed connection would be an error in the browser's console
      if (!hasEvents || stop !== undefined || performance.now() < connectFrom) return;
      connectFrom = performance.now() + INFO_INTERVAL_MS.announced;
      stop = listenForMilestones(location.origin, {
        onMilestone: () =>
          readIn(Math.max(EVENT_DELAY_MS, lastRead + LEAST_INTERVAL_MS - performance.now())),
        onEnd() {
          stop = undefined;
          readIn(EVENT_DELAY_MS);
        },
      });
    }
    function rest(): void {
      stop?.();
      stop = undefined;
    }
    async function read(): Promise<void> {
      timer = undefined;
      lastRead = performance.now();
      const own = ++begun;
      if (!document.hidden) {
        try {
          const value = await readInfo();
          // an answer that comes behind that of a later reading is old
          if (own < shown) return;
          shown = own;
          isOver = saysEnded(value);
          hasEvents = value.hasEvents;
          setSilent(false);
          // as old as before it may be: what is no longer live is drawn again
          setInfo({ state: 'done', value });
        } catch (error) {
          if (own < shown) return;
          // what was read stays on show: the next reading may succeed
          setSilent(true);
          setInfo((before) =>
            before.state === 'done' ? before : { state: 'failed', error: asError(error) },
          );
        }
      }
      if (isOver || document.hidden) rest();
      else listen();
      // unless a milestone came meanwhile
      if (!isOver && timer === undefined)
        readIn(INFO_INTERVAL_MS[stop === undefined ? 'polled' : 'announced']);
    }
    const show = () => readIn(0);
    document.addEventListener('visibilitychange', show);
    void read();
    return () => {
      document.removeEventListener('visibilitychange', show);
      clearTimeout(timer);
      rest();
    };
  }, []);
  return { info, isSilent };
}
