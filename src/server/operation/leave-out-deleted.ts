import { type ExecutionResult, GraphQLError, getOperationAST } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { type GraphQLContext, readAgain } from '../../graphql/context.ts'
import { isDeletedMeanwhile, withoutDeleted } from '../../graphql/schema/deleted-meanwhile.ts'

/**
 * An object that is deleted while a query reads it counts as deleted before. It is null where the answer may have null in its place. A
 * list, whose entries are never null, is read again, as of one moment.
 */
export const leaveOutDeleted: Plugin<GraphQLContext> = {
  onExecute({ args: { document, operationName }, executeFn, setExecuteFn }) {
    if (getOperationAST(document, operationName)?.operation !== 'query') return
    setExecuteFn(async (args) => {
      const execute = async () => withoutDeleted((await executeFn(args)) as ExecutionResult)
      const result = await execute()
      if (!result.errors?.some(isDeletedMeanwhile)) return result
      return await readAgain(args.contextValue as GraphQLContext, execute).catch(failed)
    })
  },
}

const failed = (originalError: Error): ExecutionResult => ({
  data: null,
  errors: [new GraphQLError('The answer could not be read again.', { originalError })],
})
