/**
 * What strangers can cost in an hour under the rate limits of a deployment, by each route and by all
 * together, beyond what the plan includes (docs/cloudflare.md#what-a-stranger-can-cost).
 */
import { type LimitBinding, REQUESTS_A_MINUTE } from '../../cli/deploy/rate-limits.ts';
import { MAX_ADDED_TOPICS } from '../../src/modules/events/client.ts';
import { MAX_CHANGES } from '../../src/modules/histories/nft-changes.ts';
import { ROW_BUDGET } from '../../src/modules/lists/list-statements.ts';
import { type BilledUsage, OBJECT_GB, PRICES } from './bill.ts';

/** Rows of a block's pack, of its outputs and of the index: as of the 60 blocks that were counted. */
const BLOCK_ROWS = 6;

/** Explained of applied milestones, or of a proposal about past ones: 75 MB of blocks at most. */
const EXPLAINED_BLOCKS = 10_000;

/** 100 outputs by their IDs (test/modules/objects/read-cost.worker.test.ts), eight rows each. */
const GALLERY_ROWS = 810;

/** By its own ID, and by that of its transaction, whose output may be spent. */
const [FOUND_ROWS, INCLUDED_ROWS] = [50, 100];

/** Of `utxo-changes`, and of roots of a past milestone: 200,000 blocks (docs/architecture.md#bounds), 32 of them in a row at least. */
const CHANGES_ROWS = 200_000 / 32;

/** More than an answer takes, three rows of each (test/modules/objects/read-cost.worker.test.ts). */
const RECEIPTS_ROWS = 75_000;

/** One in each milestone (test/modules/histories/nft-changes-cost.worker.test.ts). */
const CHANGED_ROWS = 11 * MAX_CHANGES + 20;

/** Topics of unknown outputs, three rows each (test/modules/events/event-broker.worker.test.ts). */
const TOPICS_ROWS = MAX_ADDED_TOPICS * 3.1;

const EXPLAINED = { rowsRead: EXPLAINED_BLOCKS * BLOCK_ROWS, cpuMs: 1000 };
const LIST = { rowsRead: ROW_BUDGET + 1000, cpuMs: 200 };
const BLOCK = { rowsRead: FOUND_ROWS, cpuMs: 5, objectRequests: 1 };
const INCLUDED = { rowsRead: INCLUDED_ROWS, cpuMs: 5 };
const CHANGES = { rowsRead: CHANGES_ROWS, cpuMs: 2000 };
/** 100 outputs of 21 KB, read, decoded and written as 5 MB of JSON. */
const GALLERY = { rowsRead: GALLERY_ROWS, cpuMs: 150 };
/** test/modules/histories/nft-history-cost.worker.test.ts */
const PAGE = { rowsRead: 50_000, cpuMs: 50 };
const ROW = { rowsRead: 20, cpuMs: 3 };
const NO_ROW = { cpuMs: 2 };

