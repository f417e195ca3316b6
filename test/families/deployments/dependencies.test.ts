import { describe, expect, it } from 'vitest'
import { columnsOf, exporter, expr, FAILED, importer, JOB, nested, specOf, using } from '../../testkit/deployments.ts'
import { createWorld, item, succeed, USER, type World } from '../../testkit/world.ts'

const WAITING = { phase: 'PENDING_DEPENDENCIES' }
const url = (value: unknown) => (work: Parameters<typeof succeed>[0]) => ({ ...succeed(work), exports: { url: value } })

/** Works, and returns the configs that were worked on. */
async function configsOf(world: World): Promise<readonly unknown[]> {
  const configs: unknown[] = []
  await world.work((work) => {
    configs.push(work.config)
    return succeed(work)
  })
  return configs
}

/** A root `db` that exports `url` and has succeeded. */
async function withDb(world: World, value: unknown = 'one'): Promise<string> {
  const id = await world.create('db', exporter('url'))
  await world.work(url(value))
  return id
}

/** A root `app` with a pending reconcile that no engine has taken. */
async function unsettled(world: World): Promise<string> {
  const created = await specOf(world, 'app', importer('url'))
  if (!created.ok) throw new Error(created.refusal.message)
  return created.objectId
}

describe('a root', () => {
  it('waits for a missing import as long as it takes, and wakes by itself when a user sets the data', async () => {
    await using world = await createWorld()
    const id = await world.create('app', importer('url'))
    world.clock.advance(365 * 24 * 3_600_000)
    await world.settle()
    const waiting = await world.see('app')
    expect(waiting).toMatchObject({ ...WAITING, error: null })
    await world.setData('other', 1)
    expect(await world.see('app')).toMatchObject(WAITING)
    await world.setData('url', 'one')
    const [use] = await world.claim()
    expect(use).toMatchObject({ name: 'use', config: { url: 'one' } })
    await world.report({ fence: use?.fence ?? '', phase: 'SUCCEEDED' })
    // It was the job that waited, and no further one.
    expect(await world.see('app')).toMatchObject({
      phase: 'SUCCEEDED',
      finishedJobId: waiting.jobId,
      jobId: waiting.jobId,
    })
    expect(await world.history(id)).toEqual(['PENDING', 'PENDING_DEPENDENCIES', ...JOB])
  })

  it('wakes by itself when another root succeeds', async () => {
    await using world = await createWorld()
    const id = await world.create('app', importer('url'))
    await world.create('db', exporter('url'))
    expect(await world.see('app')).toMatchObject(WAITING)
    expect(await world.work(url('one'))).toEqual(['make', 'use'])
    expect(await columnsOf(world, id)).toMatchObject({ imports: { url: 'one' } })
  })

  it('waits for another root that runs, though its last good exports are there', async () => {
    await using world = await createWorld()
    const db = await withDb(world)
    await world.reconcile(db)
    await world.create('app', importer('url'))
    expect(await world.see('app')).toMatchObject(WAITING)
    expect(await world.work(url('two'))).toEqual(['make', 'use'])
  })

  it('waits for another root that failed, until it succeeds: only a nested one fails with it', async () => {
    await using world = await createWorld()
    const db = await withDb(world)
    await world.reconcile(db)
    await world.work(() => FAILED)
    await world.create('app', importer('url'))
    expect(await world.see('app')).toMatchObject(WAITING)
    await world.reconcile(db)
    expect(await world.work(url('two'))).toEqual(['make', 'use'])
  })

  it('waits for another root that has a job remembered', async () => {
    await using world = await createWorld()
    const db = await withDb(world)
    await world.ignore(db, true)
    await world.reconcile(db)
    await world.create('app', importer('url'))
    expect(await world.see('app')).toMatchObject(WAITING)
    await world.ignore(db, false)
    expect(await world.work(url('two'))).toEqual(['make', 'use'])
  })

  it('waits for another root whose generation is ahead of what it observed', async () => {
    await using world = await createWorld()
    const db = await withDb(world)
    await world.update(db, { ...exporter('url'), installations: [nested('more', {})] }, false)
    await world.create('app', importer('url'))
    expect(await world.see('app')).toMatchObject(WAITING)
    await world.reconcile(db, 'IF_CHANGED')
    expect(await world.work()).toEqual(['use'])
  })

  it('waits for another root whose deletion is remembered', async () => {
    await using world = await createWorld()
    const db = await withDb(world)
    await world.ignore(db, true)
    await world.remove(db)
    await world.create('app', importer('url'))
    expect(await world.see('app')).toMatchObject(WAITING)
  })

  it('is woken by an exporter that had nothing to do', async () => {
    await using world = await createWorld()
    const db = await withDb(world)
    await world.ignore(db, true)
    await world.reconcile(db, 'IF_CHANGED')
    await world.create('app', importer('url'))
    expect(await world.see('app')).toMatchObject(WAITING)
    await world.ignore(db, false)
    expect(await world.work()).toEqual(['use'])
  })

  it('is woken when the remembered job of its exporter is dropped', async () => {
    await using world = await createWorld()
    const db = await withDb(world)
    await world.ignore(db, true)
    await world.reconcile(db)
    await world.create('app', importer('url'))
    expect(await world.see('app')).toMatchObject(WAITING)
    await world.cancel(db)
    expect(await world.work()).toEqual(['use'])
  })

  it('is woken when the spec of its exporter drops the export, and takes in the data that remains', async () => {
    await using world = await createWorld()
    const db = await withDb(world)
    await world.reconcile(db)
    await world.work(() => FAILED)
    const app = await world.create('app', importer('url'))
    expect(await world.see('app')).toMatchObject(WAITING)
    await world.update(db, exporter('port'), false)
    expect(await world.work()).toEqual(['use'])
    expect(await columnsOf(world, app)).toMatchObject({ imports: { url: 'one' } })
  })

  it('is woken when the deletion of its exporter has failed, which FORCE does not wait for', async () => {
    await using world = await createWorld()
    const db = await withDb(world)
    await world.remove(db)
    const app = await world.create('app', importer('url'))
    await world.reconcile(app, 'FORCE')
    expect(await world.see('app')).toMatchObject(WAITING)
    const [make] = await world.claim()
    await world.report({ fence: make?.fence ?? '', phase: 'DELETE_FAILED' })
    expect(await world.work()).toEqual(['use'])
  })

  it('starts without an optional import that nothing exports, but waits for a root that exports it', async () => {
    await using world = await createWorld()
    const spec = { imports: [{ name: 'url', required: false }], deployItems: [item('use')] }
    const first = await world.create('first', spec)
    expect(await world.work()).toEqual(['use'])
    expect(await columnsOf(world, first)).toMatchObject({ imports: {} })
    const db = await world.create('db', exporter('url'), false)
    const second = await world.create('second', spec)
    expect(await world.see('second')).toMatchObject(WAITING)
    await world.remove(second)
    await world.create('third', spec)
    await world.remove(db, { force: true })
    expect(await world.see('third')).toMatchObject({ phase: 'PROGRESSING' })
  })

  it('takes in data under another name with `from`', async () => {
    await using world = await createWorld()
    await world.setData('url', { host: 'h', ports: [1, 2] })
    const id = await world.create('app', {
      imports: [{ name: 'db', from: 'url' }],
      deployItems: [item('x', [], { to: expr('imports.db'), text: `at ${expr('imports.db.host')}` })],
    })
    const [x] = await world.claim()
    expect(x?.config).toEqual({ to: { host: 'h', ports: [1, 2] }, text: 'at h' })
    expect(await columnsOf(world, id)).toMatchObject({ imports: { db: { host: 'h', ports: [1, 2] } } })
  })

  it('takes its own value in place of the scope, which it then does not wait for', async () => {
    await using world = await createWorld()
    const db = await withDb(world)
    const spec = { imports: [{ name: 'url', value: 'own' }], deployItems: [using('use', ['url'])] }
    const id = await world.create('app', spec)
    expect(await configsOf(world)).toEqual([{ url: 'own' }])
    expect(await columnsOf(world, id)).toMatchObject({ imports: { url: 'own' } })
    const { jobId } = await world.see('app')
    await world.reconcile(db)
    await world.work(url('two'))
    expect(await world.see('app')).toMatchObject({ phase: 'SUCCEEDED', jobId })
    await world.remove(db)
    await world.work()
    expect((await world.pool.query('select from object where id = $1', [db])).rowCount).toBe(0)
    await world.create('later', { ...spec, exports: [{ name: 'url', value: expr('imports.url') }] })
    await world.work()
    expect(await world.see('later')).toMatchObject({ phase: 'SUCCEEDED' })
  })

  it('takes the default of its schema as long as the scope has no value', async () => {
    await using world = await createWorld()
    const schema = { type: 'integer', default: 1 }
    const id = await world.create('app', {
      imports: [{ name: 'replicas', schema }],
      installations: [
        nested('inner', { imports: [{ name: 'other', schema }], deployItems: [using('use', ['other'])] }),
      ],
    })
    expect(await configsOf(world)).toEqual([{ other: 1 }])
    expect(await columnsOf(world, id)).toMatchObject({ imports: { replicas: 1 } })
    await world.setData('replicas', 3)
    await world.work()
    expect(await columnsOf(world, id)).toMatchObject({ imports: { replicas: 3 } })
  })

  it('fails when an import does not match its JSON Schema, and runs again once it does', async () => {
    await using world = await createWorld()
    await world.setData('port', 'eighty')
    const id = await world.create('app', {
      imports: [{ name: 'port', schema: { type: 'integer', minimum: 1 } }],
      deployItems: [using('use', ['port'])],
    })
    const app = await world.see('app')
    expect(app).toMatchObject({ phase: 'FAILED', error: { code: 'IMPORT_INVALID' } })
    expect(app.error?.message).toContain('port')
    expect(await world.history(id)).toEqual(['PENDING', 'INIT', 'FAILED'])
    await world.setData('port', 80)
    expect(await world.work()).toEqual(['use'])
    expect(await world.see('app')).toMatchObject({ phase: 'SUCCEEDED', error: null })
  })

  it('validates all imports anew in a job that begins at once after the one before', async () => {
    await using world = await createWorld()
    await world.setData('a', 2)
    const schema = { const: 1 }
    await world.create('app', {
      imports: [{ name: 'a' }],
      installations: [
        nested('first', { deployItems: [item('works')], exports: [{ name: 'b', value: 2 }] }),
        nested('second', {
          imports: [
            { name: 'a', schema },
            { name: 'b', schema },
          ],
        }),
      ],
    })
    const [works] = await world.claim()
    // The next job finds that one of the two values was judged before.
    await world.setData('a', 1)
    await world.report({ fence: works?.fence as string, phase: 'SUCCEEDED' })
    expect(await world.see('app', 'second')).toMatchObject({ phase: 'FAILED', error: { code: 'IMPORT_INVALID' } })
    expect(await world.see('app')).toMatchObject({ phase: 'FAILED' })
    expect(await world.due()).toEqual([])
  })

  it('reads its imports once, entering INIT: they hold for the whole job, and what changed meanwhile runs after it', async () => {
    await using world = await createWorld()
    await world.setData('key', 'old')
    await world.create('app', {
      imports: [{ name: 'key' }],
      deployItems: [using('a', ['key']), using('b', ['key'], ['a'])],
      installations: [
        nested('inner', { imports: [{ name: 'key' }, { name: 'made' }], deployItems: [using('c', ['key'])] }),
        nested('maker', { exports: [{ name: 'made', value: 1 }], deployItems: [item('d')] }),
      ],
    })
    const configs: unknown[] = []
    const first = await world.claim()
    await world.setData('key', 'new')
    for (const { fence, name, config } of first) {
      configs.push([name, config])
      await world.report({ fence, phase: 'SUCCEEDED' })
    }
    await world.work((work) => {
      configs.push([work.name, work.config])
      return succeed(work)
    })
    const inJobs = (name: string) => configs.flatMap((c) => ((c as unknown[])[0] === name ? [(c as unknown[])[1]] : []))
    for (const name of ['a', 'b', 'c']) expect(inJobs(name)).toEqual([{ key: 'old' }, { key: 'new' }])
    expect(inJobs('d')).toEqual([{}])
    expect(await world.see('app')).toMatchObject({ phase: 'SUCCEEDED' })
  })
})

