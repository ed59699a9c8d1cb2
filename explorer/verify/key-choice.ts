/**
 * Whose keys the visitor checks against: a network by its name in this page's source, or keys of
 * their own. Until the visitor chooses, a network that this page knows is checked against its own
 * keys: they are part of the source, so a node that takes another's name is refuted.
 */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { KNOWN_NETWORKS } from '../../src/stardust/verifier/known-networks.ts';
import type { KeyChoice } from './describe-keys.ts';
import { useNetworkName } from './network-name.ts';

const DEFAULT: KeyChoice = { kind: 'known', network: KNOWN_NETWORKS[0]!, isDefault: true };

const STORAGE_KEY = 'milestone-keys';

const listeners = new Set<(choice: KeyChoice) => void>();
let current = readChoice();

function readChoice(): KeyChoice {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? 'null');
    if (typeof stored !== 'object' || stored === null) return DEFAULT;
    const { networkName, publicKeys, threshold } = stored as Record<string, unknown>;
    const network = KNOWN_NETWORKS.find((each) => each.networkName === networkName);
    if (network !== undefined) return { kind: 'known', network, isDefault: false };
    return typeof publicKeys === 'string' && typeof threshold === 'string'
      ? { kind: 'own', publicKeys, threshold }
      : DEFAULT;
  } catch {
    // storage may be forbidden
    return DEFAULT;
  }
}

export function chooseKeys(choice: KeyChoice): void {
  current = choice;
  try {
    const { kind, ...own } = choice;
    const kept = choice.kind === 'known' ? { networkName: choice.network.networkName } : own;
    localStorage.setItem(STORAGE_KEY, JSON.stringify(kept));
  } catch {
    // then it is asked again
  }
  for (const listener of listeners) listener(choice);
}

/** @param networkName as the node calls it; within the page that is known */
export function useKeyChoice(networkName = useNetworkName()): KeyChoice {
  const [choice, setChoice] = useState(current);
  useEffect(() => {
    listeners.add(setChoice);
    return () => void listeners.delete(setChoice);
  }, []);
  // the same object for the same name: what depends on it is not done again
  return useMemo(() => choiceFor(choice, networkName), [choice, networkName]);
}

export function choiceFor(choice: KeyChoice, networkName: string): KeyChoice {
  if (choice.kind === 'own' || !choice.isDefault) return choice;
  const network = KNOWN_NETWORKS.find((each) => each.networkName === networkName);
  return network === undefined ? choice : { kind: 'known', network, isDefault: true };
}
