/**
 * A view, or a part of one, whose script is loaded when it is needed.
 */
import type { ComponentType } from 'preact';
import { Remark } from './standing.tsx';
import { useLoad } from './use-load.ts';

/** A view whose script is loaded first. */
export function Later<P extends object>({
  load,
  ...props
}: P & { load(): Promise<ComponentType<P>> }) {
  const loaded = useLoad(load, [load]);
  if (loaded.state === 'done') {
    const Loaded = loaded.value;
    return <Loaded {...(props as unknown as P)} />;
  }
  return loaded.state === 'failed' ? (
    <Remark>A part of this page could not be loaded. Reload the page.</Remark>
  ) : (
    <p class="loading" role="status">
      Reading …
    </p>
  );
}
