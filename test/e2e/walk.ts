/**
 * A recorded network, walked milestone by milestone: a double of a node confirms them, the built Worker follows over HTTP, and is asked at every ledger
 * index what the node and its indexer were asked.
 */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type RecordedName, type RecordedQuestion, readVector } from '../network/recorded.ts';
import { readLines } from '../vectors.ts';

const PROJECT = join(import.meta.dirname, '../..');

/** Imports the recorded snapshot files, as an operator does. */
export async function importSnapshot(name: RecordedName, persistTo: string, withDelta: boolean): Promise<string> {
  const files = ['full', ...(withDelta ? ['delta'] : [])];
  const flags = [];
  for (const kind of files) {
    const file = join(persistTo, `${kind}_snapshot.bin`);
    await writeFile(file, readVector(`${name}/${kind}_snapshot.bin`));
    flags.push(`--${kind}`, file);
  }
  const script = join(PROJECT, 'scripts/import.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [script, ...flags, '--persist-to', persistTo], {
    cwd: PROJECT,
  });
  return stdout;
}

export interface NftAnswer {
  nftId: string;
  status: number;
  items: string[] | null;
}

/** What the indexer answered last about each NFT, up to a ledger index. */
export function nftAnswersAt(name: RecordedName, ledgerIndex: number): NftAnswer[] {
  const answers = new Map<string, NftAnswer>();
  for (const line of readLines(`${name}/nft.jsonl`) as (NftAnswer & { ledgerIndex: number })[]) {
    if (line.ledgerIndex <= ledgerIndex) answers.set(line.nftId, line);
  }
  return [...answers.values()];
}

/** The contract's status for questions that the node refuses in its own way (data/README.md). */
const REFUSED: Record<string, number> = {
  'no parents': 400,
  'parent without prefix': 400,
  'short parent': 400,
  'not JSON': 400,
  'index as text': 400,
  'no previous milestone': 400,
  'unknown previous milestone': 400,
  'index too low': 400,
  'timestamp not raised': 400,
  'unknown parent': 404,
  'index too high': 404,
  'same parent twice': 200,
};

export function expectedStatus({ name, status }: RecordedQuestion): number {
  return status === 200 ? 200 : (REFUSED[name] ?? Number.NaN);
}

export async function ask(url: string, { request }: RecordedQuestion): Promise<{ status: number; body: unknown }> {
  const body = typeof request === 'string' ? request : JSON.stringify(request);
  const response = await fetch(`${url}/api/core/v2/whiteflag`, { method: 'POST', body });
  return { status: response.status, body: await response.json() };
}

export async function lookUpNft(
  url: string,
  nftId: string,
): Promise<{ status: number; ledgerIndex: number; items: string[] | null }> {
  const response = await fetch(`${url}/api/indexer/v1/outputs/nft/${nftId}`);
  const { items } = (await response.json()) as { items?: string[] };
  return { status: response.status, ledgerIndex: Number(response.headers.get('x-ledger-index')), items: items ?? null };
}

export interface Info {
  status: { isHealthy: boolean; confirmedMilestone: { index: number }; latestMilestone: { index: number } };
  protocol: { rentStructure: { vByteCost: number }; belowMaxDepth: number };
  pendingProtocolParameters: unknown[];
}

export async function readInfo(url: string): Promise<Info> {
  const response = await fetch(`${url}/api/core/v2/info`);
  if (response.status !== 200) throw new Error(`info: ${response.status} ${await response.text()}`);
  return (await response.json()) as Info;
}

/** Waits until the ledger stands at `index`; fails after `seconds`. */
export async function untilLedger(url: string, index: number, seconds = 20): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const at = (await readInfo(url)).status.confirmedMilestone.index;
    if (at === index) return;
    if (at > index || Date.now() > deadline) throw new Error(`the ledger is at ${at}, not ${index}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
