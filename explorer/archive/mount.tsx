/**
 * What pages have of the archive, where the network has ended: its scripts are loaded there only.
 */
import { hasEnded, type Info } from '../node/shapes.ts';
import { Later } from '../parts/later.tsx';

/** The proof that the last ledger has an output or an NFT, or has not. */
export function ArchiveProof({ id, info }: { id: string; info: Info }) {
  return hasEnded(info) ? <Later key="proof" load={loadProvedRecord} id={id} /> : null;
}

/** What an address held, with all proofs. */
export function ArchiveStatement({ bech32, info }: { bech32: string; info: Info }) {
  return hasEnded(info) ? <Later key={bech32} load={loadStatement} bech32={bech32} /> : null;
}

/** The same from files. */
export function ArchiveFiles({ info }: { info: Info }) {
  return hasEnded(info) ? <Later key="files" load={loadStatementFiles} /> : null;
}

const loadProvedRecord = async () => (await import('./proved-record.tsx')).ProvedRecord;
const loadStatement = async () => (await import('./statement.tsx')).StatementOfAddress;
const loadStatementFiles = async () => (await import('./statement.tsx')).StatementFiles;