describe('when a root succeeds', () => {
  it('finished importers get an IF_CHANGED job: with a new value they run again', async () => {
    await using world = await createWorld()
    const db = await withDb(world)
    const app = await world.create('app', importer('url'))
    await world.work()
    const before = await world.see('app')
    await world.reconcile(db)
    expect(await world.work(url('two'))).toEqual(['make', 'use'])
    const after = await world.see('app')
    expect(after.jobId).not.toBe(before.jobId)
    expect(await columnsOf(world, app)).toMatchObject({ mode: 'IF_CHANGED', imports: { url: 'two' } })
    expect(await world.history(app)).toEqual(['PENDING', ...JOB, ...JOB])
  })

  it('with the same value nothing happens to them but the job', async () => {
    await using world = await createWorld()
    const db = await withDb(world)
    const app = await world.create('app', importer('url'))
    await world.work()
    const before = await world.see('app')
    await world.reconcile(db)
    expect(await world.work(url('one'))).toEqual(['make'])
    const after = await world.see('app')
    expect(after.jobId).not.toBe(before.jobId)
    expect(after).toMatchObject({ phase: 'SUCCEEDED', finishedJobId: after.jobId })
    expect(await world.history(app)).toEqual(['PENDING', ...JOB])
  })

  it('the change runs on through a chain of roots', async () => {
    await using world = await createWorld()
    const db = await withDb(world)
    await world.create('mid', { imports: [{ name: 'url' }], exports: [{ name: 'next', value: expr('imports.url') }] })
    const app = await world.create('app', { imports: [{ name: 'next' }], deployItems: [using('use', ['next'])] })
    await world.work()
    await world.reconcile(db)
    expect(await world.work(url('two'))).toEqual(['make', 'use'])
    expect(await columnsOf(world, app)).toMatchObject({ imports: { next: 'two' } })
  })

  it('an importer that was never started is not started by it, nor one that imports something else', async () => {
    await using world = await createWorld()
    await world.create('idle', importer('url'), false)
    await world.setData('key', 1)
    await world.create('other', importer('key'))
    await world.work()
    const other = await world.see('other')
    await withDb(world)
    expect(await world.see('idle')).toMatchObject({ phase: 'PENDING', jobId: null })
    expect(await world.see('other')).toEqual(other)
  })
})

