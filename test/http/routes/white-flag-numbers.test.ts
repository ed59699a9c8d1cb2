/** Integers of a proposal, as Go's encoding/json takes them for a uint32. */
import { expect, it } from 'vitest';
import { WHITE_FLAG } from '../../support/http/contract.ts';
import { facts, fetchFrom } from '../../support/http/stub-node.ts';

const { index, timestamp, parents, previousMilestoneId } = facts.whiteFlag;

const ask = async (indexText: string, timestampText = String(timestamp), more = '') => {
  const rest = JSON.stringify({ parents, previousMilestoneId }).slice(1);
  const body = `{"index":${indexText},"timestamp":${timestampText}${more},${rest}`;
  const statuses = await Promise.all(
    [WHITE_FLAG, '/api/edge/v1/whiteflag'].map((path) =>
      fetchFrom()(path, { method: 'POST', body }),
    ),
  );
  return statuses.map(({ status }) => status);
};

/** The stub knows no block that it could explain. */
const PASSED = [200, 404];

it('digits are taken, and other fields may have any number', async () => {
  expect(await ask(String(index))).toEqual(PASSED);
  expect(await ask(String(index), String(timestamp), ',"x":1.5,"y":[-1e3]')).toEqual(PASSED);
});

it.each([`${index}.0`, '1.734e4', `${index}e0`, '-0', `"${index}"`, '1e400', '4294984636'])(
  '%s is refused',
  async (text) => {
    expect(await ask(text)).toEqual([400, 400]);
    if (text !== '4294984636') expect(await ask(String(index), text)).toEqual([400, 400]);
  },
);
