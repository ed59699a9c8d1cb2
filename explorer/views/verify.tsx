/**
 * Verifies the node against keys that the visitor chooses, in plain steps.
 */
import { useState } from 'preact/hooks';
import { describeVerdict } from '../../client/words/proved.ts';
import { provedValue } from '../../src/stardust/provenance/proved.ts';
import type { MilestoneOutcome, Proved } from '../../src/stardust/provenance/provenance.ts';
import { KNOWN_NETWORKS } from '../../src/stardust/verifier/known-networks.ts';
import { FinalLedgerForm } from '../archive/record-check.tsx';
import { asSentence } from '../format.ts';
import { isMissing, NodeError } from '../node/ask.ts';
import { askExplanation, readInfo } from '../node/ledger.ts';
import { saysEnded } from '../node/shapes.ts';
import type { Known } from '../node/use-info.ts';
import { EntryForm, LabelledField } from '../parts/field.tsx';
import { Head, To } from '../parts/parts.tsx';
import { NotChecked, RefutedMark, SignedResult, Tick } from '../parts/standing.tsx';
import { describeKeys, type KeyChoice } from '../verify/describe-keys.ts';
import { chooseKeys, useKeyChoice, useNetworkName } from '../verify/key-choice.ts';
import { NothingToCheck } from './nothing-to-check.tsx';

/** What is done, in the order of the checks. */
const STEPS = [
  'Is the newest milestone that this node names signed by the keys?',
  'Have its blocks the bytes, the order and the inclusion root that were signed?',
  'Have the transactions that count as applied the root that was signed, and does each block carry what the node says?',
  'Does the proof of a block that chance picks lead to that milestone?',
  'Does the node answer the signed roots when it is asked as a coordinator asks?',
];

const OWN_KEYS = 'own';

type Progress =
  | { state: 'idle' | 'nothing' }
  | { state: 'running'; text: string }
  | { state: 'verified'; proof: Proved<MilestoneOutcome> }
  | { state: 'false' | 'stopped'; reason: string };

export function VerifyView({ info, head }: Known) {
  const chosen = useKeyChoice();
  const [passed, setPassed] = useState<readonly Proved<string>[]>([]);
  const [progress, setProgress] = useState<Progress>({ state: 'idle' });

  async function verify(choice: KeyChoice): Promise<void> {
    if (progress.state === 'running') return;
    chooseKeys(choice);
    setPassed([]);
    setProgress({ state: 'running', text: 'Verifying …' });
    const verifier = await import('../verify/verify-here.ts');
    try {
      if (await isFresh()) return setProgress({ state: 'nothing' });
      const proof = await verifier.verifyHere(choice, {
        onProved: (sentence) => setPassed((before) => [...before, sentence]),
        onProgress: (text) => setProgress({ state: 'running', text }),
        now: () => Date.now() / 1000,
      });
      setProgress({ state: 'verified', proof });
    } catch (error) {
      const state = error instanceof verifier.NotVerified ? 'false' : 'stopped';
      setProgress({ state, reason: asSentence((error as Error).message) });
    }
  }

  return (
    <article class="page">
      <Head kind="Verify" api="/api/core/v2/info">
        Does this node tell the truth?
      </Head>
      <p class="lead">
        Your browser takes the newest milestone that this node names, every block that it references
        and the proof of one of them, and checks all of it against public keys that sign milestones.
        You choose whose keys; the node has no say in it.
      </p>
      <KeyForm
        chosen={chosen}
        isBusy={progress.state === 'running'}
        submit={(choice) =>
          void verify(choice).catch((error: Error) =>
            setProgress({ state: 'stopped', reason: error.message }),
          )
        }
      />
      <Steps passed={passed} progress={progress} />
      <div role="status" id="verdict">
        <Ending progress={progress} info={info} head={head} />
      </div>
      {saysEnded(info) && <FinalLedgerForm />}
      {saysEnded(info) && (
        <p>
          <To view={{ name: 'statement' }}>Check the statement of an address, from files</To>
        </p>
      )}
      <p class="hint">
        The page that checks comes from this node, too. If you do not trust it in that, run{' '}
        <code>npx stardust-edge verify</code> from a copy of the source.
      </p>
    </article>
  );
}

