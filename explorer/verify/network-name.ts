/**
 * What the node calls its network. It warns, and softens a verdict against keys that nobody chose; it
 * never chooses keys.
 */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

export const NetworkName = createContext('');

export const useNetworkName = () => useContext(NetworkName);
