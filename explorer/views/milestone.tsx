/**
 * A milestone: who signed it, and its past cone.
 */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { findKnownNetwork } from '../../scripts/lib/known-networks.ts';
import { Cone } from '../cone/cone.tsx';
import { kindOf } from '../cone/kinds.tsx';
import { formatCount, formatTime, plural, shorten } from '../format.ts';
import { NodeError } from '../node/ask.ts';
import { readExplanation, readMilestone, readMilestoneBytes } from '../node/ledger.ts';
import type { Explanation, Info, MilestoneJson } from '../node/shapes.ts';
import { Awaited, Facts, Folded, Head, Id, To } from '../parts/parts.tsx';
import { useLoad } from '../parts/use-load.ts';
import { formatRoute } from '../route.ts';
import type { Claim, Finding } from '../verify/check-cone.ts';
import { parseKeys } from '../verify/parse-keys.ts';
import { NothingToCheck } from './nothing-to-check.tsx';

interface Loaded {
  milestone: MilestoneJson;
  explanation: Explanation;
}

/** Resolves to `snapshot` for a milestone that was not applied here, but came with a snapshot. */
async function load(name: string, info: Info): Promise<Loaded | 'snapshot'> {
  try {
    const milestone = await readMilestone(name);
    return { milestone, explanation: await readExplanation(milestone.index) };
  } catch (error) {
    const isMissing = error instanceof NodeError && error.status === 404;
    if (isMissing && isKept(name, info)) return 'snapshot';
    throw error;
  }
}

/** Whether the ledger is at this milestone or beyond, and has not pruned it. */
function isKept(name: string, { status }: Info): boolean {
  const { confirmedMilestone, pruningIndex } = status;
  if (name === confirmedMilestone.milestoneId) return true;
  return (
    /^\d+$/.test(name) && Number(name) > pruningIndex && Number(name) <= confirmedMilestone.index
  );
}

export function MilestoneView({
  milestone,
  block,
  info,
}: {
  milestone: string;
  block: string | undefined;
  info: Info;
}) {
  const loaded = useLoad(() => load(milestone, info), [milestone]);
  return (
    <Awaited loaded={loaded} kind="Milestone" id={milestone} missing={whyMissing(milestone, info)}>
      {(value) =>
        value === 'snapshot' ? (
          <article class="page">
            <Head kind="Milestone" aside={<Neighbours index={Number(milestone)} info={info} />}>
              {shorten(milestone)}
            </Head>
            <NothingToCheck />
          </article>
        ) : (
          <MilestonePage key={milestone} {...value} block={block} info={info} />
        )
      }
    </Awaited>
  );
}

function whyMissing(milestone: string, { status }: Info): string {
  const index = Number(milestone);
  const { confirmedMilestone, pruningIndex } = status;
  if (!/^\d+$/.test(milestone)) return 'This node has no milestone with this ID.';
  if (index > confirmedMilestone.index)
    return `It is yet to come: the ledger is at milestone ${confirmedMilestone.index}.`;
  return `It is too old: this node keeps milestones from ${pruningIndex + 1} on.`;
}

function MilestonePage({
  milestone,
  explanation,
  block,
  info,
}: Loaded & { block: string | undefined; info: Info }) {
  const { index, timestamp, previousMilestoneId } = milestone;
  const signatures = useSignatures(milestone, info);
  const claim = useMemo<Claim>(() => ({ ...milestone, whose: 'signed' }), [milestone]);
  const select = (blockId: string) => {
    location.hash = formatRoute({ name: 'milestone', milestone: String(index), block: blockId });
  };
  return (
    <article class="page">
      <Head kind="Milestone" aside={<Neighbours index={index} info={info} />}>
        {formatCount(index)}
      </Head>
      <Facts
        rows={[
          ['Time', `${formatTime(timestamp)} UTC`],
          ['Blocks', summarize(explanation)],
          ['Inclusion root', <Id id={milestone.inclusionMerkleRoot} what="inclusion root" />],
          ['Applied root', <Id id={milestone.appliedMerkleRoot} what="applied root" />],
          [
            'Previous',
            <Id
              id={previousMilestoneId}
              what="previous milestone ID"
              view={{ name: 'milestone', milestone: previousMilestoneId }}
            />,
          ],
          [
            'Signatures',
            <Folded
              title={plural(milestone.signatures.length, 'signature')}
              text={() => milestone.signatures.map(({ publicKey }) => publicKey).join('\n')}
            />,
          ],
        ]}
      />
      <Cone
        explanation={explanation}
        claim={claim}
        others={signatures}
        milestoneIndex={index}
        selected={block}
        select={select}
      />
      <p>
        <To
          view={{
            name: 'proposal',
            fields: {
              index: String(index),
              timestamp: String(timestamp),
              previousMilestoneId,
              parents: milestone.parents.join(' '),
            },
          }}
        >
          Let the node compute these roots again
        </To>
      </p>
    </article>
  );
}

function summarize({ blocks }: Explanation): string {
  const count = (kind: string) => blocks.filter((each) => kindOf(each) === kind).length;
  const conflicts = count('conflict');
  return `${formatCount(blocks.length)}, with ${plural(count('applied'), 'applied transaction')}${conflicts === 0 ? ' and no conflict' : ` and ${plural(conflicts, 'conflict')}`}`;
}

function Neighbours({ index, info }: { index: number; info: Info }) {
  const to = (milestone: number) => ({ name: 'milestone', milestone: String(milestone) }) as const;
  return (
    <nav class="neighbours" aria-label="Milestones">
      {index > info.status.pruningIndex + 1 && (
        <To view={to(index - 1)}>← {formatCount(index - 1)}</To>
      )}
      {index < info.status.confirmedMilestone.index && (
        <To view={to(index + 1)}>{formatCount(index + 1)} →</To>
      )}
    </nav>
  );
}

/** Whether the network signed the payload, and whether it is the one that is shown. */
function useSignatures(shown: MilestoneJson, info: Info): readonly Finding[] {
  const [findings, setFindings] = useState<readonly Finding[]>([]);
  useEffect(() => {
    let dropped = false;
    async function check(): Promise<void> {
      const [verifier, payload] = await Promise.all([
        import('../verify/verifier.ts'),
        readMilestoneBytes(String(shown.index)),
      ]);
      const { networkName } = info.protocol;
      const known = findKnownNetwork(networkName);
      const keys = known && parseKeys(known.publicKeys.join(), String(known.threshold));
      const finding = await verifier.checkMilestone(
        shown,
        payload,
        known?.title ?? networkName,
        keys,
      );
      if (!dropped) setFindings([finding]);
    }
    check().catch(({ message: text }: Error) => {
      if (!dropped) setFindings([{ state: 'unknown', text, blocks: [] }]);
    });
    return () => {
      dropped = true;
    };
  }, [shown]);
  return findings;
}
