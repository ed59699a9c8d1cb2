/**
 * `stardust-edge explain`: compares two answers to one white-flag request, and names the first
 * block in which they differ, and the rule. For a coordinator that stopped because roots differ.
 */
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { printable } from '../client/printable.ts';
import { parseBoundedJson } from '../src/stardust/encoding/bounded-json.ts';
import { askEdgeNode, askNode, type Explanation, readExplanation } from './explain/answer.ts';
import { compareExplanations } from './explain/compare.ts';
import { exitWith, isNodeUrl, newCommand } from './lib/process/command.ts';
import { errorMessage, UsageError } from './lib/process/command-line.ts';

const ABOUT = `Prints the first block in which two answers to a white-flag request differ, and the
rule (docs/protocol.md). Both are what nodes say: no key is looked at. Exit code 0 if they do not
differ, 1 if they do or if one of them does not come, 2 if the command line is not valid.`;

/** A sentence with two URLs is not cut. */
const MAX_LINE = 500;

interface Options {
  request?: string;
  ours?: string;
  theirs?: string;
}

export const explainCommand = (): Command =>
  newCommand('explain', ABOUT)
    .option('--request <FILE>', 'the request, as POST /api/core/v2/whiteflag takes it')
    .option(
      '--ours <URL>',
      'an edge node; a user name and a password stand in the URL: https://name:word@host',
    )
    .option(
      '--theirs <URL|FILE>',
      'another edge node, a HORNET that has applied the milestone, or a saved answer of POST ' +
        '/api/edge/v1/whiteflag',
    )
    .action(exitWith(explain));

async function explain({ request: file, ours: url, theirs: other }: Options): Promise<number> {
  if (file === undefined || url === undefined || other === undefined)
    throw new UsageError('--request, --ours and --theirs must be given');
  if (isNodeUrl(file)) throw new UsageError('--request must be a file');
  if (!isNodeUrl(url)) throw new UsageError('--ours must be a URL of http or https');
  try {
    const request = await readFile(file, 'utf8');
    const ours = await askEdgeNode(url, request);
    const { same, lines } = compareExplanations(ours, await readTheirs(other, request, ours));
    console.log(lines.join('\n'));
    return same ? 0 : 1;
  } catch (error) {
    console.error(printable(`Not checked: ${errorMessage(error)}`, MAX_LINE));
    return 1;
  }
}

async function readTheirs(place: string, request: string, ours: Explanation): Promise<Explanation> {
  // in any spelling: an error about a file would repeat a password
  if (isNodeUrl(place)) return askNode(place, request, ours);
  return readExplanation(parseBoundedJson(await readFile(place, 'utf8')), place);
}
