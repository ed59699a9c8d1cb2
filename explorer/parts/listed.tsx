/** A list of which a few are shown at first. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

/** Up to 8 are shown at first. */
const FIRST = 8;

export function Listed<T>({
  all,
  kind,
  show,
}: {
  all: readonly T[];
  kind: 'cards' | 'rows' | 'owners';
  show(each: T, place: number): ComponentChildren;
}) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? all : all.slice(0, FIRST);
  return (
    <>
      <ol class={kind}>
        {shown.map((each, place) => (
          <li key={place}>{show(each, place)}</li>
        ))}
      </ol>
      {all.length > FIRST && (
        <button type="button" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? `Show the first ${FIRST}` : `Show all ${all.length}`}
        </button>
      )}
    </>
  );
}
