/**
 * A milestone: who signed it, and its past cone. All that is shown of it comes from its bytes.
 */
import { formatAmount } from '../../client/words/amounts.ts';
import type {
  Finding,
  MilestoneFacts,
  Said,
  SignedMilestone,
} from '../../src/stardust/provenance/provenance.ts';
import { formatTime } from '../../src/stardust/provenance/words.ts';
import { decodeMilestone } from '../../src/stardust/wire/decode-milestone.ts';
import { receiptOf } from '../../src/stardust/wire/milestone.ts';
import { ConeView } from '../cone/cone.tsx';
import { plural, shorten } from '../format.ts';
import { goTo } from '../navigate.ts';
import { isMissing, NodeError } from '../node/ask.ts';
import { askExplanation, milestonePath, readMilestoneBytes } from '../node/ledger.ts';
import { type ExplanationJson, type Info, saysEnded } from '../node/shapes.ts';
import { Awaited, Facts, Folded, Head, Id, type Rows, To } from '../parts/parts.tsx';
import { CheckResult, OutcomeLine, ProvedFacts, SaidByNode } from '../parts/standing.tsx';
import { useLoad } from '../use-load.ts';
import type { KeyChoice } from '../verify/describe-keys.ts';
import { useKeyChoice } from '../verify/key-choice.ts';
import { NetworkNote, networkWords } from '../words/network.tsx';
import { AddressLink } from '../words/words.tsx';
import { NothingToCheck } from './nothing-to-check.tsx';

interface Loaded {
  facts: MilestoneFacts;
  payload: Uint8Array;
  signed: Finding<SignedMilestone>;
  explanation: Said<ExplanationJson>;
}

/** Resolves to the index of a milestone that was not applied here, but came with a snapshot. */
async function load(name: string, info: Info, choice: KeyChoice): Promise<Loaded | number> {
  try {
    const [verifier, payload] = await Promise.all([
      import('../verify/verifier.ts'),
      readMilestoneBytes(name),
    ]);
    const facts = verifier.readMilestoneFacts(payload);
    if (facts === undefined) throw new NodeError(0, 'What the node answers is no milestone.');
    const asked = /^\d+$/.test(name)
      ? { index: Number(name) }
      : { milestoneId: name.toLowerCase() };
    const { networkName } = info.protocol;
    const signed = await verifier.judgeMilestone(payload, asked, choice, networkName);
    const index = 'index' in asked ? asked.index : facts.index;
    return { facts, payload, signed, explanation: await askExplanation(index) };
  } catch (error) {
    const kept = isMissing(error) ? keptIndex(name, info) : undefined;
    if (kept !== undefined) return kept;
    throw error;
  }
}

/** Its index if the ledger is at this milestone or beyond, and has not pruned it, as the node says. */
function keptIndex(name: string, { status }: Info): number | undefined {
  const { confirmedMilestone, pruningIndex } = status;
  if (name.toLowerCase() === confirmedMilestone.milestoneId) return confirmedMilestone.index;
  const index = /^\d+$/.test(name) ? Number(name) : 0;
  return index > pruningIndex && index <= confirmedMilestone.index ? index : undefined;
}

interface Selected {
  block?: string | undefined;
  info: Info;
}

export function MilestoneView({ milestone, block, info }: Selected & { milestone: string }) {
  const choice = useKeyChoice();
  const isYetToCome = Number(milestone) > info.status.confirmedMilestone.index;
  const loaded = useLoad(() => load(milestone, info, choice), [milestone, choice, isYetToCome]);
  return (
    <Awaited loaded={loaded} kind="Milestone" id={milestone} missing={whyMissing(milestone, info)}>
      {(value) =>
        typeof value === 'number' ? (
          <article class="page">
            <Head kind="Milestone" aside={<Neighbours index={value} info={info} />}>
              {shorten(milestone)}
            </Head>
            <NothingToCheck info={info} />
          </article>
        ) : (
          <MilestonePage key={milestone} {...value} block={block} info={info} />
        )
      }
    </Awaited>
  );
}

function whyMissing(milestone: string, info: Info): string {
  const index = Number(milestone);
  const { confirmedMilestone, pruningIndex } = info.status;
  if (!/^\d+$/.test(milestone)) return 'This node says that it has no milestone with this ID.';
  if (index > confirmedMilestone.index && saysEnded(info))
    return `This node says that there is none: the network ended at milestone ${confirmedMilestone.index}.`;
  if (index > confirmedMilestone.index)
    return `This node says that milestone ${index} has not come yet: its ledger is at milestone ${confirmedMilestone.index}.`;
  return `This node says that milestone ${index} is too old: it has nothing of milestones before ${pruningIndex + 1}.`;
}

