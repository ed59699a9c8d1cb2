/**
 * Unlocks the inputs: timelocks, the inputs commitment, owners and unlocks (TIP-0018, TIP-0020;
 * docs/protocol.md, D.2, S1 and S2). What does not depend on time is computed once (planUnlocking).
 * {@link unlockInputs} then goes through the inputs for one timestamp. Senders and issuers that
 * outputs name must be among the unlocked addresses (S3, A-1, N-1).
 */
import { equalBytes } from '../encoding/bytes.ts';
import { type Address, type AddressKey, AddressType, addressKey } from '../wire/address.ts';
import { FeatureType, findFeature } from '../wire/feature.ts';
import { ed25519AddressId, inputsCommitment } from '../wire/ids.ts';
import { type AliasOutput, type Output, OutputType } from '../wire/output.ts';
import { type Unlock, UnlockType } from '../wire/unlock.ts';
import { addressIn, findCondition, UnlockConditionType } from '../wire/unlock-condition.ts';
import { aliasStep } from './alias-transition.ts';
import { type ChainKey, type ChainTable, chainKey } from './chains.ts';
import {
  ConflictReason,
  type ConsumedOutput,
  type Fault,
  type JudgedTransaction,
} from './verdict.ts';

export type UnlockedAddresses = Map<AddressKey, UnlockedAddress>;

interface UnlockedAddress {
  /** Position of the input with the signature, or of the alias or NFT itself. */
  unlockedAt: number;
  /** Positions of the inputs whose unlocks refer to that one. */
  referencedBy: Set<number>;
}

interface Owner {
  type: Address['type'];
  key: AddressKey;
}

export interface PlannedInput {
  unlock: Unlock;
  /** The address of the public key in a signature unlock; undefined for other unlocks. */
  signer: AddressKey | undefined;
  signatureValid: boolean;
  /** Owner until the output expires; undefined if an alias makes an illegal step (S2.2). */
  owner: Owner | undefined;
  expiration: { unixTime: number; owner: Owner } | undefined;
  /** Address that this input unlocks as an alias or NFT (S2.12, S2.13). */
  chainAddress: ChainKey | undefined;
}

/** S1: Unix seconds from which on each input is not timelocked; 0 without a timelock. */
export function timelocksOf(consumed: readonly ConsumedOutput[]): number[] {
  return consumed.map(
    ({ output }) => findCondition(output, UnlockConditionType.Timelock)?.unixTime ?? 0,
  );
}

/** S2.0: whether the transaction's inputs commitment (B.5) is that of these outputs. */
export function commitmentMatches(
  tx: JudgedTransaction,
  consumed: readonly ConsumedOutput[],
): boolean {
  return equalBytes(tx.value.essence.inputsCommitment, inputsCommitment(consumed));
}

/** Facts about each input for {@link unlockInputs}. */
export function planUnlocking(
  tx: JudgedTransaction,
  consumed: readonly ConsumedOutput[],
  outChains: ChainTable,
): PlannedInput[] {
  return consumed.map(({ id, output }, i) => {
    const unlock = tx.value.unlocks[i]!;
    const expiration = findCondition(output, UnlockConditionType.Expiration);
    return {
      unlock,
      signer:
        unlock.type === UnlockType.Signature ? signerOf(unlock.signature.publicKey) : undefined,
      signatureValid: tx.validSignatures[i] === true,
      owner: ownerInConditions(output, id, outChains),
      expiration: expiration && {
        unixTime: expiration.unixTime,
        owner: asOwner(expiration.returnAddress),
      },
      chainAddress: unlockedChain(output, id, outChains),
    };
  });
}

const signerOf = (publicKey: Uint8Array): AddressKey =>
  addressKey({ type: AddressType.Ed25519, id: ed25519AddressId(publicKey) });

const asOwner = (address: Address): Owner => ({ type: address.type, key: addressKey(address) });

/** S2.1, S2.2: the owner that the output's own conditions name. */
function ownerInConditions(
  output: Output,
  outputId: Uint8Array,
  outChains: ChainTable,
): Owner | undefined {
  switch (output.type) {
    case OutputType.Basic:
    case OutputType.Nft:
      return asOwner(addressIn(output, UnlockConditionType.Address));
    case OutputType.Foundry:
      return asOwner(addressIn(output, UnlockConditionType.ImmutableAlias));
    case OutputType.Alias:
      switch (aliasStep(output, nextAlias(output, outputId, outChains))) {
        case 'governance':
        case 'destruction':
          return asOwner(addressIn(output, UnlockConditionType.Governor));
        case 'state':
          return asOwner(addressIn(output, UnlockConditionType.StateController));
        case 'illegal':
          return undefined;
      }
  }
}

function nextAlias(
  current: AliasOutput,
  outputId: Uint8Array,
  outChains: ChainTable,
): AliasOutput | undefined {
  const next = outChains.get(chainKey(current, outputId));
  return next?.type === OutputType.Alias ? next : undefined;
}

/**
 * S2.12: an NFT unlocks its address, whether it goes on or is burned. S2.13: an alias unlocks its
 * address in a state transition only.
 */
