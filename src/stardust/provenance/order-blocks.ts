/**
 * The white-flag order as a checker computes it (docs/protocol.md, E.1): depth first from the
 * milestone's parents, each block behind its own. A second implementation, not the node's walk.
 */

/**
 * Orders the blocks of a cone by their IDs in white-flag order.
 *
 * @param roots the milestone's parents, in their order
 * @param parents of each block of the cone; others are referenced before
 */
export function orderBlocks(
  roots: readonly string[],
  parents: ReadonlyMap<string, readonly string[]>,
): string[] {
  const order: string[] = [];
  const visited = new Set<string>();
  for (const root of roots) {
    const stack = [{ blockId: root, seen: 0 }];
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const own = parents.get(top.blockId);
      if (own === undefined || (top.seen === 0 && visited.has(top.blockId))) {
        stack.pop();
        continue;
      }
      visited.add(top.blockId);
      const parent = own[top.seen++];
      if (parent !== undefined) {
        if (!visited.has(parent)) stack.push({ blockId: parent, seen: 0 });
      } else {
        order.push(top.blockId);
        stack.pop();
      }
    }
  }
  return order;
}
