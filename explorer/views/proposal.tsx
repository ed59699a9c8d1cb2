/**
 * A proposal: the roots that the next milestone would have over given parents, or that a past one
 * should have, as a coordinator asks for them (`POST …/whiteflag`).
 */
import { useMemo, useState } from 'preact/hooks';
import { Cone } from '../cone/cone.tsx';
import { formatCount } from '../format.ts';
import { NodeError } from '../node/ask.ts';
import { explainProposal, type ProposalRequest, readMilestone, readTips } from '../node/ledger.ts';
import type { Explanation, Info, MilestoneJson } from '../node/shapes.ts';
import { Facts, Head, Id, Verdict } from '../parts/parts.tsx';
import { useLoad } from '../parts/use-load.ts';
import { formatRoute, type ProposalFields } from '../route.ts';
import type { Claim } from '../verify/check-cone.ts';

export function ProposalView({ fields, info }: { fields: ProposalFields | undefined; info: Info }) {
  const key = JSON.stringify(fields);
  return (
    <article class="page">
      <Head kind="Proposal">
        {fields === undefined ? 'The next milestone' : `Milestone ${fields.index}`}
      </Head>
      <p class="lead">
        A coordinator proposes the next milestone by its parents. Everything that they lead to, in
        white-flag order, decides two Merkle roots, and the network signs them.
      </p>
      <Form key={key} fields={fields} info={info} />
      {fields !== undefined && <Answer key={`answer${key}`} fields={fields} info={info} />}
    </article>
  );
}

const EMPTY: ProposalFields = { index: '', timestamp: '', previousMilestoneId: '', parents: '' };

function open(fields: ProposalFields): void {
  location.hash = formatRoute({ name: 'proposal', fields });
}

function Form({ fields, info }: { fields: ProposalFields | undefined; info: Info }) {
  const [draft, setDraft] = useState(fields ?? EMPTY);
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const { confirmedMilestone } = info.status;

  const proposeNext = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      const { tips } = await readTips();
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
  const set = (name: keyof ProposalFields) => (event: { currentTarget: { value: string } }) =>
    setDraft({ ...draft, [name]: event.currentTarget.value });

  return (
    <>
      <p>
        <button type="button" class="main" onClick={proposeNext} aria-disabled={isBusy}>
          Propose milestone {formatCount(confirmedMilestone.index + 1)} over today’s tips
        </button>
      </p>
      <div role="status">
        {problem !== undefined && <Verdict tone="neutral">{problem}</Verdict>}
      </div>
      <details class="folded" open={fields !== undefined && !isComplete(fields)}>
        <summary>Edit the proposal</summary>
        <form
          class="fields"
          onSubmit={(event) => {
            event.preventDefault();
            open(draft);
          }}
        >
          <label>
            Index
            <input value={draft.index} onInput={set('index')} inputMode="numeric" required />
          </label>
          <label>
            Timestamp, Unix seconds
            <input
              value={draft.timestamp}
              onInput={set('timestamp')}
              inputMode="numeric"
              required
            />
          </label>
          <label class="wide">
            Previous milestone ID
            <input
              class="mono"
              value={draft.previousMilestoneId}
              onInput={set('previousMilestoneId')}
              spellcheck={false}
              autocomplete="off"
            />
          </label>
          <label class="wide">
            Parents, 1 to 8 block IDs
            <textarea
              class="mono"
              rows={6}
              value={draft.parents}
              onInput={set('parents')}
              spellcheck={false}
              required
            />
          </label>
          <button type="submit">Compute</button>
        </form>
      </details>
    </>
  );
}

function isComplete({ index, timestamp, parents }: ProposalFields): boolean {
  return [index, timestamp, parents].every((text) => text.trim() !== '');
}

function toRequest({
  index,
  timestamp,
  previousMilestoneId,
  parents,
}: ProposalFields): ProposalRequest {
  const previous = previousMilestoneId.trim();
  return {
    index: Number(index),
    timestamp: Number(timestamp),
    parents: parents.split(/[\s,]+/).filter((id) => id !== ''),
    previousMilestoneId: previous,
  };
}

interface Computed {
  explanation: Explanation;
  request: ProposalRequest;
  /** The milestone with this index, if the ledger has it. */
  signed: MilestoneJson | undefined;
}

async function compute(fields: ProposalFields, info: Info): Promise<Computed> {
  const request = toRequest(fields);
  const explanation = await explainProposal(request);
  if (request.index > info.status.confirmedMilestone.index)
    return { explanation, request, signed: undefined };
  return { explanation, request, signed: await readMilestone(String(request.index)) };
}

function Answer({ fields, info }: { fields: ProposalFields; info: Info }) {
  const computed = useLoad(() => compute(fields, info), []);
  if (computed.state === 'loading')
    return (
      <p class="loading" role="status">
        Computing …
      </p>
    );
  if (computed.state === 'failed') return <Refused error={computed.error} />;
  return <Roots {...computed.value} />;
}

/** What the node refuses is no lie: it says why. */
function Refused({ error }: { error: Error }) {
  const isRefusal = error instanceof NodeError && [400, 404].includes(error.status);
  return (
    <div role="status">
      <Verdict tone={isRefusal ? 'neutral' : 'bad'}>
        {isRefusal ? 'There are no roots for this proposal. ' : ''}
        {error.message}
      </Verdict>
    </div>
  );
}

function Roots({ explanation, request, signed }: Computed) {
  const [selected, select] = useState<string>();
  const { index, inclusionMerkleRoot, appliedMerkleRoot } = explanation;
  const claim = useMemo<Claim>(
    () => ({
      parents: [...new Set(request.parents.map((id) => id.toLowerCase()))],
      inclusionMerkleRoot,
      appliedMerkleRoot,
      whose: 'computed by the node',
    }),
    [explanation],
  );
  return (
    <>
      <section aria-labelledby="roots-title">
        <h2 id="roots-title">Roots</h2>
        <Facts
          rows={[
            ['Inclusion root', <Id id={inclusionMerkleRoot} what="inclusion root" whole />],
            ['Applied root', <Id id={appliedMerkleRoot} what="applied root" whole />],
          ]}
        />
        {signed === undefined ? (
          <Verdict tone="neutral">
            Milestone {index} is yet to come: nobody has signed roots for it here.
          </Verdict>
        ) : (
          <Comparison explanation={explanation} signed={signed} />
        )}
      </section>
      <Cone
        explanation={explanation}
        claim={claim}
        others={NONE}
        milestoneIndex={undefined}
        selected={selected}
        select={select}
      />
    </>
  );
}

const NONE: readonly never[] = [];

function Comparison({ explanation, signed }: { explanation: Explanation; signed: MilestoneJson }) {
  const differing = (['inclusionMerkleRoot', 'appliedMerkleRoot'] as const).filter(
    (root) => explanation[root] !== signed[root],
  );
  if (differing.length === 0)
    return (
      <Verdict tone="good">
        Both roots are the ones that the network signed in milestone {signed.index}.
      </Verdict>
    );
  return (
    <Verdict tone="bad">
      Milestone {signed.index} was signed with another{' '}
      {differing
        .map((root) => (root === 'appliedMerkleRoot' ? 'applied root' : 'inclusion root'))
        .join(' and ')}
      .
    </Verdict>
  );
}
