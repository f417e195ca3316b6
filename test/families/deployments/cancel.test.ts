import { v7 } from 'uuid'
import { describe, expect, it } from 'vitest'
import type { Viewer } from '../../../src/core/ports/viewer.ts'
import { WORK_STATE } from '../../../src/core/tree.ts'
import { anotherDriver, columnsOf, everything, exporter, importer } from '../../testkit/deployments.ts'
import {
  at,
  broken,
  EXECUTION,
  itemsOf,
  logOf,
  named,
  names,
  only,
  pass,
  refused,
  renewed,
  tryAgain,
} from '../../testkit/items.ts'
import { viewerOf } from '../../testkit/viewers.ts'
import { createWorld, DEPLOYER, item, TIMEOUTS, USER, type World } from '../../testkit/world.ts'

const cancelOf = (world: World, id: string, viewer: Viewer = USER) => world.commands.cancelInstallation(viewer, { id })
const claimLong = (world: World, max = 500) => world.claim(max, DEPLOYER, ['mock'], 600_000)

async function phases(world: World, ...paths: (readonly string[])[]) {
  const seen = await Promise.all(paths.map((path) => world.see(...path)))
  return seen.map(({ phase }) => phase)
}

/** `world.claim` asks for it. */
const LEASE_MS = 30_000

describe('cancel', () => {
  it('is sealed: nothing is triggered after it, whatever ends well', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a'), item('b', ['a']), item('c', ['b'])] })
    const { fence } = only(await world.claim())
    await world.cancel(id)
    expect((await world.see('shop')).phase).toBe('PROGRESSING')
    expect(await world.report({ fence, phase: 'SUCCEEDED' })).toBe(true)
    expect(await itemsOf(world)).toEqual({ a: 'SUCCEEDED', b: 'PENDING', c: 'PENDING' })
    expect(await phases(world, ['shop'], EXECUTION)).toEqual(['ABORTED', 'ABORTED'])
    expect(await world.claim()).toEqual([])
  })

  it('makes ABORTED what is in PENDING_DEPENDENCIES or was triggered and not picked up; never triggered stays', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', {
      installations: [
        { name: 'db', spec: exporter('url') },
        { name: 'app', spec: importer('url') },
      ],
      deployItems: [{ ...item('offered'), type: 'other' }, item('waits', ['offered'])],
    })
    const make = only(await world.claim())
    expect((await world.see('shop', 'app')).phase).toBe('PENDING_DEPENDENCIES')
    await world.cancel(id)
    expect(await phases(world, ['shop', 'app'], EXECUTION)).toEqual(['ABORTED', 'ABORTED'])
    expect(await itemsOf(world)).toEqual({ offered: 'ABORTED', waits: 'PENDING' })
    expect(await world.see(...at('offered'))).toMatchObject({ error: { code: 'ABORTED' } })
    expect(await phases(world, ['shop'], ['shop', 'db'])).toEqual(['PROGRESSING', 'PROGRESSING'])
    expect(await renewed(world, make.fence)).toBe('ABORT_REQUESTED')
    await world.report({ fence: make.fence, phase: 'ABORTED' })
    expect(await phases(world, ['shop'], ['shop', 'db'])).toEqual(['ABORTED', 'ABORTED'])
    const root = await world.see('shop')
    expect(root).toMatchObject({ error: { code: 'ABORTED', message: expect.stringContaining('ada') } })
    expect(root.finishedJobId).toBe(root.jobId)
  })

  it('ends a root that waits for an import or another root', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', importer('url'))
    expect((await world.see('shop')).phase).toBe('PENDING_DEPENDENCIES')
    await world.cancel(id)
    expect((await world.see('shop')).phase).toBe('ABORTED')
    expect(await world.exists(...EXECUTION)).toBe(false)
  })

  it('waits for every running item: the installation is ABORTED when all are finished', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a'), item('b'), item('c')] })
    const claimed = await world.claim()
    await world.cancel(id)
    await world.report({ fence: named(claimed, 'a').fence, phase: 'ABORTED' })
    await world.report({ fence: named(claimed, 'b').fence, ...broken })
    expect(await phases(world, ['shop'], EXECUTION)).toEqual(['PROGRESSING', 'PROGRESSING'])
    await world.report({ fence: named(claimed, 'c').fence, phase: 'SUCCEEDED' })
    expect(await itemsOf(world)).toEqual({ a: 'ABORTED', b: 'FAILED', c: 'SUCCEEDED' })
    expect(await phases(world, ['shop'], EXECUTION)).toEqual(['ABORTED', 'ABORTED'])
  })

  it('is of one job: the next one runs as if nothing had been', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a'), item('b', ['a'])] })
    await world.cancel(id)
    expect((await world.see('shop')).phase).toBe('ABORTED')
    await world.reconcile(id)
    expect(await world.work()).toEqual(['a', 'b'])
    for (const path of [['shop'], EXECUTION, at('a')]) {
      expect(await world.see(...path)).toMatchObject({ phase: 'SUCCEEDED', error: null })
    }
  })

  it('touches one tree only', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a')] })
    await world.create('other', { deployItems: [item('a')] })
    await world.cancel(id)
    expect(await phases(world, ['shop'], ['other'])).toEqual(['ABORTED', 'PROGRESSING'])
    expect(await world.work()).toEqual(['a'])
    expect((await world.see('other')).phase).toBe('SUCCEEDED')
  })

  it('while orphans are being deleted stops that too; the next job continues it', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('stays'), item('x'), item('y', ['x'])] })
    await world.work()
    await world.update(id, { deployItems: [item('stays')] })
    const { fence } = only(await world.claim())
    await world.cancel(id)
    expect((await world.see(...EXECUTION)).phase).toBe('INIT')
    await world.report({ fence, phase: 'DELETE_FAILED' })
    expect(await itemsOf(world)).toMatchObject({ stays: 'SUCCEEDED', x: 'SUCCEEDED', y: 'DELETE_FAILED' })
    expect(await phases(world, ['shop'], EXECUTION)).toEqual(['ABORTED', 'ABORTED'])
    await world.reconcile(id)
    expect(await world.work()).toEqual(['y', 'x', 'stays'])
    expect(await itemsOf(world)).toEqual({ stays: 'SUCCEEDED' })
  })
})

