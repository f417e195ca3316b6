import { builder } from '../../../graphql/schema/builder.ts'
import { dropUndefined } from '../../../graphql/schema/drop-undefined.ts'
import { ObjectKindEnum } from '../../../graphql/schema/enums.ts'
import { answer } from '../../../graphql/schema/errors.ts'
import { resultUnion } from '../../../graphql/schema/result-union.ts'
import type { PlanStep } from '../plan.ts'
import { CreateInstallationInput, DeleteInstallationInput, UpdateInstallationInput } from './installation-mutations.ts'

const PlanAction = builder.enumType('PlanAction', { values: ['CREATE', 'UPDATE', 'RUN', 'DELETE'] as const })
const PlanStepRef = builder.objectRef<PlanStep>('PlanStep').implement({
  fields: (t) => ({
    order: t.exposeInt('order', { description: 'From 1.' }),
    action: t.expose('action', { type: PlanAction }),
    kind: t.expose('kind', { type: ObjectKindEnum }),
    path: t.stringList({ description: "Names from the root's on.", resolve: ({ path }) => [...path] }),
    name: t.exposeString('name'),
    reason: t.exposeString('reason'),
  }),
})
interface Plan {
  readonly __typename: 'InstallationPlan'
  readonly steps: readonly PlanStep[]
}
const InstallationPlanRef = builder.objectRef<Plan>('InstallationPlan').implement({
  fields: (t) => ({ steps: t.field({ type: [PlanStepRef], resolve: ({ steps }) => [...steps] }) }),
})

const PlanInstallationInput = builder.inputType('PlanInstallationInput', {
  isOneOf: true,
  description: 'The input of the mutation that is being considered.',
  fields: (t) => ({
    create: t.field({ type: CreateInstallationInput }),
    update: t.field({ type: UpdateInstallationInput }),
    delete: t.field({ type: DeleteInstallationInput }),
  }),
})

builder.queryField('planInstallation', (t) =>
  t.field({
    type: resultUnion('PlanInstallationResult', InstallationPlanRef, [
      'InvalidInputError',
      'NotFoundError',
      'ConflictError',
      'ForbiddenError',
      'LimitError',
    ]),
    nullable: true,
    description: 'What the mutation would do, in order, without doing it.',
    args: { input: t.arg({ type: PlanInstallationInput, required: true }) },
    resolve: (_, { input }, context) =>
      answer(
        context,
        'read',
        () => context.deployments.planInstallation(context.viewer, dropUndefined(input)),
        ({ steps }) => ({ __typename: 'InstallationPlan' as const, steps }),
      ),
  }),
)
