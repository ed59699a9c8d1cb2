/**
 * A view, or a part of one, whose script is loaded when it is needed.
 */
import type { ComponentType } from 'preact';
import { useLoad } from '../use-load.ts';
import { ReadingNote } from './parts.tsx';
import { Remark } from './standing.tsx';

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
    <>
      <Remark>
        {navigator.onLine
          ? 'A part of this page could not be loaded.'
          : 'Your browser is offline: a part of this page could not be loaded.'}
      </Remark>
      <p>
        <button type="button" onClick={() => location.reload()}>
          Load the page again
        </button>
      </p>
    </>
  ) : (
    <ReadingNote />
  );
}
