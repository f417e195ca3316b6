import {
  createSourceEventStream,
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  validateSubscriptionArgs,
} from 'graphql'
import { type GraphQLContext, readLive } from '../../graphql/context.ts'
import type { EventStream } from '../../graphql/log/event-stream.ts'
import { LogStream } from '../../graphql/log/log-stream.ts'
import { failure, presentable } from '../../graphql/schema/failures.ts'
import type { ClientSink } from './client-sink.ts'
import type { FanOut } from './fan-out.ts'
import type { SubscriptionRequest } from './subscription-request.ts'

export interface Subscribing {
  readonly request: SubscriptionRequest
  readonly context: GraphQLContext
  readonly sink: ClientSink
  /** Id of the operation on its socket. */
  readonly id: string
}
export type Subscribe = (subscribing: Subscribing) => Promise<AsyncIterableIterator<ExecutionResult> | ExecutionResult>

export interface SubscribeParts {
  readonly schema: GraphQLSchema
  readonly fanOut: FanOut
  readonly mask: (error: unknown) => GraphQLError
  readonly hideSuggestions: boolean
}

/** Runs subscriptions: those to the log as members of a topic, each of the others from a source of its own. */
export function createSubscribe({ schema, fanOut, mask, hideSuggestions }: SubscribeParts): Subscribe {
  const masked = (result: ExecutionResult): ExecutionResult =>
    result.errors ? { ...result, errors: result.errors.map(mask) } : result
  return async ({ request, context, sink, id }) => {
    const { document, operationName, variables: variableValues } = request
    const asked = { document, operationName, variableValues, contextValue: context }
    const args = validateSubscriptionArgs({ schema, ...asked, hideSuggestions })
    if (!('operation' in args)) return { errors: args.map((error) => badRequest(error)) }
    let isLive = false
    // A subscription begins without a turn: the events of others do not hold it up.
    readLive(context, () => (isLive ? { reads: sink.account.reads, turn: () => sink.turn() } : null))
    const source = await createSourceEventStream(args)
    isLive = true
    if (!(Symbol.asyncIterator in source)) return masked(source)
    const subscribed = { request, args, sink, id }
    const stream =
      source instanceof LogStream
        ? fanOut.join({ ...subscribed, stream: source })
        : fanOut.run({ ...subscribed, source: source as EventStream<unknown> })
    if (!('retryAfterMs' in stream)) return stream
    const { code, message, retryAfterMs } = stream
    return { errors: [failure(code, message, { retryAfterMs })] }
  }
}

const badRequest = ({ message, nodes }: GraphQLError): GraphQLError =>
  new GraphQLError(presentable(message), { nodes: nodes ?? null, extensions: { code: 'BAD_USER_INPUT' } })
