import { type ExecutionResult, getOperationAST } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { forget, type GraphQLContext } from '../../graphql/context.ts'
import { isDeletedMeanwhile, withoutDeleted } from '../../graphql/schema/deleted-meanwhile.ts'

/** A repetition meets another deletion only if that commits between two statements of it. */
const MOST_REPETITIONS = 3

/**
 * An object that is deleted while a query reads it counts as deleted before. It is null where the answer may have null in its place. A
 * list, whose entries are never null, is read again.
 */
export const leaveOutDeleted: Plugin<GraphQLContext> = {
  onExecute({ args: { document, operationName }, executeFn, setExecuteFn }) {
    if (getOperationAST(document, operationName)?.operation !== 'query') return
    setExecuteFn(async (args) => {
      for (let left = MOST_REPETITIONS; ; left -= 1) {
        const result = withoutDeleted((await executeFn(args)) as ExecutionResult)
        if (left === 0 || !result.errors?.some(isDeletedMeanwhile)) return result
        const context = args.contextValue as GraphQLContext
        forget(context)
        context.answer.refill()
      }
    })
  },
}
