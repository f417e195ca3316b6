import type { Pool } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestApp } from '../testkit/app.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { type CommandLine, commandLine, documents } from './command.ts'

const TOKEN = 'the-command-lines-administrator'

let stack: AsyncDisposableStack
let pool: Pool
let phaseline: CommandLine
let url: string

beforeAll(async () => {
  stack = new AsyncDisposableStack()
  const database = stack.use(await createTestDatabase(1))
  // The driver's own pool would end before its connections, which the end of the database then breaks.
  pool = database.pool
  const server = stack.use(await startTestApp({ token: TOKEN, env: { DATABASE_URL: database.url } }))
  url = server.url
  phaseline = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: TOKEN })
  await phaseline('project apply -f -', { stdin: JSON.stringify({ name: 'web' }) })
  for (const name of ['A', 'B', 'C']) await phaseline(`secret set web ${name}`, { stdin: 'never-shown' })
})
afterAll(() => stack.disposeAsync())

/** Prunes up to an event, as retention does. */
const prune = (sequence: number) =>
  pool.query(`begin;
    update audit_anchor set (sequence, hash) = (select sequence, hash from audit_event where sequence = ${sequence});
    delete from audit_event where sequence <= ${sequence}; commit`)
const tamper = (sql: string) =>
  pool.query(
    `begin; alter table audit_event disable trigger all; ${sql}; alter table audit_event enable trigger all; commit`,
  )

it('exports events as lines of JSON, and goes on after one', async () => {
  const { out, code } = await phaseline('audit export')
  expect(code).toBe(0)
  const events = documents(out)
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, i) => i + 1))
  expect(events.at(-1)).toMatchObject({ operation: 'setSecret', objectName: 'C', projectName: 'web', outcome: 'DONE' })
  expect(out).not.toContain('never-shown')
  const rest = documents((await phaseline(`audit export --project web --after ${events.length - 1}`)).out)
  expect(rest).toEqual(events.slice(-1))
})

it('lists the newest events, narrowed by options, for people and as JSON', async () => {
  const names = async (options: string) =>
    (await phaseline(`audit list --json ${options}`)).out
      .split('\n')
      .filter(Boolean)
      .map((line) => (JSON.parse(line) as { readonly objectName: string }).objectName)
  const secrets = '--operation setSecret'
  expect(await names(secrets)).toEqual(['A', 'B', 'C'])
  expect(await names(`${secrets} --limit 2`)).toEqual(['B', 'C'])
  expect(await names(`${secrets} --since 1h --until 2999-01-01 --project web --outcome done`)).toEqual(['A', 'B', 'C'])
  expect(await names(`${secrets} --until 1h`)).toEqual([])
  expect(await names(`${secrets} --outcome refused`)).toEqual([])
  const { out } = await phaseline(`audit list ${secrets} --limit 1`)
  expect(out).toMatch(/ +\d+ {2}\S+Z {2}DONE {5}admin {2}setSecret {2}SECRET web\/C {2}from 127\.0\.0\.1\n/)
  expect((await phaseline('audit list --since someday')).code).toBe(2)
  expect((await phaseline('audit list --outcome maybe')).code).toBe(2)
})

it('lists who has done what to one object, by its path, and names objects by their paths', async () => {
  const stdin = JSON.stringify({ name: 'shop', project: 'web', spec: {} })
  const [shop, other] = [stdin, stdin.replace('shop', 'other')]
  for (const text of [shop, other])
    expect(await phaseline('apply -f - --wait', { stdin: text })).toMatchObject({ code: 0 })
  for (const name of ['web/shop', 'web/other']) await phaseline(`reconcile ${name} --wait`)
  const { out } = await phaseline('audit list --object web/shop --operation reconcileInstallation')
  expect(out).toMatch(
    /^ +\d+ {2}\S+Z {2}DONE {5}admin {2}reconcileInstallation {2}INSTALLATION web\/shop {2}from 127\.0\.0\.1\n$/,
  )
  expect((await phaseline('audit list --object shop --project web')).out).toContain('reconcileInstallation')
  expect(await phaseline('audit list --object web/nothing')).toMatchObject({ code: 3 })
  const [{ objectId } = {}] = documents((await phaseline('audit list --object web/shop --json --limit 1')).out)
  expect((await phaseline(`audit list --object ${objectId}`)).out).toContain('INSTALLATION web/shop')
  // One in a tree, by its whole path; the name of a signal is not its own.
  const gate = { name: 'go', type: 'gate', config: { signal: 'tested' } }
  await phaseline('apply -f -', {
    stdin: JSON.stringify({ name: 'gated', project: 'web', spec: { deployItems: [gate] } }),
  })
  await phaseline('signal web/gated/deploy-items/go other')
  expect((await phaseline('audit list --operation signal')).out).toContain('GATE web/gated/deploy-items/go  ')
})

it('verifies what retention has left, and compares only heads that are not older', async () => {
  const first = documents((await phaseline('audit export')).out)
  const headAt = (i: number) => `${first[i]?.sequence}:${first[i]?.hash}`
  await prune(2)
  const verified = await phaseline('audit verify')
  expect(verified).toMatchObject({ code: 0 })
  expect(verified.out).toContain('Retention has removed the events up to 2.')
  expect(await phaseline(`audit verify --head ${headAt(1)}`)).toMatchObject({ code: 0 })
  expect(await phaseline(`audit verify --head 2:${'0'.repeat(64)}`)).toMatchObject({ code: 1 })
  const old = await phaseline(`audit verify --head ${headAt(0)} --json`)
  expect([old.code, documents(old.out)]).toEqual([1, [{ ok: false, sequence: 1, problem: 'PRUNED' }]])
})

it('verifies the chain, against a head that was kept, and tells the first event that does not fit', async () => {
  const verified = await phaseline('audit verify')
  expect(verified.code).toBe(0)
  const head = /\d+:[\da-f]{64}/.exec(verified.out)?.[0] ?? ''
  expect(await phaseline(`audit verify --head ${head}`)).toMatchObject({ code: 0 })
  const [sequence] = head.split(':')
  const other = `${sequence}:${'0'.repeat(64)}`
  expect(await phaseline(`audit verify --head ${other} --json`)).toMatchObject({ code: 1 })
  expect(await phaseline('audit verify --head nonsense')).toMatchObject({ code: 2 })

  await tamper(`delete from audit_event where sequence = ${sequence}`)
  expect(documents((await phaseline(`audit verify --head ${head} --json`)).out)).toEqual([
    { ok: false, sequence: Number(sequence), problem: 'MISSING' },
  ])
  await tamper(`update audit_event set object_name = 'Z' where sequence = 3`)
  expect(documents((await phaseline('audit verify --json')).out)).toEqual([
    { ok: false, sequence: 3, problem: 'CHANGED' },
  ])
})

it('is refused with the role that it takes, as other commands are', async () => {
  const { out: secret } = await phaseline('token create reader --role reader --quiet')
  const refused = await phaseline('audit list', { env: { PHASELINE_URL: url, PHASELINE_TOKEN: secret.trim() } })
  expect(refused).toEqual({
    code: 3,
    out: '',
    err: 'FORBIDDEN: reader may not read audit: it takes the role ADMIN.\n',
  })
})
