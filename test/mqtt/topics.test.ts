/** Topics come back from their packed form; a filter that is none of them has none. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { packTopic, unpackTopics } from '../../src/mqtt/topics.ts';
import { toBech32 } from '../../src/stardust/bech32.ts';
import { concatBytes, toHex } from '../../src/stardust/encoding/bytes.ts';
import { AddressType } from '../../src/stardust/wire/address.ts';

const PREFIX = 'tst';
const hex = (min: number, max = min) =>
  fc.uint8Array({ minLength: min, maxLength: max }).map(toHex);
const address = fc
  .tuple(
    fc.constantFrom(...Object.values(AddressType)),
    fc.uint8Array({ minLength: 32, maxLength: 32 }),
  )
  .map(([type, id]) => toBech32(PREFIX, { type, id }));
const conditions = [
  'address',
  'storage-return',
  'expiration',
  'state-controller',
  'governor',
  'immutable-alias',
  '+',
];

/** As TIP-28 has them. */
const topic = fc.oneof(
  fc.constantFrom(
    'milestone-info/latest',
    'milestone-info/confirmed',
    'milestones',
    'blocks',
    'blocks/transaction',
    'blocks/transaction/tagged-data',
    'blocks/tagged-data',
    'block-metadata/referenced',
  ),
  hex(1, 64).map((tag) => `blocks/tagged-data/${tag}`),
  hex(1, 64).map((tag) => `blocks/transaction/tagged-data/${tag}`),
  hex(32).map((id) => `block-metadata/${id}`),
  hex(32).map((id) => `transactions/${id}/included-block`),
  hex(34).map((id) => `outputs/${id}`),
  hex(32).map((id) => `outputs/nft/${id}`),
  hex(32).map((id) => `outputs/alias/${id}`),
  hex(38).map((id) => `outputs/foundry/${id}`),
  fc
    .tuple(fc.constantFrom(...conditions), address, fc.constantFrom('', '/spent'))
    .map(([condition, bech32, behind]) => `outputs/unlock/${condition}/${bech32}${behind}`),
);

describe('a topic of TIP-28', () => {
  it('comes back from few bytes, beside others', () => {
    fc.assert(
      fc.property(fc.array(topic, { maxLength: 8 }), (topics) => {
        const packed = topics.map((each) => packTopic(each, PREFIX)!);
        for (const each of packed) expect(each.length).toBeLessThanOrEqual(66);
        expect(unpackTopics(concatBytes(...packed), PREFIX)).toEqual(topics);
      }),
      { numRuns: 500 },
    );
  });

  it('has one spelling', () => {
    const others = (text: string) => [
      text.toUpperCase(),
      `${text}/`,
      `/${text}`,
      `${text}0`,
      text.slice(0, -1),
      text.replace('/', '//'),
      text.replace('0x', ''),
      text.replace('0x', '0X'),
    ];
    fc.assert(
      fc.property(topic, (each) => {
        for (const other of others(each)) {
          const packed = other === each ? undefined : packTopic(other, PREFIX);
          // a tag that is shorter is a tag too
          if (packed !== undefined) expect(unpackTopics(packed, PREFIX)).toEqual([other]);
        }
      }),
      { numRuns: 300 },
    );
    const own = `outputs/unlock/address/${toBech32(PREFIX, { type: 0, id: new Uint8Array(32) })}`;
    expect(packTopic(own, PREFIX)).toHaveLength(34);
    expect(packTopic(own, 'smr')).toBeUndefined();
  });
});

describe('any other filter', () => {
  it.each([
    '',
    '#',
    '+',
    'outputs/#',
    'outputs/+',
    'outputs/unlock/address/+',
    'receipts',
    'tip-score-updates',
    'blocks/tagged-data/0x',
    'milestone-info',
    'outputs/unlock/timelock/tst1',
    `outputs/0x${'0'.repeat(66)}`,
    `outputs/0x${'0'.repeat(67)}g`,
  ])('%j is none', (filter) => {
    expect(packTopic(filter, PREFIX)).toBeUndefined();
  });

  it('is none, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 120 }), (text) => {
        const packed = packTopic(text, PREFIX);
        if (packed !== undefined) expect(unpackTopics(packed, PREFIX)).toEqual([text]);
      }),
      { numRuns: 1000 },
    );
  });
});
