import { expect, test } from 'vitest'
import { readDatabaseUrl, withPlace } from '../../src/core/database-url.ts'

const read = (text: string) => {
  const found = readDatabaseUrl(text)
  if (!found.ok) throw new Error(found.problem)
  return found.url
}

test('a URL with one server stays as it is', () => {
  for (const url of [
    'postgres://ada:p%40w@db:5433/x?sslmode=verify-full&options=-c%20work_mem%3D7MB',
    'postgresql://ada@localhost/db?host=%2Frun%2Fpg',
    'postgresql:///drill',
    'postgresql://[::1]:5433/x',
  ])
    expect(read(url)).toEqual({ driverUrl: url, places: [], needsPrimary: false, passFile: null })
})

test('several servers are tried in turn, with their ports, also as parameters', () => {
  const places = [
    { host: 'a', port: 5432 },
    { host: '::1', port: 5433 },
  ]
  expect(read('postgres://ada:pw@a,[::1]:5433/x?sslmode=require')).toEqual({
    driverUrl: 'postgres://ada:pw@a:5432/x?sslmode=require',
    places,
    needsPrimary: true,
    passFile: null,
  })
  expect(read('postgres:///x?host=a,b&port=1,2').places).toEqual([
    { host: 'a', port: 1 },
    { host: 'b', port: 2 },
  ])
  expect(read('postgres:///x?host=/run/pg,b&port=7').places).toEqual([
    { host: '/run/pg', port: 7 },
    { host: 'b', port: 7 },
  ])
})

test('a program that takes one server gets the one that was found', () => {
  const url = read('postgres://ada:pw@a,b:5433/x?sslmode=require')
  expect(withPlace(url, { host: 'b', port: 5433 })).toBe('postgres://ada:pw@b:5433/x?sslmode=require')
  expect(withPlace(url, { host: '/run/pg', port: 1 })).toBe('postgres://ada:pw@%2Frun%2Fpg:1/x?sslmode=require')
})

test('what the driver does not know is taken out', () => {
  expect(read('postgres://a/x?target_session_attrs=read-write&passfile=%2Frun%2Fpgpass&sslmode=require')).toEqual({
    driverUrl: 'postgres://a/x?sslmode=require',
    places: [],
    needsPrimary: true,
    passFile: '/run/pgpass',
  })
})

test.each([
  ['mysql://a/x', /must be a URL that starts with postgres/],
  ['postgres://a,b:x/y', /host or host:port/],
  ['postgres://a,,b/y', /host or host:port/],
  ['postgres://a,b:70000/y', /host or host:port/],
  ['postgres:///y?host=a,b,c&port=1,2', /host or host:port/],
  ['postgres://a,b/y?target_session_attrs=any', /must be read-write or primary/],
  [`postgres://${Array.from({ length: 17 }, (_, i) => `h${i}`).join(',')}/y`, /at most 16/],
])('%s is refused', (text, problem) => {
  expect(readDatabaseUrl(text)).toEqual({ ok: false, problem: expect.stringMatching(problem) })
})
