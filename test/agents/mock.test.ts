import { describe, expect, it } from 'vitest'
import type { InterimReport, WorkContext, WorkItem, WorkOutcome } from '../../src/client/index.ts'
import { mockWork } from '../../src/families/deployments/agents/mock.ts'

const crash = (): never => {
  throw new Error('crashed')
}
const none = new AbortController().signal
function call(config: unknown, given: Partial<WorkItem> = {}, signals: Partial<WorkContext> = {}) {
  const reports: InterimReport[] = []
  const context: WorkContext = {
    signal: none,
    lost: none,
    report: (report) => reports.push(report),
    log: () => undefined,
    ...signals,
  }
  const item = { action: 'RECONCILE', attempt: 1, config, ...given } as WorkItem
  return { outcome: mockWork({ crash })(item, context), reports }
}

describe('the mock deployer', () => {
  it.each([
    [null, {}, { phase: 'SUCCEEDED' }],
    [{ exports: { url: 'x' }, anything: 'else' }, {}, { phase: 'SUCCEEDED', exports: { url: 'x' } }],
    [{ failTimes: 2 }, { attempt: 2 }, { phase: 'PROGRESSING', error: { code: 'MOCK_FAILURE', retryable: true } }],
    [{ failTimes: 2 }, { attempt: 3 }, { phase: 'SUCCEEDED' }],
    [{ fail: true }, {}, { phase: 'FAILED', error: { code: 'MOCK_FAILURE', retryable: false } }],
    [{ delayMs: -1 }, {}, { phase: 'FAILED', error: { code: 'MOCK_CONFIG' } }],
    [{ hang: true, fail: true }, { action: 'DELETE' as const }, { phase: 'GONE' }],
    [{ deleteFailTimes: 1 }, { action: 'DELETE' as const }, { phase: 'DELETING', error: { retryable: true } }],
    [{ deleteFail: true }, { action: 'DELETE' as const }, { phase: 'DELETE_FAILED' }],
  ])('%j %j', async (config, given, expected) => {
    expect(await call(config, given).outcome).toMatchObject(expected)
  })

  it('takes its time, and tells its steps', async () => {
    const started = performance.now()
    const { outcome, reports } = call({ delayMs: 300, steps: 3 })
    expect(await outcome).toEqual({ phase: 'SUCCEEDED' })
    // On a busy machine a timer counts from the last turn of the event loop, so the first step may be short.
    expect(performance.now() - started).toBeGreaterThan(150)
    expect(reports.map(({ progress }) => progress?.value)).toEqual([0, 1, 2])
  })

  it('hangs until it is aborted, or until its lease is lost', async () => {
    const [stop, lost] = [new AbortController(), new AbortController()]
    const signals = { signal: stop.signal, lost: lost.signal }
    const ends: WorkOutcome[] = []
    const obedient = Promise.resolve(call({ hang: true }, {}, signals).outcome).then((end) => ends.push(end))
    const defiant = Promise.resolve(call({ hang: true, ignoreAbort: true }, {}, signals).outcome)
    stop.abort('ABORT_REQUESTED')
    await obedient
    expect(ends).toEqual([{ phase: 'ABORTED' }])
    lost.abort('LOST')
    expect(await defiant).toEqual({ phase: 'ABORTED' })
  })

  it('ends the process in the attempts that its config says', () => {
    expect(() => call({ crash: true }, { attempt: 9 })).toThrow('crashed')
    expect(() => call({ crash: 2 }, { attempt: 2 })).toThrow('crashed')
    expect(call({ crash: 2 }, { attempt: 3 }).outcome).toEqual({ phase: 'SUCCEEDED' })
  })
})
