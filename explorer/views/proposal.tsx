/**
 * A proposal: the roots that the next milestone would have over given parents, or that a past one
 * should have, as a coordinator asks for them (`POST …/whiteflag`).
 */
import { useState } from 'preact/hooks';
import { notChecked, provedValue } from '../../src/stardust/provenance/proved.ts';
import type { Finding, Said, SignedMilestone } from '../../src/stardust/provenance/provenance.ts';
import { formatTime } from '../../src/stardust/provenance/words.ts';
import { ConeView } from '../cone/cone.tsx';
import { goTo } from '../navigate.ts';
import { NodeError } from '../node/ask.ts';
import { askTips, explainProposal, type ProposalRequest } from '../node/ledger.ts';
import { type ExplanationJson, type Info, saysEnded } from '../node/shapes.ts';
import { EntryForm, LabelledField } from '../parts/field.tsx';
import { Facts, Head, Id, ReadingNote } from '../parts/parts.tsx';
import { CheckResult, Remark, SaidByNode } from '../parts/standing.tsx';
import type { ProposalFields } from '../route.ts';
import { useLoad } from '../use-load.ts';
import type { KeyChoice } from '../verify/describe-keys.ts';
import { useKeyChoice } from '../verify/key-choice.ts';

export function ProposalView({ fields, info }: { fields?: ProposalFields; info: Info }) {
  const key = JSON.stringify(fields);
  if (saysEnded(info)) return <AfterTheEnd fields={fields} info={info} />;
  return (
    <article class="page">
      <Head kind="Proposal" api="/api/core/v2/tips">
        {fields === undefined ? 'The next milestone' : `Milestone ${fields.index}`}
      </Head>
      <p class="lead">
        A coordinator proposes the next milestone by its parents. Everything that they lead to, in
        white-flag order, decides two Merkle roots, and the network signs them.
      </p>
      <ProposalForm key={key} fields={fields} info={info} />
      {fields !== undefined && <Answer key={`answer${key}`} fields={fields} info={info} />}
    </article>
  );
}

/** Roots of a milestone of the past can be computed again; there is nothing else to propose. */
function AfterTheEnd({ fields, info }: { fields: ProposalFields | undefined; info: Info }) {
  const last = info.status.confirmedMilestone.index;
  const isPast = fields !== undefined && Number(fields.index) <= last;
  return (
    <article class="page">
      <Head kind="Proposal">{isPast ? `Milestone ${fields.index}` : 'None'}</Head>
      {isPast ? (
        <Answer key={JSON.stringify(fields)} fields={fields} info={info} />
      ) : (
        <p class="reason" data-standing="said">
          The network ended at milestone {last}, this node says. Nothing comes after it, so there is
          nothing to propose.
        </p>
      )}
    </article>
  );
}

const EMPTY: ProposalFields = { index: '', timestamp: '', previousMilestoneId: '', parents: '' };

function open(fields: ProposalFields): void {
  goTo({ name: 'proposal', fields });
}

function ProposalForm({ fields, info }: { fields: ProposalFields | undefined; info: Info }) {
  const [draft, setDraft] = useState(fields ?? EMPTY);
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const { confirmedMilestone } = info.status;

  const proposeNext = async (button: HTMLElement) => {
    if (isBusy) return;
    setBusy(true);
    setProblem(undefined);
    try {
      const { tips } = await askTips();
      // the visitor went on meanwhile
      if (!button.isConnected) return;
      if (tips.length === 0)
        setProblem(
          'This node has no tips: no block has come since the last milestone. Fill in parents by hand.',
        );
      const now = Math.floor(Date.now() / 1000);
      const next = {
        index: String(confirmedMilestone.index + 1),
        timestamp: String(Math.max(now, confirmedMilestone.timestamp + 1)),
        previousMilestoneId: confirmedMilestone.milestoneId,
        parents: tips.join(' '),
      };
      if (tips.length > 0) open(next);
      else setDraft(next);
    } catch (error) {
      setProblem((error as Error).message);
    } finally {
      setBusy(false);
    }
  };
  const field = (name: keyof ProposalFields) => ({
    value: draft[name],
    onChange: (value: string) => setDraft({ ...draft, [name]: value }),
  });

  return (
    <>
      <p>
        <button
          type="button"
          class="main"
          onClick={({ currentTarget }) => void proposeNext(currentTarget)}
          aria-disabled={isBusy}
        >
          Propose milestone {confirmedMilestone.index + 1} over today’s tips
        </button>
      </p>
      <div role="status">{problem !== undefined && <Remark>{problem}</Remark>}</div>
      <details class="folded" open={fields !== undefined && !isComplete(fields)}>
        <summary>Edit the proposal</summary>
        <EntryForm submit={() => open(draft)}>
          <LabelledField label="Index" isNumber {...field('index')} />
          <LabelledField label="Timestamp, Unix seconds" isNumber {...field('timestamp')} />
          <LabelledField
            label="Previous milestone ID"
            isOptional
            {...field('previousMilestoneId')}
          />
          <LabelledField label="Parents, 1 to 8 block IDs" rows={6} {...field('parents')} />
          <button type="submit">Compute</button>
        </EntryForm>
      </details>
    </>
  );
}