describe('a running item', () => {
  it.each([
    ['the server’s default', {}, TIMEOUTS.abortingMs],
    ['its own', { aborting: { ms: 777 } }, 777],
  ])('gets an abort request with a deadline of its own: %s', async (_, timeouts, limit) => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [{ ...item('a'), timeouts }] })
    const { fence, objectId } = only(await claimLong(world))
    await pass(world, 100_000)
    await world.cancel(id)
    await pass(world, limit - 1)
    expect(await phases(world, ['shop'], at('a'))).toEqual(['PROGRESSING', 'PROGRESSING'])
    expect(await renewed(world, fence)).toBe('ABORT_REQUESTED')
    await pass(world, 1)
    expect(await world.see(...at('a'))).toMatchObject({ phase: 'FAILED', error: { code: 'ABORTING_TIMEOUT' } })
    expect((await logOf(world, objectId)).at(-1)?.actor).toBe('CONTROLLER')
    expect(await world.see('shop')).toMatchObject({ phase: 'ABORTED', error: { code: 'ABORTED' } })
  })

  it('keeps its deadline when the cancel is asked again', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a')] })
    await claimLong(world)
    await world.cancel(id)
    await pass(world, TIMEOUTS.abortingMs - 1)
    await world.cancel(id)
    await pass(world, 1)
    expect(await phases(world, ['shop'], at('a'))).toEqual(['ABORTED', 'FAILED'])
  })

  it('that its deployer stops is ABORTED', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a')] })
    const { fence } = only(await world.claim())
    await world.cancel(id)
    expect(await world.report({ fence, phase: 'ABORTED' })).toBe(true)
    expect(await world.see(...at('a'))).toMatchObject({ phase: 'ABORTED', error: { code: 'ABORTED' } })
    // Its answer was lost.
    expect(await world.report({ fence, phase: 'ABORTED' })).toBe(false)
    const { rows } = await world.pool.query('select state, lease_watched from work')
    expect(rows).toEqual([{ state: WORK_STATE.DONE, lease_watched: false }])
  })

  it('that its deployer returns instead is ABORTED and not offered again', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a')] })
    const { fence } = only(await world.claim())
    await world.cancel(id)
    await world.report({ fence, phase: 'PROGRESSING', error: tryAgain })
    expect(await phases(world, ['shop'], at('a'))).toEqual(['ABORTED', 'ABORTED'])
    await pass(world, 3_600_000)
    expect(await world.claim()).toEqual([])
  })

  it('that was returned before and has no agent ends at once', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a')] })
    const { fence } = only(await world.claim())
    await world.report({ fence, phase: 'PROGRESSING', error: tryAgain })
    await world.cancel(id)
    expect(await world.see(...at('a'))).toMatchObject({ phase: 'ABORTED', error: { code: 'ABORTED' } })
    expect((await world.see('shop')).phase).toBe('ABORTED')
  })

  it('whose lease is over, or ends without an answer, needs none: it is ABORTED', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a'), item('b')] })
    const claimed = await world.claim()
    await pass(world, LEASE_MS)
    expect(await phases(world, ['shop'], at('a'))).toEqual(['PROGRESSING', 'PROGRESSING'])
    await world.cancel(id)
    expect(await phases(world, ['shop'], at('a'), at('b'))).toEqual(['ABORTED', 'ABORTED', 'ABORTED'])
    expect(await world.report({ fence: claimed[0]?.fence ?? '', phase: 'SUCCEEDED' })).not.toBe(true)
    const other = await world.create('other', { deployItems: [item('c')] })
    await world.claim()
    await world.cancel(other)
    await pass(world, LEASE_MS - 1)
    expect((await world.see('other')).phase).toBe('PROGRESSING')
    await pass(world, 1)
    expect((await world.see('other')).phase).toBe('ABORTED')
  })

  it('that was asked to stop before, by a timeout, is what the timeout makes it', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', {
      deployItems: [{ ...item('a'), timeouts: { progressing: { ms: 60_000 } } }],
    })
    const { fence } = only(await claimLong(world))
    await pass(world, 60_000)
    await pass(world, 100_000)
    await world.cancel(id)
    await world.report({ fence, phase: 'ABORTED' })
    expect(await world.see(...at('a'))).toMatchObject({ phase: 'FAILED', error: { code: 'PROGRESSING_TIMEOUT' } })
    expect((await world.see('shop')).phase).toBe('ABORTED')
  })

  it('that was asked to stop by a timeout is ABORTED when its lease ends', async () => {
    await using world = await createWorld()
    const timeouts = { progressing: { ms: LEASE_MS - 1_000 } }
    const id = await world.create('shop', { deployItems: [{ ...item('a'), timeouts }] })
    await world.claim()
    await pass(world, LEASE_MS - 1_000)
    await world.cancel(id)
    await pass(world, 1_000)
    expect(await phases(world, ['shop'], at('a'))).toEqual(['ABORTED', 'ABORTED'])
  })
})