function MilestonePage({ facts, payload, signed, explanation, block, info }: Loaded & Selected) {
  const { index, timestamp, previousMilestoneId, parents } = facts;
  const select = (blockId: string) => {
    goTo({ name: 'milestone', milestone: String(index), block: blockId });
  };
  const fields = {
    index: String(index),
    timestamp: String(timestamp),
    previousMilestoneId,
    parents: parents.join(' '),
  };
  return (
    <article class="page">
      <Head
        kind="Milestone"
        api={milestonePath(String(index))}
        aside={<Neighbours index={index} info={info} />}
      >
        {index}
      </Head>
      {signed.standing === 'refuted' && <CheckResult finding={signed} words={() => ''} />}
      <OutcomeLine proof={signed.standing === 'proved' ? signed.proof : undefined}>
        {signed.standing === 'proved' ? 'Signed' : 'Not known to be signed'} ·{' '}
        {formatTime(timestamp)} UTC
      </OutcomeLine>
      <Receipt payload={payload} signed={signed} info={info} />
      <ConeView
        {...{ explanation, parents, signed, select }}
        milestoneIndex={index}
        selected={block}
      />
      {signed.standing === 'proved' ? (
        <ProvedFacts
          proof={signed.proof}
          label="Proved by your browser: the signed bytes say this"
          rows={(milestone) => rowsOf(milestone, info)}
        />
      ) : (
        <SaidByNode of={{ said: facts }} proof="signatures of keys that you trust.">
          {(said) => <Facts rows={rowsOf(said, info)} />}
        </SaidByNode>
      )}
      <p>
        <To view={{ name: 'proposal', fields }}>Let the node compute these roots again</To>
      </p>
    </article>
  );
}

/** Beyond it the API has them. */
const MAX_FUNDS = 20;

/** What a milestone pays out to whom migrated from the legacy network (TIP-34). */
function Receipt({ payload, signed, info }: Pick<Loaded, 'payload' | 'signed'> & { info: Info }) {
  const choice = useKeyChoice();
  const receipt = receiptOf(decodeMilestone(payload).value);
  if (receipt === undefined) return null;
  const { funds, migratedAt } = receipt;
  const network =
    signed.standing === 'proved' && choice.kind === 'known'
      ? choice.network
      : networkWords(undefined, info);
  return (
    <section
      class="receipt"
      aria-labelledby="receipt-title"
      data-standing={signed.standing === 'proved' ? 'proved' : 'said'}
    >
      <h2 id="receipt-title">
        {plural(funds.length, 'output')} of migrated funds, from milestone {migratedAt} of the
        legacy network
      </h2>
      <ol class="rows">
        {funds.slice(0, MAX_FUNDS).map(({ address, deposit }, place) => (
          <li key={place}>
            {formatAmount(deposit, network.baseToken)} to{' '}
            <AddressLink address={address} network={network} />
          </li>
        ))}
      </ol>
      {funds.length > MAX_FUNDS && (
        <p class="hint">and {plural(funds.length - MAX_FUNDS, 'more output')}, in the API</p>
      )}
      {/* no bytes of a milestone name its network */}
      {choice.kind === 'own' && <NetworkNote id={0n} info={info} />}
    </section>
  );
}

function rowsOf(milestone: MilestoneFacts, info: Info): Rows {
  const { index, timestamp, previousMilestoneId, signers } = milestone;
  const { inclusionMerkleRoot, appliedMerkleRoot } = milestone;
  return [
    ['Time', `${formatTime(timestamp)} UTC`],
    ['Inclusion root', <Id id={inclusionMerkleRoot} what="inclusion root" />],
    ['Applied root', <Id id={appliedMerkleRoot} what="applied root" />],
    [
      'Previous',
      <Id
        id={previousMilestoneId}
        what="previous milestone ID"
        // by its index: of an ID a node that started at a snapshot knows nothing
        {...(index - 1 > info.status.pruningIndex && {
          view: { name: 'milestone', milestone: String(index - 1) },
        })}
      />,
    ],
    [
      'Signatures',
      <Folded title={plural(signers.length, 'signature')} text={() => signers.join('\n')} />,
    ],
  ];
}

function Neighbours({ index, info }: { index: number; info: Info }) {
  const to = (milestone: number) => ({ name: 'milestone', milestone: String(milestone) }) as const;
  return (
    <nav class="neighbours" aria-label="Milestones">
      {index > info.status.pruningIndex + 1 && <To view={to(index - 1)}>← {index - 1}</To>}
      {index < info.status.confirmedMilestone.index && <To view={to(index + 1)}>{index + 1} →</To>}
    </nav>
  );
}
