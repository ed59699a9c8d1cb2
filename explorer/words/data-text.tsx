/**
 * Bytes of anybody, shown as JSON, text or hex.
 */
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import { plural } from '../format.ts';
import { Folded, Foreign } from '../parts/parts.tsx';
import { readData } from './data.ts';

/** What fits on a line needs no box of its own. */
const SHORT = 80;

export function DataText({ title, bytes }: { title?: string; bytes: Uint8Array }) {
  const readable = readData(bytes);
  const label = title === undefined ? '' : `${title}: `;
  if (readable === undefined) return <p class="data">{label}nothing</p>;
  const { form, text } = readable;
  const isShort = text.length <= SHORT && !/[\r\n]/.test(text);
  return (
    <div class="data">
      {isShort ? (
        <p>
          {label}
          <span class={form === 'hex' ? 'mono' : ''}>
            <Foreign text={text} />
          </span>
        </p>
      ) : (
        <>
          <p class="note">
            {label}
            {plural(bytes.length, 'byte')}, as {form}
          </p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard */}
          <pre tabIndex={0}>
            <Foreign text={text} />
          </pre>
        </>
      )}
      {form !== 'hex' && !isShort && <Folded title="As hex" text={() => toHex(bytes)} />}
    </div>
  );
}
