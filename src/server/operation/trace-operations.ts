import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { type ExecutionResult, getOperationAST } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { RequestOrigin } from '../../core/ports/viewer.ts'
import type { ResolverContext } from '../../graphql/resolver-context.ts'
import { ATTRIBUTE, bounded } from '../../tracing/names.ts'
import { isTracing, runIn, startTrace } from '../../tracing/spans.ts'
import { parseTraceparent } from '../../tracing/traceparent.ts'
import { fieldOf, outcomeOf } from './count-operations.ts'

/**
 * A span for each query and mutation, over HTTP or a WebSocket, in the trace of its caller if it has one. It has the names of
 * the operation, never its variables.
 */
export const traceOperations: Plugin = {
  onExecute({ args, executeFn, setExecuteFn }) {
    if (!isTracing()) return undefined
    const { document, operationName } = args
    const operation = getOperationAST(document, operationName)
    if (!operation || operation.operation === 'subscription') return undefined
    const { origin } = (args.contextValue as unknown as ResolverContext).viewer
    const span = startTrace(`${operation.operation} ${fieldOf(document, operationName)}`, callerOf(origin), SERVER)
    // Only what is sampled has attributes: most is not.
    span?.setAttributes({
      [ATTRIBUTE.operationType]: operation.operation,
      ...(operation.name ? { [ATTRIBUTE.operationName]: bounded(operation.name.value) } : {}),
      ...(origin ? { [ATTRIBUTE.requestId]: origin.requestId } : {}),
    })
    setExecuteFn((given) => runIn(span?.spanContext() ?? null, () => executeFn(given), origin?.requestId))
    if (!span) return undefined
    return {
      onExecuteDone({ result }) {
        const outcome = outcomeOf(result as ExecutionResult)
        span.setAttribute(ATTRIBUTE.outcome, bounded(outcome))
        if (outcome !== 'ok') span.setStatus({ code: SpanStatusCode.ERROR })
        span.end()
      },
    }
  },
}

const SERVER = { kind: SpanKind.SERVER }

const callerOf = (origin: RequestOrigin | undefined) =>
  origin?.trace ? parseTraceparent(origin.trace.traceparent, origin.trace.tracestate) : null
