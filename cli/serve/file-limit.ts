/**
 * How many connections the limit of open files allows (`ulimit -n`).
 */
import { readFileLimit } from '../lib/process/check-machine.ts';

/**
 * In workerd a connection has one and a WebSocket two, also one whose client has gone
 * (front/closing-tunnels.ts). Here a connection has two, its own and that to workerd.
 */
const FILES_PER_CONNECTION = 3;

/** Databases, modules, upstreams and the feed, in workerd. */
const OTHER_FILES = 500;

/** What compose file and systemd unit set. */
const ADVISED_FILES = 65_536;

/** Their memory is bounded, too (front/front.ts): of WebSockets there are fewer. */
const MAX_CONNECTIONS = 20_000;

const MIN_CONNECTIONS = 250;

/**
 * Returns how many there may be, and a sentence where these are few. Throws an Error with a sentence
 * where the limit is too low to serve.
 *
 * @param files descriptors that one process may have open
 */
export function limitConnections(files = readFileLimit()) {
  const allowed = Math.floor((files - OTHER_FILES) / FILES_PER_CONNECTION);
  const advice = `raise the limit to ${ADVISED_FILES}`;
  if (allowed < MIN_CONNECTIONS)
    throw new Error(`a process may open only ${files} files (ulimit -n): ${advice}`);
  const maxConnections = Math.min(allowed, MAX_CONNECTIONS);
  const note =
    allowed < MAX_CONNECTIONS
      ? `A process may open ${files} files (ulimit -n), enough for ${allowed} connections: ${advice}`
      : undefined;
  return { maxConnections, note };
}
