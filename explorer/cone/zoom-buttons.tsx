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
  const button = (label: string, path: string, zoom: (() => void) | undefined) => (
    <button type="button" aria-label={label} disabled={!zoom} onClick={zoom}>
      <svg viewBox="0 0 10 10" aria-hidden="true">
        <path d={path} />
      </svg>
    </button>
  );
  return (
    <span class="zoom">
      {button('Zoom out', 'M1 5H9', zoomOut)}
      {children}
      {button('Zoom in', 'M1 5H9M5 1V9', zoomIn)}
    </span>
  );
}
