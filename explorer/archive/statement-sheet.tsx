/**
 * A statement of an address as a person reads it, on the page and on paper.
 */

import { type Proved, provedValue } from '../../src/stardust/provenance/proved.ts';
import type { Statement } from '../../src/stardust/provenance/statement.ts';
import { finalWords } from '../../verifier/words/holding.ts';
import {
  describeLimit,
  describeStated,
  describeSums,
  nameStatement,
} from '../../verifier/words/statement.ts';
import { Tick } from '../parts/standing.tsx';
import { AbsenceForm } from './absence-form.tsx';

export function StatementSheet({ proof, root }: { proof: Proved<Statement>; root: string }) {
  const statement = provedValue(proof);
  const words = finalWords(statement.ledger.networkName, statement.prefix);
  return (
    <div class="sheet">
      <div data-standing="proved" class="proved">
        <Tick proof={proof}>{(value) => <bdi>{nameStatement(value, words)}</bdi>}</Tick>
        <p class="mono whole">Final root: {root}</p>
        <ul class="sums">
          {describeSums(statement, words).map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
        <ol class="stated">
          {statement.outputs.map((stated) => {
            const { title, sentences } = describeStated(stated, words);
            return (
              <li key={title}>
                <p class="mono">{title}</p>
                {sentences.map((sentence, i) => (
                  <p key={i}>{sentence}</p>
                ))}
              </li>
            );
          })}
        </ol>
      </div>
      <div data-standing="not-checked" class="said">
        <h3>What it does not prove</h3>
        {describeLimit(statement).map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
        <AbsenceForm root={root} />
      </div>
    </div>
  );
}
