/**
 * The way to another node: this page names none, as whoever one node names may be of its kind. What is
 * shown has the same path wherever a node has this page.
 */
import { OneField } from './field.tsx';

export function OtherNode() {
  return (
    <OneField
      label="Another node with this page: who runs it should not be who runs this one"
      name="node"
      placeholder="https://…"
      take={(text) => {
        const { origin, host } = URL.parse(/^https?:/i.test(text) ? text : `https://${text}`) ?? {};
        if (origin === undefined)
          return 'This is no address of a node, such as https://example.org.';
        if (host === location.host) return 'That is this node.';
        location.assign(origin + location.pathname + location.search);
        return undefined;
      }}
    >
      <button type="submit">Open it there</button>
    </OneField>
  );
}
