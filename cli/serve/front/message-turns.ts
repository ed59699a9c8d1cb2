/**
 * How many WebSocket messages workerd gets: each is an event of the broker, of 10 to 17 µs, however
 * short it is. Clients take turns, so one that sends few waits for one turn of each other client.
 */
import { type ClientPath, createTurns } from '../../../src/platform/client-path.ts';

/** Between two rounds, in milliseconds: see `look`. */
export const ROUND_EVERY_MS = 50;

/** All messages together: 2,400 a second, or 2.4 MB of longer ones. */
const TURNS_PER_ROUND = 12;

/** Of one turn. A message costs 1 and 1 for each KB. */
const COSTS_PER_TURN = 10;

export interface Sender {
  readonly client: ClientPath;
  /** What it may send; negative after a long message. */
  credit: number;
  /** Sends what waits. */
  go(): void;
}

export type MessageTurns = ReturnType<typeof createMessageTurns>;

export function createMessageTurns() {
  const waiting = createTurns<Sender>();
  let left = TURNS_PER_ROUND;

  function giveTurn(sender: Sender): boolean {
    left -= 1;
    sender.credit += COSTS_PER_TURN;
    return sender.credit > 0;
  }

  return {
    /** Whether the sender may send a message now. If not, `go` is called when it may. */
    mayPass(sender: Sender): boolean {
      if (sender.credit > 0) return true;
      // nobody waits: what is left of this round
      while (left > 0 && waiting.size === 0) if (giveTurn(sender)) return true;
      waiting.add(sender);
      return false;
    },
    pay(sender: Sender, bytes: number): void {
      sender.credit -= 1 + (bytes >> 10);
    },
    leave: waiting.remove,
    /** To be called each {@link ROUND_EVERY_MS}. */
    look(): void {
      left = TURNS_PER_ROUND;
      while (left > 0) {
        const sender = waiting.take();
        if (sender === undefined) return;
        if (giveTurn(sender)) sender.go();
        else waiting.add(sender);
      }
    },
  };
}
