import { describe, expect, it } from 'vitest'
import {
  ClientError,
  type CrmContext,
  type CrmDriver,
  type CrmError,
  type CrmObject,
  type CrmOptions,
  CrmProblem,
  type CrmRequest,
  createClient,
  runCrm,
} from '../../src/client/index.ts'
import { until } from '../testkit/wait.ts'
import { type Asked, CLOUDLET, startCrmServer, TOKEN } from './crm-server.ts'
import type { TinyOptions } from './tiny-server.ts'

type Call = { readonly request: CrmRequest; readonly context: CrmContext } & PromiseWithResolvers<void>

/** A driver whose every call is ended by the test, or by its signal after `stopping` resolves. */
function handDriver(stopping: Promise<void> = Promise.resolve()) {
  const calls: Call[] = []
  const objects: CrmObject[] = []
  const lists = { count: 0 }
  const call = (request: CrmRequest, context: CrmContext): Promise<void> => {
    const one = { request, context, ...Promise.withResolvers<void>() }
    calls.push(one)
    const stop = () => void stopping.then(() => one.reject(new Error('stopped')))
    context.signal.addEventListener('abort', stop, { once: true })
    return one.promise
  }
  const driver: CrmDriver = {
    list: () => {
      lists.count += 1
      return Promise.resolve([...objects])
    },
    create: call,
    update: call,
    delete: call,
  }
  const nth = (n: number) => until(() => calls[n], { what: `call ${n}` })
  return { driver, calls, objects, lists, nth }
}
const object = (path: string, more: Partial<CrmObject> = {}): CrmObject => {
  const parts = [CLOUDLET, ...path.split('/')]
  return {
    kind: parts.length === 2 ? 'CLUSTER_INST' : 'APP_INST',
    path: parts,
    phase: 'READY',
    specRevision: 1,
    ...more,
  }
}

async function startAll(options: Partial<CrmOptions> = {}, wire: Partial<TinyOptions> = {}, hand = handDriver()) {
  const server = await startCrmServer(wire)
  const client = createClient({ url: server.tiny.url, token: TOKEN })
  const stop = new AbortController()
  const problems: CrmError[] = []
  const running = runCrm({
    client,
    cloudletId: CLOUDLET,
    instance: 'crm-1',
    version: '1.0.0',
    // A pause of this process costs no session.
    leaseMs: 30_000,
    driver: hand.driver,
    signal: stop.signal,
    onProblem: (problem) => problems.push(problem),
    ...options,
  })
  running.catch(() => {})
  return {
    server,
    stop,
    running,
    problems,
    ...hand,
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running.catch(() => {})
      await client.close()
      await server[Symbol.asyncDispose]()
    },
  }
}
const closed = (asked: Asked) => until(() => !asked.open, { what: `${asked.action} of ${asked.path} has ended` })
const connected = (server: { connects: readonly unknown[] }, times = 1) =>
  until(() => server.connects.length >= times, { what: `connected ${times} times` })
const count = (list: readonly { phase?: string }[], phase: string) => list.filter((one) => one.phase === phase).length

