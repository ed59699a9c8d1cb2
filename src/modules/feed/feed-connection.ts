/**
 * State machine of the connection to a feed: steps are told to it with their times in Unix
 * milliseconds, and keep-feed.ts does what it wants done.
 */
import type { FeedState } from '../../follower/follower-context.ts';
import { hasPassed } from '../../platform/clock.ts';
import { UpstreamFailure } from '../../upstream/upstream.ts';
import { createSession, type Message, type Session, type SessionStep } from './mqtt-session.ts';

/** Milliseconds before the first try after a failure; it doubles with each up to the longest. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

/** Milliseconds that a session must have lasted for pauses to be short again. */
const LASTING_MS = 60_000;

/** Milliseconds to find an upstream that has a feed and to open the connection. */
const OPENING_TIMEOUT_MS = 30_000;

/**
 * Milliseconds without a message after which the feed counts as silent, though it answers pings. On
 * an idle network with a milestone each ten seconds that is wrong, and costs a look.
 */
const SILENT_AFTER_MS = 9000;

/** Milliseconds without a message after which another connection is tried. */
const GIVEN_UP_AFTER_MS = 60_000;

export interface ConnectionStep extends SessionStep {
  /** Open one, closing what was there. */
  open?: true;
  /** Close it, for this reason. */
  close?: string;
}

export interface FeedConnection {
  /** Called about once a second. */
  tick(now: number): ConnectionStep;
  opened(now: number): ConnectionStep;
  received(bytes: Uint8Array, now: number): ConnectionStep;
  /** Notes that it could not be opened, or that the other side closed it. */
  lost(now: number): void;
  state(now: number): FeedState;
}

type Phase =
  | { name: 'pausing'; since: number; pause: number }
  | { name: 'opening'; since: number }
  | { name: 'open'; session: Session; since: number; heard?: number };

export function createFeedConnection(clientId: string, topics: readonly string[]): FeedConnection {
  let phase: Phase = { name: 'pausing', since: Number.NEGATIVE_INFINITY, pause: 0 };
  let pause = FIRST_PAUSE_MS;

  function end(now: number): void {
    if (phase.name === 'pausing') return;
    const begun = phase.name === 'open' ? phase.session.subscribed : undefined;
    if (begun !== undefined && hasPassed(LASTING_MS, begun, now)) pause = FIRST_PAUSE_MS;
    phase = { name: 'pausing', since: now, pause };
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
  }

  /** Does the session's step; a failure ends the connection. */
  function guard(now: number, act: () => SessionStep): ConnectionStep {
    try {
      return act();
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      end(now);
      return { ...nothing(), close: error.message };
    }
  }

  return {
    tick(now) {
      switch (phase.name) {
        case 'pausing':
          if (!hasPassed(phase.pause, phase.since, now)) return nothing();
          phase = { name: 'opening', since: now };
          return { ...nothing(), open: true };
        case 'opening':
          if (!hasPassed(OPENING_TIMEOUT_MS, phase.since, now)) return nothing();
          end(now);
          return { ...nothing(), close: 'not opened in time' };
        case 'open': {
          const { session, since } = phase;
          if (hasPassed(GIVEN_UP_AFTER_MS, phase.heard ?? since, now)) {
            end(now);
            return { ...nothing(), close: `no message for ${GIVEN_UP_AFTER_MS} milliseconds` };
          }
          return guard(now, () => session.tick(now));
        }
      }
    },
    opened(now) {
      if (phase.name !== 'opening') throw new Error(`a connection opened while ${phase.name}`);
      const session = createSession(clientId, topics);
      phase = { name: 'open', session, since: now };
      return session.begin(now);
    },
    received(bytes, now) {
      if (phase.name !== 'open') {
        end(now);
        return { ...nothing(), close: 'bytes before a word was said' };
      }
      const { session } = phase;
      const step = guard(now, () => session.receive(bytes, now));
      if (step.messages.length > 0 && phase.name === 'open') phase.heard = now;
      return step;
    },
    lost: end,
    state(now) {
      if (phase.name !== 'open' || phase.session.subscribed === undefined) return 'down';
      const { heard: last } = phase;
      return last === undefined || hasPassed(SILENT_AFTER_MS, last, now) ? 'silent' : 'live';
    },
  };
}

function nothing(): { send: Uint8Array<ArrayBuffer>[]; messages: Message[] } {
  return { send: [], messages: [] };
}
