/**
 * Times and ages for page and command line, in English and UTC, whatever the reader's settings: a
 * verdict that is shared says the same to everybody.
 */
import type { MilestoneFacts } from './milestone.ts';

/** @param seconds Unix time */
export function formatTime(seconds: number): string {
  return new Date(seconds * 1000).toLocaleString('en-GB', {
    dateStyle: 'medium',
    timeStyle: 'medium',
    timeZone: 'UTC',
  });
}

/** The largest unit that fits, such as "4 years". */
export function formatAge(seconds: number): string {
  const units = [
    ['year', 31_557_600],
    ['day', 86_400],
    ['hour', 3600],
    ['minute', 60],
    ['second', 1],
  ] as const;
  const [unit, length] = units.find(([, length]) => seconds >= length) ?? ['second', 1];
  const count = Math.max(0, Math.floor(seconds / length));
  return `${count.toLocaleString('en')} ${unit}${count === 1 ? '' : 's'}`;
}

/** Unix seconds. */
type SignedTime = Pick<MilestoneFacts, 'timestamp'>;

/** Twelve milestones of five seconds: a ledger that follows its network is not further behind. */
const LIVE_SECONDS = 60;

/** Whether it was signed just now, by the reader's clock. */
export function isLive({ timestamp }: SignedTime, now: number): boolean {
  return Math.abs(now - timestamp) <= LIVE_SECONDS;
}

/** How old the signed time is: "signed, but 4 years old". @param now Unix seconds */
export function describeSignedAge(milestone: SignedTime, now: number): string {
  const age = now - milestone.timestamp;
  if (isLive(milestone, now)) return `signed ${formatAge(age)} ago`;
  return age < 0
    ? `signed for a time ${formatAge(-age)} from now: one of the clocks is wrong`
    : `signed, but ${formatAge(age)} old`;
}
