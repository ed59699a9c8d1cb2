/**
 * The blocks of a cone as a table: what the graph shows, for those who do not see it, a page at a
 * time.
 */
import { useState } from 'preact/hooks';
import { formatCount, plural } from '../format.ts';
import type { ExplainedBlockJson } from '../node/shapes.ts';
import { Id, IdLink } from '../parts/parts.tsx';
import type { View } from '../route.ts';
import { describeBlock, KIND_NAMES, kindOf, Mark, SHOWN_KINDS, type ShownKind } from './kinds.tsx';

const PAGE_SIZE = 50;

export function BlockTable({
  blocks,
  faulty,
  milestoneIndex,
}: {
  blocks: readonly ExplainedBlockJson[];
  faulty: ReadonlySet<string>;
  /** Undefined of a proposal. */
  milestoneIndex: number | undefined;
}) {
  const [kind, setKind] = useState<ShownKind | ''>('');
  const [page, setPage] = useState(0);
  const kinds = new Set(blocks.map(kindOf));
  const matching = kind === '' ? blocks : blocks.filter((block) => kindOf(block) === kind);
  const pages = Math.ceil(matching.length / PAGE_SIZE);
  const rows = matching.slice(page * PAGE_SIZE, (page + 1) * PAGE_SIZE);
  const viewOf = (id: string): View =>
    milestoneIndex === undefined
      ? { name: 'block', id }
      : { name: 'milestone', milestone: String(milestoneIndex), block: id };
  return (
    <section class="table" aria-labelledby="table-title">
      <div class="tools">
        <h2 id="table-title">Blocks in white-flag order</h2>
        {kinds.size > 1 && (
          <label>
            Show{' '}
            <select
              value={kind}
              onChange={({ currentTarget }) => {
                setKind(currentTarget.value as ShownKind | '');
                setPage(0);
              }}
            >
              <option value="">all, {formatCount(blocks.length)}</option>
              {SHOWN_KINDS.filter((each) => kinds.has(each)).map((each) => (
                <option key={each} value={each}>
                  {KIND_NAMES[each]},{' '}
                  {formatCount(blocks.filter((block) => kindOf(block) === each).length)}
                </option>
              ))}
            </select>
          </label>
        )}
      </div>
      <div class="scroll">
        <table aria-labelledby="table-title">
          <thead>
            <tr>
              <th scope="col">#</th>
              <th scope="col">Block</th>
              <th scope="col">Payload, and what became of it</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((block) => (
              <tr key={block.blockId} class={faulty.has(block.blockId) ? 'faulty' : ''}>
                <td class="number">{block.whiteFlagIndex}</td>
                <td>
                  <Id id={block.blockId} what="block ID" view={viewOf(block.blockId)} />
                </td>
                <td>
                  <svg viewBox="-12 -12 24 24" class={`block ${kindOf(block)}`} aria-hidden="true">
                    <Mark kind={kindOf(block)} />
                  </svg>{' '}
                  {describeBlock(block)}
                  {block.decidingInput?.spentBy !== undefined && (
                    <>
                      , spent before by <IdLink name="block" id={block.decidingInput.spentBy} />
                    </>
                  )}
                  {faulty.has(block.blockId) && <strong class="bad"> A check failed here.</strong>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {pages > 1 && (
        <p class="pager">
          <button type="button" disabled={page === 0} onClick={() => setPage(page - 1)}>
            Previous
          </button>
          <span>
            Page {page + 1} of {pages}, {plural(matching.length, 'block')}
          </span>
          <button type="button" disabled={page === pages - 1} onClick={() => setPage(page + 1)}>
            Next
          </button>
        </p>
      )}
    </section>
  );
}
