/**
 * One block of a cone, and its Merkle path to the signed root.
 */
import { useEffect, useRef } from 'preact/hooks';
import type { ExplainedBlockJson } from '../node/shapes.ts';
import { Facts, IdLink } from '../parts/parts.tsx';
import { describeBlock, kindOf, Mark } from './kinds.tsx';
import { JudgedBlockPanel, useJudged } from './merkle-path-panel.tsx';

export function BlockPanel({
  block,
  count,
  milestoneIndex,
}: {
  block: ExplainedBlockJson;
  /** How many blocks the cone has. */
  count: number;
  /** Undefined for a proposal: there is no proof yet. */
  milestoneIndex: number | undefined;
}) {
  const { blockId } = block;
  const judged = useJudged(blockId, milestoneIndex);
  const heading = useRef<HTMLHeadingElement>(null);
  // whoever chose the block by keyboard goes on reading here
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <aside class="panel" aria-labelledby="panel-title">
      <h2 id="panel-title" ref={heading} tabIndex={-1}>
        <svg viewBox="-12 -12 24 24" class={`block ${kindOf(block)}`} aria-hidden="true">
          <Mark kind={kindOf(block)} />
        </svg>{' '}
        Block {block.whiteFlagIndex} of {count}
      </h2>
      <Facts
        rows={[
          ['ID', <IdLink name="block" id={blockId} />],
          ['Payload', describeBlock(block)],
        ]}
      />
      <JudgedBlockPanel heading="h3" blockId={blockId} judged={judged} />
    </aside>
  );
}
