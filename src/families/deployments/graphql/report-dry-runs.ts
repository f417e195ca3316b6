import { invalidInput } from '../../../core/errors.ts'
import { portableText } from '../../../core/portable.ts'
import { changeTexts } from '../../../core/report-texts.ts'
import { RIGHTS } from '../../../core/rights.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { boundViolations } from '../../../graphql/schema/check-bounds.ts'
import { dropUndefined } from '../../../graphql/schema/drop-undefined.ts'
import { errorValue } from '../../../graphql/schema/errors.ts'
import { commandResult, errorsOf, resultUnion } from '../../../graphql/schema/result-union.ts'
import type { DryRunReported } from '../commands/dry-run.ts'
import { deploymentsCommands } from '../commands/index.ts'
import { PlannedActionEnum } from './dry-run.ts'

interface Accepted {
  readonly __typename: 'DryRunReportAccepted'
  readonly changed: boolean
}
const AcceptedRef = builder.objectRef<Accepted>('DryRunReportAccepted').implement({
  description: 'A report of a dry run that was accepted.',
  fields: (t) => ({
    changed: t.exposeBoolean('changed', { description: 'False for a repeated report.' }),
  }),
})
type Result = typeof DryRunReportResult.$inferType
const DryRunReportResult = resultUnion(
  'DryRunReportResult',
  AcceptedRef,
  errorsOf<DryRunReported>({ StaleReportError: true }),
)
const DryRunReportsRef = builder
  .objectRef<{ readonly __typename: 'DryRunReports'; readonly results: readonly Result[] }>('DryRunReports')
  .implement({
    description: 'The results of the reports.',
    fields: (t) => ({
      results: t.field({
        type: [DryRunReportResult],
        description: 'One for each report, in order.',
        complexity: { field: 1, multiplier: 20 },
        resolve: ({ results }) => [...results],
      }),
    }),
  })

const PlannedFieldInput = builder.inputType('PlannedFieldInput', {
  description: 'A field that would change.',
  fields: (t) => ({
    path: t.string({ required: true, limit: 'plannedName', description: 'Names of the members that lead to it.' }),
    before: t.field({
      type: 'JSON',
      limit: 'plannedValue',
      description: 'The present value. Left out or null: there is none.',
    }),
    after: t.field({
      type: 'JSON',
      limit: 'plannedValue',
      description: 'The value afterwards. Left out or null: there is none.',
    }),
    masked: t.boolean({
      required: true,
      defaultValue: false,
      description: 'True if the values are secret, and `***` stands for each.',
    }),
  }),
})
const PlannedChangeInput = builder.inputType('PlannedChangeInput', {
  description: 'An object at the target, with its secrets masked by the agent.',
  fields: (t) => ({
    group: t.string({
      required: true,
      defaultValue: '',
      limit: 'plannedName',
      description: 'API group of its kind; empty: none.',
    }),
    kind: t.string({ required: true, limit: 'plannedName', description: 'Its kind.' }),
    namespace: t.string({ limit: 'plannedName', description: 'Its namespace. Left out or null: it is in none.' }),
    name: t.string({ required: true, limit: 'plannedName', description: 'Its name.' }),
    action: t.field({ type: PlannedActionEnum, required: true, description: 'The effect on it.' }),
    reason: t.string({
      limit: 'plannedReason',
      description: 'Why, or what cannot be foreseen of it. Left out or null: nothing.',
    }),
    fields: t.field({
      type: [PlannedFieldInput],
      limit: 'plannedFields',
      description: 'Fields that change. Left out or null: none.',
    }),
    diff: t.string({
      limit: 'plannedDiff',
      description: 'The change as `diff -u` prints it, without file headers. Left out or null: none.',
    }),
  }),
})
const DryRunErrorInput = builder.inputType('DryRunErrorInput', {
  description: 'Why the run would fail.',
  fields: (t) => ({
    code: t.string({ required: true, limit: 'errorCode', description: 'For programs, in a vocabulary of the agent.' }),
    message: t.string({ required: true, limit: 'message', description: 'The failure, for people.' }),
  }),
})
const DryRunReportInput = builder.inputType('DryRunReportInput', {
  description: 'The result of a dry run: exactly one of `changes`, `skipped` and `error`.',
  fields: (t) => ({
    fence: t.string({ required: true, limit: 'fence', description: 'Fence of the claimed dry run.' }),
    changes: t.field({
      type: [PlannedChangeInput],
      limit: 'plannedChanges',
      description: 'Objects at the target. Left out or null: see `skipped` and `error`.',
    }),
    truncated: t.boolean({
      required: true,
      defaultValue: false,
      description: 'True if the agent has left objects, fields or diffs out.',
    }),
    skipped: t.string({
      limit: 'plannedReason',
      description: 'Why nothing can be said, such as a kind of work that has no dry run. Left out or null: it can.',
    }),
    error: t.field({ type: DryRunErrorInput, description: 'Why the run would fail. Left out or null: it would not.' }),
  }),
})

const resultOf = (outcome: DryRunReported): Result =>
  outcome.ok ? { __typename: 'DryRunReportAccepted', changed: outcome.changed } : errorValue(outcome.refusal)

builder.mutationField('reportDryRuns', (t) =>
  t.fieldWithInput({
    right: RIGHTS.reportWork,
    ...commandResult('ReportDryRunsResult', DryRunReportsRef, deploymentsCommands.reportDryRuns),
    description: 'Reports what dry runs have found, which ends each. A report may be repeated.',
    typeOptions: { description: 'Reports of dry runs that the agent has claimed.' },
    input: {
      reports: t.input.field({
        type: [DryRunReportInput],
        required: true,
        limit: 'reports',
        judgesEach: true,
        description: 'Each report is judged on its own.',
      }),
    },
    resolve: async (_, { input: { reports } }, context, { schema }) => {
      const excessive = reports.map((report, i) =>
        boundViolations(schema, { type: DryRunReportInput, path: `input.reports.${i}` }, report),
      )
      const fitting = dropUndefined(reports.filter((_, i) => excessive[i]?.length === 0))
      const mended = fitting.map((report) => changeTexts(report, portableText))
      const reported = await context.deployments.reportDryRuns(context.viewer, { reports: mended })
      if (!reported.ok) return errorValue(reported.refusal)
      const outcomes = reported.results.values()
      const results = excessive.map((problems) =>
        problems.length > 0 ? errorValue(invalidInput(problems)) : resultOf(outcomes.next().value as DryRunReported),
      )
      return { __typename: 'DryRunReports' as const, results }
    },
  }),
)