/** By limit and operation ID, the dearest request to each route. CPU is more than was measured (docs/performance.md). */
const DEAREST: Readonly<Record<LimitBinding, Readonly<Record<string, Partial<BilledUsage>>>>> = {
  WHITE_FLAG_LIMIT: {
    computeWhiteFlag: CHANGES,
  },
  SCAN_LIMIT: {
    explainWhiteFlag: { ...EXPLAINED, cpuMs: 4000 },
    listNfts: LIST,
    listOutputs: LIST,
    listBasicOutputs: LIST,
    listAliases: LIST,
    listFoundries: LIST,
    listCollectionOwners: LIST,
    readNftHistory: PAGE,
    readNftChanges: { rowsRead: CHANGED_ROWS, cpuMs: 100 },
    readNftCertificate: EXPLAINED,
    explainMilestone: EXPLAINED,
    createProof: EXPLAINED,
    proveBlock: EXPLAINED,
    readUtxoChangesByIndex: CHANGES,
    readUtxoChanges: CHANGES,
    listReceipts: { rowsRead: RECEIPTS_ROWS, cpuMs: 1000 },
    listReceiptsOf: { rowsRead: RECEIPTS_ROWS, cpuMs: 1000 },
    proveFinalOutput: { rowsRead: 200, cpuMs: 20 },
    proveFinalNft: { rowsRead: 200, cpuMs: 20 },
    stateAddress: LIST,
  },
  EVENTS_LIMIT: {
    connectToEvents: {
      ...{ rowsRead: TOPICS_ROWS, cpuMs: 2 },
      ...{ objectRequests: 1, objectGbSeconds: OBJECT_GB * 0.01 },
    },
  },
  FETCH_LIMIT: {
    readBlock: BLOCK,
    readBlockMetadata: BLOCK,
  },
  READ_LIMIT: {
    lookUpNft: { ...ROW, kvReads: 2 },
    lookUpAlias: ROW,
    lookUpFoundry: ROW,
    readNfts: GALLERY,
    readNft: ROW,
    readOutput: ROW,
    readOutputs: GALLERY,
    readOutputMetadata: ROW,
    readIncludedBlock: INCLUDED,
    readIncludedBlockMetadata: INCLUDED,
    readMilestoneByIndex: ROW,
    readMilestone: ROW,
    validateProof: { cpuMs: 20 },
    readTreasury: ROW,
    listTips: ROW,
    readInfo: ROW,
    listApis: ROW,
    readFinalLedger: ROW,
    readHealth: ROW,
    readMetrics: { ...ROW, objectRequests: 2 },
    describeApi: NO_ROW,
    showPage: NO_ROW,
    readRobots: NO_ROW,
    readIcon: NO_ROW,
    readExplorerFile: NO_ROW,
  },
};

/** Each request may write a line of log. */
const ALWAYS: Partial<BilledUsage> = { requests: 1, logLines: 1 };

/** A request that is over its limit. */
const REFUSED: Partial<BilledUsage> = { ...ALWAYS, cpuMs: 1 };

/**
 * Messages to the broker of events are not limited, but it is one object: 73 µs each (the benchmark
 * "subscribers"), however many addresses send them. 20 are billed as a request. It reads
 * known blocks for those who subscribe to them one by one: 5 ms each.
 */
const MESSAGES_AN_HOUR = 3600 / 73e-6;
const FOUND_AN_HOUR = 3600 / 5e-3;
const MESSAGES: Partial<BilledUsage> = {
  rowsRead: FOUND_AN_HOUR * FOUND_ROWS,
  objectRequests: MESSAGES_AN_HOUR / 20,
  objectGbSeconds: OBJECT_GB * 3600,
};

function dollarsOf(usage: Partial<BilledUsage>): number {
  const used = Object.entries(usage) as [keyof BilledUsage, number][];
  return used.reduce((sum, [kind, amount]) => {
    const { dollars, per } = PRICES[kind];
    return sum + (amount / per) * dollars;
  }, 0);
}

export interface StrangerCost {
  /** Operation ID. */
  route: string;
  limit: LimitBinding;
  /** In an hour. */
  usage: Partial<BilledUsage>;
  dollars: number;
}

/** By route: all requests that so many addresses are allowed in an hour, each the dearest one. */
export function strangerCosts(addresses: number): StrangerCost[] {
  return (Object.keys(DEAREST) as LimitBinding[]).flatMap((limit) =>
    Object.entries(DEAREST[limit]).map(([route, dearest]) => {
      const requests = addresses * REQUESTS_A_MINUTE[limit] * 60;
      const each = Object.entries({ ...ALWAYS, ...dearest });
      const usage = Object.fromEntries(each.map(([kind, amount]) => [kind, amount * requests]));
      return { route, limit, usage, dollars: dollarsOf(usage) };
    }),
  );
}

/** By all routes at once: the dearest one of each limit, and messages to the broker of events. */
export function strangerTotal(addresses: number): number {
  const dearest = new Map<LimitBinding, number>();
  for (const { limit, dollars } of strangerCosts(addresses))
    dearest.set(limit, Math.max(dollars, dearest.get(limit) ?? 0));
  return [...dearest.values()].reduce((sum, each) => sum + each, dollarsOf(MESSAGES));
}

/** Of a million requests that are refused. */
export const refusedDollars = (): number => 1e6 * dollarsOf(REFUSED);
