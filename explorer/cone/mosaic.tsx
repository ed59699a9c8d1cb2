/**
 * A cone that is too large for a graph: one tile for each block, in white-flag order, row by row,
 * on a canvas. Ten thousand tiles are drawn in some milliseconds.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import { formatCount } from '../format.ts';
import type { ExplainedBlockJson } from '../node/shapes.ts';
import { useSize } from './graph.tsx';
import { BlockCaption, kindOf, SHOWN_KINDS, type ShownKind } from './kinds.tsx';
import { ZoomButtons } from './zoom-buttons.tsx';

interface MosaicProps {
  blocks: readonly ExplainedBlockJson[];
  selected: string | undefined;
  select(blockId: string): void;
  faulty: ReadonlySet<string>;
}

const TILE_SIZES = [6, 9, 14, 20];

/** No canvas may be larger in any browser. */
const MAX_HEIGHT = 8000;

export function Mosaic({ blocks, selected, select, faulty }: MosaicProps) {
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [zoom, setZoom] = useState(blocks.length > 2000 ? 1 : 2);
  // without its padding
  const width = (useSize(frame)?.width ?? 2) - 2;
  const [pointed, setPointed] = useState<ExplainedBlockJson>();
  const tile = TILE_SIZES[zoom]!;
  const columns = Math.max(1, Math.floor(width / tile));
  const rows = Math.min(Math.ceil(blocks.length / columns), Math.floor(MAX_HEIGHT / tile));

  const drawn = columns * rows;
  useEffect(() => {
    if (width > 0) draw(canvas.current!, { blocks, columns, rows, tile, selected, faulty });
  }, [blocks, width, tile, selected, faulty]);

  const blockAt = ({ offsetX, offsetY }: MouseEvent) => {
    const column = Math.floor(offsetX / tile);
    return column < columns ? blocks[Math.floor(offsetY / tile) * columns + column] : undefined;
  };

  return (
    <div class="graph mosaic">
      <div class="tools">
        <p class="hint">
          {formatCount(blocks.length)} blocks are too many for a graph: one tile each
          {width > 0 && drawn < blocks.length && ` of the first ${formatCount(drawn)}`}, in
          white-flag order. The table below has them all.
        </p>
        <ZoomButtons
          zoomOut={zoom === 0 ? undefined : () => setZoom(zoom - 1)}
          zoomIn={zoom === TILE_SIZES.length - 1 ? undefined : () => setZoom(zoom + 1)}
        />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard */}
      <div class="canvas" ref={frame} tabIndex={0}>
        <canvas
          ref={canvas}
          role="img"
          aria-label="Blocks as tiles, in white-flag order; the table below has all of them"
          onMouseMove={(event) => setPointed(blockAt(event))}
          onMouseLeave={() => setPointed(undefined)}
          onClick={(event) => {
            const block = blockAt(event);
            if (block !== undefined) select(block.blockId);
          }}
        />
      </div>
      <BlockCaption block={pointed} otherwise="Point at a tile." />
    </div>
  );
}

interface Picture extends Omit<MosaicProps, 'select'> {
  columns: number;
  rows: number;
  tile: number;
}

function draw(canvas: HTMLCanvasElement, picture: Picture): void {
  const { blocks, columns, rows, tile, selected, faulty } = picture;
  const density = devicePixelRatio;
  canvas.width = columns * tile * density;
  canvas.height = rows * tile * density;
  canvas.style.width = `${columns * tile}px`;
  canvas.style.height = `${rows * tile}px`;
  const context = canvas.getContext('2d');
  if (context === null) return;
  context.scale(density, density);
  const colours = {
    applied: resolveColour(canvas, '--accent'),
    conflict: resolveColour(canvas, '--bad'),
    milestone: resolveColour(canvas, '--text'),
    data: resolveColour(canvas, '--edge'),
    empty: resolveColour(canvas, '--line'),
  };
  const shown = blocks.slice(0, columns * rows);
  const kinds = shown.map(kindOf);
  const cornerOf = (place: number) =>
    [(place % columns) * tile, Math.floor(place / columns) * tile] as const;
  // one path for each kind: twice as fast as one for each tile
  for (const kind of SHOWN_KINDS) {
    context.beginPath();
    for (const [place, each] of kinds.entries())
      if (each === kind) outline(context, kind, ...cornerOf(place), tile - 1);
    context.fillStyle = colours[kind];
    context.strokeStyle = colours[kind];
    context.lineWidth = Math.max(1.5, (tile - 1) / 4);
    if (kind === 'conflict') context.stroke();
    else context.fill();
  }
  context.lineWidth = 2;
  for (const [place, { blockId }] of shown.entries()) {
    if (blockId !== selected && !faulty.has(blockId)) continue;
    const [x, y] = cornerOf(place);
    context.strokeStyle = blockId === selected ? colours.milestone : colours.conflict;
    context.strokeRect(x - 0.5, y - 0.5, tile, tile);
  }
}

/** A colour of the style sheet: a canvas does not know `light-dark()`, and a computed style does. */
function resolveColour(canvas: HTMLCanvasElement, name: string): string {
  canvas.style.color = `var(${name})`;
  return getComputedStyle(canvas).color;
}

/** Adds a tile to the path. Kinds are told apart by shape, too; only a conflict is not filled. */
function outline(path: CanvasPath, kind: ShownKind, x: number, y: number, size: number): void {
  if (kind === 'applied') path.rect(x, y, size, size);
  else if (kind !== 'conflict') path.rect(x + size / 3, y + size / 3, size / 3, size / 3);
  else {
    path.moveTo(x + 1, y + 1);
    path.lineTo(x + size - 1, y + size - 1);
    path.moveTo(x + size - 1, y + 1);
    path.lineTo(x + 1, y + size - 1);
  }
}
