/**
 * What the visitor writes: text that no browser corrects or remembers.
 */
import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';

/** A form that the page answers itself. */
export function EntryForm({ submit, children }: { submit(): void; children: ComponentChildren }) {
  return (
    <form
      class="fields"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {children}
    </form>
  );
}

interface FieldProps {
  label: ComponentChildren;
  name?: string;
  value: string;
  onChange(value: string): void;
  /** More than one: a field that many lines fit in. */
  rows?: number;
  /** In half the width, and for digits. */
  isNumber?: boolean;
  isOptional?: boolean;
  placeholder?: string;
}

export function LabelledField({
  label,
  value,
  onChange,
  rows = 1,
  isNumber = false,
  isOptional = false,
  ...others
}: FieldProps) {
  const id = useId();
  const shared = {
    id,
    ...others,
    value,
    class: isNumber ? undefined : 'mono',
    onInput: ({ currentTarget }: { currentTarget: { value: string } }) =>
      onChange(currentTarget.value),
    spellcheck: false,
    autocomplete: 'off',
    autocapitalize: 'off',
    required: !isOptional,
  } as const;
  return (
    <label for={id} class={isNumber ? undefined : 'wide'}>
      {label}
      {rows > 1 ? (
        <textarea {...shared} rows={rows} />
      ) : (
        <input {...shared} inputMode={isNumber ? 'numeric' : 'text'} />
      )}
    </label>
  );
}

/** A question of one field. */
export function OneField({
  take,
  children,
  ...field
}: Omit<FieldProps, 'value' | 'onChange'> & {
  /** Takes what was written, or returns what is wrong with it. */
  take(text: string): string | undefined;
  /** Buttons. */
  children: ComponentChildren;
}) {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState('');
  return (
    <EntryForm submit={() => setProblem(take(text.trim()) ?? '')}>
      <LabelledField {...field} value={text} onChange={setText} />
      {children}
      <p class="problem" role="status">
        {problem}
      </p>
    </EntryForm>
  );
}
