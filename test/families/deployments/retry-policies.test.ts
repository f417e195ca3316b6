import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isFinished, WORK_STATE } from '../../../src/core/tree.ts'
import { type DeployItemDetails, installation } from '../../../src/families/deployments/rules/details.ts'
import { rules } from '../../../src/families/deployments/server.ts'
import { soak } from '../../testkit/soak.ts'
import { viewerOf } from '../../testkit/viewers.ts'
import { MemoryWorld } from './memory.ts'

/**
 * Random policies × random answers of agents, losses, timeouts, cancels and edits. After each action the item is where the
 * policy says, stated once more from the history of the item alone: which attempts began, and how each ended.
 */

const CODES = ['A', 'B', 'C'] as const
const DEPLOYER = viewerOf('AGENT', { name: 'deployer', actor: 'DEPLOYER' })
const USER = viewerOf('ADMIN')

const codes = fc.uniqueArray(fc.constantFrom(...CODES, 'ATTEMPT_TIMEOUT'), { maxLength: 3 })
const policies = fc.record({
  attempts: fc.integer({ min: 1, max: 4 }),
  backoff: fc
    .record({
      initialMs: fc.constantFrom(0, 1, 1_000, 7_000),
      factor: fc.constantFrom(1, 1.5, 3),
      more: fc.constantFrom(0, 500, 60_000),
      jitter: fc.constantFrom(0, 0.5, 1),
    })
    .map(({ more, ...rest }) => ({ ...rest, maxMs: rest.initialMs + more })),
  on: codes,
  not: codes,
  attemptTimeoutMs: fc.constantFrom(null, 4_000, 30_000),
})
const actions = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ type: fc.constant('claim' as const), leaseMs: fc.constantFrom(3_000, 600_000) }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('fail' as const),
      code: fc.constantFrom(...CODES),
      retryable: fc.constantFrom(undefined, undefined, undefined, false, null),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('succeed' as const) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constantFrom('abort' as const, 'giveBack' as const) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('pass' as const),
      ms: fc.constantFrom(1, 999, 1_000, 3_000, 7_000, 21_000, 60_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constantFrom('cancel' as const, 'edit' as const, 'reconcile' as const) }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constantFrom('retryNow' as const, 'giveUp' as const) }) },
)
const timeouts = fc.record({
  progressing: fc.constantFrom({ ms: 20_000 }, { ms: 120_000 }, { never: true as const }),
  aborting: fc.constantFrom({ ms: 2_000 }, { ms: 50_000 }),
  pickup: fc.constant({ ms: 90_000 }),
})