function isComplete({ index, timestamp, parents }: ProposalFields): boolean {
  return [index, timestamp, parents].every((text) => text.trim() !== '');
}

function toRequest(fields: ProposalFields): ProposalRequest {
  return {
    index: Number(fields.index),
    timestamp: Number(fields.timestamp),
    parents: [...new Set(fields.parents.toLowerCase().split(/[\s,]+/))].filter((id) => id !== ''),
    previousMilestoneId: fields.previousMilestoneId.trim(),
  };
}

interface Computed {
  explanation: Said<ExplanationJson>;
  request: ProposalRequest;
  /** For a past milestone: whether these are the roots that were signed. */
  compared: Finding<SignedMilestone> | undefined;
}

async function compute(fields: ProposalFields, info: Info, choice: KeyChoice): Promise<Computed> {
  const request = toRequest(fields);
  const explanation = await explainProposal(request);
  if (request.index > info.status.confirmedMilestone.index)
    return { explanation, request, compared: undefined };
  const { readSigned, proveSignedRoots } = await import('../verify/verifier.ts');
  const signed = await readSigned(request.index, choice, info.protocol.networkName);
  const { parents, timestamp } = request;
  const isOther = (milestone: SignedMilestone) =>
    milestone.timestamp !== timestamp || milestone.parents.join() !== parents.join();
  const compared =
    signed.standing !== 'proved'
      ? signed
      : isOther(provedValue(signed.proof))
        ? notChecked(`these roots, as milestone ${request.index} differs in parents, order or time`)
        : proveSignedRoots(signed.proof, explanation.said);
  return { explanation, request, compared };
}

function Answer({ fields, info }: { fields: ProposalFields; info: Info }) {
  const choice = useKeyChoice();
  const computed = useLoad(() => compute(fields, info, choice), [choice]);
  if (computed.state === 'loading') return <ReadingNote words="Computing …" />;
  if (computed.state === 'done') return <Roots {...computed.value} />;
  const { error } = computed;
  // what the node refuses is no lie: it says why
  const isRefusal = error instanceof NodeError && [400, 404].includes(error.status);
  return (
    <div role="status">
      <Remark>
        {isRefusal ? 'There are no roots for this proposal. ' : 'Not checked: '}
        {error.message}
      </Remark>
    </div>
  );
}

function Roots({ explanation, request, compared }: Computed) {
  const [selected, select] = useState<string>();
  return (
    <>
      <section aria-labelledby="roots-title">
        <h2 id="roots-title">Roots</h2>
        <SaidByNode
          of={explanation}
          label="This node computed. Whether they were signed stands below."
          proof="the signatures of a milestone with these roots."
        >
          {({ inclusionMerkleRoot, appliedMerkleRoot }) => (
            <Facts
              rows={[
                ['Inclusion root', <Id id={inclusionMerkleRoot} what="inclusion root" whole />],
                ['Applied root', <Id id={appliedMerkleRoot} what="applied root" whole />],
              ]}
            />
          )}
        </SaidByNode>
        {compared === undefined ? (
          <Remark>
            Milestone {request.index} was yet to come when this was computed, this node said: nobody
            had signed roots for it here.
          </Remark>
        ) : (
          <CheckResult
            finding={compared}
            words={({ index, timestamp, whose }) =>
              `Both roots are the ones that ${whose} signed in milestone ${index}, of ${formatTime(timestamp)} UTC.`
            }
          />
        )}
      </section>
      <ConeView
        {...{ explanation, selected, select }}
        parents={request.parents}
        signed={undefined}
        milestoneIndex={undefined}
      />
    </>
  );
}
