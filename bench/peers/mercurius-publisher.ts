import mqemitter from 'mqemitter-redis'
import { fieldsOf, type Publisher, settingOf, topicOf } from '../workloads/fan-out-peer.ts'

export function createPublisher(isFiltered: boolean): Publisher {
  const emitter = mqemitter({ connectionString: settingOf('REDIS_URL') })
  return {
    maxBatch: 1_000,
    async publish(messages, committed) {
      committed(messages)
      await Promise.all(
        messages.map(
          (message) =>
            new Promise<void>((resolve, reject) => {
              const topic = topicOf(isFiltered ? message.rootId : null)
              const payload = { phaseChanges: fieldsOf(message) }
              emitter.emit({ topic, payload }, (error: Error | null) => (error ? reject(error) : resolve()))
            }),
        ),
      )
    },
    [Symbol.asyncDispose]: () => new Promise((resolve) => emitter.close(() => resolve())),
  }
}
