import type { Refusal } from '../../core/errors.ts'
import type { Outcome } from '../../core/ports/outcome.ts'
import { RIGHTS } from '../../core/rights.ts'
import { GadgetJobInput } from '../../families/gadget-job-input.ts'
import { forget, type GraphQLContext } from '../../graphql/context.ts'
import { LabelInput } from '../../graphql/objects/label-input.ts'
import { builder } from '../../graphql/schema/builder.ts'
import { expectedGeneration, IDEMPOTENCY_KEY } from '../../graphql/schema/descriptions.ts'
import { dropUndefined } from '../../graphql/schema/drop-undefined.ts'
import { answer } from '../../graphql/schema/errors.ts'
import { commandResult } from '../../graphql/schema/result-union.ts'
import { loadProjects } from '../../store/loaders/projects.ts'
import { projectCommands } from '../commands/index.ts'
import { ProjectMember, type ProjectValue, StrategyEnum } from './project-settings.ts'
import { WorkerTemplateInput } from './workload-inputs.ts'

const TaskTemplateInput = builder.inputType('TaskTemplateInput', {
  description:
    'A task that an event creates. Each job gets the event as GADGET_EVENT_SOURCE, GADGET_EVENT_TYPE and, if it has at most 16 KiB, GADGET_EVENT_PAYLOAD.',
  fields: (t) => ({
    jobs: t.field({
      type: [GadgetJobInput],
      required: true,
      limit: 'jobs',
      description: 'Jobs of the task, at least one, each with at most 61 environment variables of its own.',
    }),
  }),
})
const SubscriptionInput = builder.inputType('SubscriptionInput', {
  description:
    'A rule for events that name no project: an event that matches it creates a worker or a task in the project.',
  fields: (t) => ({
    source: t.string({
      required: true,
      limit: 'word',
      description: 'Source that the event must have exactly; not empty.',
    }),
    types: t.stringList({
      required: true,
      limit: 'eventTypes',
      description: 'Types of which the event must have one, at least one; `*` stands for every type.',
    }),
    qualifiers: t.field({
      type: [LabelInput],
      limit: 'labels',
      description: 'Pairs that must be all qualifiers of the event, no more and no fewer. Left out or null: none.',
    }),
    labels: t.field({
      type: [LabelInput],
      limit: 'labels',
      description: 'Pairs that must be among the labels of the event. Left out or null: none.',
    }),
    task: t.field({
      type: TaskTemplateInput,
      description: 'Task that is created instead of a worker. Left out or null: a worker.',
    }),
  }),
})
const LimitsInput = builder.inputType('LimitsInput', {
  description:
    'How many workers and jobs of a project may hold a slot at the same time, from STARTING to their end. A field that is left out stays as it is; in a new project it is null.',
  fields: (t) => ({
    maxWorkers: t.int({
      description: 'Most workers, 0 to 100,000; 0: none is started. Null: only the limit of all projects holds.',
    }),
    maxJobs: t.int({
      description: 'Most jobs, 0 to 100,000; 0: none is started. Null: only the limit of all projects holds.',
    }),
    strategy: t.field({ type: StrategyEnum, description: 'The handling of waiting events; null: QUEUE.' }),
  }),
})

const PROMOTES_TO =
  'Name of another project, the next environment: it gets the specs that have succeeded here. It may be created later.'

/** The project of a command as it is now. */
const write = <R extends Refusal>(
  context: GraphQLContext,
  command: Promise<Outcome<{ readonly projectId: string }, R>>,
) =>
  answer(command, async ({ projectId }): Promise<ProjectValue> => {
    forget(context)
    const [row] = await loadProjects(context.pool, { ids: [projectId] }, null)
    if (!row) throw new Error('a project was written and cannot be read')
    return { ...row, __typename: 'Project' }
  })

