import type { Report } from '../../core/ports/agents.ts'
import type { Outcome } from '../../core/ports/outcome.ts'
import { forget } from '../context.ts'
import { objectLoader } from '../loaders.ts'
import { builder } from '../schema/builder.ts'
import { LockModeEnum, PhaseEnum } from '../schema/enums.ts'
import { type ErrorValue, errorValue, refusedBy } from '../schema/errors.ts'
import { TreeObjectRef } from '../schema/refs.ts'
import { resultUnion } from '../schema/result-union.ts'

interface Accepted {
  readonly __typename: 'PhaseReportAccepted'
  readonly objectId: string | null
  readonly changed: boolean
}

const PhaseReportAcceptedRef = builder.objectRef<Accepted>('PhaseReportAccepted').implement({
  fields: (t) => ({
    object: t.field({
      type: TreeObjectRef,
      nullable: true,
      description: 'Null once it is gone.',
      resolve: ({ objectId }, _, context) => (objectId ? objectLoader(context).load(objectId) : null),
    }),
    changed: t.exposeBoolean('changed'),
  }),
})
const PhaseReportResult = resultUnion('PhaseReportResult', PhaseReportAcceptedRef, [
  'TransitionError',
  'StaleReportError',
  'NotFoundError',
  'InvalidInputError',
  'ForbiddenError',
])
const PhaseReportsRef = builder
  .objectRef<{ readonly __typename: 'PhaseReports'; readonly results: readonly (Accepted | ErrorValue)[] }>(
    'PhaseReports',
  )
  .implement({
    description: 'One result per report, in order.',
    fields: (t) => ({
      results: t.field({
        type: [PhaseReportResult],
        complexity: { field: 1, multiplier: 100 },
        resolve: ({ results }) => [...results],
      }),
    }),
  })

const ProgressInput = builder.inputType('ProgressInput', {
  fields: (t) => ({ step: t.string(), value: t.float(), total: t.float(), unit: t.string() }),
})
const ReportedErrorInput = builder.inputType('ReportedErrorInput', {
  fields: (t) => ({
    code: t.string({ required: true }),
    message: t.string({ required: true }),
    retryable: t.boolean({ required: true, defaultValue: false }),
  }),
})
const LockInput = builder.inputType('LockInput', {
  fields: (t) => ({ resource: t.string({ required: true }), mode: t.field({ type: LockModeEnum, required: true }) }),
})
const PhaseReportInput = builder.inputType('PhaseReportInput', {
  fields: (t) => ({
    fence: t.string({ required: true }),
    phase: t.field({
      type: PhaseEnum,
      description:
        'Deployers say GONE, CRMs NOT_PRESENT, when the real counterpart exists no more. Null: no phase (progress only).',
    }),
    done: t.boolean({
      required: true,
      defaultValue: false,
      description: 'This piece of work is done and moves no phase: STOP, REMOVE.',
    }),
    message: t.string(),
    progress: t.field({ type: ProgressInput }),
    exports: t.field({ type: 'JSON' }),
    error: t.field({ type: ReportedErrorInput }),
    locks: t.field({ type: [LockInput], description: 'GET_LOCKS only.' }),
  }),
})
const ReportPhasesInput = builder.inputType('ReportPhasesInput', {
  fields: (t) => ({ reports: t.field({ type: [PhaseReportInput], required: true }) }),
})

const resultOf = (outcome: Outcome<{ objectId: string | null; changed: boolean }>): Accepted | ErrorValue =>
  outcome.ok
    ? { __typename: 'PhaseReportAccepted', objectId: outcome.objectId, changed: outcome.changed }
    : errorValue(outcome.refusal)

builder.mutationField('reportPhases', (t) =>
  t.field({
    type: resultUnion('ReportPhasesResult', PhaseReportsRef, ['InvalidInputError', 'ForbiddenError']),
    nullable: true,
    description: 'Report phases; one result per report, in order. The only way for an agent to move an object.',
    args: { input: t.arg({ type: ReportPhasesInput, required: true }) },
    resolve: async (_, { input }, context) => {
      const refused = refusedBy(context, 'agent')
      if (refused) return refused
      const reported = await context.agents.report(context.viewer, input.reports satisfies readonly Report[])
      if (!reported.ok) return errorValue(reported.refusal)
      forget(context)
      return { __typename: 'PhaseReports' as const, results: reported.results.map(resultOf) }
    },
  }),
)
