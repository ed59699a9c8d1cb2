/**
 * A form for one operation, and what the node answers to it.
 */
import { useState } from 'preact/hooks';
import { toHex } from '../../src/stardust/encoding/bytes.ts';
import { prettify } from '../format.ts';
import { askHere } from '../node/ask.ts';
import { EntryForm, LabelledField } from '../parts/field.tsx';
import { Copy, Facts } from '../parts/parts.tsx';
import { Remark } from '../parts/standing.tsx';
import { useLast, useLoad } from '../use-load.ts';
import { type ApiOperation, type ApiParameter, contentOf } from './description.ts';
import { describeType } from './fields.ts';
import {
  type ApiRequest,
  buildRequest,
  firstBody,
  firstValues,
  formatCurl,
  keyOf,
  RAW_TYPE,
  type RequestExamples,
} from './request.ts';

/** Headers that mean something to people who try it. */
const SHOWN_HEADERS = [
  'x-ledger-index',
  'x-final-milestone',
  'x-error-detail',
  'etag',
  'cache-control',
  'retry-after',
  'content-type',
];

/** Characters of a body that are shown: more would make the page slow. */
const MAX_SHOWN = 100_000;

interface Answer {
  request: ApiRequest;
  status: number;
  ms: number;
  /** By name. */
  headers: [string, string][];
  text: string;
}

export function TryIt({
  operation,
  examples,
}: {
  operation: ApiOperation;
  examples: RequestExamples;
}) {
  const [values, setValues] = useState(() => firstValues(operation, examples));
  const [body, setBody] = useState(() => firstBody(operation, examples));
  const [isRaw, setRaw] = useState(false);
  const [sent, send] = useState<ApiRequest>();
  const [answer, isBusy] = useLast(useLoad(async () => sent && ask(sent), [sent]));
  const request = buildRequest(operation, values, body, isRaw);
  const curl = formatCurl(request, location.origin);

  return (
    <section aria-labelledby="try-it" class="try-it">
      <h2 id="try-it">Try it</h2>
      <EntryForm
        submit={() => {
          if (!isBusy) send(request);
        }}
      >
        {operation.parameters.map((each) => (
          <LabelledField
            key={keyOf(each)}
            label={<ParameterLabel {...each} />}
            value={values[keyOf(each)] ?? ''}
            onChange={(value) => setValues({ ...values, [keyOf(each)]: value })}
            isOptional={!each.required}
          />
        ))}
        {body !== undefined && (
          <LabelledField label="Body, JSON" rows={10} value={body} onChange={setBody} isOptional />
        )}
        {RAW_TYPE in contentOf(operation) && (
          <label class="wide">
            Answer
            <select
              value={isRaw ? 'bytes' : 'json'}
              onChange={({ currentTarget }) => setRaw(currentTarget.value === 'bytes')}
            >
              <option value="json">as JSON</option>
              <option value="bytes">as bytes</option>
            </select>
          </label>
        )}
        <button type="submit" class="main" aria-disabled={isBusy}>
          Send
        </button>
      </EntryForm>
      <p class="id whole">
        <code>{curl}</code>
        <Copy text={curl} what="command" />
      </p>
      <div role="status">
        {isBusy && <p class="loading">Reading …</p>}
        {answer.state === 'failed' && <Remark>{answer.error.message}</Remark>}
      </div>
      {answer.state === 'done' && answer.value && <AnswerShown answer={answer.value} />}
    </section>
  );
}

function ParameterLabel({ name, in: place, required, description, schema }: ApiParameter) {
  return (
    <span>
      <code>{name}</code>
      {place === 'header' && ', a header'}
      {!required && ', optional'}
      <span class="hint">
        {' '}
        {description} <code>{describeType(schema)}</code>
      </span>
    </span>
  );
}

function AnswerShown({ answer: { request, status, ms, headers, text } }: { answer: Answer }) {
  return (
    <div class="answer" data-standing="said">
      <h3>
        This node answers {status}, after {ms} ms
      </h3>
      <p class="hint">
        <code>
          {request.method} {request.path}
        </code>
      </p>
      <Facts
        rows={headers.map(([name, value]) => [name, <bdi key={name}>{value}</bdi>] as const)}
      />
      {text === '' ? (
        <p class="hint">The answer has no body.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard
        <pre tabIndex={0}>{shortened(text)}</pre>
      )}
    </div>
  );
}

/** Throws a NodeError where there is no answer. */
async function ask(request: ApiRequest): Promise<Answer> {
  const { path, headers, body } = request;
  const { Accept: accept, ...others } = headers;
  const started = performance.now();
  const response = await askHere(path, {
    headers: others,
    ...(accept !== undefined && { accept }),
    ...(body !== undefined && { body }),
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  const isRaw = response.headers.get('content-type')?.startsWith(RAW_TYPE) ?? false;
  return {
    request,
    status: response.status,
    ms: Math.round(performance.now() - started),
    headers: SHOWN_HEADERS.flatMap((name): [string, string][] => {
      const value = response.headers.get(name);
      return value === null ? [] : [[name, value.slice(0, 500)]];
    }),
    text: isRaw ? toHex(bytes) : prettify(new TextDecoder().decode(bytes)),
  };
}

function shortened(text: string): string {
  if (text.length <= MAX_SHOWN) return text;
  return `${text.slice(0, MAX_SHOWN)}\n… and ${text.length - MAX_SHOWN} characters more`;
}
