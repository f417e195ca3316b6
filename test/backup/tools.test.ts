import { expect, test } from 'vitest'
import { libpqEnvironment, passLine } from '../../src/backup/libpq.ts'
import { canServe } from '../../src/backup/tools.ts'

const resolved = { host: 'db', port: 5432, user: 'me', database: 'it' }
const tlsOf = (url: string, env: Readonly<Record<string, string>> = {}, major = 17) => {
  const connection = { connectionString: `postgresql://me:hush@db/it${url}` }
  const { PGSSLMODE, PGSSLROOTCERT } = libpqEnvironment({ connection, resolved, env, major })
  return [PGSSLMODE, PGSSLROOTCERT]
}

test('a program of Postgres checks certificates wherever our driver does', () => {
  for (const mode of ['prefer', 'require', 'verify-ca', 'verify-full'])
    expect(tlsOf(`?sslmode=${mode}`)).toEqual(['verify-full', 'system'])
  expect(tlsOf('?ssl=true')).toEqual(['verify-full', 'system'])
  expect(tlsOf('', { PGSSLMODE: 'require' })).toEqual(['verify-full', 'system'])
  expect(tlsOf('?sslrootcert=/ca.pem')).toEqual(['verify-full', '/ca.pem'])
  // Earlier programs have no such word, and look for the user's own file.
  expect(tlsOf('?sslmode=require', {}, 15)).toEqual(['verify-full', undefined])
  expect(tlsOf('?sslmode=no-verify')).toEqual(['require', undefined])
  expect(tlsOf('?sslmode=require&uselibpqcompat=true')).toEqual(['require', undefined])
  expect(tlsOf('?sslmode=disable', { PGSSLMODE: 'require' })).toEqual(['disable', undefined])
  expect(tlsOf('')).toEqual([undefined, undefined])
})

test('it gets what it needs to connect, and nothing else of the environment', () => {
  const env = { PATH: '/bin', HOME: '/me', DATABASE_URL: 'x', PHASELINE_SECRET_KEY: 'x', AWS_SECRET_ACCESS_KEY: 'x' }
  const given = libpqEnvironment({
    ...{ connection: { host: '/run', user: 'me' }, resolved, env, passFile: '/tmp/it', major: 17 },
  })
  expect(given).toEqual({
    ...{ PATH: '/bin', HOME: '/me', LC_ALL: 'C', TZ: 'UTC' },
    ...{ PGHOST: 'db', PGPORT: '5432', PGUSER: 'me', PGDATABASE: 'it', PGPASSFILE: '/tmp/it' },
  })
  expect(passLine('a:b\\c')).toBe('*:*:*:*:a\\:b\\\\c\n')
})

test('a program serves what is not newer than itself, and no server that lacks what it sets', () => {
  expect(canServe(15, { server: 15 })).toBe(true)
  expect(canServe(16, { server: 15 })).toBe(true)
  expect(canServe(18, { server: 17, archive: 18 })).toBe(true)
  expect(canServe(15, { server: 17 })).toBe(false)
  expect(canServe(17, { server: 17, archive: 18 })).toBe(false)
  expect(canServe(17, { server: 16 })).toBe(false)
})
