/**
 * Blocks as a feed brings them, on the first page: bounded, at their place from the beginning, said
 * and not proved; and only where there is a feed, and somebody looks.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { SUBSCRIBE_BLOCKS, UNSUBSCRIBE_BLOCKS } from '../../explorer/node/events.ts';
import { encodePacket, PacketType } from '../../src/mqtt/packets.ts';
import { audit } from '../support/browser/audit.ts';
import {
  DRIVERS,
  type DrivenBrowser,
  type DrivenPage,
  SCREENS,
} from '../support/browser/driven-page.ts';
import {
  click,
  countOf,
  open,
  overhangOf,
  textOf,
  untilCount,
} from '../support/browser/use-page.ts';
import { type LyingNode, nodeAt, startLyingNode } from '../support/lies/lying-node.ts';
import { withField, withHeaders } from '../support/lies/rules.ts';
import { INFO } from '../support/lies/sample-paths.ts';
import { recordedNetwork } from '../support/network/recorded-network.ts';

const { url } = inject('sample');

const network = recordedNetwork('network-k');
const BLOCKS = [...network.blocks.values()].map(({ bytes }) => bytes).slice(0, 60);

/** The line of marks. */
const MARKS = '.arriving .strip svg';

/** A broker with any number of clients, which sends what it is told. */
function startBroker() {
  const server = new WebSocketServer({ noServer: true, handleProtocols: () => 'mqtt' });
  const clients = new Set<WebSocket>();
  const heard: string[] = [];
  return {
    clients,
    heard,
    upgrade: ((request, socket, head) =>
      server.handleUpgrade(request, socket, head, (client) => {
        clients.add(client);
        client.on('close', () => clients.delete(client)).on('error', () => {});
        client.on('message', (data: Buffer) => void heard.push(data.toString('latin1')));
        // CONNACK
        client.send(Uint8Array.of(0x20, 2, 0, 0));
      })) satisfies Parameters<LyingNode['lie']>[1],
    publish(topic: string, payload: Uint8Array): void {
      const packet = encodePacket({ type: PacketType.Publish, topic, payload });
      for (const client of clients) client.send(packet);
    },
  };
}

describe.each(DRIVERS)('in $name', ({ launch }) => {
  describe.each(SCREENS)('on a %s, in %s colours', (size, scheme) => {
    let browser: DrivenBrowser;
    let node: LyingNode;
    let page: DrivenPage;
    let broker: ReturnType<typeof startBroker>;
    const fed = withHeaders(INFO, { 'x-blocks-by': 'feed' });

    beforeAll(async () => {
      browser = await launch({ scheme });
      node = await startLyingNode(nodeAt(url));
    });
    afterAll(async () => {
      await browser?.close();
      await node?.[Symbol.asyncDispose]();
    });
    beforeEach(() => {
      broker = startBroker();
    });
    afterEach(async () => {
      expect(page.faults).toEqual([]);
      await page.close();
    });

    async function visit(): Promise<void> {
      page = await browser.open(`${node.url}/`, size);
      await untilCount(page, '.home .milestones .strip svg', 24);
      // what is above and below has come: who signed the milestone, the other rows and the NFTs
      await untilCount(page, '.home .good', 1);
      await textOf(page, '.home .milestones').toMatch(/17338.*its blocks are not here/);
      await untilCount(page, '.home .gallery li', 6);
      await untilCount(page, '.loading', 0);
    }
    const untilHeard = (packet: string) =>
      expect.poll(() => broker.heard.at(-1), { message: JSON.stringify(packet) }).toBe(packet);
    const bottomOf = async (selector: string) =>
      Number(
        await page.evaluate(`document.querySelector('${selector}').getBoundingClientRect().bottom`),
      );

    it('come a mark each, and what is below does not move', async () => {
      node.lie([fed], broker.upgrade);
      await visit();
      await untilHeard(SUBSCRIBE_BLOCKS);
      const before = await bottomOf('.home .milestones');
      await textOf(page, '.arriving').toBe(
        'Heard since milestone 17339: 0 blocks, 0 transactions. The next milestones decide about them.',
      );
      for (const block of BLOCKS) broker.publish('blocks', block);
      await textOf(page, '.arriving').toMatch(
        /^Heard since milestone 17339: 60 blocks, \d+ transactions?\./,
      );
      // the newest, whatever came
      await untilCount(page, MARKS, 48);
      expect(await bottomOf('.home .milestones')).toBe(before);
      // what waits is not shown as applied, nor in conflict
      expect(await countOf(page, '.arriving .waiting')).toBeGreaterThan(0);
      expect(await countOf(page, '.arriving .applied, .arriving .conflict')).toBe(0);
      const standing = `document.querySelector('.arriving').closest('[data-standing]').dataset.standing`;
      expect(await page.evaluate(standing)).toBe('said');
      expect(await countOf(page, '.arriving :is(a, button, input, [tabindex], .good)')).toBe(0);
      expect(await audit(page)).toEqual([]);
      expect(await overhangOf(page)).toBe(0);
      // a milestone begins again
      node.lie([fed, withField(INFO, 'status.confirmedMilestone.index', 17_340)], broker.upgrade);
      broker.publish('milestone-info/confirmed', new Uint8Array(150));
      await textOf(page, '.arriving').toMatch(/^Heard since milestone 17340: 0 blocks/);
      await untilCount(page, MARKS, 0);
      expect(broker.heard.filter((packet) => packet === SUBSCRIBE_BLOCKS)).toHaveLength(1);
    });

    it('may come by the thousand', async () => {
      node.lie([fed], broker.upgrade);
      await visit();
      await untilHeard(SUBSCRIBE_BLOCKS);
      const before = await bottomOf('.home .milestones');
      for (let i = 0; i < 3000; i++) broker.publish('blocks', new Uint8Array(i % 100).fill(i));
      await textOf(page, '.arriving').toContain(': 3,000 blocks, ');
      await untilCount(page, MARKS, 48);
      expect(await bottomOf('.home .milestones')).toBe(before);
      expect(await overhangOf(page)).toBe(0);
      expect(broker.clients.size).toBe(1);
    });

    it('are asked for while somebody looks, and no longer', async () => {
      node.lie([fed], broker.upgrade);
      await visit();
      await untilHeard(SUBSCRIBE_BLOCKS);
      await click(page, '.masthead nav a', 'Verify');
      await untilHeard(UNSUBSCRIBE_BLOCKS);
      await open(page, '/');
      await untilHeard(SUBSCRIBE_BLOCKS);
      expect(broker.clients.size).toBe(1);
      const hide = (hidden: boolean) =>
        page.evaluate(`{
          Object.defineProperty(document, 'hidden', { configurable: true, value: ${hidden} });
          void document.dispatchEvent(new Event('visibilitychange'));
        }`);
      await hide(true);
      await expect.poll(() => broker.clients.size).toBe(0);
    });

    it.each([
      ['polls', [withHeaders(INFO, { 'x-blocks-by': 'polling' })], true],
      ['does not say how blocks come', [], true],
      ['announces nothing', [fed], false],
    ])('are not spoken of where the node %s', async (_, rules, hasEvents) => {
      node.lie(rules, hasEvents ? broker.upgrade : undefined);
      await visit();
      if (hasEvents) await expect.poll(() => broker.heard.length).toBeGreaterThan(1);
      expect(await countOf(page, '.arriving')).toBe(0);
      expect(broker.heard).not.toContain(SUBSCRIBE_BLOCKS);
    });
  });
});
