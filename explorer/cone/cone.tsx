/**
 * The past cone of a milestone or a proposal: how far it was proved, its graph, and its blocks.
 * Everything is checked in the browser while it is shown.
 */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { notChecked, provedValue } from '../../src/stardust/provenance/proved.ts';
import type {
  Finding,
  PastCone,
  Proved,
  Said,
  SignedMilestone,
} from '../../src/stardust/provenance/provenance.ts';
import { plural } from '../format.ts';
import type { ExplainedBlockJson, ExplanationJson } from '../node/shapes.ts';
import { CheckResult, SignedResult } from '../parts/standing.tsx';
import { asError, type Loaded } from '../use-load.ts';
import type { JudgedCone } from '../verify/judge-cone.ts';
import { BlockPanel } from './block-panel.tsx';
import { BlockTable } from './block-table.tsx';
import { Graph } from './graph.tsx';
import { kindOf, Legend } from './kinds.tsx';
import type { ConeLayout } from './layout.ts';
import { Mosaic } from './mosaic.tsx';
import { requestLayout } from './request-layout.ts';

/** Larger cones are shown as a mosaic: a graph of them is neither quick nor readable. */
const MAX_DRAWN = 150;

interface ConeProps {
  explanation: Said<ExplanationJson>;
  /** Of the milestone or the proposal, in their order. */
  parents: readonly string[];
  /** The milestone that references the blocks; undefined for a proposal, which nobody signed. */
  signed: Finding<SignedMilestone> | undefined;
  milestoneIndex: number | undefined;
  selected: string | undefined;
  select(blockId: string): void;
}

export function ConeView(props: ConeProps) {
  const { explanation, signed, milestoneIndex, selected, select } = props;
  const { judged, layout, progress } = useChecks(props);
  const { findings, cone } = judged;
  const { said } = explanation;
  const blocks = useMemo(
    () => (cone === undefined ? said.blocks : withProved(said.blocks, cone)),
    [said, cone],
  );
  const faulty = useMemo(() => new Set(findings.flatMap(faultyOf)), [findings]);
  const kinds = useMemo(() => new Set(blocks.map(kindOf)), [blocks]);
  const block = blocks.find(({ blockId }) => blockId === selected);
  const wrong = [signed, ...findings].filter((each) => each?.standing === 'refuted').length;

  return (
    <>
      <section class="checks" aria-labelledby="checks-title">
        <h2 id="checks-title">Checked by your browser</h2>
        <div role="status" id="findings">
          {signed !== undefined && <SignedResult finding={signed} />}
          {findings.map((finding, i) => (
            <CheckResult key={i} finding={finding} words={(sentence) => sentence} />
          ))}
          {progress !== undefined && <p class="loading">{progress}</p>}
        </div>
      </section>
      {said.blocks.length === 0 ? (
        <p>This node says that no block is in this cone.</p>
      ) : (
        <section data-standing={cone === undefined ? 'said' : undefined} class="cone-section">
          <p class="hint">
            {cone === undefined
              ? `This node says: ${summarize(blocks)}. ${wrong > 0 ? 'Do not rely on it: a check above failed.' : 'What each block carries, and what became of it, is not checked as a whole.'}`
              : `${summarize(blocks)}: their bytes and the signed roots say so.`}
            {kinds.has('conflict') &&
              ' Reasons of conflicts are what this node says: no root has them.'}
          </p>
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
                count={blocks.length}
                milestoneIndex={milestoneIndex}
              />
            )}
          </div>
          <BlockTable {...{ blocks, faulty, milestoneIndex }} />
        </section>
      )}
    </>
  );
}

/** What became of each block as it was proved; why, as the node says. */
function withProved(
  said: readonly ExplainedBlockJson[],
  proved: Proved<PastCone>,
): readonly ExplainedBlockJson[] {
  const states = {
    applied: 'included',
    conflict: 'conflicting',
    noTransaction: 'noTransaction',
  } as const;
  return provedValue(proved).blocks.map(({ blockId, place, payload, state }) => ({
    ...(state === 'conflict' && said[place]),
    blockId,
    whiteFlagIndex: place,
    payload,
    ledgerInclusionState: states[state],
  }));
}

function summarize(blocks: readonly ExplainedBlockJson[]): string {
  const count = (kind: string) => blocks.filter((each) => kindOf(each) === kind).length;
  const conflicts = count('conflict');
  return `${plural(blocks.length, 'block')}, with ${plural(count('applied'), 'applied transaction')}${conflicts === 0 ? ' and no conflict' : ` and ${plural(conflicts, 'conflict')}`}`;
}

function faultyOf(finding: Finding<unknown>): readonly string[] {
  return finding.standing === 'refuted' ? finding.blocks : [];
}

interface Checks {
  judged: JudgedCone;
  layout: Loaded<ConeLayout>;
  /** What is being done; undefined when all is done. */
  progress: string | undefined;
}

const NOTHING: JudgedCone = { findings: [] };

/** Reads and checks the cone, and lays it out, each as soon as it can be done. */
function useChecks({ explanation, parents, signed }: ConeProps): Checks {
  const [judged, setJudged] = useState(NOTHING);
  const [layout, setLayout] = useState<Loaded<ConeLayout>>({ state: 'loading' });
  const [progress, setProgress] = useState<string | undefined>('Hashing …');

  useEffect(() => {
    let dropped = false;
    const { said } = explanation;
    const onRead = (count: number) => {
      if (!dropped) setProgress(`Reading ${plural(said.blocks.length, 'block')}: ${count}`);
    };
    async function check(): Promise<void> {
      setJudged(NOTHING);
      setProgress('Hashing …');
      const judge = await import('../verify/judge-cone.ts');
      for await (const now of judge.judgeCone(said, { parents, signed }, onRead)) {
        if (dropped) return;
        setJudged(now);
        if (now.drawn === undefined) continue;
        const value = await requestLayout(now.drawn);
        if (!dropped) setLayout({ state: 'done', value });
      }
    }
    setLayout({ state: 'loading' });
    check()
      .catch((thrown: unknown) => {
        if (dropped) return;
        const error = asError(thrown);
        setLayout({ state: 'failed', error });
        setJudged(({ findings }) => ({ findings: [...findings, notChecked(error.message)] }));
      })
      .finally(() => {
        if (dropped) return;
        setProgress(undefined);
        const error = new Error('These blocks cannot be drawn.');
        setLayout((now) => (now.state === 'loading' ? { state: 'failed', error } : now));
      });
    return () => {
      dropped = true;
    };
  }, [explanation, signed]);

  return { judged, layout, progress };
}
