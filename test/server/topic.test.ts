import { expect, test } from 'vitest'
import { DEFAULT_LIMITS } from '../../src/core/gateway-limits.ts'
import type { Log, ResolvedCursor } from '../../src/core/ports/log.ts'
import type { PhaseChangeRecord } from '../../src/core/ports/phase-change.ts'
import { Account, limitsOfPrincipals } from '../../src/server/limits/accounts.ts'
import { FairTurns } from '../../src/server/limits/fair-turns.ts'
import { PayloadCache } from '../../src/server/streams/payload-cache.ts'
import { Topic, type TopicParts } from '../../src/server/streams/topic.ts'
import { until } from '../testkit/wait.ts'

const at = (sequence: number): ResolvedCursor => ({ lineage: 1, sequence, mark: null })
const changes = (from: number, n: number): readonly PhaseChangeRecord[] =>
  Array.from({ length: n }, (_, i) => ({ sequence: from + i, at: new Date() }) as PhaseChangeRecord)
const accountOf = (name: string): Account => new Account('principal', limitsOfPrincipals(DEFAULT_LIMITS), name)

/** Executes nothing but this. */
function topicOf(name: string, account: Account, render: TopicParts['render'], turns = new FairTurns()) {
  const delivered: number[] = []
  const query = { projects: null, includeRejected: false }
  const log = { listen: () => () => undefined } as object as Log
  const topic = new Topic(
    name,
    { query, after: undefined, maxBatch: 1, events: 'changes' },
    {
      ...{ log, payloads: new PayloadCache(), render, refresh: () => undefined, sent: () => undefined },
      ...{ turn: (caller) => turns.next(caller), endTurn: () => turns.endPiece() },
    },
  )
  const member = {
    ...{ id: name, account, lost: () => undefined },
    deliver: ({ through }: { readonly through: ResolvedCursor }) => void delivered.push(through.sequence),
  }
  topic.enter(account)
  topic.goLive(member)
  return { topic, member, delivered }
}

test('events of one caller’s many topics do not delay those of another', async () => {
  const turns = new FairTurns()
  const order: string[] = []
  const render = (name: string) => () => {
    const ends = performance.now() + 2
    while (performance.now() < ends);
    order.push(name)
    return Buffer.from('{}')
  }
  const [ada, bob] = [accountOf('ada'), accountOf('bob')]
  const many = Array.from({ length: 50 }, (_, i) => topicOf(`ada ${i}`, ada, render('ada'), turns))
  const one = topicOf('bob', bob, render('bob'), turns)
  for (const { topic } of [...many, one]) topic.offer(changes(1, 1), at(0), at(1))
  await until(() => order.length === 51, { what: 'all is executed' })
  expect(order.indexOf('bob')).toBeLessThan(10)
})

test('a large batch is sent in parts, each change once and in order', async () => {
  const rendered: number[] = []
  const { topic, delivered } = topicOf('large', accountOf('ada'), (event) => {
    if ('value' in event && 'sequence' in event.value) rendered.push(event.value.sequence)
    return Buffer.alloc(10_000, 'x')
  })
  topic.offer(changes(1, 40), at(0), at(40))
  topic.offer(changes(41, 10), at(40), at(50))
  await until(() => delivered.at(-1) === 50, { what: 'all is delivered' })
  expect(rendered).toEqual(Array.from({ length: 50 }, (_, i) => i + 1))
  expect(delivered.length).toBeGreaterThan(5)
  expect(delivered).toEqual(delivered.toSorted((a, b) => a - b))
})

test('what nobody waits for any more is not executed', async () => {
  let executions = 0
  const { topic, member } = topicOf('left', accountOf('ada'), () => {
    executions += 1
    return Buffer.alloc(100_000, 'x')
  })
  topic.offer(changes(1, 200), at(0), at(200))
  await until(() => executions > 0, { what: 'it is executed' })
  topic.leave(member)
  const before = executions
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  expect(executions - before).toBeLessThanOrEqual(1)
})

test('of several callers, one that asks for little does the work', () => {
  const [busy, modest] = [accountOf('busy'), accountOf('modest')]
  for (let i = 0; i < 40; i++) busy.follow('', String(i), 100)
  const { topic } = topicOf('shared', busy, () => Buffer.from('{}'))
  expect(topic.account).toBe(busy)
  topic.enter(modest)
  expect(topic.account).toBe(modest)
})
