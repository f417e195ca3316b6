import type { Outcome } from '../../../core/ports.ts'
import { builder } from '../../../graphql/builder.ts'
import { forget, type GraphQLContext } from '../../../graphql/context.ts'
import { answer } from '../../../graphql/errors.ts'
import { GadgetJobInput } from '../../../graphql/gadget-job-input.ts'
import { given } from '../../../graphql/given.ts'
import { LabelInput } from '../../../graphql/label-input.ts'
import { resultUnion } from '../../../graphql/result-union.ts'
import { loadProjects } from '../../../store/loaders/projects.ts'
import type { ProjectDone } from '../commands/create-project.ts'
import { ProjectMember, type ProjectValue, StrategyEnum } from './project.ts'
import { WorkerTemplateInput } from './workload-inputs.ts'

const TaskTemplateInput = builder.inputType('TaskTemplateInput', {
  description:
    'A task that an event creates. Each job finds the event in GADGET_EVENT_SOURCE, GADGET_EVENT_TYPE and, up to 16 KiB, GADGET_EVENT_PAYLOAD.',
  fields: (t) => ({ jobs: t.field({ type: [GadgetJobInput], required: true }) }),
})
const SubscriptionInput = builder.inputType('SubscriptionInput', {
  fields: (t) => ({
    source: t.string({ required: true }),
    types: t.stringList({ required: true, description: '`*` stands for every type.' }),
    qualifiers: t.field({ type: [LabelInput], description: 'Exactly those of the event, both ways.' }),
    labels: t.field({ type: [LabelInput], description: "All of them among the event's." }),
    task: t.field({ type: TaskTemplateInput, description: 'Creates a task instead of a worker.' }),
  }),
})
const LimitsInput = builder.inputType('LimitsInput', {
  description: 'Null: as much as there is; 0: nothing is started.',
  fields: (t) => ({
    maxWorkers: t.int(),
    maxJobs: t.int(),
    strategy: t.field({ type: StrategyEnum, description: 'QUEUE if null.' }),
  }),
})
const CreateProjectInput = builder.inputType('CreateProjectInput', {
  fields: (t) => ({
    name: t.string({ required: true }),
    workerTemplate: t.field({ type: WorkerTemplateInput }),
    subscriptions: t.field({ type: [SubscriptionInput] }),
    limits: t.field({ type: LimitsInput }),
  }),
})
const UpdateProjectInput = builder.inputType('UpdateProjectInput', {
  description: 'What is left out stays as it is; null clears it.',
  fields: (t) => ({
    name: t.string({ required: true }),
    workerTemplate: t.field({ type: WorkerTemplateInput }),
    subscriptions: t.field({ type: [SubscriptionInput], description: 'All of them.' }),
    limits: t.field({ type: LimitsInput, description: 'Those that are left out stay as they are.' }),
  }),
})
const DeleteProjectInput = builder.inputType('DeleteProjectInput', {
  fields: (t) => ({ name: t.string({ required: true }) }),
})

/** The project as it is after the command. */
const write = (context: GraphQLContext, command: () => Promise<ProjectDone>) =>
  answer(
    context,
    'write',
    async (): Promise<Outcome<{ row: ProjectValue }>> => {
      const outcome = await command()
      if (!outcome.ok) return outcome
      forget(context)
      const [row] = await loadProjects(context.pool, { names: [outcome.project] }, null)
      if (!row) throw new Error('a project was written and cannot be read')
      return { ok: true, row: { ...row, __typename: 'Project' } }
    },
    ({ row }) => row,
  )

const DeletedProjectRef = builder
  .objectRef<{ readonly __typename: 'DeletedProject'; readonly name: string }>('DeletedProject')
  .implement({ fields: (t) => ({ name: t.exposeString('name') }) })

builder.mutationFields((t) => ({
  createProject: t.field({
    type: resultUnion('CreateProjectResult', ProjectMember, ['InvalidInputError', 'ConflictError', 'ForbiddenError']),
    nullable: true,
    description: 'By an administrator, or by a user that may see all projects.',
    args: { input: t.arg({ type: CreateProjectInput, required: true }) },
    resolve: (_, { input }, context) =>
      write(context, () => context.pipelines.createProject(context.viewer, given(input))),
  }),
  updateProject: t.field({
    type: resultUnion('UpdateProjectResult', ProjectMember, ['InvalidInputError', 'NotFoundError', 'ForbiddenError']),
    nullable: true,
    description: 'Events that have come already are not concerned, but for the limits.',
    args: { input: t.arg({ type: UpdateProjectInput, required: true }) },
    resolve: (_, { input }, context) =>
      write(context, () => context.pipelines.updateProject(context.viewer, given(input))),
  }),
  deleteProject: t.field({
    type: resultUnion('DeleteProjectResult', DeletedProjectRef, [
      'InvalidInputError',
      'NotFoundError',
      'ConflictError',
      'ForbiddenError',
    ]),
    nullable: true,
    description: 'Once it has no objects any more. Its secrets, subscriptions and data go with it.',
    args: { input: t.arg({ type: DeleteProjectInput, required: true }) },
    resolve: (_, { input }, context) =>
      answer(
        context,
        'write',
        () => context.pipelines.deleteProject(context.viewer, input),
        ({ project: name }) => ({ __typename: 'DeletedProject' as const, name }),
      ),
  }),
}))
