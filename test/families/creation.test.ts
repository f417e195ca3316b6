import { setImmediate as othersRun } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Refusal } from '../../src/core/errors.ts'
import type { Outcome } from '../../src/core/ports/outcome.ts'
import type { Viewer } from '../../src/core/ports/viewer.ts'
import { RIGHTS } from '../../src/core/rights.ts'
import { onProject } from '../../src/families/access.ts'
import type { Judged } from '../../src/families/creation.ts'
import { gadget } from '../testkit/operations.ts'
import { accepted, addProject, refused } from '../testkit/pipelines.ts'
import { viewerOf } from '../testkit/viewers.ts'
import { createWorld, item, USER, type World } from '../testkit/world.ts'

/** A command creates roots of several families in one transaction, which is its own. */

type Answer = Outcome<{ readonly ids: readonly string[] }, Refusal>
interface Asked {
  readonly viewer?: Viewer
  readonly name: string
  readonly type?: string
  readonly project?: string
  /** Runs after the third is written. */
  then?(): void
}

/** A command that creates a task, an event and an installation, or nothing if an input is refused. */
async function createAll(
  { services: { verbs }, engineHost: { trees } }: World,
  { viewer = USER, name, type = 'push', project = 'shop', then }: Asked,
): Promise<Answer> {
  const judged: Extract<Judged<Refusal['type']>, { ok: true }>[] = []
  for (const one of [
    await verbs.createTask?.judge(viewer, { name, jobs: [gadget('job')] }),
    await verbs.createEvent?.judge(viewer, { source: 'test', type }),
    await verbs.createInstallation?.judge(viewer, { name, spec: { deployItems: [item('item')] }, reconcile: true }),
  ]) {
    if (!one) throw new Error('a family is missing')
    if (!one.ok) return one
    judged.push(one)
  }
  return await onProject(
    { trees },
    viewer,
    { right: RIGHTS.readProjects, project },
    async (locked): Promise<Answer> => {
      const ids: string[] = []
      for (const { write } of judged) {
        const done = await write(locked)
        if (!done.ok) return done
        ids.push(done.objectId)
      }
      then?.()
      return { ok: true, ids }
    },
  )
}

/** Rows of all that a creation writes, and the transactions that have written them. */
async function written({ pool }: World) {
  const { rows } = await pool.query<{
    roots: number
    changes: number
    work: number
    wakes: number
    transactions: number
  }>(
    `select (select count(*)::int from object where parent_id is null) as roots,
       (select count(*)::int from phase_change) as changes, (select count(*)::int from work) as work,
       (select count(*)::int from wake) as wakes,
       (select count(distinct x)::int from (
         select xmin::text from object union all select xmin::text from log_batch union all select xmin::text from work
       ) as of (x)) as transactions`,
  )
  return rows[0]
}

/** The commits that connections send from now on. */
function countCommits({ pool }: World): { count: number } {
  const commits = { count: 0 }
  const watched = new WeakSet<object>()
  pool.on('acquire', (client) => {
    if (watched.has(client)) return
    watched.add(client)
    const query = client.query as (...args: readonly unknown[]) => unknown
    client.query = ((...args: [string | { readonly text: string }, ...unknown[]]) => {
      const [statement] = args
      const text = typeof statement === 'string' ? statement : statement.text
      if (/(^|;)\s*commit\b/i.test(text)) commits.count++
      return query.apply(client, args)
    }) as typeof client.query
  })
  return commits
}

test('a task, an event and an installation are created in one transaction of another command, or not at all', async () => {
  await using world = await createWorld({ ownDatabase: true })
  await addProject(world, 'shop')
  const announced: string[] = []
  for (const channel of ['phaseline:wake', 'phaseline:work'])
    await world.signal.subscribe(channel, (message) => announced.push(message))
  const commits = countCommits(world)
  const nothing = { roots: 0, changes: 0, work: 0, wakes: 0, transactions: 0 }

  const then = () => {
    throw new Error('after the third')
  }
  await expect(createAll(world, { name: 'first', then })).rejects.toThrow('after the third')
  expect(await written(world)).toEqual(nothing)
  expect(commits.count).toBe(0)
  await othersRun()
  expect(announced).toEqual([])

  const { ids } = await accepted(createAll(world, { name: 'first' }))
  expect(commits.count).toBe(1)
  expect(await written(world)).toMatchObject({ roots: 3, transactions: 1 })
  const { rows } = await world.pool.query('select kind from object where id = any($1) order by kind::text', [ids])
  expect(rows.map(({ kind }) => kind)).toEqual(['EVENT', 'INSTALLATION', 'TASK'])
  await othersRun()
  expect(announced.join()).toContain('mock')
  await world.settle()
  expect(await world.work()).toEqual(['item'])
})

test('a refusal of a creation is a value for the command that has asked', async () => {
  await using world = await createWorld()
  await addProject(world, 'shop')
  await addProject(world, 'plain', { workerTemplate: null })
  expect(await refused(createAll(world, { name: 'No Name' }))).toMatchObject({ type: 'InvalidInputError' })
  expect(await refused(createAll(world, { name: 'first', type: '*' }))).toMatchObject({ type: 'InvalidInputError' })
  await accepted(createAll(world, { name: 'first' }))
  expect(await refused(createAll(world, { name: 'first' }))).toMatchObject({
    ...{ type: 'ConflictError', code: 'ALREADY_EXISTS' },
  })
  const reader = viewerOf('READER')
  expect(await refused(createAll(world, { viewer: reader, name: 'second' }))).toMatchObject({ type: 'ForbiddenError' })
  expect(await world.exists('second')).toBe(false)
  // The event is what is refused, and the task before it stays: whoever has the transaction decides about that.
  const noWorkers = { type: 'InvalidInputError', fields: [{ path: 'input.project' }] }
  expect(await refused(createAll(world, { name: 'second', project: 'plain' }))).toMatchObject(noWorkers)
  expect(await world.exists('second')).toBe(true)
})
