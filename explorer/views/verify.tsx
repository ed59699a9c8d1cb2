/**
 * Verifies the node against the keys of its network, in plain steps.
 */
import { useState } from 'preact/hooks';
import { KNOWN_NETWORKS } from '../../scripts/lib/known-networks.ts';
import { NodeError } from '../node/ask.ts';
import { readExplanation, readInfo } from '../node/ledger.ts';
import type { Info } from '../node/shapes.ts';
import { Head, To, type Tone, Verdict } from '../parts/parts.tsx';
import { NothingToCheck } from './nothing-to-check.tsx';
import { FinalLedgerForm } from './verify-final.tsx';

/** What is done, in the order of the checks. */
const STEPS = [
  'The newest milestone is signed by the keys.',
  'Its blocks have the bytes, the order and the inclusion root that were signed.',
  'The transactions that count as applied have the root that was signed.',
  'The proof of a block that chance picks leads to that milestone.',
  'The node computes the signed roots when it is asked as a coordinator asks.',
];

const OWN_KEYS = 'own';

type Progress =
  | { state: 'idle' | 'running' | 'nothing' | 'verified' }
  | { state: 'false' | 'stopped'; reason: string };

export function VerifyView({ info }: { info: Info }) {
  const known = KNOWN_NETWORKS.find(({ networkName }) => networkName === info.protocol.networkName);
  const [choice, choose] = useState(known?.networkName ?? OWN_KEYS);
  const [ownKeys, setOwnKeys] = useState('');
  const [ownThreshold, setOwnThreshold] = useState('');
  const [passed, setPassed] = useState<readonly string[]>([]);
  const [progress, setProgress] = useState<Progress>({ state: 'idle' });

  async function verify(): Promise<void> {
    if (progress.state === 'running') return;
    setPassed([]);
    setProgress({ state: 'running' });
    const network = KNOWN_NETWORKS.find(({ networkName }) => networkName === choice);
    const keys = network?.publicKeys.join() ?? ownKeys;
    const threshold = network === undefined ? ownThreshold : String(network.threshold);
    const verifier = await import('../verify/verifier.ts');
    try {
      const checks = verifier.verifyHere(keys, threshold);
      if (await isFresh()) return setProgress({ state: 'nothing' });
      for await (const sentence of checks) setPassed((before) => [...before, sentence]);
      setProgress({ state: 'verified' });
    } catch (error) {
      const state = error instanceof verifier.NotVerified ? 'false' : 'stopped';
      setProgress({ state, reason: (error as Error).message.replace(/\.?$/, '.') });
    }
  }

  return (
    <article class="page">
      <Head kind="Verify">Do not trust this node</Head>
      <p class="lead">
        Your browser takes the newest milestone, every block that it references and the proof of one
        of them, and checks all of it against the public keys that sign milestones.
      </p>
      <form
        class="fields"
        onSubmit={(event) => {
          event.preventDefault();
          void verify().catch((error: Error) =>
            setProgress({ state: 'stopped', reason: error.message }),
          );
        }}
      >
        <label class="wide">
          Keys of
          <select value={choice} onChange={({ currentTarget }) => choose(currentTarget.value)}>
            {KNOWN_NETWORKS.map(({ networkName, title, publicKeys, threshold }) => (
              <option key={networkName} value={networkName}>
                {title}: {threshold} of {publicKeys.length} keys, from this page’s source
              </option>
            ))}
            <option value={OWN_KEYS}>another network: my own keys</option>
          </select>
        </label>
        {choice === OWN_KEYS && (
          <>
            <label class="wide">
              Public keys, 64 hex digits each
              <textarea
                class="mono"
                rows={4}
                value={ownKeys}
                onInput={({ currentTarget }) => setOwnKeys(currentTarget.value)}
                spellcheck={false}
                autocomplete="off"
                required
              />
            </label>
            <label>
              Signatures needed; all, if empty
              <input
                value={ownThreshold}
                onInput={({ currentTarget }) => setOwnThreshold(currentTarget.value)}
                inputMode="numeric"
                autocomplete="off"
              />
            </label>
          </>
        )}
        <button type="submit" class="main" aria-disabled={progress.state === 'running'}>
          Verify
        </button>
      </form>
      <Steps passed={passed} progress={progress} />
      <div role="status" id="verdict">
        <Outcome progress={progress} info={info} />
      </div>
      {info.features.includes('finalMilestone') && <FinalLedgerForm />}
      <p class="hint">
        The page that checks comes from this node, too. If you do not trust it in that, run{' '}
        <code>npm run verify</code> from a copy of the source.
      </p>
    </article>
  );
}

/** Whether the ledger came by a snapshot and no milestone was applied since. */
async function isFresh(): Promise<boolean> {
  const { status } = await readInfo();
  try {
    await readExplanation(status.confirmedMilestone.index);
    return false;
  } catch (error) {
    if (error instanceof NodeError && error.status === 404) return true;
    throw error;
  }
}

function Steps({ passed, progress }: { passed: readonly string[]; progress: Progress }) {
  const tone = (place: number): Tone | undefined => {
    if (place < passed.length) return 'good';
    return place === passed.length && progress.state === 'false' ? 'bad' : undefined;
  };
  return (
    <ol class="steps" id="checks">
      {STEPS.map((step, place) => {
        const isNow = progress.state === 'running' && place === passed.length;
        return (
          <li key={step} class={tone(place) ?? (isNow ? 'now' : '')}>
            <span>
              {step}
              {passed[place] !== undefined && <span class="found">{passed[place]}</span>}
              {tone(place) === 'bad' && 'reason' in progress && (
                <span class="found bad">{progress.reason}</span>
              )}
            </span>
          </li>
        );
      })}
    </ol>
  );
}

function Outcome({ progress, info }: { progress: Progress; info: Info }) {
  switch (progress.state) {
    case 'verified':
      return (
        <Verdict tone="good">
          Verified: everything holds against the keys.{' '}
          <To view={{ name: 'milestone', milestone: String(info.status.confirmedMilestone.index) }}>
            See milestone {info.status.confirmedMilestone.index}
          </To>
        </Verdict>
      );
    case 'false':
      return (
        <Verdict tone="bad">
          False: what this node says does not hold against the keys. {progress.reason}
        </Verdict>
      );
    case 'stopped':
      return <Verdict tone="neutral">Not checked: {progress.reason}</Verdict>;
    case 'nothing':
      return <NothingToCheck />;
    case 'running':
      return <p class="loading">Verifying …</p>;
    case 'idle':
      return null;
  }
}
