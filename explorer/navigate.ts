/** The view that the window shows, and how the page goes to another one. */
import { formatRoute, parseRoute, type View } from './route.ts';

/** The view that the window shows. A fragment of before becomes its path. */
export function readLocation(): View {
  if (location.hash.startsWith('#/')) {
    const view = parseRoute(location.hash);
    history.replaceState(
      history.state,
      '',
      view.name === 'unknown' ? `/${location.hash}` : formatRoute(view),
    );
    return view;
  }
  return parseRoute(location.pathname + location.search);
}

/** Shows a view, as a link to it would. */
export function goTo(view: View): void {
  goToPath(formatRoute(view));
}

/** @param path with its query */
export function goToPath(path: string): void {
  history.pushState(null, '', path);
  dispatchEvent(new Event('popstate'));
}