describe('runCrm', () => {
  it('connects with its objects, works on requests, and reports progress', async () => {
    const hand = handDriver()
    hand.objects.push(object('c1'), object('c1/a1', { specRevision: 7 }))
    await using crm = await startAll({}, {}, hand)
    const { server, nth } = crm
    await connected(server)
    expect(server.connects).toMatchObject([{ instance: 'crm-1', role: 'CRM', version: '1.0.0', objects: hand.objects }])

    const asked = server.ask('c2', 'CREATE', { spec: { nodes: 3 } })
    const { request, context, resolve } = await nth(0)
    expect(request).toMatchObject({ path: [CLOUDLET, 'c2'], action: 'CREATE', spec: { nodes: 3 } })
    // The CRM reports CREATING before it begins, since the request may have been withdrawn.
    expect(asked.phases).toEqual(['CREATING'])
    // Free functions, as a driver may take them out of the context.
    const { progress, log } = context
    progress('network', 1, 2)
    log('STDOUT', 'a line')
    await until(() => server.reports.some(({ progress }) => progress?.step === 'network'), { what: 'progress' })
    resolve()
    await closed(asked)
    expect(asked.phases).toEqual(['CREATING', 'READY'])
    expect(server.lines.map(({ stream, text }) => `${stream} ${text}`)).toEqual(['STEP network', 'STDOUT a line'])
    expect(server.lines.every(({ fence }) => fence === asked.fence)).toBe(true)

    const [updated, deleted] = [server.ask('c2', 'UPDATE'), server.ask('c1/a1', 'DELETE')]
    ;(await nth(1)).resolve()
    ;(await nth(2)).resolve()
    await closed(updated)
    await closed(deleted)
    expect([updated.phases, deleted.phases]).toEqual([
      ['UPDATING', 'READY'],
      ['DELETING', 'NOT_PRESENT'],
    ])
    crm.stop.abort()
    expect(await crm.running).toBe('STOPPED')
    await until(() => server.session()?.over, { what: 'the session is over' })
  })

  it('looks at its list now and then, and connects again when others have changed something', async () => {
    const hand = handDriver()
    hand.objects.push(object('c1'))
    await using crm = await startAll({ lookMs: 50 }, {}, hand)
    const { server, nth } = crm
    await connected(server)
    const { resolve } = await Promise.resolve(server.ask('c2', 'CREATE')).then(() => nth(0))
    hand.objects.push(object('c2'))
    resolve()
    const looks = hand.lists.count
    // The CRM has reported this object itself, so there is no news in it.
    await until(() => hand.lists.count > looks + 3, { what: 'it looks' })
    expect(server.connects).toHaveLength(1)
    hand.objects[0] = object('c1', { specRevision: null })
    await connected(server, 2)
    expect(server.connects[1]?.objects).toEqual([object('c1', { specRevision: null }), object('c2')])
    hand.objects.length = 1
    await connected(server, 3)
    const again = hand.lists.count
    await until(() => hand.lists.count > again + 3, { what: 'it looks' })
    expect(server.connects).toHaveLength(3)
  })

  it('tells the last progress before the end', async () => {
    await using crm = await startAll()
    const { server, nth } = crm
    const received = () => server.reports.map(({ phase, progress }) => phase ?? progress?.value)
    const made = server.ask('c1', 'CREATE')
    const first = await nth(0)
    for (let value = 1; value <= 10; value += 1) first.context.progress('making', value, 10)
    first.resolve()
    await closed(made)
    expect(received()).toEqual(['CREATING', 1, 10, 'READY'])
    const failing = server.ask('c1', 'UPDATE')
    const second = await nth(1)
    for (let value = 1; value <= 10; value += 1) second.context.progress('changing', value, 10)
    second.reject(new Error('no luck'))
    await closed(failing)
    expect(received().slice(4)).toEqual(['UPDATING', 1, 10, 'UPDATE_ERROR'])
  })

  it('tells users why something failed, and nothing that may be secret', async () => {
    await using crm = await startAll()
    const { server, nth } = crm
    const [quota, bug] = [server.ask('c1', 'CREATE'), server.ask('c2', 'DELETE')]
    const calls = [await nth(0), await nth(1)]
    const of = (asked: Asked) => calls.find(({ request }) => request.path.join() === asked.path.join())
    of(quota)?.reject(new CrmProblem(`No room.\n at secret.ts ${'x'.repeat(1_000)}`, 'QUOTA_EXCEEDED'))
    of(bug)?.reject(Object.assign(new TypeError('password=hunter2'), { code: 'ECONNREFUSED' }))
    await closed(quota)
    await closed(bug)
    expect(quota.phases).toEqual(['CREATING', 'CREATE_ERROR'])
    expect(quota.error).toEqual({ code: 'QUOTA_EXCEEDED', message: 'No room.' })
    expect(bug.phases).toEqual(['DELETING', 'DELETE_ERROR'])
    expect(bug.error).toEqual({ code: 'CRM_FAILED', message: 'The CRM failed (TypeError: ECONNREFUSED).' })
    // The operator of the CRM sees the whole error.
    expect(crm.problems.map(({ error }) => error.message)).toContain('password=hunter2')
  })

  it('knows its request by what was asked, whatever the driver makes of it', async () => {
    await using crm = await startAll()
    const asked = crm.server.ask('c1', 'CREATE')
    const { request, resolve } = await crm.nth(0)
    Object.assign(request, { fence: 'f', objectId: 'o', action: 'DELETE' })
    ;(request.path as string[]).length = 0
    resolve()
    await closed(asked)
    expect(asked.phases).toEqual(['CREATING', 'READY'])
  })

  it('does a request once, however often it comes, and repeats its end', async () => {
    await using crm = await startAll()
    const { server, calls, nth } = crm
    const asked = server.ask('c1', 'CREATE')
    const { resolve } = await nth(0)
    const { reports } = server
    server.resend(asked)
    server.resend(asked)
    server.resend(server.ask('c2', 'CREATE'))
    // The later request has arrived, so the repetitions before it have arrived as well.
    ;(await nth(1)).resolve()
    expect(calls).toHaveLength(2)
    resolve()
    await closed(asked)
    server.resend(asked)
    await until(
      () =>
        count(
          reports.filter(({ fence }) => fence === asked.fence),
          'READY',
        ) === 2,
      { what: 'repeated' },
    )
    expect(calls).toHaveLength(2)
    expect(asked.phases.at(-1)).toBe('READY')
  })

  it('stops the earlier request for an object, and does the newer one once that has stopped', async () => {
    const stopping = Promise.withResolvers<void>()
    await using crm = await startAll({}, {}, handDriver(stopping.promise))
    const { server, calls, nth } = crm
    const created = server.ask('c1', 'CREATE')
    const first = await nth(0)
    const deleted = server.ask('c1', 'DELETE')
    await until(() => first.context.signal.aborted, { what: 'asked to stop' })
    expect(first.context.signal.reason).toBe('REPLACED')
    const other = server.ask('c2', 'CREATE')
    const second = await nth(1)
    second.resolve()
    await closed(other)
    // All that time the earlier one has not stopped.
    expect([calls.length, deleted.phases]).toEqual([2, []])
    server.resend({ ...created, fence: first.request.fence })
    stopping.resolve()
    const third = await nth(2)
    expect(third.request.action).toBe('DELETE')
    third.resolve()
    await closed(deleted)
    expect(deleted.phases).toEqual(['DELETING', 'NOT_PRESENT'])
    expect(created.phases).toEqual(['CREATING'])
    // A late repetition of what was replaced is nobody's wish any more.
    server.resend({ ...created, fence: first.request.fence })
    const last = server.ask('c3', 'CREATE')
    ;(await nth(3)).resolve()
    await closed(last)
    expect(calls).toHaveLength(4)
  })

  it('forgets stale requests: before they begin, and during their work', async () => {
    await using crm = await startAll()
    const { server, calls, nth } = crm
    const withdrawn = server.ask('c1', 'CREATE')
    const { context } = await nth(0)
    server.withdraw('c1')
    context.progress('step', 1, 2)
    await until(() => context.signal.aborted, { what: 'stopped' })
    expect(context.signal.reason).toBe('STALE')

    const ghost = server.ask('c2', 'CREATE')
    server.withdraw('c2')
    server.resend(ghost)
    await until(() => server.reports.some(({ fence }) => fence === ghost.fence), { what: 'told' })
    expect(server.reports.at(-1)).toMatchObject({ phase: 'CREATING', answer: 'StaleReportError' })
    // The same request counts as a new one, since nothing is known of it any more.
    server.restore(withdrawn)
    server.resend(withdrawn)
    ;(await nth(1)).resolve()
    await closed(withdrawn)
    expect(calls.map(({ request }) => request.path[1])).toEqual(['c1', 'c1'])
  })

  it('reconnects after a cut, with the same epoch, and continues its work', async () => {
    await using crm = await startAll()
    const { server, calls, objects, nth } = crm
    const [created, deleted] = [server.ask('c1', 'CREATE'), server.ask('c2', 'DELETE')]
    await nth(1)
    objects.push(object('c2'), object('c3'))
    const epoch = server.session()?.epoch
    server.tiny.cut()
    await connected(server, 2)
    expect(server.session()?.epoch).toBe(epoch)
    expect(server.connects.map(({ call }) => call)).toEqual([1, 2])
    const listed = server.connects[1]?.objects.toSorted((a, b) => String(a.path).localeCompare(String(b.path)))
    expect(listed).toMatchObject([
      { path: [CLOUDLET, 'c1'], phase: 'CREATING' },
      { path: [CLOUDLET, 'c2'], phase: 'DELETING', specRevision: 1 },
      { path: [CLOUDLET, 'c3'], phase: 'READY' },
    ])
    for (const { resolve, context } of calls) {
      expect(context.signal.aborted).toBe(false)
      resolve()
    }
    await closed(created)
    await closed(deleted)
    expect(calls).toHaveLength(2)
    expect([created.phases, deleted.phases]).toEqual([
      ['CREATING', 'READY'],
      ['DELETING', 'NOT_PRESENT'],
    ])
  })

  it('lists a request as begun when its report may have arrived, and works on it once that is acknowledged', async () => {
    let lost = true
    const breakOff: TinyOptions['breakOff'] = (when, body) =>
      lost && when === 'after' && body.includes('mutation Report')
    await using crm = await startAll({}, { breakOff })
    const { server, calls, nth } = crm
    const asked = server.ask('c1', 'CREATE')
    await until(() => asked.phases.length > 0, { what: 'the server has heard of it' })
    server.tiny.cut()
    await connected(server, 2)
    expect(server.connects[1]?.objects).toMatchObject([{ path: [CLOUDLET, 'c1'], phase: 'CREATING' }])
    expect(calls).toHaveLength(0)
    lost = false
    ;(await nth(0)).resolve()
    await closed(asked)
    expect(calls).toHaveLength(1)
  })

  it('lists the real object when the server may have received its error, and undone it', async () => {
    let lost = false
    const breakOff: TinyOptions['breakOff'] = (when, body) =>
      lost && when === 'after' && body.includes('mutation Report')
    const hand = handDriver()
    hand.objects.push(object('c1', { specRevision: 4 }))
    await using crm = await startAll({}, { breakOff }, hand)
    const { server, nth } = crm
    const asked = server.ask('c1', 'UPDATE')
    const { reject } = await nth(0)
    lost = true
    reject(new CrmProblem('No.'))
    await closed(asked)
    server.tiny.cut()
    await connected(server, 2)
    expect(server.connects[1]?.objects).toMatchObject([{ path: [CLOUDLET, 'c1'], phase: 'READY', specRevision: 4 }])
    lost = false
  })

  it('lists the outcomes that the server has not acknowledged', async () => {
    await using crm = await startAll()
    const { server, objects, nth } = crm
    const asked = [server.ask('c1', 'CREATE'), server.ask('c2', 'DELETE'), server.ask('c3', 'UPDATE')]
    await nth(2)
    objects.push(object('c2'), object('c3', { specRevision: 4 }))
    server.away = true
    server.tiny.cut()
    await until(() => crm.problems.some(({ what }) => what === 'connect'), { what: 'the server is missed' })
    for (const { request, resolve, reject } of crm.calls) {
      if (request.action === 'UPDATE') reject(new CrmProblem('No.'))
      else resolve()
    }
    server.away = false
    for (const one of asked) await closed(one)
    const second = server.connects[1]?.objects ?? []
    expect(second.map(({ path, phase, specRevision }) => [path[1], phase, specRevision])).toEqual([
      ['c3', 'UPDATE_ERROR', 4],
      ['c1', 'READY', asked[0]?.specRevision],
    ])
    expect(asked.map(({ phases }) => phases.at(-1))).toEqual(['READY', 'NOT_PRESENT', 'UPDATE_ERROR'])
  })

  it('repeats a report whose answer was lost', async () => {
    let lost = 0
    const breakOff: TinyOptions['breakOff'] = (when, body) => {
      if (when !== 'after' || !body.includes('mutation Report') || lost >= 2) return false
      lost += 1
      return true
    }
    await using crm = await startAll({}, { breakOff })
    const asked = crm.server.ask('c1', 'CREATE')
    ;(await crm.nth(0)).resolve()
    await closed(asked)
    expect(count(crm.server.reports, 'CREATING')).toBe(3)
    expect(crm.calls).toHaveLength(1)
  })

  it('connects again after a cut that the server has not noticed', async () => {
    await using crm = await startAll()
    const { server, objects } = crm
    await until(() => server.session()?.streams, { what: 'listening' })
    server.patient = true
    objects.push(object('c1'))
    server.tiny.cut()
    await connected(server, 2)
    expect(server.connects[1]?.objects).toEqual(objects)
  })

  it('tells the end after the last line, since those of an object that is gone are refused', async () => {
    let broken = 0
    const breakOff: TinyOptions['breakOff'] = (when, body) => {
      if (when !== 'before' || !body.includes('mutation AppendLogs') || broken >= 2) return false
      broken += 1
      return true
    }
    await using crm = await startAll({}, { breakOff })
    const { server, nth } = crm
    const asked = server.ask('c1', 'DELETE')
    const { context, resolve } = await nth(0)
    context.log('STDOUT', 'the last line')
    resolve()
    await closed(asked)
    expect(server.lines).toMatchObject([{ text: 'the last line', phases: ['DELETING'] }])
  })

  it('reconnects when its session is over, and completes its requests all the same', async () => {
    await using crm = await startAll({ leaseMs: 3_000 })
    const { server, nth } = crm
    const asked = server.ask('c1', 'CREATE')
    const { context, resolve } = await nth(0)
    await until(() => server.renewals > 0, { what: 'a renewal' })
    // The lease is lost, and the stream says nothing of that.
    Object.assign(server.session() ?? {}, { leaseHeld: false })
    await connected(server, 2)
    // The session is over and its fences are refused, before the stream has ended.
    Object.assign(server.session() ?? {}, { over: true })
    context.progress('step')
    await connected(server, 3)
    resolve()
    await closed(asked)
    expect(context.signal.aborted).toBe(false)
    expect(asked.phases).toEqual(['CREATING', 'READY'])
    expect(new Set(server.connects.map(({ instance }) => instance)).size).toBe(1)
  })

  it('ends when a newer CRM connects, and stops its work', async () => {
    await using crm = await startAll()
    const { server, nth } = crm
    server.ask('c1', 'CREATE')
    const { context } = await nth(0)
    server.supersede()
    expect(await crm.running).toBe('SUPERSEDED')
    expect(context.signal.reason).toBe('SHUTDOWN')
    expect(count(server.reports, 'CREATE_ERROR')).toBe(0)
  })

  it('ends when the server will have none of it', async () => {
    await using crm = await startAll({ cloudletId: 'nowhere' })
    await expect(crm.running).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await using wrong = await startAll({ client: createClient({ url: crm.server.tiny.url, token: 'wrong' }) })
    await expect(wrong.running).rejects.toSatisfy((e) => e instanceof ClientError && e.kind === 'unauthorized')
    // The caller has the error.
    expect([...crm.problems, ...wrong.problems]).toEqual([])
  })

  it('retries when its objects cannot be listed', async () => {
    const hand = handDriver()
    const { list } = hand.driver
    const driver: CrmDriver = {
      ...hand.driver,
      list: async () => {
        const listed = await list()
        if (hand.lists.count < 3) throw new Error('The hypervisor is away.')
        return listed
      },
    }
    await using crm = await startAll({ driver }, {}, hand)
    await connected(crm.server)
    expect(crm.problems.map(({ what }) => what)).toEqual(['list', 'list'])
  })

  it('says what is wrong with a list, instead of connecting with it', async () => {
    const wrong: readonly unknown[] = [
      null,
      [null],
      [object('c1', { kind: 'CLOUDLET' as 'APP_INST' })],
      [{ ...object('c1'), path: ['a\0'] }],
      [object('c1', { phase: 'WRONG' as 'READY' })],
      [object('c1', { specRevision: 2 ** 40 })],
    ]
    const hand = handDriver()
    let times = 0
    const list = async () => {
      times += 1
      return (times > wrong.length ? [{ ...object('c1'), more: 1 }] : wrong[times - 1]) as readonly CrmObject[]
    }
    await using crm = await startAll({ driver: { ...hand.driver, list } }, {}, hand)
    await connected(crm.server)
    expect(crm.problems.map(({ what, error }) => `${what}: ${error.message}`)).toEqual([
      'list: list() returned no list of objects.',
      'list: list() returned an object, number 0, that is none.',
      'list: list() returned an object, number 0, whose kind is none of CLUSTER_INST, APP_INST.',
      'list: list() returned an object, number 0, whose path is no list of names.',
      'list: list() returned an object, number 0, whose phase is not known.',
      'list: list() returned an object, number 0, whose specRevision is neither null nor a whole number.',
    ])
    expect(crm.server.connects[0]?.objects).toEqual([object('c1')])
  })
})

