/**
 * What was deployed last from this machine, kept in a file.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DeployedVersion } from './wrangler-deploy.ts';

/** Wrangler tells where a Worker answers only while it deploys. */
export interface Notes {
  read(): DeployedVersion | undefined;
  write(version: DeployedVersion): void;
}

/** Replaces the file in one step: a reader finds the new note or the one before. */
export function openNotes(folder: string): Notes {
  const path = join(folder, 'deployed.json');
  return {
    read: () =>
      existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as DeployedVersion) : undefined,
    write(version) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(`${path}.new`, JSON.stringify(version));
      renameSync(`${path}.new`, path);
    },
  };
}
