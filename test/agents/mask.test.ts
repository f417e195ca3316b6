import { expect, it } from 'vitest'
import { Mask } from '../../src/agents/mask.ts'

it('masks whole secrets, the longest first, and each line of one that has several', () => {
  const mask = new Mask(['token', 'token-and-more', '-----BEGIN-----\nfirst line\n\nlast\n', 'a.c*'])
  expect(mask.apply('a token, token-and-more, tokens', false)).toBe('a ***, ***, ***s')
  expect(mask.apply('first line of last', false)).toBe('*** of ***')
  expect(mask.apply('abc* is not a.c*', false)).toBe('abc* is not ***')
})

it('masks the beginning of a secret where a line was cut', () => {
  const mask = new Mask(['the-secret'])
  expect(mask.apply('it is the-sec', true)).toBe('it is ***')
  expect(mask.apply('it is the-sec', false)).toBe('it is the-sec')
})

it('does not mask secrets that are too short', () => {
  expect(new Mask(['', 'no', ' \n']).apply('no, it is not', false)).toBe('no, it is not')
})
