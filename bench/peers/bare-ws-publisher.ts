import { createClient } from 'redis'
import { fieldsOf, type Publisher, settingOf, topicOf } from '../workloads/fan-out-peer.ts'

/** A topic padded to so many bytes, and then the message as it is. */
export const FRAME_AT = 36
export const CHANNEL = 'bare-ws'
/** As long as those of the others' subscribers. */
const ID = '00000000-0000-4000-8000-000000000000'

export async function createPublisher(isFiltered: boolean): Promise<Publisher> {
  const redis = createClient({ url: settingOf('REDIS_URL') })
  await redis.connect()
  return {
    maxBatch: 1_000,
    async publish(messages, committed) {
      committed(messages)
      await Promise.all(
        messages.map((message) => {
          const payload = { data: { phaseChanges: fieldsOf(message) } }
          const topic = topicOf(isFiltered ? message.rootId : null).padEnd(FRAME_AT)
          return redis.publish(CHANNEL, topic + JSON.stringify({ id: ID, type: 'next', payload }))
        }),
      )
    },
    [Symbol.asyncDispose]: () => redis.close(),
  }
}
