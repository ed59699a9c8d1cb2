/**
 * What a deployed version is called, so that it can be seen on Cloudflare which code runs there.
 */
import { execFileSync } from 'node:child_process';
import packageJson from '../../package.json' with { type: 'json' };
import { PROJECT } from '../lib/project.ts';

/** The tag of the first deployment, which has no settings yet: it follows nothing. */
export const STORES_TAG = 'stores';

export interface Release {
  /** As GET /api/core/v2/info names it. */
  version: string;
  /** Version and commit: `0.2.0-ec21ab6`, `0.2.0-ec21ab6-dirty`; without git `0.2.0`. */
  tag: string;
  message: string;
  /** Whether the tag names this code and no other. */
  isExact: boolean;
}

export function readRelease(): Release {
  const { version } = packageJson;
  const commit = readCommit();
  const isExact = commit !== undefined && !commit.endsWith('-dirty');
  const message = `Version ${version}${commit === undefined ? '' : ` of commit ${commit}`}`;
  return { version, tag: [version, commit].filter(Boolean).join('-'), message, isExact };
}

/** Undefined where the project is no working copy of git. */
function readCommit(): string | undefined {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty', '--exclude=*'], {
      cwd: PROJECT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return undefined;
  }
}