describe('cancel during deletion', () => {
  it('ends in DELETE_FAILED with code ABORTED; what was not picked up too, what was not triggered stays', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('base'), item('x', ['base']), item('y', ['base'])] })
    await world.work()
    await world.remove(id)
    const { fence, name } = only(await world.claim(1))
    expect(name).toBe('x')
    await world.cancel(id)
    expect(await itemsOf(world)).toEqual({ base: 'SUCCEEDED', x: 'DELETING', y: 'DELETE_FAILED' })
    expect(await renewed(world, fence)).toBe('ABORT_REQUESTED')
    await world.report({ fence, phase: 'GONE' })
    expect(await itemsOf(world)).toEqual({ base: 'SUCCEEDED', y: 'DELETE_FAILED' })
    expect(await world.see(...at('y'))).toMatchObject({ error: { code: 'ABORTED' } })
    for (const path of [EXECUTION, ['shop']]) {
      expect(await world.see(...path)).toMatchObject({ phase: 'DELETE_FAILED', error: { code: 'ABORTED' } })
    }
    await world.remove(id)
    expect(await world.work()).toEqual(['y', 'base'])
    expect(await world.exists('shop')).toBe(false)
  })

  it('of an item that does not stop ends with its aborting timeout', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a')] })
    await world.work()
    await world.remove(id)
    await claimLong(world)
    await world.cancel(id)
    await pass(world, TIMEOUTS.abortingMs - 1)
    expect((await world.see(...at('a'))).phase).toBe('DELETING')
    await pass(world, 1)
    expect(await world.see(...at('a'))).toMatchObject({ phase: 'DELETE_FAILED', error: { code: 'ABORTING_TIMEOUT' } })
    expect(await world.see('shop')).toMatchObject({ phase: 'DELETE_FAILED', error: { code: 'ABORTED' } })
  })

  it('while it waits for a sibling that is going itself ends in DELETE_FAILED with code ABORTED', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', exporter('url'))
    await world.work(() => ({ phase: 'SUCCEEDED', exports: { url: 1 } }))
    const app = await world.create('app', importer('url'))
    await world.work()
    await world.remove(app)
    await world.remove(id)
    expect((await world.see('shop')).phase).toBe('INIT_DELETE')
    await world.cancel(id)
    expect(await world.see('shop')).toMatchObject({ phase: 'DELETE_FAILED', error: { code: 'ABORTED' } })
    expect(await itemsOf(world)).toEqual({ make: 'SUCCEEDED' })
  })
})

