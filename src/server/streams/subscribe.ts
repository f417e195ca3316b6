import {
  createSourceEventStream,
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  mapSourceToResponseEvent,
  validateSubscriptionArgs,
} from 'graphql'
import type { Ambient } from '../../core/ports.ts'
import type { GraphQLContext } from '../../graphql/context.ts'
import { LogStream } from '../../graphql/log-stream.ts'
import type { OpenStreams } from '../../graphql/open-streams.ts'
import { holdsNul, nulRefused } from '../refuse-nul.ts'
import { describe } from './describe.ts'
import type { FanOut } from './fan-out.ts'
import type { Outlet } from './outlet.ts'
import type { Asked } from './sharing.ts'

export interface Subscribing {
  readonly asked: Asked
  readonly context: GraphQLContext
  readonly outlet: Outlet
  /** Of the operation on its socket. */
  readonly id: string
}
export type Subscribe = (subscribing: Subscribing) => Promise<AsyncIterableIterator<ExecutionResult> | ExecutionResult>

export interface SubscribeParts {
  readonly schema: GraphQLSchema
  readonly fanOut: FanOut
  readonly open: OpenStreams
  readonly ambient: Ambient
  readonly mask: (error: unknown) => GraphQLError
}

/** Runs subscriptions: those to the log together with all who ask the same, each of the others for itself. */
export function createSubscribe({ schema, fanOut, open, ambient, mask }: SubscribeParts): Subscribe {
  const masked = (result: ExecutionResult): ExecutionResult =>
    result.errors ? { ...result, errors: result.errors.map(mask) } : result
  return async ({ asked, context, outlet, id }) => {
    const { document, operationName, variables: variableValues } = asked
    if (holdsNul(variableValues)) return { errors: [nulRefused()] }
    const args = validateSubscriptionArgs({ schema, document, operationName, variableValues, contextValue: context })
    if (!('operation' in args)) return { errors: args.map((error) => badRequest(error)) }
    const source = await createSourceEventStream(args)
    if (!(Symbol.asyncIterator in source)) return masked(source)
    if (source instanceof LogStream) return fanOut.join({ asked, args, stream: source, outlet, id })
    const counts = { messages: 0 }
    const openedAt = ambient.now()
    const closed = open.opened(() => ({
      ...describe(asked, args),
      openedAt,
      state: outlet.isReady ? 'LIVE' : 'PAUSED',
      sharedBy: 1,
      sequence: null,
      bufferedBytes: outlet.waiting,
      bytes: 0,
      reads: 0,
      pauses: 0,
      ...counts,
    }))
    const results = mapSourceToResponseEvent(args, source)
    const watched: AsyncIterableIterator<ExecutionResult> = {
      [Symbol.asyncIterator]() {
        return this
      },
      async next() {
        const result = await results.next()
        if (result.done) closed()
        else counts.messages += 1
        return result.done ? result : { done: false, value: masked(result.value) }
      },
      return() {
        closed()
        return results.return(undefined)
      },
    }
    return watched
  }
}

const badRequest = ({ message, nodes }: GraphQLError): GraphQLError =>
  new GraphQLError(message, { nodes: nodes ?? null, extensions: { code: 'BAD_USER_INPUT' } })
