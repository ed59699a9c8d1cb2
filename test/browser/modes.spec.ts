/**
 * Each sentence of the explorer where a node lists NFTs alone, where it lists every kind of output,
 * and where the network has ended: held against what the API of that node answers.
 */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { formatAmount } from '../../client/words/amounts.ts';
import { audit } from '../support/browser/audit.ts';
import {
  DRIVERS,
  type DrivenBrowser,
  type DrivenPage,
  SCREENS,
} from '../support/browser/driven-page.ts';
import { readShown } from '../support/browser/read-standing.ts';
import { SAMPLE_HOLDER as HOLDER, SAMPLE_ISSUER } from '../support/browser/sample-facts.ts';
import { open, overhangOf, textOf } from '../support/browser/use-page.ts';

const { url, indexed, ended } = inject('sample');

const UNKNOWN = `0x${'5a'.repeat(32)}`;
const ALIAS = '0xb8c4e4f048c52abc2156710ffbe37ec013aeef5d9d9200d857cb9ebe7f916d9b';
const FOUNDRY = '0x0877a4951292b80c2ef0a847a7e730b7929266ca05e3e68c28355036cac314304f0100000000';

const SMR = { decimals: 6, tickerSymbol: 'SMR' };

/** What is never said of a network that has ended. */
const OF_A_FUTURE = /\b(yet|next|tips?)\b/i;

interface Answered {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  json: any;
}

async function ask(node: string, path: string): Promise<Answered> {
  const response = await fetch(node + path);
  return { status: response.status, json: await response.json() };
}

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** What the page of an address must say, by what the node lists. */
async function expectedOfAddress(node: string): Promise<RegExp> {
  const list = await ask(node, `/api/indexer/v1/outputs?unlockableByAddress=${HOLDER}`);
  if (list.status === 404)
    return /This node lists NFTs alone, it says\. Of base tokens, native tokens, aliases and foundries/;
  const { items, ledgerIndex } = list.json as { items: string[]; ledgerIndex: number };
  const outputs = await Promise.all(items.map((id) => ask(node, `/api/core/v2/outputs/${id}`)));
  const total = outputs.reduce((sum, { json }) => sum + BigInt(json.output.amount), 0n);
  return new RegExp(
    `${escaped(formatAmount(total, SMR))} .*Available .*${items.length} unspent outputs at ledger index ${ledgerIndex},.*Native tokens.*10,000,000,000 units`,
  );
}

async function expectedOfChain(node: string, kind: 'alias' | 'foundry', id: string) {
  const { json: routes } = await ask(node, '/api/routes');
  if (!routes.indexed.includes(kind))
    return /This node lists NFTs alone, it says, and cannot look up/;
  const { status } = await ask(node, `/api/indexer/v1/outputs/${kind}/${id}`);
  return status === 404
    ? /no unspent output holds .* with this ID: it was never created, or it was destroyed/
    : /State controller smr1.*Governor smr1.*State index \d+.*Its address smr1p/;
}

/** Each foundry that the node lists, by what it claims, with its supply. */
async function expectedOfTokens(node: string): Promise<RegExp> {
  const { status, json } = await ask(node, '/api/indexer/v1/outputs/foundry');
  if (status === 404)
    return /This node lists NFTs alone, it says\. A node with INDEX=all lists tokens/;
  const { items, ledgerIndex } = json as { items: string[]; ledgerIndex: number };
  const noun = items.length === 1 ? 'foundry' : 'foundries';
  const row = '0x08\\S+ [\\d,.]+ \\S+ of at most [\\d,.]+ \\S+, controlled by alias 0x\\S+';
  return new RegExp(
    `Native tokens API.*${items.length} ${noun} at ledger index ${ledgerIndex}\\..*(?:.*${row}){${items.length}}`,
  );
}

/** What is said of a thing that is nowhere, by whether the network has ended. */
async function expectedOfPast(node: string, live: RegExp, over: RegExp): Promise<RegExp> {
  const { json } = await ask(node, '/api/core/v2/info');
  return json.features.includes('finalMilestone') ? over : live;
}

const TRANSACTION = '0x9d9a3945ad73eba4cbbdaea724d8dacb7c45c4d7500a0d3f16ce40e31803921e';

/** An alias that {@link TRANSACTION} consumes: unspent until milestone 17338. */
const CONSUMED = '0x8a47f699b77b9446e93f4e4d6e50cb2395123d5fb196041dee53b8f0d246a8f50000';

/** Who can unlock it, in the tense of what the node says of the output and of its network. */
async function expectedOfOutput(node: string, id: string): Promise<RegExp> {
  const { json } = await ask(node, `/api/core/v2/outputs/${id}`);
  const { json: info } = await ask(node, '/api/core/v2/info');
  const { amount, stateIndex } = json.output;
  const holds = `Amount ${escaped(formatAmount(amount, SMR))}.*State index ${stateIndex} `;
  if (json.metadata.isSpent)
    return new RegExp(
      `Who could unlock it This node says that it was spent on .*could change its state and what it holds when it was spent\\..*${holds}.*State spent Spent by 0x`,
    );
  return info.features.includes('finalMilestone')
    ? new RegExp(
        `Who could unlock it This node says that it was unspent when the network ended.*could change its state and what it holds when the network ended\\..*${holds}`,
      )
    : new RegExp(`Who can unlock it .*can change its state and what it holds\\..*${holds}`);
}

