import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'
import mercurius from 'mercurius'
import mqemitter from 'mqemitter-redis'
import { answerReadings, PEER_SCHEMA, settingOf, topicOf } from '../workloads/fan-out-peer.ts'

/** Mercurius with its Redis emitter, as its documentation has it: a process. */
const app = Fastify()
const emitter = mqemitter({ connectionString: settingOf('REDIS_URL') })
await app.register(mercurius, {
  schema: PEER_SCHEMA,
  resolvers: {
    Subscription: {
      phaseChanges: {
        subscribe: (_: unknown, { filter }: { filter?: { rootId?: string } }, { pubsub }: mercurius.MercuriusContext) =>
          pubsub.subscribe(topicOf(filter?.rootId)),
      },
    },
  } as mercurius.IResolvers,
  subscription: { emitter },
})
await app.listen({ port: 0, host: '127.0.0.1' })
answerReadings((app.server.address() as AddressInfo).port)
process.on('disconnect', () => process.exit())
