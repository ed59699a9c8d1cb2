/**
 * Where the visitor gives an ID or a root: text that no browser corrects or remembers.
 */
export function HexField({
  label,
  name,
  value,
  onChange,
}: {
  label: string;
  name: string;
  value: string;
  onChange: (value: string) => void;
}) {
  return (
    <label class="wide">
      {label}
      <input
        class="mono"
        name={name}
        value={value}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
        spellcheck={false}
        autocomplete="off"
        required
      />
    </label>
  );
}
