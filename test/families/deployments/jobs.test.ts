import { describe, expect, it } from 'vitest'
import {
  anotherDriver,
  changesOf,
  columnsOf,
  dataOf,
  EXECUTION,
  exporter,
  expr,
  FAILED,
  JOB,
  nested,
  reached,
  rowsOf,
  using,
} from '../../testkit/deployments.ts'
import { createWorld, DEPLOYER, item, succeed, USER, type World } from '../../testkit/world.ts'

describe('a job', () => {
  it('moves installation, execution and item through exactly the phases of their machines', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { installations: [nested('db', { deployItems: [item('disk')] })] })
    await world.work()
    const db = await world.see('shop', 'db')
    const execution = await world.see('shop', 'db', EXECUTION)
    const disk = await world.see('shop', 'db', EXECUTION, 'disk')
    expect(await world.history(id)).toEqual(['PENDING', ...JOB])
    expect(await world.history(db.id)).toEqual(['PENDING', ...JOB])
    expect(await world.history(execution.id)).toEqual(['PENDING', 'INIT', 'PROGRESSING', 'COMPLETING', 'SUCCEEDED'])
    expect(await world.history(disk.id)).toEqual(['PENDING', 'INIT', 'PROGRESSING', 'SUCCEEDED'])
  })

  it('of a root with nothing nested succeeds at once', async () => {
    await using world = await createWorld()
    const id = await world.create('empty', {})
    expect(await world.see('empty')).toMatchObject({ phase: 'SUCCEEDED', observedGeneration: 1, error: null })
    expect(await world.history(id)).toEqual(['PENDING', ...JOB])
  })

  it('is not started by creating a root that is not to be reconciled', async () => {
    await using world = await createWorld()
    const id = await world.create('later', { deployItems: [item('x')] }, false)
    expect(await world.see('later')).toMatchObject({ phase: 'PENDING', jobId: null, observedGeneration: 0 })
    await world.reconcile(id)
    expect(await world.work()).toEqual(['x'])
    expect(await world.see('later')).toMatchObject({ phase: 'SUCCEEDED' })
  })

  it('starts only when the root is finished; asked three times meanwhile, exactly one runs after it', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('x')] })
    const [x] = await world.claim()
    const { jobId } = await world.see('shop')
    for (const mode of ['STANDARD', 'IF_CHANGED', 'STANDARD'] as const) await world.reconcile(id, mode)
    expect(await world.see('shop')).toMatchObject({ phase: 'PROGRESSING', jobId })
    await world.report({ fence: x?.fence ?? '', phase: 'SUCCEEDED' })
    expect(await world.see('shop')).toMatchObject({ phase: 'PROGRESSING' })
    expect(await world.work()).toEqual(['x'])
    expect(await world.history(id)).toEqual(['PENDING', ...JOB, ...JOB])
    const root = await world.see('shop')
    expect(root.jobId).not.toBe(jobId)
    expect(root.finishedJobId).toBe(root.jobId)
    expect(await columnsOf(world, id)).toMatchObject({ nextMode: null, nextDeletion: false })
  })

  it('of deletion, asked for during a job, starts after it; deletion beats a reconcile that is remembered too', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('x')] })
    const [x] = await world.claim()
    const { jobId } = await world.see('shop')
    await world.reconcile(id, 'FORCE')
    await world.remove(id)
    await world.reconcile(id, 'FORCE')
    expect(await world.see('shop')).toMatchObject({ phase: 'PROGRESSING', jobId, deletionRequestedAt: null })
    await world.report({ fence: x?.fence ?? '', phase: 'SUCCEEDED' })
    const deleting = await world.see('shop')
    expect(deleting.phase).toBe('DELETING')
    expect(deleting.jobId).not.toBe(jobId)
    expect(await world.work()).toEqual(['x'])
    expect(await world.exists('shop')).toBe(false)
    expect(await world.history(id)).toEqual(['PENDING', ...JOB, 'INIT_DELETE', 'TRIGGER_DELETE', 'DELETING', 'GONE'])
  })

  it('re-runs every object of the tree under its id, whether or not its spec changed', async () => {
    await using world = await createWorld()
    const spec = {
      deployItems: [item('x'), item('y', ['x'])],
      installations: [nested('db', { deployItems: [item('z')] })],
    }
    const id = await world.create('shop', spec)
    await world.work()
    await world.reconcile(id)
    expect([...(await world.work())].sort()).toEqual(['x', 'y', 'z'])
    const { jobId } = await world.see('shop')
    const { rows } = await world.pool.query(
      'select count(*)::integer as n from object where root_id = $1 and phase = $2 and job_id = $3 and finished_job_id = $3',
      [id, 'SUCCEEDED', jobId],
    )
    expect(rows).toEqual([{ n: 7 }])
  })

  it('lets a child leave PENDING or a final phase only under a PROGRESSING parent', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', {
      installations: [nested('db', { exports: [{ name: 'url', value: 'u' }], deployItems: [item('x')] })],
      deployItems: [item('y')],
    })
    await world.work()
    await world.reconcile(id)
    await world.work()
    const phases = new Map<string, string>()
    const { rows: parents } = await world.pool.query<{ id: string; parent: string | null }>(
      'select id, parent_id as parent from object where root_id = $1',
      [id],
    )
    const parentOf = new Map(parents.map(({ id: own, parent }) => [own, parent]))
    const starts = (await changesOf(world, id)).filter(({ objectId, from, to }) => {
      const parent = parentOf.get(objectId)
      phases.set(objectId, to)
      if (!parent || (from !== 'PENDING' && from !== 'SUCCEEDED')) return false
      expect(phases.get(parent)).toBe('PROGRESSING')
      return true
    })
    expect(starts).toHaveLength(10)
  })

  it('builds exports from imports, items and nested installations: whole expressions as values, others as text', async () => {
    await using world = await createWorld()
    await world.setData('region', 'north')
    const id = await world.create('shop', {
      imports: [{ name: 'region' }],
      exports: [
        { name: 'ports', value: expr('deployItems.db.exports.ports') },
        { name: 'url', value: `https://${expr('imports.region')}.example:${expr('deployItems.db.exports.ports[0]')}/` },
        { name: 'all', value: { key: [expr('installations.cache.exports.key'), 1] } },
      ],
      deployItems: [item('db')],
      installations: [nested('cache', { exports: [{ name: 'key', value: { plain: true } }] })],
    })
    await world.work((work) => ({ ...succeed(work), exports: { ports: [80, 81] } }))
    const exports = { ports: [80, 81], url: 'https://north.example:80/', all: { key: [{ plain: true }, 1] } }
    expect((await columnsOf(world, id)).exports).toEqual(exports)
    expect(await dataOf(world, 'ports')).toEqual({ value: [80, 81] })
    expect(await dataOf(world, 'all')).toEqual({ value: exports.all })
  })

  it('fails in COMPLETING with EXPRESSION when its exports cannot be built', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', exporter('url'))
    await world.work()
    expect(await world.see('shop')).toMatchObject({ phase: 'FAILED', error: { code: 'EXPRESSION' } })
    expect((await world.history(id)).slice(-2)).toEqual(['COMPLETING', 'FAILED'])
  })
})

