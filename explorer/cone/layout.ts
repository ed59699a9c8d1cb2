/**
 * Places the blocks of a cone in layers, oldest at the left (Sugiyama's method, by d3-dag:
 * https://github.com/erikbrinkman/d3-dag). It runs in a worker of its own, so that the page stays
 * responsive, and only a page with a graph loads it.
 */
import {
  coordGreedy,
  coordSimplex,
  decrossTwoLayer,
  graphStratify,
  layeringLongestPath,
  sugiyama,
} from 'd3-dag';

export interface LayoutBlock {
  blockId: string;
  /** Only those that are in the cone. */
  parents: readonly string[];
}

type Point = readonly [x: number, y: number];

export interface ConeLayout {
  width: number;
  height: number;
  /** Centres, by block ID. */
  places: Record<string, Point>;
  /** From each block to its parents, through the points between the layers. */
  edges: readonly { child: string; parent: string; points: readonly Point[] }[];
}

/** Pixels: of a block, between layers, and between blocks of a layer. */
const SIZE = 26;
const LAYER_GAP = 46;
const BLOCK_GAP = 14;

/**
 * Layers that all edges cross together, to which both time and memory are in proportion or worse, and
 * which a stranger chooses: beyond the first the better placement takes seconds, beyond the second
 * any does.
 */
const MAX_EXACT = 200;
const MAX_CROSSED = 8000;

/** Throws an Error where edges cross too many layers. */
export function layOut(blocks: readonly LayoutBlock[]): ConeLayout {
  const crossed = countCrossed(blocks);
  if (crossed > MAX_CROSSED) throw new Error('edges cross too many layers');
  const graph = graphStratify()
    .id((block: LayoutBlock) => block.blockId)
    .parentIds(({ parents }: LayoutBlock) => parents)(blocks);
  const layered = sugiyama()
    .layering(layeringLongestPath())
    .decross(decrossTwoLayer())
    .nodeSize([SIZE, SIZE])
    .gap([BLOCK_GAP, LAYER_GAP]);
  const place = crossed > MAX_EXACT ? layered.coord(coordGreedy()) : layered.coord(coordSimplex());
  const { width, height } = place(graph);
  // the method works downwards, and time runs to the right
  const turn = ([x, y]: Point): Point => [y, x];
  return {
    width: height,
    height: width,
    places: Object.fromEntries(
      Array.from(graph.nodes(), ({ data, x, y }) => [data.blockId, turn([x, y])]),
    ),
    edges: Array.from(graph.links(), ({ source, target, points }) => ({
      parent: source.data.blockId,
      child: target.data.blockId,
      points: points.map(turn),
    })),
  };
}

/** Layers between blocks and their parents, each block as near to the oldest ones as it can be. */
function countCrossed(blocks: readonly LayoutBlock[]): number {
  const layers = new Map<string, number>();
  const left = new Map(blocks.map((block) => [block.blockId, block]));
  let crossed = 0;
  // a pass for each layer at most: parents are not in order
  for (let size = -1; left.size !== size; ) {
    size = left.size;
    for (const { blockId, parents } of left.values()) {
      if (parents.some((id) => left.has(id))) continue;
      const below = parents.map((id) => layers.get(id)!);
      const layer = below.reduce((most, each) => Math.max(most, each + 1), 0);
      for (const each of below) crossed += layer - each;
      layers.set(blockId, layer);
      left.delete(blockId);
    }
  }
  return crossed;
}
