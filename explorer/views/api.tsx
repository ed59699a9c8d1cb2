/**
 * The API of the node, for people who read it and try it: all operations, or one of them with its
 * form, its answers and their fields.
 */
import {
  type ApiOperation,
  type ApiSchema,
  contentOf,
  type Description,
  readDescription,
} from '../api/description.ts';
import { readExamples } from '../api/examples.ts';
import { type FormField, fieldsOf, namedSchemas } from '../api/fields.ts';
import { TryIt } from '../api/try-it.tsx';
import type { Info } from '../node/shapes.ts';
import { Awaited, Facts, Head, LoadedPart, To } from '../parts/parts.tsx';
import { useLoad } from '../use-load.ts';

export function ApiView({ operation, info }: { operation?: string; info: Info }) {
  const loaded = useLoad(readDescription, []);
  return (
    <Awaited loaded={loaded} kind="API" id="" missing="This node does not describe its API.">
      {(description) => <ApiPage description={description} named={operation} info={info} />}
    </Awaited>
  );
}

function ApiPage({
  description,
  named,
  info,
}: {
  description: Description;
  named: string | undefined;
  info: Info;
}) {
  if (named === undefined) return <Operations description={description} />;
  const operations = description.groups.flatMap((group) => group.operations);
  const operation = operations.find(({ operationId }) => operationId === named);
  return operation === undefined ? (
    <section class="page missing">
      <Head kind="API">No such operation</Head>
      <p class="reason">
        <To view={{ name: 'api' }}>All operations</To>
      </p>
    </section>
  ) : (
    <OperationPage key={named} operation={operation} schemas={description.schemas} info={info} />
  );
}

function Operations({ description: { version, groups } }: { description: Description }) {
  return (
    <article class="page api">
      <Head kind="API">What this node answers</Head>
      <p class="lead">
        Open an operation to read what it takes and returns, and to try it on this node, version{' '}
        <bdi>{version.slice(0, 20)}</bdi>.
      </p>
      <p class="hint">
        The same for programs: <a href="/openapi.json">openapi.json</a>, from which clients are
        generated.
      </p>
      {groups.map(({ name, description, operations }) => (
        <section key={name} aria-labelledby={`tag-${name}`} class="operations">
          <h2 id={`tag-${name}`}>{name}</h2>
          <p class="hint">{description}</p>
          <ul>
            {operations.map(({ operationId, method, path, summary }) => (
              <li key={operationId}>
                <To view={{ name: 'api', operation: operationId }}>
                  <code>
                    {method} {path}
                  </code>
                </To>
                <span>{summary}</span>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </article>
  );
}

function OperationPage({
  operation,
  schemas,
  info,
}: {
  operation: ApiOperation;
  schemas: Description['schemas'];
  info: Info;
}) {
  const examples = useLoad(() => readExamples(info), []);
  const { method, path, summary, description, answers } = operation;
  const schema = contentOf(operation)['application/json']?.schema;
  return (
    <article class="page api">
      <Head kind="API">
        <code>
          {method} {path}
        </code>
      </Head>
      <p class="lead">{summary}</p>
      {description !== '' && <p>{description}</p>}
      <p>
        <To view={{ name: 'api' }}>All operations</To>
      </p>
      <LoadedPart loaded={examples}>
        {(found) => <TryIt operation={operation} examples={found} />}
      </LoadedPart>
      <section aria-labelledby="statuses">
        <h2 id="statuses">Answers</h2>
        <Facts rows={answers.map(({ status, description }) => [status, description] as const)} />
      </section>
      {schema !== undefined && <Schemas schema={schema} schemas={schemas} />}
    </article>
  );
}

/** The fields of the answer, and of each thing that it names. */
function Schemas({ schema, schemas }: { schema: ApiSchema; schemas: Description['schemas'] }) {
  const own = schema.$ref === undefined ? [['Answer', schema] as const] : [];
  const lists = [...own, ...namedSchemas(schema, schemas)];
  return (
    <section aria-labelledby="fields">
      <h2 id="fields">Fields of the JSON</h2>
      {lists.map(([name, each], i) => (
        <details key={name} class="folded" open={i === 0}>
          <summary>{name}</summary>
          {each.description !== undefined && <p class="hint">{each.description}</p>}
          <Fields fields={fieldsOf(each)} />
        </details>
      ))}
    </section>
  );
}

function Fields({ fields }: { fields: readonly FormField[] }) {
  return (
    <dl class="facts">
      {fields.map(({ path, type, isOptional, description }) => (
        <div key={path}>
          <dt>
            <code>{path === '' ? 'its value' : path}</code>
          </dt>
          <dd>
            <code>{type}</code>
            {isOptional && ', may be absent'}
            {description !== '' && <p class="note">{description}</p>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