describe('observedGeneration', () => {
  it('is set to generation on entering INIT', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { imports: [{ name: 'key' }], deployItems: [item('x')] })
    expect(await world.see('shop')).toMatchObject({ phase: 'PENDING_DEPENDENCIES', observedGeneration: 0 })
    await world.setData('key', 1)
    expect(await world.see('shop')).toMatchObject({ phase: 'PROGRESSING', generation: 1, observedGeneration: 1 })
    await world.update(id, { deployItems: [item('x')] }, false)
    expect(await world.see('shop')).toMatchObject({ generation: 2, observedGeneration: 1 })
  })

  it('rises only for what changed', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('x'), item('y')], installations: [nested('db', {})] })
    await world.work()
    await world.update(id, { deployItems: [item('x'), item('y', [], { size: 2 })], installations: [nested('db', {})] })
    await world.work()
    const generations = async (...path: string[]) => {
      const { generation, observedGeneration } = await world.see(...path)
      return [generation, observedGeneration]
    }
    expect(await generations('shop')).toEqual([2, 2])
    expect(await generations('shop', EXECUTION)).toEqual([2, 2])
    expect(await generations('shop', EXECUTION, 'y')).toEqual([2, 2])
    expect(await generations('shop', EXECUTION, 'x')).toEqual([1, 1])
    expect(await generations('shop', 'db')).toEqual([1, 1])
  })
})

