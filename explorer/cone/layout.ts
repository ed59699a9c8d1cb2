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

/** Beyond it the better placement takes seconds. */
const MAX_EXACT = 80;

export function layOut(blocks: readonly LayoutBlock[]): ConeLayout {
  const graph = graphStratify()
    .id((block: LayoutBlock) => block.blockId)
    .parentIds(({ parents }: LayoutBlock) => parents)(blocks);
  const layered = sugiyama()
    .layering(layeringLongestPath())
    .decross(decrossTwoLayer())
    .nodeSize([SIZE, SIZE])
    .gap([BLOCK_GAP, LAYER_GAP]);
  const place =
    blocks.length > MAX_EXACT ? layered.coord(coordGreedy()) : layered.coord(coordSimplex());
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
