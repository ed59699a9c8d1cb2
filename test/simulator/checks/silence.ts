/**
 * Silence: nothing is logged that the world did not cause. Calls that are lost, upstreams that fail
 * and ledgers that move it causes all the time; damage only by flipping bytes; mistakes of the code
 * and limits of the platform never. Where nothing fails and nobody is hostile nothing is an error.
 * What operators are to act on is told.
 */
import { NO_VALUE, SECRETS, type World } from '../world.ts';

/** What D1's double and upstreams throw is a TypeError too. */
const NEVER_CAUSED =
  /are damaged on disk|Too many API requests|MQTT: too many packets|\b(?:Type|Range|Reference|Syntax)Error: (?!Network)/;

/** A request may ask for what is not there yet, such as a list whose index is being filled. */
const CAUSED = /http\.request/;

/** Fails where the log lacks an event of docs/operations.md that the world caused. */
export function checkTold(world: World, event: string): void {
  if (!world.node.lines.some(({ text }) => text.includes(`"event":"${event}"`)))
    world.wrong('silence', `nothing tells ${event}`);
}

export function checkSilence(world: World): void {
  const { node, isFlipped, isDamaged, simulation } = world;
  const { unhandled } = simulation;
  if (unhandled.length > 0)
    world.wrong('silence', `nobody handles ${(unhandled[0] as Error).stack ?? unhandled[0]}`);
  for (; world.linesRead < node.lines.length; world.linesRead++) {
    const { level, text } = node.lines[world.linesRead]!;
    if (SECRETS.some((each) => text.includes(each)))
      world.wrong('safety', `the log has a secret: ${text}`);
    if (NO_VALUE.test(text)) world.wrong('silence', `the log lacks a value: ${text}`);
    const isOdd =
      NEVER_CAUSED.test(text) || (level === 'error' && !world.isDisturbed && !CAUSED.test(text));
    if (level !== 'info' && !isFlipped && !isDamaged && isOdd) world.wrong('silence', text);
  }
}