describe('a spec edited during a job', () => {
  it('does not disturb it: the job fails with SPEC_CHANGED in COMPLETING, the next one applies the new spec', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('x'), item('y', ['x'])] })
    const [x] = await world.claim()
    await world.update(id, { deployItems: [item('x'), item('z', ['x'])] }, false)
    await world.report({ fence: x?.fence ?? '', phase: 'SUCCEEDED' })
    expect(await world.work()).toEqual(['y'])
    expect(await world.see('shop')).toMatchObject({ phase: 'FAILED', error: { code: 'SPEC_CHANGED' } })
    expect((await world.history(id)).slice(-2)).toEqual(['COMPLETING', 'FAILED'])
    await world.reconcile(id)
    expect(await world.work()).toEqual(['y', 'x', 'z'])
    expect(await world.see('shop')).toMatchObject({ phase: 'SUCCEEDED', observedGeneration: 2, error: null })
    expect(await world.exists('shop', EXECUTION, 'y')).toBe(false)
  })

  it('is not judged by the job that runs: its imports are those of the spec that it began with', async () => {
    await using world = await createWorld()
    await world.setData('key', 80)
    const importing = (type: string, name: string) => ({
      imports: [{ name: 'key', schema: { type } }],
      deployItems: [item(name)],
    })
    const id = await world.create('shop', importing('integer', 'x'), false)
    const edits = [importing('string', 'y')]
    await using other = await anotherDriver(world, async () => {
      const spec = edits.pop()
      if (!spec) return
      expect(await world.see('shop')).toMatchObject({ phase: 'INIT' })
      await world.commands.updateInstallation(USER, { id, spec, reconcile: false })
    })
    await other.commands.reconcileInstallation(USER, { id, mode: 'STANDARD' })
    await other.engineHost.runner.reconcile(id, false)
    expect(edits).toEqual([])
    expect(await world.work()).toEqual(['x'])
    expect(await world.see('shop')).toMatchObject({ phase: 'FAILED', error: { code: 'SPEC_CHANGED' } })
  })

  it('is applied by itself when the edit asks for a job', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('x')] })
    await world.update(id, { deployItems: [item('x', [], { size: 2 })] })
    const configs: unknown[] = []
    await world.work((work) => {
      configs.push(work.config)
      return succeed(work)
    })
    expect(configs).toEqual([{}, { size: 2 }])
    expect((await world.history(id)).slice(-8)).toEqual(['COMPLETING', 'FAILED', ...JOB])
  })
})

