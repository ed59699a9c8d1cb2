/**
 * "Prove what this address held": its statement from this node, page by page, or from files, checked in
 * the browser against the final root. Loaded at an ended network only.
 */
import { useState } from 'preact/hooks';
import * as v from 'valibot';
import { judgeStatement } from '../../client/verify-statement.ts';
import { parseBoundedJson } from '../../src/stardust/encoding/bounded-json.ts';
import {
  type Finding,
  type Proved,
  provedValue,
  refute,
} from '../../src/stardust/provenance/proved.ts';
import { joinStatements, type Statement } from '../../src/stardust/provenance/statement.ts';
import { asSentence, shorten } from '../format.ts';
import { askJson } from '../node/ask.ts';
import { type Info, saysEnded } from '../node/shapes.ts';
import { Head, Id, To } from '../parts/parts.tsx';
import { saveFile } from '../parts/save.ts';
import { CheckResult, NotChecked } from '../parts/standing.tsx';
import { asError, type Loaded, useLoad } from '../use-load.ts';
import { parseRoot } from '../verify/final-here.ts';
import { RootForm, useFinalRoot } from './root-form.tsx';
import { StatementSheet } from './statement-sheet.tsx';

/** A page, as it was answered and as it was proved. */
interface Page {
  text: string;
  proof: Proved<Statement>;
}

export function StatementView({ of, info }: { of?: string; info: Info }) {
  return (
    <article class="page">
      <Head kind="Statement">
        {of === undefined ? 'From files' : <Id id={of} what="address" />}
      </Head>
      {!saysEnded(info) && (
        <p class="reason">
          This network has not ended, the node says. Only a last ledger has a final root that proves
          what an address held.
        </p>
      )}
      {of === undefined ? <StatementFiles /> : <StatementOfAddress bech32={of.toLowerCase()} />}
    </article>
  );
}

/** @param root to which all that was read leads: give it as the key */
function ReadStatement({ bech32, root }: { bech32: string; root: string }) {
  const [pages, setPages] = useState<readonly Page[]>([]);
  const [progress, setProgress] = useState<Loaded<Finding<Statement>>>();
  const last = pages.at(-1);
  const next = last && provedValue(last.proof).next;

  async function read(): Promise<void> {
    if (progress?.state === 'loading') return;
    setProgress({ state: 'loading' });
    try {
      const cursor = next === undefined ? '' : `?cursor=${next}`;
      const path = `/api/edge/v1/final/addresses/${encodeURIComponent(bech32)}${cursor}`;
      const json = await askJson(path, v.unknown());
      const finding = judgeStatement(json, parseRoot(root));
      if (finding.standing !== 'proved') return setProgress({ state: 'done', value: finding });
      const text = JSON.stringify(json);
      const { prefix } = provedValue(finding.proof);
      const isAsked =
        typeof json === 'object' && json !== null && 'address' in json && json.address === bech32;
      if (!isAsked || !bech32.startsWith(prefix))
        return setProgress({
          state: 'done',
          value: refute('the node answers with the statement of another address'),
        });
      const all = [...pages, { text, proof: finding.proof }];
      const joined = joinStatements(all.map(({ proof }) => proof));
      if (joined.standing === 'proved') setPages(all);
      setProgress({ state: 'done', value: joined });
    } catch (error) {
      setProgress({ state: 'failed', error: asError(error) });
    }
  }

  return (
    <>
      {pages.length === 0 && (
        <button type="button" class="main" onClick={() => void read()}>
          Prove what this address held
        </button>
      )}
      {progress !== undefined && <Shown judged={progress} root={root} />}
      {next !== undefined && (
        <button type="button" onClick={() => void read()}>
          Add the page that follows
        </button>
      )}
      {pages.length > 0 && <Downloads pages={pages} bech32={bech32} />}
    </>
  );
}

function StatementOfAddress({ bech32 }: { bech32: string }) {
  const root = useFinalRoot();
  return (
    <section class="archive" aria-labelledby="statement-title">
      <h2 id="statement-title">Prove what this address held</h2>
      <p class="lead">
        A file with each of its unspent outputs and a proof that the last ledger had it. Anybody can
        check it without this node, for as long as they know the final root.
      </p>
      <p>
        <To view={{ name: 'address', address: bech32 }}>What this node says that it held</To>,
        without a proof.
      </p>
      <RootForm />
      {root !== undefined && <ReadStatement key={root} bech32={bech32} root={root} />}
    </section>
  );
}

/** Files of anybody. */
async function judgeFiles(files: readonly File[], root: string): Promise<Finding<Statement>> {
  const proofs: Proved<Statement>[] = [];
  for (const file of files) {
    if (file.size > MAX_FILE_BYTES) throw new Error('The file is larger than a statement.');
    const finding = judgeStatement(parseBoundedJson(await file.text()), parseRoot(root));
    if (finding.standing !== 'proved') return finding;
    proofs.push(finding.proof);
  }
  // as pages follow each other, whatever order the files were chosen in
  const inOrder = proofs.toSorted((a, b) =>
    (provedValue(a).after ?? '') < (provedValue(b).after ?? '') ? -1 : 1,
  );
  return joinStatements(inOrder);
}

function ReadFiles({ root }: { root: string }) {
  const [files, setFiles] = useState<readonly File[]>([]);
  const judged = useLoad(() => judgeFiles(files, root), [files, root]);
  return (
    <>
      <label class="wide">
        Files
        <input
          type="file"
          name="statement"
          accept=".json,application/json"
          multiple
          onChange={({ currentTarget }) => setFiles([...(currentTarget.files ?? [])])}
        />
      </label>
      {files.length > 0 && <Shown judged={judged} root={root} />}
    </>
  );
}

function StatementFiles() {
  const root = useFinalRoot();
  return (
    <section class="archive" aria-labelledby="files-title">
      <h2 id="files-title">The statement of an address, from files</h2>
      <p>All pages of one statement. Nothing is sent: your browser reads them.</p>
      <RootForm />
      {root !== undefined && <ReadFiles root={root} />}
    </section>
  );
}

/** As `stardust-edge verify` allows. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;

function Shown({ judged, root }: { judged: Loaded<Finding<Statement>>; root: string }) {
  const finding = judged.state === 'done' ? judged.value : undefined;
  return (
    <>
      <div role="status" class="statement-verdict">
        {judged.state === 'loading' && <p class="loading">Checking …</p>}
        {judged.state === 'failed' && <NotChecked>{asSentence(judged.error.message)}</NotChecked>}
        {finding !== undefined && (
          <CheckResult
            finding={finding}
            words={({ outputs }) =>
              `Your browser has checked ${outputs.length === 1 ? 'the proof of 1 output' : `the proofs of ${outputs.length} outputs`} against the final root.`
            }
          />
        )}
      </div>
      {finding?.standing === 'proved' && <StatementSheet proof={finding.proof} root={root} />}
    </>
  );
}

function Downloads({ pages, bech32 }: { pages: readonly Page[]; bech32: string }) {
  const save = (text: string, i: number) =>
    saveFile(
      `statement-${shorten(bech32).replace('…', '-')}-${i + 1}.json`,
      'application/json',
      text,
    );
  return (
    <p class="actions">
      {pages.map(({ text }, i) => (
        <button key={i} type="button" onClick={() => save(text, i)}>
          Save {pages.length === 1 ? 'the file' : `page ${i + 1}`}
        </button>
      ))}
      <button type="button" onClick={() => print()}>
        Print it
      </button>
    </p>
  );
}
