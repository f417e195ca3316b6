import { spawnSync } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { v7 } from 'uuid'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Machine } from '../../src/core/machine.ts'
import type { ObjectKind, Phase } from '../../src/core/vocabulary.ts'
import { allMachines } from '../../src/families/machines.ts'
import { createTestDatabase, type TestDatabase } from '../testkit/postgres.ts'

/** The database's own guard: whoever writes, with whatever tool. */

let database: TestDatabase
let pool: Pool
const project = v7()
beforeAll(async () => {
  database = await createTestDatabase()
  pool = database.pool
  await pool.query('insert into project (id, name, created_at, updated_at) values ($1, $2, now(), now())', [
    project,
    'default',
  ])
})
afterAll(() => database[Symbol.asyncDispose]())

/** The machine of a kind's phase: the first that names the kind. */
const primary = (kind: ObjectKind): Machine => allMachines.find((machine) => machine.kinds.includes(kind)) as Machine
const kinds: readonly ObjectKind[] = [...new Set(allMachines.flatMap((machine) => machine.kinds))]

async function insert(kind: ObjectKind, phase: Phase, revision = 1): Promise<string> {
  const id = v7()
  await pool.query(
    `insert into object (id, root_id, project_id, kind, name, ordinal, phase, revision, phase_since, created_at, updated_at)
     values ($1, $1, $2, $3, $4, 0, $5, $6, now(), now(), now())`,
    [id, project, kind, id, phase, revision],
  )
  return id
}
const move = (id: string, to: Phase) =>
  to === 'GONE'
    ? pool.query('delete from object where id = $1', [id])
    : pool.query('update object set phase = $2 where id = $1', [id, to])
const refusal = (work: Promise<unknown>): Promise<string | null> =>
  work.then(
    () => null,
    (error: { code: string }) => error.code,
  )
const CHECK_VIOLATION = '23514'

/** Shortest way from the machine's initial phase, so that every phase is reached legally. */
function wayTo(machine: Machine, phase: Phase): readonly Phase[] {
  const ways = new Map<Phase, readonly Phase[]>([[machine.initial, []]])
  for (const at of ways.keys()) {
    for (const { from, to } of machine.transitions) {
      if (from === at && !ways.has(to) && to !== 'GONE') ways.set(to, [...(ways.get(at) ?? []), to])
    }
  }
  return ways.get(phase) ?? []
}

test.each(kinds)('%s: every pair of phases is allowed or refused as the table says', async (kind) => {
  const machine = primary(kind)
  for (const from of machine.phases) {
    const allowed = new Set(machine.transitions.filter((row) => row.from === from).map((row) => row.to))
    const id = await insert(kind, machine.initial)
    for (const phase of wayTo(machine, from)) await move(id, phase)
    for (const to of [...machine.phases, 'GONE' as const]) {
      if (to === from || allowed.has(to)) continue
      expect(await refusal(move(id, to)), `${kind} ${from} → ${to}`).toBe(CHECK_VIOLATION)
    }
    for (const to of allowed) {
      const other = await insert(kind, machine.initial)
      for (const phase of wayTo(machine, from)) await move(other, phase)
      expect(await refusal(move(other, to)), `${kind} ${from} → ${to}`).toBeNull()
    }
  }
})

test('an object is created no further than its table and its revision allow, and keeps its kind', async () => {
  expect(await refusal(insert('INSTALLATION', 'SUCCEEDED'))).toBe(CHECK_VIOLATION)
  for (const kind of kinds) {
    const machine = primary(kind)
    for (const phase of machine.phases) {
      const way = wayTo(machine, phase)
      if (way.length === 0 && phase !== machine.initial) continue
      const least = way.length + 1
      expect(await refusal(insert(kind, phase, least)), `${kind} in ${phase}`).toBeNull()
      expect(await refusal(insert(kind, phase, least - 1)), `${kind} in ${phase}`).toBe(CHECK_VIOLATION)
    }
  }
  expect(await refusal(insert('DEPLOY_ITEM', 'RUNNING', 1_000))).toBe(CHECK_VIOLATION)
  const id = await insert('INSTALLATION', 'PENDING')
  expect(await refusal(pool.query(`update object set kind = 'TASK' where id = $1`, [id]))).toBe(CHECK_VIOLATION)
})