describe('an upgrade', () => {
  it('is reported once the new CRM is started, and fails when that cannot come up', async () => {
    const failed = Promise.withResolvers<unknown>()
    const asked: CrmRequest[] = []
    await using crm = await startAll({
      onUpgrade: (request) => {
        asked.push(request)
        return Promise.resolve({ failed: failed.promise })
      },
    })
    const { server, nth } = crm
    await connected(server)
    const upgrade = server.ask('', 'UPDATE', { spec: { version: '2.0.0' } })
    await until(() => upgrade.phases.length === 1, { what: 'told' })
    expect(asked).toMatchObject([{ kind: 'CLOUDLET', spec: { version: '2.0.0' } }])
    expect(upgrade.phases).toEqual(['UPDATING'])
    failed.resolve(new CrmProblem('The new one does not start.', 'UPGRADE_FAILED'))
    await closed(upgrade)
    expect(upgrade.phases).toEqual(['UPDATING', 'UPDATE_ERROR'])
    expect(upgrade.error?.message).toBe('The new one does not start.')
    // After the failed upgrade it still serves.
    const created = server.ask('c1', 'CREATE')
    ;(await nth(0)).resolve()
    await closed(created)
  })

  it('fails when no new CRM can be started', async () => {
    await using crm = await startAll()
    const upgrade = crm.server.ask('', 'UPDATE')
    await closed(upgrade)
    expect(upgrade.phases).toEqual(['UPDATE_ERROR'])
    expect(upgrade.error?.code).toBe('UPGRADE_FAILED')
  })

  it('is over when the new CRM has ended the old one, and only then does it work', async () => {
    await using old = await startAll()
    const { server } = old
    await connected(server)
    const [second, ended] = [handDriver(), Promise.withResolvers<void>()]
    const client = createClient({ url: server.tiny.url, token: TOKEN })
    const stop = new AbortController()
    let asks = 0
    const running = runCrm({
      ...{ client, cloudletId: CLOUDLET, instance: 'crm-2', role: 'CRM_V2', version: '2.0.0', leaseMs: 30_000 },
      driver: second.driver,
      signal: stop.signal,
      async onTakeOver() {
        asks += 1
        old.stop.abort()
        await old.running
        await ended.promise
      },
    })
    try {
      await until(() => asks === 1, { what: 'asked to end the old one' })
      expect(server.connects.at(-1)).toMatchObject({ role: 'CRM_V2', instance: 'crm-2' })
      // A connection that is made again meanwhile asks nobody to end again.
      server.tiny.cut()
      await connected(server, 3)
      expect(count(server.reports, 'READY')).toBe(0)
      ended.resolve()
      await until(() => server.session()?.instance === 'crm-2', { what: 'taken over' })
      const created = server.ask('c1', 'CREATE')
      ;(await second.nth(0)).resolve()
      await closed(created)
      expect(asks).toBe(1)
    } finally {
      stop.abort()
      await running
      await client.close()
    }
  })

  it("fails with the new CRM's error", async () => {
    await using crm = await startAll({
      role: 'CRM_V2',
      onTakeOver: () => Promise.reject(new Error('The old one does not end.')),
    })
    await expect(crm.running).rejects.toThrow('The old one does not end.')
    expect(crm.server.reports).toEqual([])
  })
})
