/**
 * Whether a regular expression can take more than linear time, by its shape alone and not by a clock.
 *
 * It becomes an automaton whose states are its characters (Glushkov's), with a loop before them where
 * the match may begin anywhere. A backtracking engine is linear unless some text leads both from a
 * state p back to p and to another state q, and from q back to q: then text repeated n times is divided
 * between both in n ways, and all are tried before the match fails. Weideman et al., "Analyzing
 * Matching Time Behavior of Backtracking Regular Expression Matchers by Using Ambiguity of NFA" (2016).
 */

type Node =
  | { kind: 'empty' }
  | { kind: 'start' }
  /** A character or a class, as it is written. */
  | { kind: 'atom'; source: string }
  | { kind: 'end' }
  /** Something that may fail without reading: a word boundary, what must stand before. */
  | { kind: 'check' }
  | { kind: 'ahead'; node: Node }
  | { kind: 'all'; nodes: Node[] }
  | { kind: 'any'; nodes: Node[] }
  | { kind: 'repeat'; node: Node; min: number; max: number };

const LARGE = 3;

function parse(source: string): Node {
  let at = 0;
  const take = (text: string) => {
    if (!source.startsWith(text, at)) return false;
    at += text.length;
    return true;
  };
  function any(): Node {
    const nodes = [all()];
    while (take('|')) nodes.push(all());
    return nodes.length === 1 ? nodes[0]! : { kind: 'any', nodes };
  }
  function all(): Node {
    const nodes: Node[] = [];
    while (at < source.length && source[at] !== '|' && source[at] !== ')') nodes.push(repeated());
    return { kind: 'all', nodes };
  }
  function repeated(): Node {
    const node = one();
    const [text, low, high] = /^(?:[*+?]|\{(\d+)(?:,(\d*))?\})\??/.exec(source.slice(at)) ?? [];
    if (text === undefined) return node;
    at += text.length;
    if (text.startsWith('*')) return { kind: 'repeat', node, min: 0, max: Infinity };
    if (text.startsWith('+')) return { kind: 'repeat', node, min: 1, max: Infinity };
    if (text.startsWith('?')) return { kind: 'repeat', node, min: 0, max: 1 };
    const max = high === undefined ? Number(low) : high === '' ? Infinity : Number(high);
    return { kind: 'repeat', node, min: Number(low), max };
  }
  function group(): Node {
    const inner = any();
    if (!take(')')) throw new Error(`a group without an end: ${source}`);
    return inner;
  }
  function one(): Node {
    if (take('^')) return { kind: 'start' };
    if (take('$')) return { kind: 'end' };
    if (take('(?:')) return group();
    if (take('(?=') || take('(?!')) return { kind: 'ahead', node: group() };
    if (take('(?<=') || take('(?<!')) {
      if (hasLoop(group())) throw new Error(`a loop that is read backwards: ${source}`);
      return { kind: 'check' };
    }
    const named = /^\(\?<\w+>/.exec(source.slice(at));
    if (named !== null) at += named[0].length;
    if (named !== null || take('(')) return group();
    const [text] =
      /^(?:\[(?:[^\]\\]|\\.)*\]|\\(?:u\{[0-9a-f]+\}|u[0-9a-f]{4}|x[0-9a-f]{2}|c[a-z]|p\{[^}]*\}|.)|.)/isu.exec(
        source.slice(at),
      )!;
    if (/^\\[1-9k]/.test(text)) throw new Error(`a back reference: ${source}`);
    at += text.length;
    return /^\\b$/i.test(text) ? { kind: 'check' } : { kind: 'atom', source: text };
  }
  const node = any();
  if (at < source.length) throw new Error(`${source} is not understood at ${at}`);
  return node;
}

const childrenOf = (node: Node): Node[] =>
  'nodes' in node ? node.nodes : 'node' in node ? [node.node] : [];

const hasLoop = (node: Node): boolean =>
  (node.kind === 'repeat' && node.max === Infinity) || childrenOf(node).some(hasLoop);

const hasCheck = (node: Node): boolean =>
  node.kind === 'check' || node.kind === 'ahead' || childrenOf(node).some(hasCheck);

/** Whether a match can begin at the start only. */
function isAnchored(node: Node): boolean {
  if (node.kind === 'start') return true;
  if (node.kind === 'any') return node.nodes.every(isAnchored);
  return node.kind === 'all' && node.nodes[0] !== undefined && isAnchored(node.nodes[0]);
}

/** Characters that tell classes apart: Latin-1, and some that only classes of Unicode have. */
const SAMPLE = [
  ...Array.from({ length: 256 }, (_, i) => String.fromCharCode(i)),
  ...['\u0100', '\u0130', '\u200b', '\u2028', '\u212a', '\ue000', '\ufeff', '\u{1f600}'],
];
const ALL = (1n << BigInt(SAMPLE.length)) - 1n;
/** What `$` reads. */
const END = 1n << BigInt(SAMPLE.length);

