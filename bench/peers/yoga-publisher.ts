import { Redis } from 'ioredis'
import { fieldsOf, type Publisher, settingOf, topicOf } from '../workloads/fan-out-peer.ts'

/** Does the same as the event target's own `dispatchEvent`, but keeps the promise that `dispatchEvent` drops. */
export function createPublisher(isFiltered: boolean): Publisher {
  const redis = new Redis(settingOf('REDIS_URL'), { enableAutoPipelining: true })
  return {
    maxBatch: 1_000,
    async publish(messages, committed) {
      committed(messages)
      await Promise.all(
        messages.map((message) =>
          redis.publish(topicOf(isFiltered ? message.rootId : null), JSON.stringify(fieldsOf(message))),
        ),
      )
    },
    [Symbol.asyncDispose]: async () => void (await redis.quit()),
  }
}
