/**
 * Syntactic rules of a transaction besides those of layout (codecs) and of protocol parameters
 * (admission.ts): docs/protocol.md, C-11, C-14, C-20 to C-32, C-38 to C-41.
 */
import { equalBytes, isZero, toHexDigits } from '../encoding/bytes.ts';
import { encode } from '../encoding/codec.ts';
import { located, refusal } from '../error.ts';
import { AddressType } from './address.ts';
import { foundryId } from './ids.ts';
import {
  type AliasOutput,
  type NftOutput,
  type Output,
  OutputType,
  type SimpleTokenScheme,
} from './output.ts';
import type { Transaction } from './transaction.ts';
import { type Unlock, UnlockType, unlock } from './unlock.ts';
import { findCondition, UnlockConditionType } from './unlock-condition.ts';

/** Most native tokens in a transaction's outputs (C-22), and on both its sides together (S5.4). */
export const MAX_NATIVE_TOKENS = 64;

const MAX_OUTPUT_INDEX = 127;

/** Throws a StardustError that names the first rule that the transaction breaks. */
export function checkTransaction(transaction: Transaction): void {
  const { inputs, outputs } = transaction.essence;
  checkEach('essence.inputs', inputs, ({ outputIndex }) => {
    check('C-11', outputIndex <= MAX_OUTPUT_INDEX, `input index ${outputIndex}`);
  });
  checkEach('essence.outputs', outputs, checkOutput);
  checkNativeTokenCount(outputs);
  checkChainIds(outputs);
  checkUnlocks(transaction.unlocks);
}

/** An error gets the field's name and the element's position. */
function checkEach<T>(
  field: string,
  elements: readonly T[],
  checkOne: (element: T, position: number) => void,
): void {
  let i = 0;
  try {
    for (; i < elements.length; i++) checkOne(elements[i]!, i);
  } catch (error) {
    throw located(located(error, i), field);
  }
}

function check(rule: string, holds: boolean, reason: string): void {
  if (!holds) throw refusal(rule, reason);
}

function checkOutput(output: Output): void {
  check('C-14', output.amount !== 0n, 'an output of no base tokens');
  checkEach('unlockConditions', output.unlockConditions, (condition) => {
    if (condition.type === UnlockConditionType.Expiration)
      check('C-20', condition.unixTime !== 0, 'expiration at 0');
    if (condition.type === UnlockConditionType.Timelock)
      check('C-21', condition.unixTime !== 0, 'timelock until 0');
  });
  checkEach('nativeTokens', output.nativeTokens, ({ amount }) => {
    check('C-23', amount !== 0n, 'a native token of amount 0');
  });
  if (output.type === OutputType.Foundry) checkTokenScheme(output.tokenScheme);
  if (output.type === OutputType.Alias) checkAlias(output);
  if (output.type === OutputType.Nft) checkNft(output);
}

function checkTokenScheme({ minted, melted, maximumSupply }: SimpleTokenScheme): void {
  check('C-26', maximumSupply > 0n, 'maximum supply 0');
  check('C-27', minted >= melted, 'more melted than minted');
  check('C-28', minted - melted <= maximumSupply, 'circulating supply over the maximum');
}

function checkAlias(alias: AliasOutput): void {
  if (isZero(alias.aliasId)) {
    check(
      'C-30',
      alias.stateIndex === 0 && alias.foundryCounter === 0,
      'a new alias with state index or foundry counter',
    );
    return;
  }
  for (const type of [UnlockConditionType.StateController, UnlockConditionType.Governor]) {
    const controller = findCondition(alias, type)?.address;
    const itself =
      controller?.type === AddressType.Alias && equalBytes(controller.id, alias.aliasId);
    check('C-31', !itself, 'an alias that controls itself');
  }
}

function checkNft(nft: NftOutput): void {
  if (isZero(nft.nftId)) return;
  const owner = findCondition(nft, UnlockConditionType.Address)?.address;
  const itself = owner?.type === AddressType.Nft && equalBytes(owner.id, nft.nftId);
  check('C-32', !itself, 'an NFT that owns itself');
}

function checkNativeTokenCount(outputs: readonly Output[]): void {
  const tokens = new Set<string>();
  for (const output of outputs) {
    for (const token of output.nativeTokens) tokens.add(toHexDigits(token.id));
  }
  check('C-22', tokens.size <= MAX_NATIVE_TOKENS, `${tokens.size} different native tokens`);
}

/** C-25: no chain goes on in two outputs, by type and ID; zero IDs are of new chains. */
function checkChainIds(outputs: readonly Output[]): void {
  const seen = new Set<string>();
  checkEach('essence.outputs', outputs, (output) => {
    const id = explicitChainId(output);
    if (id === undefined || (output.type !== OutputType.Foundry && isZero(id))) return;
    const key = `${output.type}:${toHexDigits(id)}`;
    check('C-25', !seen.has(key), 'a chain that continues twice');
    seen.add(key);
  });
}

function explicitChainId(output: Output): Uint8Array | undefined {
  switch (output.type) {
    case OutputType.Alias:
      return output.aliasId;
    case OutputType.Nft:
      return output.nftId;
    case OutputType.Foundry:
      return foundryId(output);
    case OutputType.Basic:
      return undefined;
  }
}

function checkUnlocks(unlocks: readonly Unlock[]): void {
  const signatures = new Set<string>();
  checkEach('unlocks', unlocks, (each, i) => {
    if (each.type === UnlockType.Signature) {
      const key = toHexDigits(encode(unlock, each));
      check('C-38', !signatures.has(key), `signature unlock ${i} is there twice`);
      signatures.add(key);
      return;
    }
    check('C-39', each.reference < i, `unlock ${i} refers to ${each.reference}`);
    if (each.type === UnlockType.Reference) {
      // C-41: alias and NFT unlocks may refer to an unlock of any type
      check(
        'C-40',
        unlocks[each.reference]?.type === UnlockType.Signature,
        `unlock ${i} refers to no signature`,
      );
    }
  });
}
