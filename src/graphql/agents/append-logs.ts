import type { AgentPort } from '../../core/ports/agents.ts'
import { RIGHTS } from '../../core/rights.ts'
import { builder } from '../schema/builder.ts'
import { LogStreamEnum } from '../schema/enums.ts'
import { answer } from '../schema/errors.ts'
import { commandResult, errorsOf } from '../schema/result-union.ts'

const AppendedLogsRef = builder
  .objectRef<{ readonly __typename: 'AppendedLogs'; readonly accepted: number }>('AppendedLogs')
  .implement({
    description: 'Confirms that lines of output are stored.',
    fields: (t) => ({
      accepted: t.exposeInt('accepted', {
        description:
          'Count of lines that are stored. Lines whose fence is not valid any more are dropped, unless the work is offered to one instance only, as that of runtimes is.',
      }),
    }),
  })

const LogLineInput = builder.inputType('LogLineInput', {
  description: 'A line of the output of work that the agent holds, or held last.',
  fields: (t) => ({
    fence: t.string({ required: true, limit: 'fence', description: 'Fence of the work.' }),
    at: t.field({
      type: 'DateTime',
      description:
        'When the line was written. Left out, null, or in the future: now. One before its work was offered counts from then.',
    }),
    stream: t.field({ type: LogStreamEnum, required: true, description: 'The source of the line.' }),
    text: t.string({
      required: true,
      limit: 'logLine',
      description: 'The line.',
    }),
  }),
})

builder.mutationField('appendLogs', (t) =>
  t.fieldWithInput({
    right: RIGHTS.reportWork,
    ...commandResult(
      'AppendLogsResult',
      AppendedLogsRef,
      errorsOf<AgentPort['appendLogs']>({ StaleReportError: true }),
    ),
    description:
      'Stores output of work that the agent holds, or held last. The newest 10,000 lines, or 4 MiB, of an object are kept.',
    typeOptions: { description: 'Lines of output, of any work of the agent.' },
    input: {
      lines: t.input.field({
        type: [LogLineInput],
        required: true,
        limit: 'logLines',
        description: 'In the order in which they were written.',
      }),
      sentAt: t.input.field({
        type: 'DateTime',
        description:
          'Time of the request by the clock that dates the lines, which corrects them if that clock is wrong. Left out or null: no correction.',
      }),
    },
    resolve: (_, { input: { lines, sentAt } }, context) =>
      answer(context.agents.appendLogs(context.viewer, lines, sentAt), ({ accepted }) => ({
        __typename: 'AppendedLogs' as const,
        accepted,
      })),
  }),
)