describe('a spec edited while orphans are being cleaned up', () => {
  const sized = (size: string) => [item('keep', [], { size }), item(`only-${size}`)]
  const spec = (size: string) => ({
    exports: [{ name: 'size', value: size }],
    installations: [nested('inner', { deployItems: sized(size), installations: [nested(`deep-${size}`, {})] })],
    deployItems: sized(size),
  })
  /** A job that works from `second` and has begun to delete the nested installation `orphan`. */
  async function cleaningUp(world: World) {
    const first = { ...spec('first'), installations: [nested('orphan', { deployItems: [item('old')] })] }
    const id = await world.create('shop', first)
    await world.work()
    await world.update(id, spec('second'))
    const [old] = await world.claim()
    expect(old).toMatchObject({ name: 'old', action: 'DELETE' })
    expect(await world.see('shop')).toMatchObject({ phase: 'CLEANUP_ORPHANED', observedGeneration: 2 })
    return { id, fence: old?.fence ?? '' }
  }
  /** The actions of agents, in the order of the items' names. */
  async function worked(world: World): Promise<readonly string[]> {
    const asked: string[] = []
    await world.work((work) => {
      asked.push(`${work.action} ${work.name} ${JSON.stringify(work.config)}`)
      return succeed(work)
    })
    return asked.sort()
  }
  const keeps = (size: string) => [`RECONCILE keep {"size":"${size}"}`, `RECONCILE keep {"size":"${size}"}`]
  const SECOND = [...keeps('second'), 'RECONCILE only-second {}', 'RECONCILE only-second {}']
  const snapshots = async (world: World) =>
    (await world.pool.query<{ n: number }>('select count(*)::integer as n from spec_snapshot')).rows[0]?.n

  it('is not deployed by the job that runs: items, nested installations and exports are those of its generation', async () => {
    await using world = await createWorld()
    const { id, fence } = await cleaningUp(world)
    await world.update(id, spec('third'), false)
    await world.report({ fence, phase: 'GONE' })
    expect(await worked(world)).toEqual(['DELETE only-first {}', ...SECOND])
    expect(await world.exists('shop', 'inner', 'deep-second')).toBe(true)
    expect(await world.exists('shop', 'inner', 'deep-third')).toBe(false)
    expect(await world.see('shop')).toMatchObject({
      phase: 'FAILED',
      error: { code: 'SPEC_CHANGED' },
      generation: 3,
      observedGeneration: 2,
    })
    expect(await dataOf(world, 'size')).toEqual({ value: 'first' })
    await world.reconcile(id)
    expect(await worked(world)).toEqual([
      'DELETE only-second {}',
      'DELETE only-second {}',
      ...keeps('third'),
      'RECONCILE only-third {}',
      'RECONCILE only-third {}',
    ])
    expect(await world.see('shop')).toMatchObject({ phase: 'SUCCEEDED', observedGeneration: 3 })
    expect(await dataOf(world, 'size')).toEqual({ value: 'third' })
  })

  it('and edited again, and again to what it was, is applied by the next job alone', async () => {
    await using world = await createWorld()
    const { id, fence } = await cleaningUp(world)
    for (const size of ['third', 'fourth', 'second', 'fifth']) await world.update(id, spec(size), false)
    await world.report({ fence, phase: 'GONE' })
    expect(await worked(world)).toEqual(['DELETE only-first {}', ...SECOND])
    expect(await world.see('shop')).toMatchObject({
      error: { code: 'SPEC_CHANGED' },
      generation: 6,
      observedGeneration: 2,
    })
    await world.reconcile(id)
    expect(await worked(world)).toContain('RECONCILE keep {"size":"fifth"}')
    expect(await world.see('shop')).toMatchObject({ phase: 'SUCCEEDED', observedGeneration: 6 })
  })

  it('leaves the job its imports, for nested installations and items', async () => {
    await using world = await createWorld()
    await world.setData('key', 'one')
    const importing = { imports: [{ name: 'key' }], deployItems: [using('use', ['key'])] }
    const own = { ...importing, installations: [nested('inner', importing)] }
    const id = await world.create('shop', { installations: [nested('orphan', { deployItems: [item('old')] })] })
    await world.work()
    await world.update(id, own)
    const [old] = await world.claim()
    await world.update(id, { deployItems: [item('other')] }, false)
    await world.report({ fence: old?.fence ?? '', phase: 'GONE' })
    expect(await worked(world)).toEqual(['RECONCILE use {"key":"one"}', 'RECONCILE use {"key":"one"}'])
    expect(await world.see('shop')).toMatchObject({ phase: 'FAILED', error: { code: 'SPEC_CHANGED' } })
  })

  it('is kept for the next job by a process that takes over in the middle, too', async () => {
    await using world = await createWorld()
    const { id, fence } = await cleaningUp(world)
    await world.update(id, spec('third'), false)
    await using other = await anotherDriver(world)
    await other.engineHost.agents.report(DEPLOYER, [{ fence, phase: 'GONE' }])
    for (let due = await world.due(); due.length > 0; due = await world.due()) {
      for (const rootId of due) await other.engineHost.runner.reconcile(rootId, false)
    }
    expect(await worked(world)).toEqual(['DELETE only-first {}', ...SECOND])
    expect(await world.see('shop')).toMatchObject({ phase: 'FAILED', error: { code: 'SPEC_CHANGED' } })
  })

  it('before its job could keep a spec, as before an upgrade of the server, is taken in as it was then', async () => {
    await using world = await createWorld()
    const { id, fence } = await cleaningUp(world)
    await world.update(id, spec('third'), false)
    await world.pool.query('delete from spec_snapshot')
    await world.report({ fence, phase: 'GONE' })
    expect(await worked(world)).toContain('RECONCILE keep {"size":"third"}')
    expect(await world.see('shop')).toMatchObject({ phase: 'FAILED', error: { code: 'SPEC_CHANGED' } })
  })

  it('is never deployed when a deletion was asked for too', async () => {
    await using world = await createWorld()
    const { id, fence } = await cleaningUp(world)
    await world.update(id, spec('third'), false)
    await world.remove(id)
    await world.report({ fence, phase: 'GONE' })
    const asked = await worked(world)
    expect(asked.filter((work) => work.includes('third'))).toEqual([])
    expect(asked).toEqual(expect.arrayContaining(SECOND))
    expect(await world.exists('shop')).toBe(false)
    expect(await rowsOf(world, id)).toEqual({})
  })

  it('is kept beside the spec that the job works from no longer than the job runs, however it ends', async () => {
    await using world = await createWorld()
    const { id, fence } = await cleaningUp(world)
    expect(await snapshots(world)).toBe(0)
    await world.update(id, spec('third'), false)
    await world.update(id, spec('fourth'), false)
    expect(await snapshots(world)).toBe(1)
    await world.cancel(id)
    await world.report({ fence, phase: 'GONE' })
    expect(await world.see('shop')).toMatchObject({ phase: 'ABORTED', generation: 4, observedGeneration: 2 })
    expect(await snapshots(world)).toBe(0)
    await world.update(id, spec('fifth'), false)
    expect(await snapshots(world)).toBe(0)
    await world.reconcile(id)
    expect(await worked(world)).toContain('RECONCILE keep {"size":"fifth"}')
    expect(await world.see('shop')).toMatchObject({ phase: 'SUCCEEDED', observedGeneration: 5 })
  })
})

