/** The one line about who can unlock an output of an address. */
import { expect, it } from 'vitest';
import { writeSentence } from '../../client/words/sentence.ts';
import { describeTenure } from '../../explorer/address/tenure.ts';
import { type Address, AddressType } from '../../src/stardust/wire/address.ts';
import type { Output } from '../../src/stardust/wire/output.ts';
import {
  alias,
  basic,
  depositReturn,
  expiration,
  foundry,
  idOf,
  timelock,
} from '../support/payloads/outputs.ts';

const NOW = Date.UTC(2022, 8, 28) / 1000;
const DAY = 86_400;
const us: Address = { type: AddressType.Ed25519, id: idOf('us') };
const others: Address = { type: AddressType.Ed25519, id: idOf('others') };
const NETWORK = { bech32Hrp: 'smr', baseToken: { decimals: 6, tickerSymbol: 'SMR' } };

it.each<[Output, string[]]>([
  [basic(us), []],
  [foundry(idOf('alias')), []],
  [alias(us, others), ['This address is its state controller.']],
  [alias(us, us), ['This address is its state controller and its governor.']],
  [
    basic(us, { conditions: [timelock(NOW + DAY)] }),
    ['Unlocked by nobody until 29 Sept 2022, 00:00:00 UTC, then by this address.'],
  ],
  [
    basic(us, { conditions: [timelock(NOW + DAY), expiration(others, NOW + 2 * DAY)] }),
    [
      'Unlocked by nobody until 29 Sept 2022, 00:00:00 UTC, then by this address until 30 Sept 2022, 00:00:00 UTC, then by THEM.',
    ],
  ],
  [basic(us, { conditions: [expiration(others, NOW)] }), ['Unlocked by THEM.']],
  [
    basic(us, { conditions: [depositReturn(others, 50_000n)] }),
    ['Of it 0.05 SMR is due to THEM when it is spent.'],
  ],
  [
    basic(others, { conditions: [depositReturn(us, 50_000n)] }),
    ['Unlocked by THEM.', 'Of it 0.05 SMR is due to this address when it is spent.'],
  ],
])('%#', (output, expected) => {
  const sentences = describeTenure(output, us, NOW).map((each) => writeSentence(each, NETWORK));
  expect(sentences.map((each) => each.replaceAll(/smr1\w+/g, 'THEM'))).toEqual(expected);
});
