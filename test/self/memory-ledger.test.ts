import { describeLedger } from '../support/nft-index/ledger-contract.ts';
import { MemoryLedger } from '../support/nft-index/memory-ledger.ts';

describeLedger('in memory', () => {
  const ledger = new MemoryLedger();
  return {
    index: ledger,
    nfts: ledger,
    import: async (generation, start, nfts) => ledger.import(generation, start, nfts),
    apply: async (changes) => ledger.apply(changes),
    removeLedger: async () => {
      ledger.history = undefined;
    },
    removeState: async () => {
      ledger.row = undefined;
    },
  };
});
