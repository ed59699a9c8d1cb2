/**
 * A statement of an address as a person reads it, on the page and on paper.
 */

import type { Proved } from '../../src/stardust/provenance/proved.ts';
import { provedValue, type Statement } from '../../src/stardust/provenance/statement.ts';
import { describeProvedStatement } from '../../verifier/words/statement.ts';
import { Tick } from '../parts/standing.tsx';
import { AbsenceForm } from './absence-form.tsx';

export function StatementSheet({ proof, root }: { proof: Proved<Statement>; root: string }) {
  const { headline, notShown, sums, outputs, limits } = describeProvedStatement(proof);
  return (
    <div class="sheet">
      <div data-standing="proved" class="proved">
        <Tick proof={headline}>{(text) => <bdi>{text}</bdi>}</Tick>
        <p data-standing="not-checked">
          <strong>{notShown}</strong>
        </p>
        <p class="mono whole">Final root: {root}</p>
        <ul class="sums">
          {sums.map((sentence, i) => (
            <li key={i}>{provedValue(sentence)}</li>
          ))}
        </ul>
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
      <div data-standing="not-checked" class="said">
        <h3>What it does not prove</h3>
        {limits.map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
        <AbsenceForm root={root} />
      </div>
    </div>
  );
}
