import { describe, expect, it } from 'vitest';
import { isPublic } from '../../../src/http/access/route-access.ts';
import { cpuTime } from '../../support/cpu-time.ts';

describe('public routes', () => {
  it.each([
    ['/health', [], true],
    ['/health', ['/health'], true],
    ['/healthy', ['/health'], false],
    ['/health', ['/healthy'], false],
    ['/health', ['/nothing', '/health'], true],
    ['/api/core/v2/info', ['/api/core/v2/*'], true],
    ['/api/core/v2/info', ['/api/core/v1/*'], false],
    ['/api/core/v2/info', ['*'], true],
    ['/api/core/v2/info', ['*/info'], true],
    ['/api/core/v2/info', ['*/inf'], false],
    ['/api/core/v2/info', ['/api/*/v2/*'], true],
    ['/api/core/v2/info', ['/api/*/v3/*'], false],
    ['/api/indexer/v1/outputs/nft/0xABCD', ['*/nft/0xab*'], true],
    ['/aba', ['/ab*ba'], false], // the pieces must not overlap
    ['/abba', ['/ab*ba'], true],
    ['/a.b', ['/a?b'], false],
    ['/axb', ['/a.b'], false],
    ['/ababab', ['/*ab*ab*ab'], true],
    ['/abab', ['/*ab*ab*ab'], false],
  ])('%s by %j: %s', (path, patterns, expected) => {
    expect(isPublic(path, patterns)).toBe(expected);
  });

  it('stays quick on long paths and patterns with many stars', async () => {
    const ask = () => isPublic(`/${'a'.repeat(100_000)}`, [`/${'*a'.repeat(1_000)}*b`]);
    expect(await cpuTime(() => expect(ask()).toBe(false))).toBeLessThan(500);
  });
});
