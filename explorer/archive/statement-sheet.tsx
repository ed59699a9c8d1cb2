/**
 * A statement of an address as a person reads it, on the page and on paper.
 */
import { describeProvedStatement } from '../../client/words/statement.ts';
import type { Proved } from '../../src/stardust/provenance/proved.ts';
import { provedValue, type Statement } from '../../src/stardust/provenance/statement.ts';
import { plural } from '../format.ts';
import { Later } from '../parts/later.tsx';
import { Tick } from '../parts/standing.tsx';
import { MissedForm } from './record-check.tsx';

const loadQrCode = async () => (await import('../parts/qr-code.tsx')).QrCode;

/** What has room on the first page beside the rest: a line each. */
const FIRST_SUMS = 12;

/** One page with what it adds up to and what it does not prove, and an annex with each output. */
export function StatementSheet({ proof, root }: { proof: Proved<Statement>; root: string }) {
  const { headline, notShown, sums, outputs, limits } = describeProvedStatement(proof);
  const command = `npx stardust-edge verify statement.json --final-root ${root}`;
  const [first, others] = [sums.slice(0, FIRST_SUMS), sums.slice(FIRST_SUMS)];
  return (
    <div class="sheet">
      <div class="proved" data-standing="proved">
        <Tick proof={headline}>{(text) => <bdi>{text}</bdi>}</Tick>
        <p data-standing="not-checked">
          <strong>{notShown}</strong>
        </p>
        <ul class="sums">
          {first.map((sentence, i) => (
            <li key={i}>{provedValue(sentence)}</li>
          ))}
          {others.length > 0 && <li>and {plural(others.length, 'more line')}, in the annex.</li>}
        </ul>
      </div>
      <div data-standing="not-checked" class="said">
        <h3>What it does not prove</h3>
        {limits.map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
      </div>
      <div class="how">
        <h3>How anybody checks it</h3>
        <p class="mono whole">Final root: {root}</p>
        <p>
          With the file of this statement, and without this node:{' '}
          <code class="whole">{command}</code>
        </p>
        <Later load={loadQrCode} text={command} label="QR code of the command that checks it" />
      </div>
      <MissedForm root={root} />
      <div class="annex" data-standing="proved">
        <h3>Annex: {plural(outputs.length, 'output')}</h3>
        {others.length > 0 && (
          <ul class="sums">
            {others.map((sentence, i) => (
              <li key={i}>{provedValue(sentence)}</li>
            ))}
          </ul>
        )}
        <ol class="stated">
          {outputs.map(({ title, sentences }, i) => (
            <li key={i}>
              <p class="mono">{provedValue(title)}</p>
              {sentences.map((sentence, place) => (
                <p key={place}>{provedValue(sentence)}</p>
              ))}
            </li>
          ))}
        </ol>
      </div>
    </div>
  );
}
