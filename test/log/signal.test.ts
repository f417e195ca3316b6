import { pino } from 'pino'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Signal } from '../../src/core/ports/signal.ts'
import { createMemorySignal } from '../../src/log/signal/memory.ts'
import { createRedisSignal } from '../../src/log/signal/redis.ts'
import { redisUrl, startRedis } from '../testkit/redis.ts'
import { until } from '../testkit/wait.ts'

const logger = pino({ level: 'silent' })
const owned = <T extends Signal>(signal: T): T => {
  onTestFinished(() => signal.close())
  return signal
}
let channels = 0
const newChannel = () => `test:${process.pid}:${channels++}`

describe.each([
  { name: 'memory', create: () => createMemorySignal({ logger }) },
  { name: 'redis', create: () => createRedisSignal({ url: redisUrl(), logger }) },
])('a signal over $name', ({ create }) => {
  const ready = async (): Promise<Signal> => {
    const signal = owned(create())
    // Messages sent before it is connected are lost, by design.
    await until(() => echoes(signal), { what: 'the signal echoes' })
    return signal
  }
  const echoes = async (signal: Signal): Promise<boolean> => {
    const channel = newChannel()
    let heard = false
    const subscription = await signal.subscribe(channel, () => {
      heard = true
    })
    signal.publish(channel, '')
    await until(() => heard, { what: 'an echo', timeoutMs: 100 }).catch(() => undefined)
    await subscription.close()
    return heard
  }

  test('brings every message of its channel to every subscription, in order', async () => {
    const signal = await ready()
    const [channel, other] = [newChannel(), newChannel()]
    const heard: string[][] = [[], []]
    const handler = (list: string[]) => (message: string) => void list.push(message)
    await signal.subscribe(channel, handler(heard[0] as string[]))
    await signal.subscribe(channel, handler(heard[1] as string[]))
    const sent = Array.from({ length: 200 }, (_, i) => `${i} ünï\u2028 "${'x'.repeat(i)}"`)
    signal.publish(other, 'not for them')
    for (const message of sent) signal.publish(channel, message)
    await until(() => heard.every((list) => list.length >= sent.length), { what: 'all is heard' })
    expect(heard).toEqual([sent, sent])
  })

  test('lets the same function subscribe twice, and close once', async () => {
    const signal = await ready()
    const channel = newChannel()
    const heard: string[] = []
    const handler = (message: string) => void heard.push(message)
    const first = await signal.subscribe(channel, handler)
    await signal.subscribe(channel, handler)
    await first.close()
    signal.publish(channel, 'a')
    signal.publish(channel, 'b')
    await until(() => heard.includes('b'), { what: 'the second subscription hears' })
    expect(heard).toEqual(['a', 'b'])
  })

  test('does not deliver inside of publish, and survives a handler that throws', async () => {
    const signal = await ready()
    const channel = newChannel()
    const heard: string[] = []
    await signal.subscribe(channel, () => {
      throw new Error('on purpose')
    })
    await signal.subscribe(channel, (message) => void heard.push(message))
    signal.publish(channel, 'a')
    expect(heard).toEqual([])
    signal.publish(channel, 'b')
    await until(() => heard.length === 2, { what: 'both are heard' })
  })

  test('is deaf after it is closed, and publishing then is harmless', async () => {
    const signal = await ready()
    const listener = await ready()
    const channel = newChannel()
    const heard: string[] = []
    await signal.subscribe(channel, (message) => void heard.push(message))
    await signal.close()
    expect(() => signal.publish(channel, 'a')).not.toThrow()
    listener.publish(channel, 'b')
    await until(() => echoes(listener), { what: 'the other one still hears' })
    expect(heard).toEqual([])
    expect(signal.connected).toBe(false)
  })
})

test('over redis: reaches other processes, and recovers by itself after Redis was killed', async () => {
  await using redis = await startRedis()
  const [here, there] = [0, 1].map(() => owned(createRedisSignal({ url: redis.url, logger })))
  if (!(here && there)) throw new Error('unreachable')
  const channel = newChannel()
  const heard: string[] = []
  await there.subscribe(channel, (message) => void heard.push(message))
  await until(() => here.connected, { what: 'it is connected' })
  here.publish(channel, 'before')
  await until(() => heard.includes('before'), { what: 'the other hears' })

  await redis.kill()
  await until(() => !(here.connected || there.connected), { what: 'both know that Redis is away' })
  here.publish(channel, 'lost')
  const late = there.subscribe(channel, (message) => void heard.push(`late ${message}`))
  await redis.start()
  await until(() => here.connected && there.connected, { what: 'both are back' })
  await late
  here.publish(channel, 'after')
  await until(() => heard.length >= 3, { what: 'both subscriptions hear again' })
  expect(heard.toSorted()).toEqual(['after', 'before', 'late after'])
})

test('over redis: starts while Redis is away, and closes while a subscription waits', async () => {
  await using redis = await startRedis()
  await redis.kill()
  const signal = owned(createRedisSignal({ url: redis.url, logger }))
  const waiting = signal.subscribe(newChannel(), () => {})
  expect(signal.connected).toBe(false)
  signal.publish(newChannel(), 'nobody hears this')
  const refused = expect(waiting).rejects.toThrow()
  await signal.close()
  await refused
})
