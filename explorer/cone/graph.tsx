/**
 * The past cone as a graph: blocks in layers, each with its place in the white-flag order, edges to
 * their parents. It is moved by scrolling, with the mouse, fingers or keys, and zoomed by buttons.
 * The blocks are one stop of the Tab key; arrows go along the white-flag order.
 */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { shorten } from '../format.ts';
import type { ExplainedBlockJson } from '../node/shapes.ts';
import type { Loaded } from '../use-load.ts';
import { BlockCaption, describeBlock, kindOf, Mark } from './kinds.tsx';
import type { ConeLayout } from './layout.ts';
import { ZoomButtons } from './zoom-buttons.tsx';

interface GraphProps {
  blocks: readonly ExplainedBlockJson[];
  layout: Loaded<ConeLayout>;
  selected: string | undefined;
  select(blockId: string): void;
  /** IDs of blocks where a check failed. */
  faulty: ReadonlySet<string>;
}

const MARGIN = 28;
const ZOOM_STEP = 1.3;
const MIN_ZOOM = 0.3;
const MAX_ZOOM = 3;

/** Of the whole walk, when it is played. */
const PLAY_MS = 5000;

export function Graph({ blocks, layout, selected, select, faulty }: GraphProps) {
  const frame = useRef<HTMLDivElement>(null);
  const size = useSize(frame);
  const [zoom, setZoom] = useState(1);
  const [pointed, setPointed] = useState<string>();
  const [step, setStep] = useState<number>();

  const drawn = layout.state === 'done' ? layout.value : undefined;
  useEffect(() => {
    if (step === undefined) return undefined;
    if (step >= blocks.length) {
      setStep(undefined);
      return undefined;
    }
    const timer = setTimeout(() => setStep(step + 1), PLAY_MS / blocks.length);
    return () => clearTimeout(timer);
  }, [step]);
  usePanning(frame);
  const stretched = useMemo(
    () => drawn && size && stretch(drawn, size),
    [drawn, size?.width, size?.height],
  );

  const shown = blocks.find(({ blockId }) => blockId === (pointed ?? selected));
  const zoomBy = (factor: number) => setZoom((now) => clamp(now * factor, MIN_ZOOM, MAX_ZOOM));

  return (
    <div class="graph">
      <div class="tools">
        <button type="button" onClick={() => setStep(0)} disabled={drawn === undefined}>
          Play the white-flag order
        </button>
        <ZoomButtons zoomOut={() => zoomBy(1 / ZOOM_STEP)} zoomIn={() => zoomBy(ZOOM_STEP)}>
          <button type="button" onClick={() => setZoom(1)}>
            Fit
          </button>
        </ZoomButtons>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard */}
      <div class="canvas" ref={frame} tabIndex={0}>
        {layout.state === 'loading' && (
          <p class="loading" role="status">
            Laying out the graph …
          </p>
        )}
        {layout.state === 'failed' && <p class="hint">{layout.error.message}</p>}
        {stretched !== undefined && (
          <Drawing
            layout={stretched}
            {...{ blocks, selected, select, faulty, zoom, step, setPointed }}
          />
        )}
      </div>
      <BlockCaption block={shown} otherwise="Point at a block, or use the arrow keys." />
    </div>
  );
}

interface DrawingProps extends Omit<GraphProps, 'layout'> {
  layout: ConeLayout;
  zoom: number;
  /** How far the walk is played; undefined: to its end. */
  step: number | undefined;
  setPointed(blockId: string | undefined): void;
}