test('every deletion of an object deletes its other rows', async () => {
  const id = await insert('DEPLOY_ITEM', 'PENDING')
  await pool.query(`insert into object_spec (object_id, spec) values ($1, '{}')`, [id])
  await pool.query(`insert into deploy_item (object_id, type) values ($1, 'mock')`, [id])
  await pool.query('delete from object where id = $1', [id])
  const { rows } = await pool.query(
    'select object_id from object_spec where object_id = $1 union all select object_id from deploy_item where object_id = $1',
    [id],
  )
  expect(rows).toEqual([])
})

test('a refusal names the phases that the object may go to', async () => {
  const id = await insert('DEPLOY_ITEM', 'PENDING')
  await expect(pool.query(`update object set phase = 'SUCCEEDED' where id = '${id}'`)).rejects.toMatchObject({
    code: CHECK_VIOLATION,
    message: 'DEPLOY_ITEM may not go from PENDING to SUCCEEDED',
    hint: expect.stringMatching(/it may go to: INIT, INIT_DELETE/),
  })
})

test('a second lifecycle is guarded like the first', async () => {
  const machine = allMachines.find(({ name }) => name === 'cloudletUpgrade') as Machine
  const id = await insert('CLOUDLET', 'OFFLINE')
  await pool.query('insert into cloudlet (object_id) values ($1)', [id])
  const go = (to: Phase) => pool.query('update cloudlet set upgrade_phase = $2 where object_id = $1', [id, to])
  const allowed = (from: Phase, to: Phase) =>
    from === to || machine.transitions.some((row) => row.from === from && row.to === to)
  for (const from of machine.phases) {
    for (const to of machine.phases) {
      for (const phase of wayTo(machine, from)) await go(phase)
      expect([from, to, await refusal(go(to))]).toEqual([from, to, allowed(from, to) ? null : CHECK_VIOLATION])
      await pool.query('delete from cloudlet where object_id = $1', [id])
      await pool.query('insert into cloudlet (object_id) values ($1)', [id])
    }
  }
})

test('a change of the tables becomes a new migration; one that may be applied somewhere is never rewritten', async () => {
  const home = join(import.meta.dirname, '../..')
  await using stack = new AsyncDisposableStack()
  const folder = stack.adopt(await mkdtemp(join(tmpdir(), 'phaseline-migrations-')), (path) =>
    rm(path, { recursive: true }),
  )
  await cp(join(home, 'prisma/migrations'), folder, { recursive: true })
  const names = async () => (await readdir(folder)).filter((name) => name.endsWith('_guard')).sort()
  const sqlOf = (name: string) => readFile(join(folder, name, 'migration.sql'), 'utf8')
  const print = (...args: readonly string[]) =>
    spawnSync(process.execPath, [join(home, 'scripts/print-guard.ts'), '--folder', folder, ...args], {
      encoding: 'utf8',
    })
  const before = await names()
  const newest = before.at(-1) ?? ''
  const current = await sqlOf(newest)
  expect(print('--check').status).toBe(0)
  expect(print().status).toBe(0)
  expect(await names()).toEqual(before)

  // As if a row had been added to the tables since this migration was released.
  const released = current.replace('INIT,FAILED,ABORTED', 'INIT,FAILED')
  await writeFile(join(folder, newest, 'migration.sql'), released)
  expect(print('--check')).toMatchObject({ status: 1, stderr: expect.stringContaining('npm run generate') })
  expect(await names()).toEqual(before)
  const { stdout } = print()
  expect((await sqlOf(newest)) === released).toBe(true)
  expect(stdout).toContain('_guard')
  const after = await names()
  expect(after.slice(0, -1)).toEqual(before)
  expect((await sqlOf(after.at(-1) ?? '')) === current).toBe(true)
  // It is applied after all that are there.
  expect(
    (await readdir(folder))
      .filter((name) => /^\d/.test(name))
      .sort()
      .at(-1),
  ).toBe(after.at(-1))
  expect(print('--check').status).toBe(0)
  expect(print().status).toBe(0)
  expect(await names()).toEqual(after)
})
