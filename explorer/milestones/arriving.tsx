/**
 * Blocks as the node's feed brings them, a mark each, since the page read the newest milestone: what
 * becomes of them the next ones decide.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { MarkKind } from '../cone/kinds.tsx';
import { plural } from '../format.ts';
import { watchBlocks } from '../node/events.ts';
import { Strip } from './strip.tsx';

/** The newest, a line of them on a wide screen; what has no room is not seen. */
const MAX_MARKS = 48;

/** Blocks may come by the thousand. */
const REDRAW_MS = 500;

interface Arrived {
  blocks: number;
  transactions: number;
  /** The newest first. */
  marks: readonly MarkKind[];
}

const NONE: Arrived = { blocks: 0, transactions: 0, marks: [] };

/** By the type of the payload, which stands behind the parents (TIP-24). */
function markOf(block: Uint8Array): MarkKind {
  const payload = block.subarray(2 + 32 * (block[1] ?? 0));
  if (!payload.subarray(0, 4).some((byte) => byte !== 0)) return 'empty';
  return payload[4] === 6 ? 'waiting' : payload[4] === 7 ? 'milestone' : 'data';
}

/** @param index of the milestone */
export function Arriving({ index }: { index: number }) {
  const arrived = useRef(NONE);
  const [{ blocks, transactions, marks }, show] = useState(NONE);
  useEffect(() => {
    arrived.current = NONE;
    show(NONE);
  }, [index]);
  useEffect(() => {
    const stop = watchBlocks((block) => {
      const mark = markOf(block);
      const { blocks, transactions, marks } = arrived.current;
      arrived.current = {
        blocks: blocks + 1,
        transactions: transactions + (mark === 'waiting' ? 1 : 0),
        marks: [mark, ...marks].slice(0, MAX_MARKS),
      };
    });
    const timer = setInterval(() => show(arrived.current), REDRAW_MS);
    return () => {
      clearInterval(timer);
      stop();
    };
  }, []);
  return (
    <div class="arriving">
      <p class="hint">
        Heard since milestone {index}: {plural(blocks, 'block')},{' '}
        {plural(transactions, 'transaction')}. The next milestones decide about them.
      </p>
      <Strip kinds={marks} />
    </div>
  );
}
