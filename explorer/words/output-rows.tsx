/**
 * All that the bytes of an output say, as terms and values.
 */
import type { ComponentChildren } from 'preact';
import { formatAmount, formatTokens } from '../../client/words/amounts.ts';
import { chainOf, KIND_WORDS } from '../../client/words/kind.ts';
import type { NetworkWords } from '../../client/words/sentence.ts';
import { fromHex, toHex } from '../../src/stardust/encoding/bytes.ts';
import { formatTime } from '../../src/stardust/provenance/words.ts';
import type { Address } from '../../src/stardust/wire/address.ts';
import { type Feature, FeatureType } from '../../src/stardust/wire/feature.ts';
import { type Output, OutputType } from '../../src/stardust/wire/output.ts';
import {
  type UnlockCondition,
  UnlockConditionType,
} from '../../src/stardust/wire/unlock-condition.ts';
import { IdLink, type Rows } from '../parts/parts.tsx';
import { DataText } from './data-text.tsx';
import { AddressLink, TokenUnits } from './words.tsx';

/** @param id of the output, 0x… */
export function contentRows(output: Output, id: string, network: NetworkWords): Rows {
  const chain = chainOf(output, fromHex(id));
  const immutable = 'immutableFeatures' in output ? output.immutableFeatures : [];
  return [
    ['Amount', formatAmount(output.amount, network.baseToken)],
    [
      'Native tokens',
      output.nativeTokens.length > 0 &&
        output.nativeTokens.map((token) => (
          <p key={toHex(token.id)}>
            <TokenUnits token={token} />
          </p>
        )),
    ],
    [
      chain === undefined ? '' : KIND_WORDS[chain.kind],
      chain && <IdLink name={chain.kind} id={chain.id} />,
    ],
    ...stateRows(output),
    ...output.unlockConditions.map((condition) => conditionRow(condition, network)),
    ...output.features.map((feature) => featureRow(feature, '', network)),
    ...immutable.map((feature) => featureRow(feature, 'Immutable ', network)),
  ];
}

function stateRows(output: Output): Rows {
  switch (output.type) {
    case OutputType.Alias:
      return [
        ['State index', String(output.stateIndex)],
        ['Foundries created', String(output.foundryCounter)],
        [
          'State metadata',
          output.stateMetadata.length > 0 && <DataText bytes={output.stateMetadata} />,
        ],
      ];
    case OutputType.Foundry: {
      const { minted, melted, maximumSupply } = output.tokenScheme;
      // what it claims of its token stands on its own page
      const write = (amount: bigint) => formatTokens(amount, undefined);
      return [
        ['Serial number', String(output.serialNumber)],
        ['Supply', write(minted - melted)],
        ['At most', write(maximumSupply)],
        ['Minted', write(minted)],
        ['Melted', write(melted)],
      ];
    }
    default:
      return [];
  }
}

function conditionRow(
  condition: UnlockCondition,
  network: NetworkWords,
): readonly [string, ComponentChildren] {
  const link = (address: Address) => <AddressLink address={address} network={network} />;
  switch (condition.type) {
    case UnlockConditionType.Address:
      return ['Address', link(condition.address)];
    case UnlockConditionType.StorageDepositReturn:
      return [
        'Storage deposit',
        <>
          {formatAmount(condition.amount, network.baseToken)}, returned to{' '}
          {link(condition.returnAddress)}
        </>,
      ];
    case UnlockConditionType.Timelock:
      return ['Timelock', `until ${formatTime(condition.unixTime)} UTC`];
    case UnlockConditionType.Expiration:
      return [
        'Expiration',
        <>
          at {formatTime(condition.unixTime)} UTC, to {link(condition.returnAddress)}
        </>,
      ];
    case UnlockConditionType.StateController:
      return ['State controller', link(condition.address)];
    case UnlockConditionType.Governor:
      return ['Governor', link(condition.address)];
    case UnlockConditionType.ImmutableAlias:
      return ['Alias of the foundry', link(condition.address)];
  }
}

function featureRow(
  feature: Feature,
  prefix: '' | 'Immutable ',
  network: NetworkWords,
): readonly [string, ComponentChildren] {
  const term = (word: string) =>
    prefix === '' ? `${word[0]!.toUpperCase()}${word.slice(1)}` : `${prefix}${word}`;
  switch (feature.type) {
    case FeatureType.Sender:
      return [term('sender'), <AddressLink address={feature.address} network={network} />];
    case FeatureType.Issuer:
      return [term('issuer'), <AddressLink address={feature.address} network={network} />];
    case FeatureType.Metadata:
      return [term('metadata'), <DataText bytes={feature.data} />];
    case FeatureType.Tag:
      return [term('tag'), <DataText bytes={feature.tag} />];
  }
}
