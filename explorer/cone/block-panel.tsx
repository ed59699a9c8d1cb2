/**
 * One block of a cone, and its Merkle path to the signed root.
 */
import { useEffect, useRef } from 'preact/hooks';
import { readBlockJson } from '../node/ledger.ts';
import type { ExplainedBlock, Explanation } from '../node/shapes.ts';
import { Facts, Folded, Id } from '../parts/parts.tsx';
import { useLoad } from '../parts/use-load.ts';
import type { Claim } from '../verify/check-cone.ts';
import { describeBlock, kindOf, Mark } from './kinds.tsx';
import { MerklePathPanel } from './merkle-path-panel.tsx';

export function BlockPanel({
  block,
  explanation,
  claim,
  milestoneIndex,
}: {
  block: ExplainedBlock;
  explanation: Explanation;
  claim: Claim;
  milestoneIndex: number | undefined;
}) {
  const { blockId } = block;
  const json = useLoad(() => readBlockJson(blockId), [blockId]);
  const heading = useRef<HTMLHeadingElement>(null);
  // whoever chose the block by keyboard goes on reading here
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  const parents =
    json.state === 'done' && Array.isArray(json.value.parents) ? json.value.parents : [];
  return (
    <aside class="panel" aria-labelledby="panel-title">
      <h2 id="panel-title" ref={heading} tabIndex={-1}>
        <svg viewBox="-12 -12 24 24" class={`block ${kindOf(block)}`} aria-hidden="true">
          <Mark kind={kindOf(block)} />
        </svg>{' '}
        Block {block.whiteFlagIndex} of {explanation.blocks.length}
      </h2>
      <Facts
        rows={[
          ['ID', <Id id={blockId} what="block ID" view={{ name: 'block', id: blockId }} />],
          ['Payload', describeBlock(block)],
          [
            'Parents',
            parents.map((parent) => (
              <p key={String(parent)}>
                <Id
                  id={String(parent)}
                  what="parent ID"
                  view={{ name: 'block', id: String(parent) }}
                />
              </p>
            )),
          ],
        ]}
      />
      {milestoneIndex !== undefined && (
        <MerklePathPanel
          heading="h3"
          blockId={blockId}
          ids={explanation.blocks.map((each) => each.blockId)}
          signedRoot={claim.inclusionMerkleRoot}
        />
      )}
      {json.state === 'done' && (
        <Folded title="Block as JSON" text={() => JSON.stringify(json.value, undefined, 2)} />
      )}
      {json.state === 'failed' && <p class="hint">{json.error.message}</p>}
    </aside>
  );
}