describe('a nested installation', () => {
  it('waits for the sibling that exports what it imports, and gets it together with its parent’s imports', async () => {
    await using world = await createWorld()
    await world.setData('region', 'north')
    const id = await world.create('shop', {
      imports: [{ name: 'region' }],
      installations: [
        nested('app', {
          imports: [{ name: 'db', from: 'url' }, { name: 'region' }],
          deployItems: [using('use', ['db', 'region'])],
        }),
        nested('db', exporter('url')),
      ],
    })
    const [make, ...others] = await world.claim()
    expect(others).toEqual([])
    await world.report({ fence: make?.fence ?? '', ...url('u')(make as never) })
    expect((await world.claim()).map(({ name, config }) => [name, config])).toEqual([
      ['use', { db: 'u', region: 'north' }],
    ])
    const app = await world.see('shop', 'app')
    expect((await world.history(app.id)).slice(0, 3)).toEqual(['PENDING', 'PENDING_DEPENDENCIES', 'INIT'])
    expect(await columnsOf(world, id)).toMatchObject({ imports: { region: 'north' } })
  })

  it('whose predecessor ended the job without success fails with PREDECESSOR_FAILED, and so on down the line', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', {
      installations: [
        nested('c', { imports: [{ name: 'y' }] }),
        nested('b', { imports: [{ name: 'url' }], exports: [{ name: 'y', value: 1 }] }),
        nested('db', exporter('url')),
        nested('free', { deployItems: [item('slow')] }),
      ],
    })
    const claimed = new Map((await world.claim()).map(({ name, fence }) => [name, fence]))
    await world.report({ fence: claimed.get('make') ?? '', ...FAILED })
    for (const [name, predecessor] of [
      ['b', 'db'],
      ['c', 'b'],
    ] as const) {
      const seen = await world.see('shop', name)
      expect(seen).toMatchObject({ phase: 'FAILED', error: { code: 'PREDECESSOR_FAILED' } })
      expect(seen.error?.message).toContain(predecessor)
      expect(await world.history(seen.id)).toEqual(['PENDING', 'PENDING_DEPENDENCIES', 'FAILED'])
    }
    expect(await world.see('shop')).toMatchObject({ phase: 'PROGRESSING' })
    await world.report({ fence: claimed.get('slow') ?? '', phase: 'SUCCEEDED' })
    expect(await world.see('shop')).toMatchObject({ phase: 'FAILED', error: { causeCount: 3 } })
    await world.reconcile(id)
    await world.work(url('u'))
    expect(await world.see('shop')).toMatchObject({ phase: 'SUCCEEDED' })
    expect(await world.see('shop', 'c')).toMatchObject({ phase: 'SUCCEEDED', error: null })
  })
})

