import { pino } from 'pino'
import { v7 } from 'uuid'
import { expect, test } from 'vitest'
import { EngineTurns, wakeMessage } from '../../src/engine/engine-turns.ts'
import { createMemorySignal } from '../../src/log/signal/memory.ts'
import { until } from '../testkit/wait.ts'

const logger = pino({ level: 'fatal' })
const ids = (count: number): readonly string[] => Array.from({ length: count }, () => v7())

/** Engines that know each other. */
async function openEngines(count: number) {
  await using opening = new AsyncDisposableStack()
  const signal = createMemorySignal({ logger })
  const engines = ids(count).map((id) => opening.use(new EngineTurns({ id, signal, logger })))
  await until(() => engines.every(({ others }) => others === count - 1), { what: 'each knows the others' })
  const opened = opening.move()
  return { engines, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

test.each([1, 2, 4])(
  'of %i engines one takes a due tree at first, and each about as many as the others',
  async (count) => {
    await using opened = await openEngines(count)
    const due = ids(4_000)
    const taken = opened.engines.map((engine) => engine.take(due))
    expect(taken.flat().toSorted()).toEqual(due.toSorted())
    for (const { length } of taken) expect(Math.abs(length / due.length - 1 / count)).toBeLessThan(0.06)
  },
)

test('what an engine leaves undone is taken by another, which forgets it once it is silent', async () => {
  await using opened = await openEngines(2)
  const [engine, still] = opened.engines as [EngineTurns, EngineTurns]
  const due = ids(20)
  const own = engine.take(due)
  expect(own.length).toBeLessThan(20)
  expect(engine.leavesSome).toBe(true)
  await until(() => engine.take(due).length === 20, { what: 'it takes those of the other, too' })
  await still[Symbol.asyncDispose]()
  await until(() => engine.others === 0, { what: 'it is alone' })
  expect(engine.take(ids(20)).length).toBe(20)
  expect(engine.leavesSome).toBe(false)
})

test('the engine of the process that has woken a tree takes it, and without one the engine whose turn it is', async () => {
  await using opened = await openEngines(3)
  const { engines } = opened
  const due = ids(30)
  const [near, ...others] = engines as [EngineTurns, ...EngineTurns[]]
  const message = near.woke(due)
  expect(near.take(due)).toEqual(due)
  expect([near, ...others].map((engine) => engine.heard(message))).toEqual(['no', 'later', 'later'])
  for (const rootId of ids(10))
    expect(engines.map((engine) => engine.heard(wakeMessage([rootId]))).toSorted()).toEqual([
      'at once',
      'later',
      'later',
    ])
  // Too many to name.
  expect(engines.map((engine) => engine.heard(wakeMessage(ids(1_000))))).toEqual(['at once', 'at once', 'at once'])
})
