import { createServer } from 'node:http'
import { createRedisEventTarget } from '@graphql-yoga/redis-event-target'
import { useServer } from 'graphql-ws/use/ws'
import { createPubSub, createSchema, createYoga } from 'graphql-yoga'
import { Redis } from 'ioredis'
import { WebSocketServer } from 'ws'
import { answerReadings, PEER_SCHEMA, settingOf, topicOf } from '../workloads/fan-out-peer.ts'

/** GraphQL Yoga with graphql-ws and the Redis event target, as its documentation has them: a process. */
const url = settingOf('REDIS_URL')
const eventTarget = createRedisEventTarget({ publishClient: new Redis(url), subscribeClient: new Redis(url) })
const pubSub = createPubSub<Record<string, [unknown]>>({ eventTarget: eventTarget as never })
const yoga = createYoga({
  schema: createSchema({
    typeDefs: PEER_SCHEMA,
    resolvers: {
      Subscription: {
        phaseChanges: {
          subscribe: (_: unknown, { filter }: { filter?: { rootId?: string } }) =>
            pubSub.subscribe(topicOf(filter?.rootId)),
          resolve: (change: unknown) => change,
        },
      },
    },
  }),
  logging: false,
})
const http = createServer(yoga)
const server = new WebSocketServer({ server: http, path: yoga.graphqlEndpoint })
type Enveloped = ReturnType<typeof yoga.getEnveloped>
interface Root {
  readonly execute: Enveloped['execute']
  readonly subscribe: Enveloped['subscribe']
}
useServer(
  {
    execute: (args) => (args.rootValue as Root).execute(args),
    subscribe: (args) => (args.rootValue as Root).subscribe(args),
    onSubscribe: async ({ extra }, _id, params) => {
      const { schema, execute, subscribe, contextFactory, parse, validate } = yoga.getEnveloped({
        req: extra.request,
        socket: extra.socket,
        params,
      })
      const args = {
        schema,
        operationName: params.operationName,
        document: parse(params.query),
        variableValues: params.variables,
        contextValue: await contextFactory(),
        rootValue: { execute, subscribe },
      }
      const errors = validate(args.schema, args.document)
      return errors.length > 0 ? errors : args
    },
  },
  server,
)
http.listen(0, '127.0.0.1', () => answerReadings((http.address() as { port: number }).port))
process.on('disconnect', () => process.exit())
