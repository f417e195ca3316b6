import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Busy } from '../../src/core/busy.ts'
import { type Attempted, Lane, type Outcome, type Queued } from '../../src/engine/lane.ts'

const WAIT_MS = 60

/** One task of a plan: when it comes, how often it finds the lock taken, and how it is answered. */
interface Task {
  readonly afterMs: number
  readonly locked: number
  readonly takesMs: number
  readonly isPatient: boolean
  readonly fails: boolean
}
const task = fc.record({
  afterMs: fc.integer({ min: 0, max: 40 }),
  locked: fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.integer({ min: 1, max: 9 }) }),
  takesMs: fc.integer({ min: 0, max: 3 }),
  isPatient: fc.boolean(),
  fails: fc.boolean(),
})

class Played extends Lane<Task, string> {
  protected readonly subject = 'The test'
  readonly attempts = new Map<Task, number>()
  active = 0
  isIdle = false
  readonly #size: number

  constructor(size: number) {
    super(() => {
      this.isIdle = true
    }, WAIT_MS)
    this.#size = size
  }

  protected override takeBatch(queue: Queued<Task, string>[]) {
    return queue.splice(0, this.#size)
  }
  protected override whenLocked({ isPatient }: Task, waitedMs: number): Outcome<string> | null {
    return isPatient || waitedMs < 5 ? null : { value: 'locked' }
  }
  protected override async runBatch(tasks: readonly Task[]): Promise<readonly Attempted<string>[]> {
    this.active++
    expect(this.active).toBe(1)
    await (Math.max(...tasks.map(({ takesMs }) => takesMs)) > 0 ? delay(1) : turn())
    this.active--
    return tasks.map((one): Attempted<string> => {
      const attempt = this.attempts.get(one) ?? 0
      this.attempts.set(one, attempt + 1)
      if (attempt < one.locked) return 'locked'
      return one.fails ? { error: new Error('failed') } : { value: 'done' }
    })
  }
}

test('whatever is locked, fails or comes too late, each task of a lane has one answer, and the lane ends idle', async () => {
  const plan = fc.array(task, { minLength: 1, maxLength: 30 })
  await fc.assert(
    fc.asyncProperty(plan, fc.integer({ min: 1, max: 8 }), async (tasks, size) => {
      const lane = new Played(size)
      const answers = await Promise.all(
        tasks.map(async (one) => {
          await delay(one.afterMs)
          lane.isIdle = false
          return await lane.run(one).catch((error: unknown) => (error instanceof Busy ? 'busy' : 'failed'))
        }),
      )
      for (const [i, answer] of answers.entries()) {
        const { locked, fails, isPatient } = tasks[i] as Task
        const isAnswered = (lane.attempts.get(tasks[i] as Task) ?? 0) > locked
        // A task that was executed gets the answer of its execution.
        if (isAnswered) expect(answer).toBe(fails ? 'failed' : 'done')
        else expect(answer).toBe(isPatient ? 'busy' : 'locked')
      }
      expect(lane.isIdle).toBe(true)
    }),
    { numRuns: 60 },
  )
})