describe('what is remembered', () => {
  it('a reconcile is dropped', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a')] })
    const { fence } = only(await world.claim())
    await world.reconcile(id, 'FORCE')
    await world.cancel(id)
    await world.report({ fence, phase: 'ABORTED' })
    const root = await world.see('shop')
    expect(root.phase).toBe('ABORTED')
    expect(root.finishedJobId).toBe(root.jobId)
    expect(await columnsOf(world, id)).toMatchObject({ nextMode: null, nextDeletion: false })
    expect(await world.claim()).toEqual([])
  })

  it('a reconcile that held a new spec is dropped, and the log says by whom, and that no job has used the spec', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a')] })
    const { fence } = only(await world.claim())
    await world.update(id, { deployItems: [item('a'), item('fix')] })
    await world.cancel(id)
    await world.cancel(id)
    await world.report({ fence, phase: 'ABORTED' })
    expect(await world.see('shop')).toMatchObject({ phase: 'ABORTED', generation: 2, observedGeneration: 1 })
    const { rows } = await world.pool.query(
      `select reason, message, by from phase_change where object_id = $1 and reason like '%dropped'`,
      [id],
    )
    const message = 'The job that was to follow is dropped. No job has used generation 2: reconcile it.'
    expect(rows).toEqual([{ reason: 'reconcile dropped', message, by: USER.name }])
  })

  it('a deletion is kept, and runs afterwards as a job of its own', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a')] })
    const { fence, jobId } = only(await world.claim())
    await world.remove(id)
    await world.cancel(id)
    expect((await world.see('shop')).phase).toBe('PROGRESSING')
    await world.report({ fence, phase: 'ABORTED' })
    expect(await world.history(id)).toContain('ABORTED')
    const deletion = only(await world.claim())
    expect(deletion.action).toBe('DELETE')
    expect(deletion.jobId).not.toBe(jobId)
    await world.report({ fence: deletion.fence, phase: 'GONE' })
    expect(await world.exists('shop')).toBe(false)
  })

  it('a reconcile that is asked for after the cancel runs afterwards', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a')] })
    const { fence, jobId } = only(await world.claim())
    await world.cancel(id)
    await world.reconcile(id)
    expect(await world.claim()).toEqual([])
    await world.report({ fence, phase: 'ABORTED' })
    const next = only(await world.claim())
    expect(next.jobId).not.toBe(jobId)
    await world.report({ fence: next.fence, phase: 'SUCCEEDED' })
    expect((await world.see('shop')).phase).toBe('SUCCEEDED')
  })
})

