import { projectsWith } from '../../../core/rights.ts'
import { addHealthFacts } from '../../../graphql/health/facts.ts'
import { projectLoader } from '../../../graphql/loaders.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { dropUndefined } from '../../../graphql/schema/drop-undefined.ts'
import { answer } from '../../../graphql/schema/errors.ts'
import { ProjectRef } from '../../../graphql/schema/refs.ts'
import { commandResult } from '../../../graphql/schema/result-union.ts'
import { type HoldRow, listHolds } from '../../../store/holds.ts'
import { automationCommands } from '../commands/schedules.ts'
import { rights } from '../rights.ts'

type HoldValue = HoldRow & { readonly __typename: 'AutomationHold' }
const brand = (row: HoldRow): HoldValue => ({ ...row, __typename: 'AutomationHold' })

const PROJECT = 'Name of the project. Left out or null: all projects.'
const HoldRef = builder.objectRef<HoldValue>('AutomationHold').implement({
  description:
    'Nothing happens by itself: firings are skipped, deliveries to hooks refused, and no notifications written or sent.',
  fields: (t) => ({
    project: t.field({
      type: ProjectRef,
      nullable: true,
      description: 'The project; null: all projects.',
      resolve: ({ projectId }, _, context) => (projectId === null ? null : projectLoader(context).load(projectId)),
    }),
    reason: t.exposeString('reason', { description: 'Why.' }),
    by: t.exposeString('by', { description: 'Name of who holds it.' }),
    at: t.expose('at', { type: 'DateTime', description: 'Since when.' }),
  }),
})

addHealthFacts('holds', rights.readHolds, async (context, projects) =>
  Promise.all(
    (await listHolds(context.pool, projects)).map(async ({ projectId, at, by, reason }) => {
      const project = projectId === null ? null : ((await projectLoader(context).load(projectId))?.name ?? null)
      const subject = { project, name: project ?? 'all projects', object: null }
      return { subject, since: at, message: `Held by ${by}: ${reason}` }
    }),
  ),
)

builder.queryField('automationHolds', (t) =>
  t.field({
    right: rights.readHolds,
    type: [HoldRef],
    nullable: true,
    description:
      'The projects that the viewer may read in which automation is held; at most one hold for each, and one for all of them. Null only together with an entry in `errors`.',
    resolve: async (_, _args, { pool, viewer }) =>
      (await listHolds(pool, projectsWith(viewer, rights.readHolds))).map(brand),
  }),
)
builder.mutationField('holdAutomation', (t) =>
  t.fieldWithInput({
    right: rights.hold,
    ...commandResult('HoldAutomationResult', HoldRef, automationCommands.holdAutomation),
    description:
      'Stops what happens by itself in a project, or in all of them: schedules, hooks and notifications. It ends nothing that runs. A second hold replaces the reason.',
    typeOptions: { description: 'The project, and why.' },
    input: {
      project: t.input.string({ limit: 'reference', description: PROJECT }),
      reason: t.input.string({ required: true, limit: 'reason', description: 'Shown until it is released.' }),
    },
    resolve: (_, { input }, context) =>
      answer(context.automation.holdAutomation(context.viewer, dropUndefined(input)), ({ hold }) => brand(hold)),
  }),
)

interface Released {
  readonly __typename: 'ReleasedAutomation'
  readonly projectId: string | null
}
const ReleasedRef = builder.objectRef<Released>('ReleasedAutomation').implement({
  description: 'Confirms that automation is released.',
  fields: (t) => ({
    project: t.field({
      type: ProjectRef,
      nullable: true,
      description: 'The project; null: all projects, apart from those that are held by themselves.',
      resolve: ({ projectId }, _, context) => (projectId === null ? null : projectLoader(context).load(projectId)),
    }),
  }),
})
builder.mutationField('releaseAutomation', (t) =>
  t.fieldWithInput({
    right: rights.hold,
    ...commandResult('ReleaseAutomationResult', ReleasedRef, automationCommands.releaseAutomation),
    description:
      'Lets things happen by themselves again. Firings, deliveries and changes that came meanwhile are not made up for; deliveries can be played again. Refused if it is not held there (NOT_FOUND).',
    typeOptions: { description: 'The project.' },
    input: { project: t.input.string({ limit: 'reference', description: PROJECT }) },
    resolve: (_, { input }, context) =>
      answer(context.automation.releaseAutomation(context.viewer, dropUndefined(input)), ({ projectId }) => ({
        __typename: 'ReleasedAutomation' as const,
        projectId,
      })),
  }),
)
