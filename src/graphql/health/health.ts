import { canRead } from '../../core/can-read.ts'
import { HEALTH_CAUSES, type HealthCauseName, VERDICTS, type Verdict } from '../../core/health-causes.ts'
import { type Health, type HealthCause, judgeCauses } from '../../core/judge-causes.ts'
import { RIGHTS } from '../../core/rights.ts'
import { findProjectId } from '../../store/projects.ts'
import { objectLoader } from '../loaders.ts'
import { builder } from '../schema/builder.ts'
import { TreeObjectRef } from '../schema/refs.ts'
import { MAX_FACTS, readFacts } from './facts.ts'

/** The health of a project or of the instance: one more view of blockers, deadlines, figures and records. */

const described = <Name extends string>(meanings: readonly (readonly [string, string])[]) =>
  Object.fromEntries(meanings.map(([name, description]) => [name, { description }])) as {
    readonly [One in Name]: { readonly description: string }
  }
const VerdictEnum = builder.enumType('HealthVerdict', {
  description: 'The health of a project or of the instance.',
  values: described<Verdict>(Object.entries(VERDICTS)),
})
const CauseEnum = builder.enumType('HealthCauseName', {
  description: 'Why health is not HEALTHY.',
  values: described<HealthCauseName>(Object.entries(HEALTH_CAUSES).map(([name, { meaning }]) => [name, meaning])),
})

const CauseRef = builder.objectRef<HealthCause>('HealthCause').implement({
  description: 'A cause for which health is not HEALTHY, with the next action.',
  fields: (t) => ({
    cause: t.expose('cause', { type: CauseEnum, description: 'The cause.' }),
    severity: t.expose('severity', { type: VerdictEnum, description: 'The verdict if there were no other cause.' }),
    since: t.expose('since', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when, the longest of all that it holds up; null if nobody knows.',
    }),
    project: t.string({
      nullable: true,
      description: 'Name of the project; null if it belongs to none, or to several.',
      resolve: ({ subject }) => subject.project,
    }),
    subject: t.string({
      description: 'The subject: the path of an object, types of work, the name of a record, or `server`.',
      resolve: ({ subject }) => subject.name,
    }),
    object: t.field({
      type: TreeObjectRef,
      nullable: true,
      description: 'The object, or the first of several; null if it is about none.',
      resolve: ({ subject }, _, context) => (subject.object ? objectLoader(context).load(subject.object.id) : null),
    }),
    count: t.exposeInt('count', { description: 'Number of objects that it holds up, of those that were read.' }),
    message: t.exposeString('message', { description: 'The cause in a sentence.' }),
    action: t.exposeString('action', { description: 'The next action, as a sentence.' }),
    command: t.exposeString('command', { description: 'The command that mends it, or shows more.' }),
    page: t.exposeString('page', { description: 'Path of the page that shows more, on the server.' }),
  }),
})

/** Causes that an answer has. */
const MAX_CAUSES = 20

const HealthRef = builder.objectRef<Health & { readonly at: Date }>('Health').implement({
  description: 'A verdict with its causes.',
  fields: (t) => ({
    verdict: t.expose('verdict', { type: VerdictEnum, description: 'The worst severity of all causes.' }),
    causes: t.field({
      type: [CauseRef],
      description: `The first ${MAX_CAUSES} causes: the worst first, then those that hold up most.`,
      resolve: ({ causes }) => causes.slice(0, MAX_CAUSES),
    }),
    causeCount: t.int({ description: 'Number of all causes.', resolve: ({ causes }) => causes.length }),
    isComplete: t.exposeBoolean('isComplete', {
      description: `False: more than ${MAX_FACTS} trees or objects are open or have failed, and those that were not judged may have more causes.`,
    }),
    at: t.expose('at', { type: 'DateTime', description: 'When it was judged.' }),
  }),
})

builder.queryField('health', (t) =>
  t.field({
    right: RIGHTS.readHealth,
    type: HealthRef,
    nullable: true,
    description: `Says whether work can continue, and what needs a person, of all that the viewer may read. It judges at most ${MAX_FACTS} roots, objects and records of each kind. Null if there is no such project that the viewer may read, and together with an entry in \`errors\`.`,
    args: {
      project: t.arg.string({
        limit: 'reference',
        description:
          'Name of the project. Left out or null: all projects that the viewer may read and, for the roles MONITOR and ADMINISTRATOR, the server.',
      }),
    },
    complexity: 100,
    resolve: async (_, { project }, context) => {
      const { pool, viewer, system } = context
      const projectId = project == null ? null : await findProjectId(pool, project)
      if (project != null && (projectId === null || !canRead(viewer, { projectId }))) return null
      const at = system.now()
      return { at, ...judgeCauses(await readFacts(context, projectId), at) }
    },
  }),
)
