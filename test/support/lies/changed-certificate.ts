/**
 * A certificate of an NFT that is not quite the one that a node gave.
 */
import type { Random } from '../network/random.ts';

type Json = Record<string, unknown>;

/** One leaf is another one, a field is missing, or two sides of a node are swapped. */
export function changeCertificate(random: Random, json: Json): void {
  const leaves: { parent: Json; key: string }[] = [];
  const nodes: Json[] = [];
  const walk = (value: Json) => {
    if (Object.hasOwn(value, 'l')) nodes.push(value);
    for (const [key, each] of Object.entries(value))
      if (typeof each === 'object' && each !== null) walk(each as Json);
      else leaves.push({ parent: value, key });
  };
  walk(json);
  const dice = random.below(20);
  const node = nodes.length > 0 ? random.pick(nodes) : undefined;
  if (dice === 0 && node !== undefined) {
    [node.l, node.r] = [node.r, node.l];
    return;
  }
  const { parent, key } = random.pick(leaves);
  const value = parent[key];
  if (dice === 1) delete parent[key];
  else if (dice === 2 && typeof value === 'string') parent[key] = value.slice(0, -4);
  else if (typeof value === 'number') parent[key] = value + random.pick([-1, 1]);
  else if (value === null) parent[key] = `0x${'00'.repeat(34)}`;
  else parent[key] = otherText(random, value as string);
}

/** With another digit somewhere, of hex or of base64. */
function otherText(random: Random, text: string): string {
  const digits = text.startsWith('0x')
    ? '0123456789abcdef'
    : 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const at = random.between(text.startsWith('0x') ? 2 : 0, text.length - 1);
  const other = random.pick([...digits].filter((digit) => digit !== text[at]));
  return text.slice(0, at) + other + text.slice(at + 1);
}
