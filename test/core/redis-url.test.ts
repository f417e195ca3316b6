import { expect, test } from 'vitest'
import { readRedisUrl } from '../../src/core/redis-url.ts'

const read = (text: string) => {
  const found = readRedisUrl(text)
  if (!found.ok) throw new Error(found.problem)
  return found.url
}

test('one server, with a user, a database and encryption', () => {
  expect(read('redis://cache')).toMatchObject({
    ...{ kind: 'server', places: [{ host: 'cache', port: 6379 }], isEncrypted: false, database: 0, login: {} },
  })
  expect(read('rediss://ada:p%40w@[::1]:6380/2?cacert=/ca.pem&cert=/c.pem&key=/k.pem')).toMatchObject({
    ...{ isEncrypted: true, database: 2, places: [{ host: '::1', port: 6380 }] },
    login: { username: 'ada', password: 'p@w' },
    files: { ca: '/ca.pem', cert: '/c.pem', key: '/k.pem' },
  })
})

test('Sentinels and clusters', () => {
  expect(read('redis+sentinel://:pw@a,b:1/signals/3?sentinelPassword=s')).toMatchObject({
    ...{ kind: 'sentinel', primaryName: 'signals', database: 3, login: { password: 'pw' } },
    ...{ sentinelLogin: { password: 's' } },
    places: [
      { host: 'a', port: 26_379 },
      { host: 'b', port: 1 },
    ],
  })
  expect(read('rediss+cluster://a,b')).toMatchObject({ kind: 'cluster', isEncrypted: true })
})

test.each([
  ['http://cache', /must be redis:\/\/HOST/],
  ['redis://a,b', /names several servers/],
  ['redis://a:70000', /must be redis:\/\/HOST/],
  ['redis://a/x', /number of a database/],
  ['redis+sentinel://a', /must name after a slash/],
  ['redis+cluster://a/1', /must have no database/],
  ['redis://a?cacert=/x', /no encryption/],
  ['rediss://a?cert=/x', /both cert and key/],
  ['redis://a?db=1', /its parameters may be/],
])('%s is refused', (text, problem) => {
  expect(readRedisUrl(text)).toEqual({ ok: false, problem: expect.stringMatching(problem) })
})