function KeyForm({
  chosen,
  isBusy,
  submit,
}: {
  chosen: KeyChoice;
  isBusy: boolean;
  submit(choice: KeyChoice): void;
}) {
  const own = chosen.kind === 'own' ? chosen : { publicKeys: '', threshold: '' };
  const networkName = useNetworkName();
  // keys that nobody chose are no keys of a network with another name
  const isKnown =
    chosen.kind === 'known' && (!chosen.isDefault || chosen.network.networkName === networkName);
  const [name, setName] = useState(isKnown ? chosen.network.networkName : OWN_KEYS);
  const [publicKeys, setPublicKeys] = useState(own.publicKeys);
  const [threshold, setThreshold] = useState(own.threshold);
  return (
    <EntryForm
      submit={() => {
        const network = KNOWN_NETWORKS.find(({ networkName }) => networkName === name);
        submit(
          network === undefined
            ? { kind: 'own', publicKeys, threshold }
            : { kind: 'known', network, isDefault: false },
        );
      }}
    >
      <label class="wide">
        Keys of
        <select value={name} onChange={({ currentTarget }) => setName(currentTarget.value)}>
          {KNOWN_NETWORKS.map(({ networkName, title, keys, threshold }) => (
            <option key={networkName} value={networkName}>
              {title}: at least {threshold} of {keys.length} keys, from this page’s source
            </option>
          ))}
          <option value={OWN_KEYS}>another network: my own keys</option>
        </select>
      </label>
      {name === OWN_KEYS && (
        <>
          <LabelledField
            label="Public keys, 64 hex digits each"
            rows={4}
            value={publicKeys}
            onChange={setPublicKeys}
          />
          <LabelledField
            label="Signatures needed; all, if empty"
            isNumber
            isOptional
            value={threshold}
            onChange={setThreshold}
          />
        </>
      )}
      <button type="submit" class="main" aria-disabled={isBusy}>
        Verify
      </button>
      <p class="hint wide">
        {isKnown || chosen.kind === 'own'
          ? `Whatever this page checks, it checks against ${describeKeys(chosen)}.`
          : 'This page has no keys of this network. Its operators publish them, in the configuration of its nodes.'}
      </p>
    </EntryForm>
  );
}

/** Whether the ledger came by a snapshot and no milestone was applied since, as the node says. */
async function isFresh(): Promise<boolean> {
  const { status } = await readInfo();
  try {
    await askExplanation(status.confirmedMilestone.index);
    return false;
  } catch (error) {
    if (isMissing(error)) return true;
    // the check says what is wrong with it
    if (error instanceof NodeError) return false;
    throw error;
  }
}

function Steps({ passed, progress }: { passed: readonly Proved<string>[]; progress: Progress }) {
  return (
    <ol class="steps" id="checks">
      {STEPS.map((step, place) => {
        const proof = passed[place];
        if (proof !== undefined)
          return (
            <li key={step} class="passed">
              <span>{step}</span>
              <Tick proof={proof}>{(sentence) => sentence}</Tick>
            </li>
          );
        const isHere = place === passed.length;
        const isWrong = isHere && progress.state === 'false';
        const isNow = isHere && progress.state === 'running';
        return (
          <li
            key={step}
            class={isWrong ? 'bad' : isNow ? 'now' : ''}
            data-standing={isWrong ? 'refuted' : 'not-checked'}
          >
            <span>
              {step}
              {isWrong && 'reason' in progress && <span class="found bad">{progress.reason}</span>}
            </span>
          </li>
        );
      })}
    </ol>
  );
}

function Ending({ progress, info, head }: Known & { progress: Progress }) {
  switch (progress.state) {
    case 'verified': {
      const { index } = provedValue(progress.proof).milestone;
      return (
        <>
          <Tick proof={progress.proof}>
            {() => describeVerdict(progress.proof, Date.now() / 1000)}
          </Tick>
          <p>
            <To view={{ name: 'milestone', milestone: String(index) }}>See milestone {index}</To>
          </p>
        </>
      );
    }
    case 'false':
      return (
        <RefutedMark>
          False: what this node says does not hold against the keys. {progress.reason}
        </RefutedMark>
      );
    case 'stopped':
      return <NotChecked>{progress.reason}</NotChecked>;
    case 'nothing':
      return (
        <>
          {head?.standing === 'proved' && <SignedResult finding={head} />}
          <NothingToCheck info={info} />
        </>
      );
    case 'running':
      return <p class="loading">{progress.text}</p>;
    case 'idle':
      return null;
  }
}
