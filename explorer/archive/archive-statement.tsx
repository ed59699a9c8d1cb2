/**
 * What an address held, with all proofs, on its page and from files, where the network has ended. The
 * script is loaded there only.
 */
import { hasEnded, type Info } from '../node/shapes.ts';
import { Later } from '../parts/later.tsx';

export function ArchiveStatement({ bech32, info }: { bech32: string; info: Info }) {
  return hasEnded(info) ? <Later key={bech32} load={loadStatement} bech32={bech32} /> : null;
}

export function ArchiveFiles({ info }: { info: Info }) {
  return hasEnded(info) ? <Later key="files" load={loadStatementFiles} /> : null;
}

const loadStatement = async () => (await import('./statement.tsx')).StatementOfAddress;
const loadStatementFiles = async () => (await import('./statement.tsx')).StatementFiles;
