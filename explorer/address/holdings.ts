/**
 * What an address holds, read as the wallet of iota-sdk reads it: the list of the outputs that name
 * the address, the foundries of its aliases, and each output.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import { addUp, type Balance, namesAddress } from '../../client/balance.ts';
import { toBech32 } from '../../src/stardust/bech32.ts';
import { fromHex } from '../../src/stardust/encoding/bytes.ts';
import { type Address, AddressType } from '../../src/stardust/wire/address.ts';
import { aliasIdOf } from '../../src/stardust/wire/ids.ts';
import { OutputType } from '../../src/stardust/wire/output.ts';
import { NodeError } from '../node/ask.ts';
import { type IdList, type ListedOutput, readAll, readIds } from '../node/lists.ts';
import type { Info } from '../node/shapes.ts';
import { asError } from '../use-load.ts';

/** Beyond it the visitor is asked first. */
const UNASKED_OUTPUTS = 1000;

/** Outputs that are read before the page says how far it is: a request. */
const CHUNK = 100;

/** A live ledger moves on every few seconds. */
const MAX_MOVES = 3;

export interface Holdings {
  list: IdList;
  /** By the ID of the output: those that were read. */
  outputs: ReadonlyMap<string, ListedOutput>;
  /** Seconds, of the ledger's milestone: what the outputs are judged at. */
  unixTime: number;
  /** Undefined until all outputs are read. */
  balance: Balance | undefined;
}

export type Reading =
  | { state: 'listing' }
  | { state: 'failed'; error: Error }
  | { state: 'read'; holdings: Holdings };

/** What it takes to read: an address as text and as bytes. */
export interface NamedAddress {
  bech32: string;
  address: Address;
}

/** @param first IDs that are read where the visitor is asked before all are, of the list */
export function useHoldings(
  { bech32, address }: NamedAddress,
  info: Info,
  first: (list: IdList) => readonly string[],
): { reading: Reading; isAll: boolean; wantAll(): void } {
  const [reading, setReading] = useState<Reading>({ state: 'listing' });
  const [isWanted, want] = useState(false);
  /** How often the ledger moved on while it was read, and how often before the last page was there. */
  const [moves, setMoves] = useState(0);
  const settled = useRef(0);
  const list = reading.state === 'read' ? reading.holdings.list : undefined;
  const isAll = isWanted || (list !== undefined && list.ids.length <= UNASKED_OUTPUTS);
  const shown = list === undefined ? '' : first(list).join();

  useEffect(() => {
    let dropped = false;
    const unixTime = info.status.confirmedMilestone.timestamp;
    readIds(undefined, { unlockableByAddress: bech32 }).then(
      (list) => {
        const holdings = { list, outputs: new Map(), unixTime, balance: undefined };
        if (!dropped) setReading({ state: 'read', holdings });
      },
      (error) => dropped || setReading({ state: 'failed', error: asError(error) }),
    );
    return () => {
      dropped = true;
    };
  }, [bech32, moves]);

  useEffect(() => {
    if (list === undefined || reading.state !== 'read') return undefined;
    const { unixTime, outputs: known, balance } = reading.holdings;
    if (balance !== undefined) return undefined;
    const outputs = new Map(known);
    let dropped = false;
    function show(balance?: Balance): void {
      if (dropped) return;
      setReading((before) =>
        before.state === 'read'
          ? { state: 'read', holdings: { ...before.holdings, outputs: new Map(outputs), balance } }
          : before,
      );
    }
    const missing = (ids: readonly string[]) => ids.filter((id) => !outputs.has(id));
    async function add(ids: readonly string[]): Promise<boolean> {
      const read = await readAll(missing(ids));
      for (const each of read ?? []) outputs.set(each.outputId, each);
      return read !== undefined;
    }
    const restart = () => void (dropped || setMoves(moves + 1));
    async function read(list: IdList, isAll: boolean): Promise<void> {
      if (moves - settled.current > MAX_MOVES)
        throw new NodeError(0, 'The ledger moved on each time that this was read. Try again.');
      if (!isAll) {
        if (!(await add(first(list)))) return restart();
        settled.current = moves;
        return show();
      }
      for (let left = missing(list.ids); left.length > 0; left = missing(list.ids)) {
        if (!(await add(left.slice(0, CHUNK)))) return restart();
        if (left.length > CHUNK) show();
      }
      requireNamed(list.ids, outputs, address);
      const foundries = await readFoundries(list, outputs, info);
      if (foundries === undefined) return restart();
      const { rentStructure } = info.protocol;
      const all = [...list.ids.map((id) => outputs.get(id)!), ...foundries];
      show(addUp(all, { address, unixTime, rentStructure }));
    }
    read(list, isAll).catch(
      (error) => dropped || setReading({ state: 'failed', error: asError(error) }),
    );
    return () => {
      dropped = true;
    };
  }, [list, shown, isAll]);

  return { reading, isAll, wantAll: () => want(true) };
}

function requireNamed(
  ids: readonly string[],
  outputs: ReadonlyMap<string, ListedOutput>,
  address: Address,
): void {
  const other = ids.find((id) => !namesAddress(outputs.get(id)!.output, address));
  if (other !== undefined)
    throw new NodeError(0, `The node lists output ${other}, which does not name this address.`);
}

/**
 * The foundries of all aliases that the address controls, which are not listed by the address.
 * Undefined if the ledger has moved on.
 */
async function readFoundries(
  { ids, ledgerIndex }: IdList,
  outputs: ReadonlyMap<string, ListedOutput>,
  info: Info,
): Promise<readonly ListedOutput[] | undefined> {
  const found = new Set<string>();
  for (const id of ids) {
    const output = outputs.get(id)!.output;
    if (output.type !== OutputType.Alias) continue;
    const alias = { type: AddressType.Alias, id: aliasIdOf(output, fromHex(id)) };
    const aliasAddress = toBech32(info.protocol.bech32Hrp, alias);
    const list = await readIds('foundry', { aliasAddress });
    if (list.ledgerIndex !== ledgerIndex) return undefined;
    for (const each of list.ids) if (!outputs.has(each)) found.add(each);
  }
  return readAll([...found]);
}