describe('cancelling what is finished', () => {
  it('is a TransitionError, and nothing is written but the rejection record', async () => {
    await using world = await createWorld()
    const fresh = await world.create('fresh', { deployItems: [item('a')] }, false)
    const good = await world.create('good', {})
    const bad = await world.create('bad', { deployItems: [item('a')] })
    await world.work(() => broken)
    for (const [id, from] of [
      [fresh, 'PENDING'],
      [good, 'SUCCEEDED'],
      [bad, 'FAILED'],
    ] as const) {
      const { log_content: _, log_object: __, log_batch: ___, ...before } = await everything(world)
      expect(await refused(cancelOf(world, id))).toMatchObject({
        type: 'TransitionError',
        kind: 'INSTALLATION',
        from,
        to: 'ABORTED',
        actor: 'USER',
        allowed: [],
      })
      await world.settle()
      const { log_content: ____, log_object: _____, log_batch: ______, ...after } = await everything(world)
      expect(after).toEqual(before)
      expect((await logOf(world, id)).at(-1)).toMatchObject({ from, to: 'ABORTED', by: 'ada', rejected: true })
    }
  })

  it('is NotFoundError when it does not exist or may not be seen; only roots can be asked, and not by readers', async () => {
    await using world = await createWorld()
    const spec = { installations: [{ name: 'db', spec: { deployItems: [item('a')] } }] }
    const id = await world.create('shop', spec)
    const nested = await world.see('shop', 'db')
    expect(await refused(cancelOf(world, v7()))).toMatchObject({ type: 'NotFoundError' })
    expect(await refused(cancelOf(world, id, viewerOf('USER', { projects: [v7()] })))).toMatchObject({
      type: 'NotFoundError',
    })
    expect(await refused(cancelOf(world, nested.id))).toMatchObject({
      type: 'InvalidInputError',
      message: expect.stringContaining(id),
    })
    expect(await refused(cancelOf(world, id, viewerOf('READER')))).toMatchObject({ type: 'ForbiddenError' })
    expect(await refused(cancelOf(world, id, DEPLOYER))).toMatchObject({ type: 'ForbiddenError' })
    expect((await world.see('shop')).phase).toBe('PROGRESSING')
  })
})

describe('cancel against claim', () => {
  it('the cancel comes first, and no engine has reconciled yet: nothing is claimed', async () => {
    await using world = await createWorld()
    const id = await world.create('shop', { deployItems: [item('a')] })
    expect(await cancelOf(world, id)).toMatchObject({ ok: true })
    expect(await world.claim()).toEqual([])
    expect(await phases(world, ['shop'], at('a'))).toEqual(['ABORTED', 'ABORTED'])
  })

  it('both at once, in two processes: one wins, and the loser gets an error', async () => {
    await using world = await createWorld()
    await using other = await anotherDriver(world)
    for (let i = 0; i < 10; i++) {
      const name = `race-${i}`
      const id = await world.create(name, { deployItems: [item('a')] })
      const [claim, cancel] = await race(
        i,
        () => world.engineHost.agents.claim(DEPLOYER, { ...CLAIM, instance: name }),
        () => other.commands.cancelInstallation(USER, { id }),
      )
      expect(cancel).toMatchObject({ ok: true })
      await world.settle()
      const claimed = claim.ok ? claim.items : []
      const { phase } = await world.see(name, 'deploy-items', 'a')
      if (claimed.length === 0) expect(phase).toBe('ABORTED')
      else {
        expect(phase).toBe('PROGRESSING')
        const { fence } = only(claimed)
        expect(await renewed(world, fence)).toBe('ABORT_REQUESTED')
        await world.report({ fence, phase: 'ABORTED' })
      }
      expect((await world.see(name)).phase).toBe('ABORTED')
    }
  })

  it('against the report of the last item’s success: either it was in time, or it is refused', async () => {
    await using world = await createWorld()
    await using other = await anotherDriver(world)
    for (let i = 0; i < 10; i++) {
      const name = `last-${i}`
      const id = await world.create(name, { deployItems: [item('a')] })
      const { fence } = only(await world.claim())
      const [, cancel] = await race(
        i,
        () => world.engineHost.agents.report(DEPLOYER, [{ fence, phase: 'SUCCEEDED' }]),
        () => other.commands.cancelInstallation(USER, { id }),
      )
      await world.settle()
      const { phase } = await world.see(name)
      if (cancel.ok) expect(phase).toBe('ABORTED')
      else {
        expect(cancel).toMatchObject({ ok: false, refusal: { type: 'TransitionError', from: 'SUCCEEDED' } })
        expect(phase).toBe('SUCCEEDED')
      }
      expect(names(await world.claim())).toEqual([])
    }
  })
})

const CLAIM = { types: ['mock'], targets: null, max: 5, leaseMs: LEASE_MS }
/** Both at once; in every other round the second one is asked first. */
async function race<A, B>(round: number, a: () => Promise<A>, b: () => Promise<B>): Promise<[A, B]> {
  if (round % 2 === 0) return Promise.all([a(), b()])
  const [second, first] = await Promise.all([b(), a()])
  return [first, second]
}