function unlockedChain(
  output: Output,
  outputId: Uint8Array,
  outChains: ChainTable,
): ChainKey | undefined {
  switch (output.type) {
    case OutputType.Nft:
      return chainKey(output, outputId);
    case OutputType.Alias:
      return aliasStep(output, nextAlias(output, outputId, outChains)) === 'state'
        ? chainKey(output, outputId)
        : undefined;
    case OutputType.Basic:
    case OutputType.Foundry:
      return undefined;
  }
}

/**
 * S2.1 to S2.13: unlocks the inputs one after the other and adds the unlocked addresses to
 * `unlocked`. Returns the fault of the first input that cannot be unlocked.
 *
 * @param unixTime the milestone's timestamp, seconds
 */
export function unlockInputs(
  inputs: readonly PlannedInput[],
  unixTime: number,
  unlocked: UnlockedAddresses,
): Fault | undefined {
  for (const [i, input] of inputs.entries()) {
    // S2.2, before S2.3: aliases have no expiration
    if (input.owner === undefined)
      return { reason: ConflictReason.InvalidChainStateTransition, rule: 'S2.2', input: i };
    const { expiration } = input;
    // S2.3: from the second of the expiration on, only the return address owns the output
    const owner =
      expiration !== undefined && expiration.unixTime <= unixTime ? expiration.owner : input.owner;
    const fault =
      input.unlock.type === UnlockType.Signature
        ? unlockBySignature(input, i, owner, unlocked)
        : unlockByReference(input.unlock, i, owner, unlocked);
    if (fault !== undefined) return { ...fault, input: i };
    // S2.12, S2.13
    if (input.chainAddress !== undefined)
      unlocked.set(input.chainAddress, { unlockedAt: i, referencedBy: new Set() });
  }
  return undefined;
}

function unlockBySignature(
  input: PlannedInput,
  position: number,
  owner: Owner,
  unlocked: UnlockedAddresses,
): Fault | undefined {
  // S2.4: only an Ed25519 address is unlocked by a signature
  if (owner.type !== AddressType.Ed25519) return badUnlock('S2.4');
  // S2.8, before key and signature: one signature unlock for each address
  if (unlocked.has(owner.key)) return badUnlock('S2.8');
  // S2.9: the key must be the owner's
  if (input.signer !== owner.key) return badSignature('S2.9');
  // S2.10
  if (!input.signatureValid) return badSignature('S2.10');
  // S2.11
  unlocked.set(owner.key, { unlockedAt: position, referencedBy: new Set() });
  return undefined;
}

const badUnlock = (rule: string): Fault => ({ reason: ConflictReason.InvalidInputUnlock, rule });

const badSignature = (rule: string): Fault => ({ reason: ConflictReason.InvalidSignature, rule });

/** S2.4, S2.6, S2.7: the type of unlock that refers to the owner's input, by type of owner. */
const REFERENCE_TO = {
  [AddressType.Ed25519]: UnlockType.Reference,
  [AddressType.Alias]: UnlockType.Alias,
  [AddressType.Nft]: UnlockType.Nft,
} as const;

function unlockByReference(
  unlock: Exclude<Unlock, { type: typeof UnlockType.Signature }>,
  position: number,
  owner: Owner,
  unlocked: UnlockedAddresses,
): Fault | undefined {
  const isChain = owner.type !== AddressType.Ed25519;
  // S2.4, S2.6: the type of unlock must be that of the owner
  if (unlock.type !== REFERENCE_TO[owner.type]) return badUnlock(isChain ? 'S2.4' : 'S2.6');
  // S2.5, S2.7: it must refer to the input that unlocked the owner's address
  const source = unlocked.get(owner.key);
  if (source?.unlockedAt !== unlock.reference) return badUnlock(isChain ? 'S2.5' : 'S2.7');
  source.referencedBy.add(position);
  return undefined;
}

/** Whether the address unlocked the input at `position`, itself or by reference. */
export function isUnlockedBy(
  unlocked: UnlockedAddresses,
  address: AddressKey,
  position: number,
): boolean {
  const source = unlocked.get(address);
  return (
    source !== undefined && (source.unlockedAt === position || source.referencedBy.has(position))
  );
}

/** S3: the addresses that must be unlocked, and the place of the output that names each. */
export function requiredSenders(
  outputs: readonly Output[],
): { output: number; address: AddressKey }[] {
  return outputs.flatMap((output, place) => {
    const sender = findFeature(output.features, FeatureType.Sender);
    return sender === undefined ? [] : [{ output: place, address: addressKey(sender.address) }];
  });
}

/** A-1, N-1: addresses that must be unlocked, and the chain that names each, if it is new. */
export function requiredIssuers(
  inChains: ChainTable,
  outChains: ChainTable,
): { chain: ChainKey; address: AddressKey }[] {
  return [...outChains].flatMap(([key, { immutableFeatures }]) => {
    const issuer = findFeature(immutableFeatures, FeatureType.Issuer);
    return issuer === undefined || inChains.has(key)
      ? []
      : [{ chain: key, address: addressKey(issuer.address) }];
  });
}
