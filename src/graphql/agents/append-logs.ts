import { builder } from '../schema/builder.ts'
import { LogStreamEnum } from '../schema/enums.ts'
import { answer } from '../schema/errors.ts'
import { resultUnion } from '../schema/result-union.ts'

const AppendedLogsRef = builder
  .objectRef<{ readonly __typename: 'AppendedLogs'; readonly accepted: number }>('AppendedLogs')
  .implement({
    fields: (t) => ({
      accepted: t.exposeInt('accepted', { description: 'Lines of work that is still held; others are dropped.' }),
    }),
  })

const LogLineInput = builder.inputType('LogLineInput', {
  fields: (t) => ({
    fence: t.string({ required: true }),
    at: t.field({ type: 'DateTime', description: 'When it was written; now, if left out or later than that.' }),
    stream: t.field({ type: LogStreamEnum, required: true }),
    text: t.string({ required: true }),
  }),
})
const AppendLogsInput = builder.inputType('AppendLogsInput', {
  fields: (t) => ({
    lines: t.field({ type: [LogLineInput], required: true }),
    sentAt: t.field({
      type: 'DateTime',
      description:
        'When this is sent, by the clock that `at` is of: however wrong it is, lines are then dated by the time here.',
    }),
  }),
})

builder.mutationField('appendLogs', (t) =>
  t.field({
    type: resultUnion('AppendLogsResult', AppendedLogsRef, ['InvalidInputError', 'StaleReportError', 'ForbiddenError']),
    nullable: true,
    args: { input: t.arg({ type: AppendLogsInput, required: true }) },
    resolve: (_, { input: { lines, sentAt } }, context) =>
      answer(
        context,
        'agent',
        () => context.agents.appendLogs(context.viewer, lines, sentAt),
        ({ accepted }) => ({ __typename: 'AppendedLogs' as const, accepted }),
      ),
  }),
)
