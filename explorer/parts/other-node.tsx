/**
 * The way to another node: this page names none, as whoever one node names may be of its kind. What is
 * shown has the same path wherever a node has this page.
 */
import { OneField } from './field.tsx';

export function OtherNode() {
  return (
    <section id="another-node" aria-labelledby="another-node-title">
      <h2 id="another-node-title">Ask another node</h2>
      <OneField
        label="Its address. It should not be run by whoever runs this one"
        name="node"
        placeholder="https://…"
        take={(text) => {
          const origin = URL.parse(/^https?:/i.test(text) ? text : `https://${text}`)?.origin;
          if (origin === undefined || origin === location.origin)
            return 'This is no address of another node, such as https://example.org.';
          location.assign(origin + location.pathname + location.search);
          return undefined;
        }}
      >
        <button type="submit">Open this page there</button>
      </OneField>
    </section>
  );
}