function Drawing(props: DrawingProps) {
  const { blocks, layout, selected, select, faulty, zoom, step, setPointed } = props;
  const [width, height] = [layout.width + 2 * MARGIN, layout.height + 2 * MARGIN];
  const [current, setCurrent] = useState<string>();
  const stop = current ?? selected ?? blocks[0]?.blockId;
  const svg = useRef<SVGSVGElement>(null);

  const edges = useMemo(
    () => layout.edges.map(({ child, parent, points }) => ({ child, parent, d: curve(points) })),
    [layout],
  );

  /** Along the white-flag order; true if the key was one of these. */
  const move = (key: string, place: number): boolean => {
    const to = {
      ArrowRight: place + 1,
      ArrowDown: place + 1,
      ArrowLeft: place - 1,
      ArrowUp: place - 1,
      Home: 0,
      End: blocks.length - 1,
    }[key];
    const next = to === undefined ? undefined : blocks[to];
    if (next !== undefined) {
      setCurrent(next.blockId);
      svg.current?.querySelector<SVGGElement>(`[data-place="${to}"]`)?.focus();
    }
    return to !== undefined;
  };

  return (
    // biome-ignore lint/a11y/useSemanticElements: SVG has no element for a group of controls
    <svg
      ref={svg}
      width={width * zoom}
      height={height * zoom}
      viewBox={`${-MARGIN} ${-MARGIN} ${width} ${height}`}
      role="group"
      aria-label="Past cone. Arrow keys go along the white-flag order, Enter shows a block."
    >
      <g class="edges">
        {edges.map(({ child, parent, d }) => (
          <path
            key={`${child}${parent}`}
            d={d}
            class={selected === child || selected === parent ? 'lit' : ''}
          />
        ))}
      </g>
      {step !== undefined && <Trail {...{ blocks, layout, step }} />}
      {blocks.map((block, place) => {
        const at = layout.places[block.blockId];
        if (at === undefined) return null;
        const { blockId } = block;
        const isFaulty = faulty.has(blockId);
        const names = [
          'block',
          kindOf(block),
          selected === blockId && 'selected',
          isFaulty && 'faulty',
          step !== undefined && (place >= step ? 'ahead' : place === step - 1 && 'now'),
        ];
        return (
          // biome-ignore lint/a11y/useSemanticElements: there are no buttons within SVG
          <g
            key={blockId}
            class={names.filter(Boolean).join(' ')}
            transform={`translate(${at[0]} ${at[1]})`}
            role="button"
            tabindex={blockId === stop ? 0 : -1}
            data-place={place}
            aria-pressed={selected === blockId}
            aria-label={`${block.whiteFlagIndex}: ${describeBlock(block)}, ${shorten(blockId)}${isFaulty ? ', a check failed here' : ''}`}
            onClick={() => select(blockId)}
            onMouseEnter={() => setPointed(blockId)}
            onMouseLeave={() => setPointed(undefined)}
            onFocus={() => {
              setCurrent(blockId);
              setPointed(blockId);
            }}
            onBlur={() => setPointed(undefined)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' || event.key === ' ') select(blockId);
              else if (!move(event.key, place)) return;
              event.preventDefault();
            }}
          >
            <circle class="halo" r="14" />
            <Mark kind={kindOf(block)} />
            <text y="21">{block.whiteFlagIndex}</text>
            {isFaulty && (
              <text class="alarm" x="12" y="-8">
                !
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}

/** Steps of the walk that are drawn behind it while it is played. */
const TRAIL = 8;

/** The last steps of the walk. */
function Trail({
  blocks,
  layout,
  step,
}: Pick<DrawingProps, 'blocks' | 'layout'> & { step: number }) {
  const points = blocks
    .slice(Math.max(0, step - TRAIL), step)
    .flatMap(({ blockId }) => layout.places[blockId] ?? []);
  const pairs = points.flatMap((value, i) => (i % 2 === 0 ? [`${value},${points[i + 1]}`] : []));
  return <polyline class="trail" points={pairs.join(' ')} />;
}

interface Size {
  width: number;
  height: number;
}

/**
 * The layout over the whole frame. Marks keep their size, so distances shrink only as far as marks
 * stay apart; a frame that is smaller still scrolls.
 */
function stretch(layout: ConeLayout, { width, height }: Size): ConeLayout {
  const across = clamp((width - 2 * MARGIN) / layout.width, 0.62, 3.5);
  const down = clamp((height - 2 * MARGIN) / layout.height, 0.85, 2);
  const move = ([x, y]: readonly [number, number]) => [x * across, y * down] as const;
  return {
    width: layout.width * across,
    height: layout.height * down,
    places: Object.fromEntries(
      Object.entries(layout.places).map(([blockId, at]) => [blockId, move(at)]),
    ),
    edges: layout.edges.map((edge) => ({ ...edge, points: edge.points.map(move) })),
  };
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}

/** Of what is inside an element; undefined before it is known. */
export function useSize(element: { current: HTMLElement | null }): Size | undefined {
  const [size, setSize] = useState<Size>();
  useEffect(() => {
    const { current } = element;
    if (current === null) return undefined;
    const measure = () => setSize({ width: current.clientWidth, height: current.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  return size;
}

/** Through the points, with tangents along the layers. */
function curve(points: readonly (readonly [number, number])[]): string {
  const [first, ...rest] = points;
  if (first === undefined) return '';
  let [x, y] = first;
  let path = `M${x} ${y}`;
  for (const [toX, toY] of rest) {
    const middle = (x + toX) / 2;
    path += `C${middle} ${y} ${middle} ${toY} ${toX} ${toY}`;
    [x, y] = [toX, toY];
  }
  return path;
}

/** Dragging with the mouse scrolls; fingers and keys do so by themselves. */
function usePanning(frame: { current: HTMLDivElement | null }): void {
  useEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    const drag = (event: PointerEvent) => {
      if (event.buttons !== 1 || event.pointerType !== 'mouse') return;
      element.scrollLeft -= event.movementX;
      element.scrollTop -= event.movementY;
    };
    element.addEventListener('pointermove', drag);
    return () => element.removeEventListener('pointermove', drag);
  }, []);
}
