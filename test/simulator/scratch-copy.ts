/**
 * A copy of the project in which sources can be changed. Dependencies are those of the project.
 */
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from '../../cli/lib/project.ts';

const LEFT_OUT = /\/(?:node_modules|\.git|dist|\.wrangler)$/;

export class ScratchCopy {
  readonly folder: string;

  /** @param folder must not be there yet */
  constructor(folder: string) {
    this.folder = folder;
    cpSync(PROJECT, folder, { recursive: true, filter: (path) => !LEFT_OUT.test(path) });
    symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'));
  }

  /** Changes a file for as long as the work takes. */
  async with<T>(
    file: string,
    change: (text: string) => string,
    work: () => Promise<T>,
  ): Promise<T> {
    const path = join(this.folder, file);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, change(text));
    try {
      return await work();
    } finally {
      writeFileSync(path, text);
    }
  }
}
