import type { ServerResponse } from 'node:http'
import { GraphQLError, type GraphQLSchema, getOperationAST } from 'graphql'
import type { Viewer } from '../core/ports/viewer.ts'
import type { Bounds } from './bounds.ts'
import type { PlainRequest } from './plain-operation.ts'
import { sendEvents } from './streams/event-sink.ts'
import type { Subscribe } from './streams/subscribe.ts'
import type { Yoga } from './yoga.ts'

export interface SubscriptionParts extends Bounds {
  readonly schema: GraphQLSchema
  readonly yoga: Yoga
  readonly subscribe: Subscribe
}

/** Runs a subscription as server-sent events, shared with all equal ones. False: nothing was done, yoga must answer. */
export async function answerSubscription(
  { query, operationName = null, variables }: PlainRequest,
  viewer: Viewer,
  response: ServerResponse,
  { schema, yoga, subscribe, ...bounds }: SubscriptionParts,
): Promise<boolean> {
  const { parse, validate, contextFactory } = yoga.getEnveloped({ viewer })
  try {
    const document = parse(query)
    const isSubscription = getOperationAST(document, operationName)?.operation === 'subscription'
    if (!isSubscription || validate(schema, document).length > 0) return false
    const context = await contextFactory()
    const request = { query, document, operationName, variables: variables ?? {}, viewer }
    await sendEvents(response, bounds, (sink) => subscribe({ request, context, sink, id: '' }))
    return true
  } catch (error) {
    if (error instanceof GraphQLError && !response.headersSent) return false
    throw error
  }
}