interface Part {
  isNullable: boolean;
  first: readonly number[];
  last: readonly number[];
}

/** What is wrong with an expression; undefined if it takes linear time on every text. */
export function superlinear(expression: RegExp): string | undefined {
  const { source, flags } = expression;
  const tree = parse(source);
  /** The characters of each state, as bits. */
  const masks: bigint[] = [];
  const next: Set<number>[] = [];
  let twice: string | undefined;
  const own = flags.replace(/[gy]/g, '');

  const state = (mask: bigint): Part => {
    masks.push(mask);
    next.push(new Set());
    const id = masks.length - 1;
    return { isNullable: false, first: [id], last: [id] };
  };
  const join = (from: readonly number[], to: readonly number[], isLoop: boolean) => {
    for (const one of from)
      for (const other of to) {
        // the same step within the inner and the outer of two loops
        if (isLoop && next[one]!.has(other)) twice = 'a loop in a loop';
        next[one]!.add(other);
      }
  };
  const both = (one: Part, other: Part): Part => {
    join(one.last, other.first, false);
    return {
      isNullable: one.isNullable && other.isNullable,
      first: one.isNullable ? [...one.first, ...other.first] : one.first,
      last: other.isNullable ? [...other.last, ...one.last] : other.last,
    };
  };
  const nothing: Part = { isNullable: true, first: [], last: [] };
  const build = (node: Node): Part => {
    switch (node.kind) {
      case 'empty':
      case 'start':
      case 'check':
        return nothing;
      case 'end':
        return state(END);
      case 'ahead':
        return { ...both(build(node.node), state(0n)), isNullable: true, last: [] };
      case 'atom': {
        const matches = new RegExp(`^(?:${node.source})$`, own);
        let mask = 0n;
        for (const [i, each] of SAMPLE.entries()) if (matches.test(each)) mask |= 1n << BigInt(i);
        return state(mask);
      }
      case 'all':
        return node.nodes.map(build).reduce(both, nothing);
      case 'any': {
        const parts = node.nodes.map(build);
        return {
          isNullable: parts.some((each) => each.isNullable),
          first: parts.flatMap((each) => each.first),
          last: parts.flatMap((each) => each.last),
        };
      }
      case 'repeat': {
        const copies = Math.max(1, Math.min(node.min, LARGE));
        let part = nothing;
        for (let i = 0; i < copies; i++) {
          const each = build(node.node);
          if (node.max === Infinity && i === copies - 1) join(each.last, each.first, true);
          part = both(part, each);
        }
        for (let i = copies; i < Math.min(node.max, LARGE) && node.max !== Infinity; i++)
          part = both(part, { ...build(node.node), isNullable: true });
        return node.min === 0 ? { ...part, isNullable: true } : part;
      }
    }
  };
  const whole = build(tree);
  if (twice !== undefined) return twice;
  if (!(isAnchored(tree) && !flags.includes('m')) && !flags.includes('y')) {
    const { first: before } = state(ALL);
    join(before, [...before, ...whole.first], false);
  }
  // a loop that may end the match has nothing behind it that fails
  const harmless = new Set(hasCheck(tree) ? [] : whole.last);
  return findAmbiguity(masks, next, harmless);
}

function findAmbiguity(
  masks: readonly bigint[],
  next: readonly ReadonlySet<number>[],
  harmless: ReadonlySet<number>,
): string | undefined {
  const reach = masks.map((_, from) => {
    const seen = new Set<number>();
    const left = [...next[from]!];
    for (let at = left.pop(); at !== undefined; at = left.pop()) {
      if (seen.has(at) || masks[at] === 0n) continue;
      seen.add(at);
      left.push(...next[at]!);
    }
    return seen;
  });
  const looping = masks.map((_, i) => i).filter((i) => reach[i]!.has(i));
  for (const p of looping)
    for (const q of looping) {
      if (p === q || harmless.has(q) || !reach[p]!.has(q)) continue;
      const seen = new Set<number>();
      const left: [number, number, number][] = [[p, p, q]];
      for (let top = left.pop(); top !== undefined; top = left.pop())
        for (const a of next[top[0]]!) {
          if (a !== p && !reach[a]!.has(p)) continue;
          for (const b of next[top[1]]!) {
            if (b !== q && !reach[b]!.has(q)) continue;
            for (const c of next[top[2]]!) {
              if ((c !== q && !reach[c]!.has(q)) || (masks[a]! & masks[b]! & masks[c]!) === 0n)
                continue;
              if (a === p && b === q && c === q) return 'two loops over the same text';
              const key = (a * masks.length + b) * masks.length + c;
              if (!seen.has(key)) left.push([a, b, c]);
              seen.add(key);
            }
          }
        }
    }
  return undefined;
}
