/**
 * Whose keys the visitor checks against: a network by its name in this page's source, or keys of
 * their own. Until the visitor chooses, a network that this page knows is checked against its own
 * keys: they are part of the source, so a node that takes another's name is refuted.
 */
import { createContext } from 'preact';
import { useContext, useMemo } from 'preact/hooks';
import { KNOWN_NETWORKS } from '../../src/stardust/verifier/known-networks.ts';
import { keptChoice } from '../parts/kept.ts';
import { choiceFor, type KeyChoice } from './describe-keys.ts';

const DEFAULT: KeyChoice = { kind: 'known', network: KNOWN_NETWORKS[0]!, isDefault: true };

/** Throws where it is no JSON. */
function readChoice(stored: string | null): KeyChoice {
  const parsed: Record<string, unknown> = Object(JSON.parse(stored ?? 'null'));
  const { networkName, publicKeys, threshold } = parsed;
  const network = KNOWN_NETWORKS.find((each) => each.networkName === networkName);
  if (network !== undefined) return { kind: 'known', network, isDefault: false };
  return typeof publicKeys === 'string' && typeof threshold === 'string'
    ? { kind: 'own', publicKeys, threshold }
    : DEFAULT;
}

const { choose: chooseKeys, useChoice } = keptChoice('milestone-keys', readChoice, (choice) => {
  const { kind, ...own } = choice;
  return JSON.stringify(
    choice.kind === 'known' ? { networkName: choice.network.networkName } : own,
  );
});

export { chooseKeys };

/** As the node calls it: it warns, and softens a verdict against keys that nobody chose. */
export const NetworkName = createContext('');

export const useNetworkName = () => useContext(NetworkName);

/** @param networkName as the node calls it; within the page that is known */
export function useKeyChoice(networkName = useNetworkName()): KeyChoice {
  const choice = useChoice();
  // the same object for the same name: what depends on it is not done again
  return useMemo(() => choiceFor(choice, networkName), [choice, networkName]);
}
