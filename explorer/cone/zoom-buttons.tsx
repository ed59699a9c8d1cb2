/**
 * Buttons that make a drawing smaller and larger.
 */
import type { ComponentChildren } from 'preact';

interface ZoomButtonsProps {
  /** Undefined if it is as small, or as large, as it can be. */
  zoomOut: (() => void) | undefined;
  zoomIn: (() => void) | undefined;
  /** Between both. */
  children?: ComponentChildren;
}

export function ZoomButtons({ zoomOut, zoomIn, children }: ZoomButtonsProps) {
  return (
    <span class="zoom">
      <button type="button" aria-label="Zoom out" disabled={!zoomOut} onClick={zoomOut}>
        <svg viewBox="0 0 10 10" aria-hidden="true">
          <path d="M1 5H9" />
        </svg>
      </button>
      {children}
      <button type="button" aria-label="Zoom in" disabled={!zoomIn} onClick={zoomIn}>
        <svg viewBox="0 0 10 10" aria-hidden="true">
          <path d="M1 5H9M5 1V9" />
        </svg>
      </button>
    </span>
  );
}
