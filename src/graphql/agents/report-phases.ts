import type { InputFieldMap } from '@pothos/core'
import { invalidInput } from '../../core/errors.ts'
import { portableText } from '../../core/portable.ts'
import type { AgentPort, Report, ReportOutcome } from '../../core/ports/agents.ts'
import { changeTexts } from '../../core/report-texts.ts'
import { RIGHTS } from '../../core/rights.ts'
import { forget } from '../context.ts'
import { objectLoader } from '../loaders.ts'
import { builder } from '../schema/builder.ts'
import { boundViolations } from '../schema/check-bounds.ts'
import { PhaseEnum } from '../schema/enums.ts'
import { errorValue } from '../schema/errors.ts'
import { TreeObjectRef } from '../schema/refs.ts'
import { commandResult, errorsOf, resultUnion } from '../schema/result-union.ts'

interface Accepted {
  readonly __typename: 'PhaseReportAccepted'
  readonly objectId: string | null
  readonly changed: boolean
}

const PhaseReportAcceptedRef = builder.objectRef<Accepted>('PhaseReportAccepted').implement({
  description: 'A report that was accepted.',
  fields: (t) => ({
    object: t.field({
      type: TreeObjectRef,
      nullable: true,
      description: 'The object as it is now; null once it is deleted.',
      resolve: ({ objectId }, _, context) => (objectId ? objectLoader(context).load(objectId) : null),
    }),
    changed: t.exposeBoolean('changed', {
      description: 'True if the report moved the object to another phase; false for a repeated report.',
    }),
  }),
})
type Result = typeof PhaseReportResult.$inferType
const PhaseReportResult = resultUnion(
  'PhaseReportResult',
  PhaseReportAcceptedRef,
  errorsOf<ReportOutcome>({
    TransitionError: true,
    StaleReportError: true,
    NotFoundError: true,
  }),
)
const PhaseReportsRef = builder
  .objectRef<{ readonly __typename: 'PhaseReports'; readonly results: readonly Result[] }>('PhaseReports')
  .implement({
    description: 'The results of the reports.',
    fields: (t) => ({
      results: t.field({
        type: [PhaseReportResult],
        description: 'One for each report, in order.',
        complexity: { field: 1, multiplier: 100 },
        resolve: ({ results }) => [...results],
      }),
    }),
  })

const ProgressInput = builder.inputType('ProgressInput', {
  description: 'How far the work has come. It replaces what was reported before.',
  fields: (t) => ({
    step: t.string({ limit: 'step', description: 'Step that runs. Left out or null: `message` of the report.' }),
    value: t.float({ description: 'How much is done, in `unit`. Left out or null: unknown.' }),
    total: t.float({
      description: 'Value at which the work is complete, in `unit`. Left out or null: unknown.',
    }),
    unit: t.string({
      limit: 'progressUnit',
      description: 'Unit of `value` and `total`, e.g. bytes. Left out or null: none.',
    }),
  }),
})
const ReportedErrorInput = builder.inputType('ReportedErrorInput', {
  description: 'Why the work failed.',
  fields: (t) => ({
    code: t.string({ required: true, limit: 'errorCode', description: 'For programs, in a vocabulary of the agent.' }),
    message: t.string({ required: true, limit: 'message', description: 'The failure, for people.' }),
    retryable: t.boolean({
      description:
        'True, with the phase of work that has not ended: it is given back, to be offered again after a backoff, within the same attempt. False: another attempt would end in the same way, so the failure is final. Left out or null: the retry policy of the object decides; without a policy it is final.',
    }),
  }),
})
type ReportFields = Parameters<typeof builder.inputType<'PhaseReportInput', InputFieldMap>>[1]['fields']
const fieldsOfFamilies: ReportFields[] = []
/** Adds what only agents of one family report. Like its types, it is added when its module is loaded. */
export const addReportFields = (fields: ReportFields): void => void fieldsOfFamilies.push(fields)

const PhaseReportInput = builder.inputType('PhaseReportInput', {
  description: 'A report about work that the agent holds.',
  fields: (t) => ({
    fence: t.string({ required: true, limit: 'fence', description: 'Fence of the work.' }),
    phase: t.field({
      type: PhaseEnum,
      description:
        'Phase that the object has reached. Deployers report GONE, and CRMs NOT_PRESENT, when the real counterpart no longer exists. Left out or null: its phase does not change, as for progress.',
    }),
    done: t.boolean({
      required: true,
      defaultValue: false,
      description: 'True if work that changes no phase is done (STOP, REMOVE).',
    }),
    message: t.string({
      limit: 'message',
      description:
        'Text for people: of the phase change, or of the present step if the phase does not change. Left out or null: none.',
    }),
    progress: t.field({
      type: ProgressInput,
      description: 'How far the work has come. Left out or null: as reported before.',
    }),
    exports: t.field({
      type: 'JSON',
      limit: 'json',
      description: 'Object of the results of work that has succeeded. Left out or null: none.',
    }),
    error: t.field({
      type: ReportedErrorInput,
      description: 'Why the work failed. Left out or null: a general error is recorded for a failed phase.',
    }),
    traceparent: t.string({
      limit: 'traceparent',
      description:
        'Place of the agent’s span for this work, as the header `traceparent` of W3C Trace Context has it. A malformed one is ignored. Left out or null: that of the work.',
    }),
    // Their types are the families' own.
    ...(Object.assign({}, ...fieldsOfFamilies.map((fields) => fields(t))) as object),
  }),
})

const isObjectOrNone = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'object' && !Array.isArray(value))

const resultOf = (outcome: ReportOutcome): Result =>
  outcome.ok
    ? { __typename: 'PhaseReportAccepted', objectId: outcome.objectId, changed: outcome.changed }
    : errorValue(outcome.refusal)

builder.mutationField('reportPhases', (t) =>
  t.fieldWithInput({
    right: RIGHTS.reportWork,
    ...commandResult('ReportPhasesResult', PhaseReportsRef, errorsOf<AgentPort['report']>({})),
    description:
      'Reports about work that the agent holds, the only way for an agent to move an object. A report may be repeated.',
    typeOptions: { description: 'Reports, about any work of the agent.' },
    input: {
      reports: t.input.field({
        type: [PhaseReportInput],
        required: true,
        limit: 'reports',
        judgesEach: true,
        description: 'Each report is judged on its own.',
      }),
    },
    resolve: async (_, { input: { reports } }, context, { schema }) => {
      const excessive = reports.map((report, i) => {
        const path = `input.reports.${i}`
        const excess = boundViolations(schema, { type: PhaseReportInput, path }, report)
        return excess.length > 0 || isObjectOrNone(report.exports)
          ? excess
          : [...excess, { path: `${path}.exports`, message: 'must be an object, whose fields are the exports' }]
      })
      const fitting: readonly Report[] = reports
        .filter((_, i) => excessive[i]?.length === 0)
        .map((report) => changeTexts(report, portableText))
      const reported = await context.agents.report(context.viewer, fitting)
      if (!reported.ok) return errorValue(reported.refusal)
      forget(context)
      const outcomes = reported.results.values()
      const results = excessive.map((problems) =>
        problems.length > 0 ? errorValue(invalidInput(problems)) : resultOf(outcomes.next().value as ReportOutcome),
      )
      return { __typename: 'PhaseReports' as const, results }
    },
  }),
)
