/**
 * The past cone of a milestone or a proposal: what was found right about it, its graph, and its
 * blocks. Everything is checked in the browser while it is shown.
 */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { plural } from '../format.ts';
import { readBlockBytes } from '../node/ledger.ts';
import type { Explanation } from '../node/shapes.ts';
import { type Tone, Verdict } from '../parts/parts.tsx';
import { asError, type Loaded } from '../parts/use-load.ts';
import type { Claim, Finding } from '../verify/check-cone.ts';
import { BlockPanel } from './block-panel.tsx';
import { BlockTable } from './block-table.tsx';
import { Graph } from './graph.tsx';
import { kindOf, Legend } from './kinds.tsx';
import type { Layout } from './layout.ts';
import { Mosaic } from './mosaic.tsx';
import { requestLayout } from './request-layout.ts';

/** Larger cones are shown as a mosaic: a graph of them is neither quick nor readable. */
const MAX_DRAWN = 150;

const TONES: Record<Finding['state'], Tone> = { right: 'good', wrong: 'bad', unknown: 'neutral' };

interface ConeProps {
  explanation: Explanation;
  claim: Claim;
  /** Findings about what the cone does not know, such as signatures. */
  others: readonly Finding[];
  /** The milestone that references the blocks; undefined for a proposal: there is no proof yet. */
  milestoneIndex: number | undefined;
  selected: string | undefined;
  select(blockId: string): void;
}

export function Cone(props: ConeProps) {
  const { explanation, claim, others, milestoneIndex, selected, select } = props;
  const { blocks } = explanation;
  const { findings, layout, progress } = useChecks(explanation, claim);
  const all = [...others, ...findings];
  const faulty = useMemo(() => new Set(all.flatMap(({ blocks }) => blocks)), [findings, others]);
  const kinds = useMemo(() => new Set(blocks.map(kindOf)), [blocks]);
  const block = blocks.find(({ blockId }) => blockId === selected);
  const wrong = all.filter(({ state }) => state === 'wrong').length;

  return (
    <>
      <section class="checks" aria-labelledby="checks-title">
        <h2 id="checks-title">Checked by your browser</h2>
        <div role="status" id="findings">
          {all.map(({ state, text }) => (
            <Verdict key={text} tone={TONES[state]}>
              {text}
            </Verdict>
          ))}
          {progress !== undefined && <p class="loading">{progress}</p>}
          {wrong > 0 && <p class="lie">This node does not tell the truth about this.</p>}
        </div>
      </section>
      {blocks.length === 0 ? (
        <p>No block is in this cone.</p>
      ) : (
        <div class="cone">
          <div class="picture-side">
            {blocks.length <= MAX_DRAWN ? (
              <Graph {...{ blocks, layout, selected, select, faulty }} />
            ) : (
              <Mosaic {...{ blocks, selected, select, faulty }} />
            )}
            <Legend kinds={kinds} />
          </div>
          {block !== undefined && (
            <BlockPanel
              key={block.blockId}
              block={block}
              explanation={explanation}
              claim={claim}
              milestoneIndex={milestoneIndex}
            />
          )}
        </div>
      )}
      {blocks.length > 0 && <BlockTable {...{ blocks, faulty, select }} />}
    </>
  );
}

interface Checks {
  findings: readonly Finding[];
  layout: Loaded<Layout>;
  /** What is being done; undefined when all is done. */
  progress: string | undefined;
}

/** Reads and checks the cone, and lays it out, each as soon as it can be done. */
function useChecks(explanation: Explanation, claim: Claim): Checks {
  const [findings, setFindings] = useState<readonly Finding[]>([]);
  const [layout, setLayout] = useState<Loaded<Layout>>({ state: 'loading' });
  const [progress, setProgress] = useState<string>();

  useEffect(() => {
    let dropped = false;
    const { blocks } = explanation;
    const ids = blocks.map(({ blockId }) => blockId);
    async function check(): Promise<void> {
      setFindings([]);
      setProgress('Hashing …');
      const verifier = await import('../verify/verifier.ts');
      const roots = [
        verifier.checkInclusionRoot(ids, claim),
        verifier.checkAppliedRoot(blocks, claim),
      ];
      if (dropped) return;
      setFindings(roots);
      if (ids.length === 0 || ids.length > MAX_DRAWN) return;
      const cone = await verifier.readCone(ids, readBlockBytes, (count) => {
        if (!dropped) setProgress(`Reading ${plural(ids.length, 'block')}: ${count}`);
      });
      if (dropped) return;
      setFindings([verifier.checkBlocks(cone), verifier.checkOrder(ids, cone, claim), ...roots]);
      const drawn = ids.map((blockId) => ({
        blockId,
        parents: cone.get(blockId)?.parents.filter((parent) => cone.has(parent)) ?? [],
      }));
      const value = await requestLayout(drawn);
      if (!dropped) setLayout({ state: 'done', value });
    }
    setLayout({ state: 'loading' });
    check()
      .catch((thrown: unknown) => {
        if (!dropped) setLayout({ state: 'failed', error: asError(thrown) });
      })
      .finally(() => {
        if (!dropped) setProgress(undefined);
      });
    return () => {
      dropped = true;
    };
  }, [explanation, claim]);

  return { findings, layout, progress };
}
