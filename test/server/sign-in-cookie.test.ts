import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cookiesFor, NONCE_BYTES, sealedIn, sealToken, tokenBehind } from '../../src/server/auth/sign-in-cookie.ts'

/** The two halves of a browser's sign-in: what is in its cookie, and what opens it. Pure. */

const KEY = `pl_page_${'k'.repeat(43)}`
const OTHER = `pl_page_${'o'.repeat(43)}`
const AS = { host: 'localhost:4000', isSecure: false }
const seal = (token: string, key = KEY): string => sealToken(token, key, new Uint8Array(NONCE_BYTES)) ?? ''

/** A browser's cookies after these answers, as it sends them. */
function sent(...answers: readonly (readonly string[])[]): string {
  const jar = new Map<string, string>()
  for (const line of answers.flat()) {
    const [pair = '', ...attributes] = line.split('; ')
    const at = pair.indexOf('=')
    if (attributes.includes('Max-Age=0')) jar.delete(pair.slice(0, at))
    else jar.set(pair.slice(0, at), pair.slice(at + 1))
  }
  return [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
}
const behind = (bearer: string, cookie: string, host = AS.host) => tokenBehind(bearer, () => sealedIn({ cookie, host }))

test.each([16, 46, 2_000, 2_900, 8_192])('a token of %d characters comes back, and only with its key', (length) => {
  const token = 't'.repeat(length)
  const answer = cookiesFor(AS, seal(token), null)
  for (const line of answer) expect(line.length).toBeLessThan(4_096)
  expect(behind(KEY, sent(answer))).toBe(token)
  expect(behind(OTHER, sent(answer))).toBeNull()
  expect(sent(answer)).not.toContain(token)
  // Node reads 16 KiB of headers, and others are there, too.
  expect(sent(answer).length).toBeLessThan(12 * 1_024)
})

test('a token that is shorter than the one before leaves nothing of it', () => {
  const long = cookiesFor(AS, seal('l'.repeat(8_000)), null)
  const short = cookiesFor(AS, seal('short'), null)
  expect(behind(KEY, sent(long, short))).toBe('short')
  expect(sent(long, cookiesFor(AS, '', 0))).toBe('')
})

test('servers on other ports of a host have cookies of their own, and one cannot use that of another', () => {
  const both = sent(
    cookiesFor(AS, seal('first'), null),
    cookiesFor({ ...AS, host: 'localhost:4001' }, seal('second', OTHER), null),
  )
  expect([behind(KEY, both), behind(OTHER, both)]).toEqual(['first', null])
  expect([behind(KEY, both, 'localhost:4001'), behind(OTHER, both, 'localhost:4001')]).toEqual([null, 'second'])
  const [standard = ''] = cookiesFor({ host: 'ops.example.org', isSecure: true }, seal('x'), null)
  expect(standard).toMatch(/^__Host-phaseline=[\w-]+; Path=\/; HttpOnly; SameSite=Strict; Secure$/)
})

test('a cookie that a page without encryption has set hides none with encryption', () => {
  const secure = cookiesFor({ ...AS, isSecure: true }, seal('right'), null)
  for (const planted of [seal('planted', OTHER), 'x', seal('right').slice(1)])
    expect(behind(KEY, `phaseline-4000=${planted}; ${sent(secure)}`)).toBe('right')
})

test('a bearer that is no page key is itself, whatever the cookies are', () => {
  const cookie = sent(cookiesFor(AS, seal('other'), null))
  for (const bearer of ['a-token', `${KEY}x`, KEY.slice(0, -1), KEY.replace('pl_page_', 'pl_')])
    expect(behind(bearer, cookie)).toBe(bearer)
  expect(tokenBehind(null, () => sealedIn({ cookie, host: AS.host }))).toBeNull()
})

test('no header of cookies makes it fail, or makes a token', () => {
  const right = seal('right')
  const wrong = [
    ...[
      '',
      ';',
      '=',
      ';;=;',
      'phaseline-4000',
      'phaseline-4000=',
      `phaseline-4000=${right}AAAA`,
      `phaseline-4000="${right}"`,
    ],
    ...[`phaseline-4000=${right.slice(0, 20)}`, `phaseline-4001=${right}`, ';'.repeat(16_000)],
    ...[
      `phaseline-4000=${'A'.repeat(11_400)}`,
      `phaseline-4000=${'A'.repeat(16_000)}`,
      `phaseline-4000=${right}; phaseline-4000.1=AAAA`,
    ],
  ]
  for (const cookie of wrong) expect([cookie, behind(KEY, cookie)]).toEqual([cookie, null])
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(behind(KEY, `phaseline-4000=${text}`)).toBeNull()
      expect(behind(KEY, text)).toBeNull()
    }),
  )
})