it('attempts no more than its policy has, only after codes that it names, within its delays, and never after a cancel', async () => {
  const seen = { retried: 0, usedUp: 0, timedOut: 0, late: 0 }
  await fc.assert(
    fc.asyncProperty(
      policies,
      timeouts,
      fc.array(actions, { minLength: 4, maxLength: 40 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      async (policy, times, plan, random) => {
        const world = new MemoryWorld({ budget: 1_000 })
        world.clock.random = () => random
        const specOf = (size: number) => ({
          deployItems: [{ name: 'a', type: 'mock', config: { size }, timeouts: times, retry: policy }],
        })
        const rootId = await world.create('shop', specOf(0))
        await world.settle()
        const [item] = [...world.rows.all.values()].filter(({ row }) => row.kind === 'DEPLOY_ITEM')
        const id = item?.row.id as string
        const now = () => {
          const { row, work, details, error } = world.rows.of(id)
          const root = world.rows.of(rootId)
          const { nextMode, cancelRequestedAt } = installation(root as never)
          const isOutdated = nextMode !== null || root.row.generation !== root.row.observedGeneration
          return {
            row,
            work,
            error,
            retry: (details as DeployItemDetails).retry,
            isOutdated,
            isCancelled: cancelRequestedAt !== null,
          }
        }
        let began = 0
        let deadline = Number.POSITIVE_INFINITY
        let edits = 0
        let answered = false
        let isFinal = false

        for (const action of plan) {
          const before = now()
          answered = false
          isFinal = false
          const claimed = before.work?.state === WORK_STATE.CLAIMED && !isFinished(before.row)
          const report = (more: object) =>
            world.act(id, (node, slice) => {
              // An end that the rules have found just before it comes first.
              if (node.work?.state !== WORK_STATE.CLAIMED) return
              answered = true
              rules.report(node, { fence: '', ...more }, DEPLOYER, slice)
            })
          if (action.type === 'pass') await world.pass(action.ms)
          else if (action.type === 'cancel') await world.cancel(rootId)
          else if (action.type === 'reconcile') await world.reconcile(rootId, 'STANDARD')
          else if (action.type === 'edit') await world.update(rootId, specOf(++edits), false)
          else if (action.type === 'retryNow' || action.type === 'giveUp')
            await world.act(id, (node, slice) => {
              if (!isFinished(node.row))
                rules.resolveBackoff?.(node, action.type === 'giveUp' ? 'GIVE_UP' : 'NOW', USER, slice)
            })
          else if (action.type === 'claim')
            await world.act(id, (node, slice) => {
              slice.runRule(node as never, () => rules.decide(node, slice))
              const { work } = node
              if (!work || work.state !== WORK_STATE.OFFERED || isFinished(node.row)) return
              if (work.offerAfter && work.offerAfter > slice.now) return
              if (node.row.phase === 'INIT') {
                began++
                if (work.pickedUpAt === null) {
                  deadline =
                    'ms' in times.progressing ? slice.now.getTime() + times.progressing.ms : Number.POSITIVE_INFINITY
                }
              }
              const leaseUntil = new Date(slice.now.getTime() + action.leaseMs)
              slice.setWork(node, { state: WORK_STATE.CLAIMED, instance: 'd', leaseUntil, offerAfter: null })
              rules.claimed(node, DEPLOYER, slice, null)
            })
          else if (claimed && action.type === 'succeed') await report({ phase: 'SUCCEEDED' })
          else if (claimed && action.type === 'abort') await report({ phase: 'ABORTED' })
          else if (claimed && action.type === 'giveBack')
            await report({ phase: 'PROGRESSING', error: { code: 'A', message: '', retryable: true } })
          else if (claimed && action.type === 'fail') {
            const { code, retryable } = action
            await report({ phase: 'FAILED', error: { code, message: '', retryable } })
            isFinal = answered && retryable === false
          }
          await world.settle()

          const after = now()
          const at = world.clock.now().getTime()
          const isNewJob = after.row.jobId !== before.row.jobId
          if (isNewJob) {
            expect(after.retry?.attempts ?? []).toEqual([])
            began = 0
            deadline = Number.POSITIVE_INFINITY
          }
          expect(began).toBeLessThanOrEqual(policy.attempts)
          if (isNewJob || before.row.phase !== 'PROGRESSING' || after.row.phase === 'PROGRESSING') continue

          // The attempt has ended: the policy, read once more.
          const { code } = after.error ?? { code: null }
          expect(after.retry?.attempts.map(({ error }) => error?.code ?? null).at(-1)).toBe(code)
          expect(after.retry?.attempts).toHaveLength(began)
          const full = Math.min(policy.backoff.maxMs, policy.backoff.initialMs * policy.backoff.factor ** (began - 1))
          const least = full * (1 - policy.backoff.jitter)
          const busyUntil = answered ? 0 : (before.work?.leaseUntil?.getTime() ?? 0)
          const delay = Math.round(full * (1 - policy.backoff.jitter * (1 - random)))
          const nextAt = Math.max(at + delay, busyUntil)
          const isNamed =
            (policy.on.length === 0 || policy.on.includes(code as never)) && !policy.not.includes(code as never)
          const isOver = code === null || code === 'PROGRESSING_TIMEOUT' || code === 'ABORTED' || isFinal
          const isAgain =
            !isOver &&
            isNamed &&
            began < policy.attempts &&
            nextAt < deadline &&
            !after.isCancelled &&
            !after.isOutdated
          if (after.row.phase !== 'INIT') {
            expect(isAgain).toBe(false)
            if (began === policy.attempts) seen.usedUp++
            if (!isOver && nextAt >= deadline) seen.late++
            continue
          }
          seen.retried++
          if (code === 'ATTEMPT_TIMEOUT') seen.timedOut++
          expect(isAgain).toBe(true)
          const offerAfter = after.work?.offerAfter?.getTime() ?? 0
          expect(offerAfter).toBe(nextAt)
          expect(offerAfter).toBeGreaterThanOrEqual(at + Math.floor(least))
          expect(offerAfter).toBeLessThanOrEqual(Math.max(at + Math.ceil(full), busyUntil))
          expect(after.work).toMatchObject({ state: WORK_STATE.OFFERED, abortRequestedAt: null, abortCode: null })
          expect(after.work?.leaseUntil?.getTime() ?? null).toBe(!answered && busyUntil > at ? busyUntil : null)
        }
        // Without agents everything ends, whatever has happened: no backoff and no attempt outlives its clocks.
        const last = now()
        if (!('never' in times.progressing) || last.row.phase !== 'PROGRESSING' || policy.attemptTimeoutMs !== null) {
          for (let i = 0; i < 12; i++) await world.pass(3_600_000)
          expect(isFinished(now().row)).toBe(true)
        }
      },
    ),
    { numRuns: soak(1_500, 30_000) },
  )
  // The histories reach what they are about.
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(5)
})
