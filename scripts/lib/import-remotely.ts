import type { ImportRequest } from './import-snapshot.ts';
import type { WranglerConfig } from './wrangler-config.ts';

export async function importRemotely(_request: ImportRequest, _config: WranglerConfig): Promise<void> {
  throw new Error('not yet');
}