describe('while a root waits', () => {
  it('an edit of its spec is taken in', async () => {
    await using world = await createWorld()
    const id = await world.create('app', importer('url'))
    const { jobId } = await world.see('app')
    await world.update(id, { deployItems: [item('other')] }, false)
    expect(await world.see('app')).toMatchObject({ phase: 'PROGRESSING', generation: 2, observedGeneration: 2, jobId })
    expect(await world.work()).toEqual(['other'])
    expect(await world.see('app')).toMatchObject({ phase: 'SUCCEEDED', jobId })
  })

  it('an edit that asks for a job is taken in by the one that waits: nothing runs twice', async () => {
    await using world = await createWorld()
    const id = await world.create('app', importer('url'))
    const { jobId } = await world.see('app')
    await world.update(id, { ...importer('url'), deployItems: [using('use', ['url']), item('more')] })
    expect(await world.see('app')).toMatchObject({ ...WAITING, jobId })
    expect(await columnsOf(world, id)).toMatchObject({ mode: 'STANDARD', nextMode: null })
    await world.setData('url', 'one')
    expect((await world.work()).toSorted()).toEqual(['more', 'use'])
    expect(await world.see('app')).toMatchObject({
      phase: 'SUCCEEDED',
      jobId,
      finishedJobId: jobId,
      observedGeneration: 2,
    })
    expect(await world.history(id)).toEqual(['PENDING', 'PENDING_DEPENDENCIES', ...JOB])
  })

  it.each([
    ['IF_CHANGED', 'STANDARD'],
    ['STANDARD', 'STANDARD'],
    ['FORCE', 'FORCE'],
  ] as const)(
    'a reconcile in mode %s asks for nothing that it does not do anyway: it goes on in mode %s',
    async (asked, mode) => {
      await using world = await createWorld()
      const id = await world.create('app', importer('url'))
      const { jobId } = await world.see('app')
      for (const _ of 'twice!') await world.commands.reconcileInstallation(USER, { id, mode: asked })
      expect(await columnsOf(world, id)).toMatchObject({ mode, nextMode: null })
      await world.settle()
      await world.setData('url', 'one')
      expect(await world.work()).toEqual(['use'])
      expect(await world.see('app')).toMatchObject({ phase: 'SUCCEEDED', jobId, finishedJobId: jobId })
    },
  )

  it('a job that is to run only what has changed becomes one that runs everything, when that is asked for', async () => {
    await using world = await createWorld()
    const db = await withDb(world)
    const id = await world.create('app', importer('url'))
    await world.work()
    await world.ignore(db, true)
    await world.reconcile(db)
    await world.update(id, { ...importer('url'), deployItems: [using('use', ['url']), item('more')] }, false)
    await world.reconcile(id, 'IF_CHANGED')
    const { jobId, phase } = await world.see('app')
    expect(phase).toBe('PENDING_DEPENDENCIES')
    await world.reconcile(id)
    await world.ignore(db, false)
    expect((await world.work(url('one'))).toSorted()).toEqual(['make', 'more', 'use'])
    expect(await world.see('app')).toMatchObject({ phase: 'SUCCEEDED', jobId, finishedJobId: jobId })
  })

  it('what a server of before has remembered is taken in', async () => {
    await using world = await createWorld()
    const id = await world.create('app', importer('url'))
    await world.pool.query(`update installation set next_mode = 'STANDARD' where object_id = $1`, [id])
    await world.setData('url', 'one')
    expect(await world.work()).toEqual(['use'])
    expect(await columnsOf(world, id)).toMatchObject({ nextMode: null })
  })

  it('a reconcile that is asked for once it is cancelled is a job of its own', async () => {
    await using world = await createWorld()
    const id = await world.create('app', importer('url'))
    const { jobId } = await world.see('app')
    await world.commands.cancelInstallation(USER, { id })
    await world.commands.reconcileInstallation(USER, { id, mode: 'STANDARD' })
    await world.settle()
    expect(await world.see('app')).toMatchObject({ ...WAITING, finishedJobId: jobId })
    expect(await world.history(id)).toEqual(['PENDING', 'PENDING_DEPENDENCIES', 'ABORTED', 'PENDING_DEPENDENCIES'])
  })

  it('and before it has begun to wait, what is asked for is one job', async () => {
    await using world = await createWorld()
    await world.setData('url', 'one')
    const id = await unsettled(world)
    const edited = { ...importer('url'), deployItems: [item('other')] }
    await world.commands.updateInstallation(USER, { id, spec: edited, reconcile: true })
    await world.commands.reconcileInstallation(USER, { id, mode: 'STANDARD' })
    await world.settle()
    expect(await world.work()).toEqual(['other'])
    expect(await world.history(id)).toEqual(['PENDING', ...JOB])
  })

  it('FORCE raises its mode and it goes ahead in the same job', async () => {
    await using world = await createWorld()
    const db = await withDb(world)
    await world.reconcile(db)
    const id = await world.create('app', importer('url'))
    const { jobId } = await world.see('app')
    await world.reconcile(id, 'FORCE')
    expect(await world.see('app')).toMatchObject({ phase: 'PROGRESSING', jobId })
    expect(await columnsOf(world, id)).toMatchObject({ mode: 'FORCE', nextMode: null, imports: { url: 'one' } })
  })

  it('a requested deletion ends the job ABORTED and starts its own', async () => {
    await using world = await createWorld()
    const id = await world.create('app', importer('url'))
    await world.remove(id)
    expect(await world.exists('app')).toBe(false)
    expect(await world.history(id)).toEqual([
      'PENDING',
      'PENDING_DEPENDENCIES',
      'ABORTED',
      'INIT_DELETE',
      'TRIGGER_DELETE',
      'DELETING',
      'GONE',
    ])
    const { rows } = await world.pool.query(
      'select count(distinct job_id)::integer as jobs from phase_change where object_id = $1',
      [id],
    )
    expect(rows).toEqual([{ jobs: 2 }])
  })

  it('data that is deleted again is missing again', async () => {
    await using world = await createWorld()
    await world.setData('a', 1)
    await world.create('app', importer('a', 'b'))
    expect(await world.commands.deleteDataObject(USER, { project: 'default', name: 'a' })).toMatchObject({ ok: true })
    await world.settle()
    await world.setData('b', 1)
    expect(await world.see('app')).toMatchObject(WAITING)
    await world.setData('a', 2)
    expect(await world.work()).toEqual(['use'])
  })
})
