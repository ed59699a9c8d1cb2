/**
 * Starts the process that runs the Worker (host.ts). It loads miniflare, and then waits for its
 * options.
 */
import { extname, join } from 'node:path';
import { type Child, startChild } from '../lib/process/child.ts';

const HOST = join(import.meta.dirname, `host${extname(import.meta.filename)}`);

/** It loads miniflare once and then does little: with what stardust-edge.js sets, 85 MB less. */
const SMALL = ['--max-semi-space-size=1', '--optimize-for-size'];

export const startHost = (): Child => startChild(HOST, [], { nodeFlags: SMALL });