describe('the combined phase', () => {
  it('is FAILED only after nothing below is running, and the error names the failed children', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', {
      deployItems: [item('a'), item('b'), item('c', ['a'])],
      installations: [nested('db', { deployItems: [item('d')] }), nested('log', {})],
    })
    const claimed = new Map((await world.claim()).map((work) => [work.name, work.fence]))
    expect([...claimed.keys()].sort()).toEqual(['a', 'b', 'd'])
    await world.report({ fence: claimed.get('a') ?? '', ...FAILED })
    await world.report({ fence: claimed.get('d') ?? '', ...FAILED })
    expect(await world.see('shop')).toMatchObject({ phase: 'PROGRESSING' })
    expect(await world.see('shop', EXECUTION)).toMatchObject({ phase: 'PROGRESSING', error: null })
    expect(await world.see('shop', 'db')).toMatchObject({ phase: 'FAILED' })
    await world.report({ fence: claimed.get('b') ?? '', phase: 'SUCCEEDED' })
    expect(await world.see('shop', EXECUTION)).toMatchObject({
      phase: 'FAILED',
      error: { code: 'CHILDREN_FAILED', causeCount: 1, causes: [{ name: 'a', code: 'BROKEN' }] },
    })
    const root = await world.see('shop')
    expect(root).toMatchObject({ phase: 'FAILED', error: { code: 'CHILDREN_FAILED', causeCount: 2 } })
    expect(root.error?.causes.map(({ name }) => name).sort()).toEqual(['db', EXECUTION])
    expect(root.error?.message).toBe('db (d: BROKEN), deploy-items (a: BROKEN) did not succeed.')
    expect(await world.see('shop', EXECUTION, 'c')).toMatchObject({ phase: 'PENDING', jobId: null })
    const order = (await changesOf(world, id)).filter(({ to }) => to === 'SUCCEEDED' || to === 'FAILED')
    expect(order.map(({ name }) => name).slice(-3)).toEqual(['b', EXECUTION, 'shop'])
  })

  it('is SUCCEEDED only if all are', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', {
      installations: [nested('a', {}), nested('b', { deployItems: [item('x')] })],
    })
    expect(await world.see('shop', 'a')).toMatchObject({ phase: 'SUCCEEDED' })
    expect(await world.see('shop')).toMatchObject({ phase: 'PROGRESSING' })
    await world.work()
    expect(reached(await changesOf(world, id), 'SUCCEEDED', 'INSTALLATION')).toEqual(['a', 'b', 'shop'])
  })
})

describe('last good exports', () => {
  it('stay readable until new ones replace them: a failing re-run takes nothing away', async () => {
    await using world = await createWorld()
    const id = await world.create('db', exporter('url'))
    await world.work((work) => ({ ...succeed(work), exports: { url: 'one' } }))
    await world.reconcile(id)
    expect(await dataOf(world, 'url')).toEqual({ value: 'one' })
    await world.work(() => FAILED)
    expect(await world.see('db')).toMatchObject({ phase: 'FAILED' })
    expect(await dataOf(world, 'url')).toEqual({ value: 'one' })
    expect((await columnsOf(world, id)).exports).toEqual({ url: 'one' })
    await world.reconcile(id)
    await world.work((work) => ({ ...succeed(work), exports: { url: 'two' } }))
    expect(await dataOf(world, 'url')).toEqual({ value: 'two' })
  })

  it('are dropped once a job succeeds without them, not before', async () => {
    await using world = await createWorld()
    const id = await world.create('db', {
      exports: [
        { name: 'a', value: 1 },
        { name: 'b', value: 2 },
      ],
    })
    await world.update(id, { exports: [{ name: 'a', value: 1 }] }, false)
    expect(await dataOf(world, 'b')).toEqual({ value: 2 })
    await world.reconcile(id)
    expect(await dataOf(world, 'b')).toBeNull()
    expect(await dataOf(world, 'a')).toEqual({ value: 1 })
  })
})