/** By the fragment of a view. */
const VIEWS: Record<string, (node: string) => Promise<RegExp>> = {
  '/': (node) =>
    expectedOfPast(
      node,
      /Newest milestone that this node names 17339.*Milestones.*38 blocks, of which 5 applied transactions, in the 1 milestone that this page has read; 7\.6 blocks a second in the newest.*17339 28 Sept 2022.*38 blocks · 5 transactions applied.*NFTs.*minted/,
      /the network ended at milestone 17338.*The last ledger is of 28 Sept 2022, 17:24:56 UTC\. It has 23 unspent outputs and 2 NFTs\..*NFTs/,
    ),
  [`/address/${HOLDER}`]: expectedOfAddress,
  [`/nfts/${HOLDER}`]: async () => /no NFT names this address/,
  [`/issuer/${SAMPLE_ISSUER}`]: (node) =>
    expectedOfPast(
      node,
      /22 NFTs at ledger index 17339, the newest first\. Who owns them.*Owners.*22 NFTs of \d+ owners? smr1\S+ \d+ NFTs?/,
      /no NFT that this address issued.*Owners.*0 NFTs of 0 owners/,
    ),
  '/nfts': (node) =>
    expectedOfPast(
      node,
      /Minted or moved last.*Soonanaut #\d+.*(?:minted|moved) 28 Sept 2022, /,
      /Minted or moved last.*Soonanaut.*moved 28 Sept 2022, /,
    ),
  '/tokens': expectedOfTokens,
  [`/alias/${ALIAS}`]: (node) => expectedOfChain(node, 'alias', ALIAS),
  [`/alias/${UNKNOWN}`]: (node) => expectedOfChain(node, 'alias', UNKNOWN),
  [`/foundry/${FOUNDRY}`]: (node) => expectedOfChain(node, 'foundry', FOUNDRY),
  '/milestones': (node) =>
    expectedOfPast(
      node,
      /17339 28 Sept 2022.*38 blocks.*17338 its blocks are not here/,
      /17338 its blocks are not here/,
    ),
  '/milestone/17338': (node) =>
    expectedOfPast(
      node,
      /nothing to check here yet/,
      /There is nothing to check here\. The network has ended/,
    ),
  '/milestone/99999': (node) =>
    expectedOfPast(
      node,
      /milestone 99999 has not come yet/,
      /This node says that there is none: the network ended at milestone 17338\./,
    ),
  '/proposal': (node) =>
    expectedOfPast(
      node,
      /Propose milestone 17340 over today’s tips/,
      /Nothing comes after it, so there is nothing to propose/,
    ),
  [`/search?q=${UNKNOWN}`]: async (node) => {
    const { json } = await ask(node, '/api/routes');
    return json.indexed.includes('alias')
      ? /Not found.*An alias: not here\. This would have found each alias that was not destroyed/
      : /Not found.*This node does not list aliases/;
  },
  [`/block/${UNKNOWN}`]: (node) =>
    expectedOfPast(
      node,
      /what the node keeps\. The node answered 404/,
      /has its last ledger, and of its past only what it kept/,
    ),
  [`/output/${CONSUMED}`]: (node) => expectedOfOutput(node, CONSUMED),
  [`/transaction/${TRANSACTION}`]: (node) =>
    expectedOfPast(
      node,
      /3 inputs, 1 NFT 91\.4091 SMR.*25 outputs, 23 NFTs 91\.4091 SMR.*What changes/,
      /Not found.*has its last ledger, and of its past only what it kept/,
    ),
  [`/transaction/${UNKNOWN}`]: (node) =>
    expectedOfPast(
      node,
      /none that it keeps: nothing before milestone 17338/,
      /has its last ledger, and of its past only what it kept/,
    ),
  '/verify': (node) =>
    expectedOfPast(node, /Does this node tell the truth/, /The network ended here\. One hash/),
};

const MODES = [
  ['lists NFTs alone', url],
  ['lists every kind of output', indexed],
  ['has the last ledger of a network', ended],
] as const;

describe.each(DRIVERS)('in $name', ({ launch }) => {
  describe.each(SCREENS)('on a %s, in %s colours', (size, scheme) => {
    let browser: DrivenBrowser;

    beforeAll(async () => {
      browser = await launch({ scheme });
    });
    afterAll(() => browser?.close());

    describe.each(MODES)('a node that %s', (_, node) => {
      let page: DrivenPage;

      beforeAll(async () => {
        page = await browser.open(`${node}/`, size);
      });
      afterAll(() => page?.close());

      it.each(Object.entries(VIEWS))('%s', async (fragment, expected) => {
        await open(page, fragment);
        await textOf(page, 'main').toMatch(await expected(node));
        const { text, by } = await readShown(page);
        if (node === ended) {
          // what the page itself says, without its address of the protocol
          expect(text).not.toMatch(OF_A_FUTURE);
          expect(by.proved).toEqual([]);
        }
        expect(by.refuted).toEqual([]);
        expect(await audit(page)).toEqual([]);
        expect(await overhangOf(page)).toBe(0);
        expect(page.faults).toEqual([]);
      });
    });
  });
});