const DeletedProjectRef = builder
  .objectRef<{ readonly __typename: 'DeletedProject'; readonly name: string }>('DeletedProject')
  .implement({
    description: 'Confirms that a project is deleted.',
    fields: (t) => ({ name: t.exposeString('name', { description: 'Name that the project had.' }) }),
  })

builder.mutationField('createProject', (t) =>
  t.fieldWithInput({
    right: RIGHTS.createProject,
    ...commandResult('CreateProjectResult', ProjectMember, projectCommands.createProject),
    description:
      'Creates a project. A name that exists is refused (ALREADY_EXISTS); a worker template, and subscriptions with tasks, take the role AUTHOR for all projects besides.',
    typeOptions: { description: 'Name and settings of a new project.' },
    input: {
      name: t.input.string({
        required: true,
        limit: 'name',
        description: 'A letter or _, then letters, digits, _ or -.',
      }),
      workerTemplate: t.input.field({
        type: WorkerTemplateInput,
        description:
          'Program of its workers. Left out or null: the project gets no events, only the tasks of its subscriptions.',
      }),
      subscriptions: t.input.field({
        type: [SubscriptionInput],
        limit: 'subscriptions',
        description: 'Rules for events that name no project. Left out or null: none.',
      }),
      limits: t.input.field({
        type: LimitsInput,
        description: 'Left out or null: only the limits of all projects hold, and every event has its turn.',
      }),
      promotesTo: t.input.string({
        limit: 'name',
        description: `${PROMOTES_TO} Left out or null: none.`,
      }),
      idempotencyKey: t.input.string(IDEMPOTENCY_KEY),
    },
    resolve: (_, { input }, context) =>
      write(context, context.projects.createProject(context.viewer, dropUndefined(input))),
  }),
)
builder.mutationField('updateProject', (t) =>
  t.fieldWithInput({
    right: RIGHTS.updateProject,
    ...commandResult('UpdateProjectResult', ProjectMember, projectCommands.updateProject),
    description: 'Changes a project. Limits take effect at once; events that exist keep their worker and secrets.',
    typeOptions: { description: 'Changes of a project. A field that is left out stays as it is, and null clears it.' },
    input: {
      name: t.input.string({
        required: true,
        limit: 'reference',
        description: 'Name of the project. It cannot be changed.',
      }),
      workerTemplate: t.input.field({
        type: WorkerTemplateInput,
        description:
          'Program of its workers, in place of the one before; null: the project gets no more events, only the tasks of its subscriptions.',
      }),
      subscriptions: t.input.field({
        type: [SubscriptionInput],
        limit: 'subscriptions',
        description: 'Rules in place of all that the project has.',
      }),
      limits: t.input.field({
        type: LimitsInput,
        description: 'Limits to change; those that are left out stay as they are. Null clears all, and sets QUEUE.',
      }),
      promotesTo: t.input.string({ limit: 'name', description: `${PROMOTES_TO} Null: none.` }),
      expectedGeneration: t.input.int({ description: expectedGeneration('the project') }),
      idempotencyKey: t.input.string(IDEMPOTENCY_KEY),
    },
    resolve: (_, { input }, context) =>
      write(context, context.projects.updateProject(context.viewer, dropUndefined(input))),
  }),
)
builder.mutationField('deleteProject', (t) =>
  t.fieldWithInput({
    right: RIGHTS.deleteProject,
    ...commandResult('DeleteProjectResult', DeletedProjectRef, projectCommands.deleteProject),
    description:
      'Deletes a project with its secrets, hooks, subscriptions and data. Refused while the project has objects (IN_USE), and for the project default.',
    typeOptions: { description: 'The project to delete.' },
    input: { name: t.input.string({ required: true, limit: 'reference', description: 'Name of the project.' }) },
    resolve: (_, { input }, context) =>
      answer(context.projects.deleteProject(context.viewer, input), () => ({
        __typename: 'DeletedProject' as const,
        name: input.name,
      })),
  }),
)
