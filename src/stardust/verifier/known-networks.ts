/**
 * Public networks and who signs their milestones, so that nobody need paste keys: part of the
 * source, never an answer of a node. The subpath `/networks` of the package (README.md).
 */
import { fromHex } from '../encoding/bytes.ts';
import type { MilestoneKeys } from '../milestone-keys.ts';

/** Input of `createVerifier` with URLs of nodes. */
export interface KnownNetwork extends MilestoneKeys {
  /** Name in the info of its nodes. */
  networkName: string;
  /** Title for people. */
  title: string;
  /** How its amounts are written. */
  baseToken: { tickerSymbol: string; decimals: number };
  /** Beginning of its addresses. */
  bech32Hrp: string;
  /** Root of its last ledger, 32 bytes, if published and verified (docs/final-ledger.md). */
  finalRoot?: Uint8Array;
}

/**
 * `protocol.publicKeyRanges`, none of them with a range, and `milestonePublicKeyCount` of
 * config_shimmer.json and config_defaults.json in https://github.com/iotaledger/hornet/tree/v2.0.1
 */
export const KNOWN_NETWORKS: readonly KnownNetwork[] = [
  {
    networkName: 'shimmer',
    title: 'Shimmer',
    threshold: 7,
    baseToken: { tickerSymbol: 'SMR', decimals: 6 },
    bech32Hrp: 'smr',
    keys: forEver([
      'a507d2a592a5f0424ed8530603c08acebe088ae26211e90b79bfec0970a2397f',
      '71a09774449a081450a51e0245a1e9850190f93508fd8f21bb9b9ca169765f30',
      'a375515bfe5adf7fedb64ef4cebe1e621e85a056b0ccd5db72bc0d474325bf38',
      '1df26178a7914126fd8cb934c7a7437073794c1c8ce99319172436b1d4973eba',
      '45432d7c767e16586403262331a725c7eaa0b2dd79ea442f373c845ae3443aa9',
      '9d87b4d2538b10799b582e25ace4726d92d7798ddfb696ff08e450db7917c9ad',
      'a921841628d64c3f08bd344118b8106ade072e68c774beff30135e036194493a',
      '16ee3356c21e410a0aaab42896021b1a857eb8d97a14a66fed9b13d634c21317',
      '99c7d9752c295cb56b550191015ab5a40226fb632e8b02ec15cfe574ea17cf67',
      '4af647910ba47000108b87c63abe0545643f9b203eacee2b713729b0450983fe',
    ]),
  },
  {
    networkName: 'iota-mainnet',
    title: 'IOTA',
    threshold: 7,
    baseToken: { tickerSymbol: 'IOTA', decimals: 6 },
    bech32Hrp: 'iota',
    keys: forEver([
      '2fb1d7ec714adf365eefa343b66c0c459a9930276aff08cde482cb8050028624',
      '8845cd560d66d50070c6e251d7a0a19f8de217fabf53a78ee15b41d85a489cc6',
      '1d61aab6f7e52129b78fcdf9568def0baa9c71112964f5b4d86ffc406866a986',
      'fa94be504dfb10876a449db5272f19393ded922cbe3b023b4e57b62a53835721',
      '5fadfabe6944f5f0166ada11452c642010339f916e28187ecf8b4a207c8dba47',
      '347e6892d72b71e0423bd14daaf61d2ac35e91852fa5b155b92ddda0e064f55f',
      '0e403f526a66b4c0b18e8b0257671b07892a419e4b6e4540707d9a4793d1e3be',
      '3af73a609696ff6fe63c36d060455cd83ec23edea2d2b87d5317004849cc0e9a',
      'ee1bfa9e791a9f57ea72c6192b000d906f21479ba8f40bb20cdd8badb7ddcb78',
      '083d7af99250a06d086b07bdd5bccd2bff406ee17e19332ccdb08d8be72218ce',
    ]),
  },
];

/** Keys that may sign every milestone. */
function forEver(publicKeys: readonly string[]): MilestoneKeys['keys'] {
  return publicKeys.map((key) => ({ publicKey: fromHex(`0x${key}`), first: 0, last: 0 }));
}

/** @param networkName `shimmer` or `iota-mainnet`; undefined of a network that is not known here */
export function findKnownNetwork(networkName: string): KnownNetwork | undefined {
  return KNOWN_NETWORKS.find((each) => each.networkName === networkName);
}
