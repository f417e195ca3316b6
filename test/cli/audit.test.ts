import { Pool } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestApp } from '../testkit/app.ts'
import { createTestDatabase } from '../testkit/postgres.ts'
import { type CommandLine, commandLine, documents } from './command.ts'

const TOKEN = 'the-command-lines-administrator'

let stack: AsyncDisposableStack
let pool: Pool
let phaseline: CommandLine

beforeAll(async () => {
  stack = new AsyncDisposableStack()
  const database = stack.use(await createTestDatabase(1))
  pool = stack.adopt(new Pool({ connectionString: database.url, max: 1 }), (one) => one.end())
  const server = stack.use(await startTestApp({ token: TOKEN, env: { DATABASE_URL: database.url } }))
  phaseline = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: TOKEN })
  await phaseline('project apply -f -', { stdin: JSON.stringify({ name: 'web' }) })
  for (const name of ['A', 'B', 'C']) await phaseline(`secret set web ${name}`, { stdin: 'never-shown' })
})
afterAll(() => stack.disposeAsync())

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
  await tamper(`update audit_event set object_name = 'Z' where sequence = 2`)
  expect(documents((await phaseline('audit verify --json')).out)).toEqual([
    { ok: false, sequence: 2, problem: 'CHANGED' },
  ])
})
