/**
 * Where a browser is: Debian's, unless an environment variable names another one.
 */
import { existsSync } from 'node:fs';

/** The path of the Debian package's program, or of the one that the variable names. */
export function findBrowser(debianPackage: string, variable: string): string {
  const path = process.env[variable] ?? `/usr/bin/${debianPackage}`;
  if (existsSync(path)) return path;
  throw new Error(
    `there is no ${path}: apt-get install ${debianPackage}, or name one with ${variable}=/path/to/it`,
  );
}
