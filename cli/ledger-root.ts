/**
 * `stardust-edge ledger-root FILE`: the hashes of the ledger in a snapshot file, to compare with
 * what a node or somebody else says (docs/final-ledger.md).
 */

import type { Command } from 'commander';
import { printable } from '../client/printable.ts';
import { computeLedgerRoot } from './ledger-root/compute-ledger-root.ts';
import { exitWith, newCommand } from './lib/process/command.ts';

const ABOUT = `Reads a snapshot, without a database, and prints the SHA-256 of each file, the state
hash, and the final root with all that it commits to. Signatures of milestones in the files are not
checked. Memory: some 50 bytes an output, 250 bytes an NFT.`;

export const ledgerRootCommand = (): Command =>
  newCommand('ledger-root', ABOUT)
    .argument('<FILE>', 'the full snapshot')
    .option('--delta <FILE>', 'the delta snapshot that was written after it')
    .action(
      exitWith(async (full: string, options: { delta?: string }) => {
        const { sha256, stateHash, ledger, root } = await computeLedgerRoot({ full, ...options });
        const { outputs, nfts } = ledger;
        console.log(`SHA-256         ${sha256.full}`);
        if (sha256.delta !== undefined) console.log(`SHA-256, delta  ${sha256.delta}`);
        console.log(`state hash      ${stateHash.toHex()}`);
        console.log(`network         ${printable(ledger.networkName)}`);
        console.log(`ledger index    ${ledger.milestoneIndex}`);
        console.log(`milestone ID    0x${ledger.milestoneId.toHex()}`);
        console.log(`outputs         ${outputs.count}  0x${outputs.root.toHex()}`);
        console.log(`NFTs            ${nfts.count}  0x${nfts.root.toHex()}`);
        console.log(`final root      0x${root.toHex()}`);
        return 0;
      }),
    );
