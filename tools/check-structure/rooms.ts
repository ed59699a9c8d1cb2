/**
 * Rooms: the folders at the top of the project, and those and the files at the top of src/. Their
 * arrows are the imports between them (docs/architecture.md#rooms).
 */
import type { ImportGraph } from './imports.ts';

/** What one person can keep in mind. */
const MAX_ROOMS = 18;
const MAX_ARROWS = 80;

/** By room, in any order: the rooms that it imports. */
export type RoomGraph = ReadonlyMap<string, ReadonlySet<string>>;

/** @param graph files by their path in the project */
export function readRooms(graph: ImportGraph): RoomGraph {
  const rooms = new Map<string, Set<string>>();
  for (const file of graph.keys()) rooms.set(roomOf(file), new Set());
  for (const [file, targets] of graph) {
    const room = roomOf(file);
    for (const target of targets.map(roomOf))
      if (target !== room && rooms.has(target)) rooms.get(room)!.add(target);
  }
  return rooms;
}

function roomOf(file: string): string {
  const [first, second] = file.split('/') as [string, string];
  return first === 'src' ? second : first;
}

/** Lines that say which rooms each room imports, those first that import most others. */
export function describeRooms(rooms: RoomGraph): string[] {
  return [...rooms]
    .sort(([, a], [, b]) => b.size - a.size)
    .map(([room, targets]) => `${room} -> ${[...targets].sort().join(', ') || 'none'}`);
}

export function countArrows(rooms: RoomGraph): number {
  return [...rooms.values()].reduce((sum, { size }) => sum + size, 0);
}

/** A sentence if there are more rooms or arrows than may be. */
export function findTooMany(rooms: RoomGraph): string[] {
  const arrows = countArrows(rooms);
  return rooms.size > MAX_ROOMS || arrows > MAX_ARROWS
    ? [`${rooms.size} rooms and ${arrows} arrows, more than ${MAX_ROOMS} and ${MAX_ARROWS}`]
    : [];
}

/**
 * The arrows that no path of other arrows stands for: what a picture needs to show.
 *
 * @param rooms without circles
 */
export function reduceRooms(rooms: RoomGraph): Map<string, string[]> {
  const reached = new Map<string, Set<string>>();
  const reach = (room: string): Set<string> => {
    const known = reached.get(room);
    if (known !== undefined) return known;
    const all = new Set<string>();
    for (const target of rooms.get(room) ?? [])
      for (const each of [target, ...reach(target)]) all.add(each);
    reached.set(room, all);
    return all;
  };
  return new Map(
    [...rooms].map(([room, targets]) => [
      room,
      [...targets]
        .filter((target) => ![...targets].some((other) => reach(other).has(target)))
        .sort(),
    ]),
  );
}
