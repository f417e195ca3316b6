import { type CodeLevel, describeCode, LEVEL_WORDS } from '../../../core/deployers/item-types.ts'
import { diffJson } from '../../../core/json-diff.ts'
import { ForecastRef } from '../../../graphql/objects/forecast.ts'
import { JsonDiffRef, MAX_DIFFERENCES } from '../../../graphql/objects/json-difference.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { dropUndefined } from '../../../graphql/schema/drop-undefined.ts'
import { BlockerReasonEnum, ObjectKindEnum } from '../../../graphql/schema/enums.ts'
import { answer } from '../../../graphql/schema/errors.ts'
import { commandResult } from '../../../graphql/schema/result-union.ts'
import { deploymentsCommands } from '../commands/index.ts'
import type { InstallationPlan } from '../commands/plan-installation.ts'
import { rights } from '../rights.ts'
import type { PlanStep } from '../rules/plan.ts'
import type { PlanBlocker } from '../rules/predict-blockers.ts'
import { planForecast } from './forecast.ts'
import { CreateInstallationInput, DeleteInstallationInput, UpdateInstallationInput } from './installation-mutations.ts'

export const PlanAction = builder.enumType('PlanAction', {
  description: 'The effect on an object in a step of a plan.',
  values: {
    CREATE: { description: 'The object is created and runs.' },
    UPDATE: { description: 'The object gets another spec and runs.' },
    RUN: { description: 'The object runs again, with the spec that it has.' },
    DELETE: { description: 'The object is deleted.' },
  } as const,
})
const PlanStepRef = builder.objectRef<PlanStep>('PlanStep').implement({
  description: 'The effect on one object.',
  fields: (t) => ({
    order: t.exposeInt('order', { description: 'Place in the plan, from 1.' }),
    action: t.expose('action', { type: PlanAction, description: 'The effect on the object.' }),
    kind: t.expose('kind', { type: ObjectKindEnum, description: 'Kind of the object.' }),
    path: t.stringList({
      description: 'Names from the root down to the object.',
      resolve: ({ path }) => [...path],
    }),
    name: t.exposeString('name', { description: 'Name of the object.' }),
    reason: t.exposeString('reason', { description: 'Why it happens, for people.' }),
    target: t.exposeString('target', {
      nullable: true,
      description:
        'Target of a deploy item: the one that its spec names, or that its selector selects now; null: none.',
    }),
  }),
})
const PlanBlockerRef = builder.objectRef<PlanBlocker>('PlanBlocker').implement({
  description: 'A blocker of objects of the plan.',
  fields: (t) => ({
    reason: t.expose('reason', { type: BlockerReasonEnum, description: 'The blocker, for programs.' }),
    message: t.exposeString('message', { description: 'The blocker, for people.' }),
    kind: t.expose('kind', { type: ObjectKindEnum, description: 'Kind of the objects.' }),
    path: t.stringList({
      description: 'Names from the root down to the first of the objects.',
      resolve: ({ path }) => [...path],
    }),
    objectCount: t.exposeInt('objectCount', { description: 'Count of the objects that would wait for it.' }),
  }),
})
const sentence = (words: string): string => `${words.charAt(0).toUpperCase()}${words.slice(1)}.`
const CodeLevelEnum = builder.enumType('CodeLevel', {
  description: 'How far code that a deploy item brings reaches at worst.',
  values: {
    NONE: { description: `It brings ${LEVEL_WORDS.NONE}.` },
    IMAGE: { description: sentence(LEVEL_WORDS.IMAGE) },
    CLUSTER: { description: sentence(LEVEL_WORDS.CLUSTER) },
    COMMAND: { description: `${sentence(LEVEL_WORDS.COMMAND)} Types that the package does not have count as this.` },
  } as const satisfies Readonly<Record<CodeLevel, object>>,
})
const PlannedCodeRef = builder.objectRef<InstallationPlan['broughtCode'][number]>('PlannedCode').implement({
  description: 'A deploy item that brings code to run which is not there yet.',
  fields: (t) => ({
    path: t.stringList({
      description: 'Names from the root down to the item.',
      resolve: ({ path }) => [...path],
    }),
    type: t.exposeString('type', { description: 'Type of the item, which makes it bring code.' }),
    level: t.expose('level', { type: CodeLevelEnum, description: 'How far that code reaches.' }),
    message: t.string({
      description: 'The code that such an item brings, for people.',
      resolve: ({ type }) => `${describeCode(type)}.`,
    }),
    permitted: t.exposeBoolean('permitted', {
      description:
        'True if the viewer may bring it: it has the role AUTHOR in the project, or the server lets editors write items of the type. Otherwise the mutation is refused (FORBIDDEN).',
    }),
  }),
})
interface Plan extends InstallationPlan {
  readonly __typename: 'InstallationPlan'
}
const InstallationPlanRef = builder.objectRef<Plan>('InstallationPlan').implement({
  description: 'The effects of a mutation.',
  fields: (t) => ({
    steps: t.field({
      type: [PlanStepRef],
      description: 'Steps in the order in which they begin; empty if nothing happens.',
      resolve: ({ steps }) => [...steps],
    }),
    blockers: t.field({
      type: [PlanBlockerRef],
      description:
        'The blockers that would keep steps from ending now: required imports that nobody exports, invariants of the project, selectors that select no target or several, and types of work that no connected agent takes. Each once; empty if nothing would.',
      resolve: ({ blockers }) => [...blockers],
    }),
    broughtCode: t.field({
      type: [PlannedCodeRef],
      description:
        'Deploy items that bring code to run: those of such a type that are new, or whose type, target or config changes, or what expressions of their config read in the tree. They take the role AUTHOR besides.',
      resolve: ({ broughtCode }) => [...broughtCode],
    }),
    spec: t.field({
      type: JsonDiffRef,
      nullable: true,
      description: 'How the spec would differ from the present one; null if no spec is given.',
      resolve: ({ specs }) => specs && diffJson(specs.before, specs.after, MAX_DIFFERENCES),
    }),
    forecast: t.field({
      type: ForecastRef,
      nullable: true,
      description:
        'When the installation would be expected to end if it ran now. Null for a new one, for one that is deleted, if objects are deleted first or only the job knows its items, and where nothing shows it.',
      complexity: 30,
      resolve: ({ rerun }, _, context) => rerun && planForecast(context, rerun),
    }),
  }),
})

builder.queryField('planInstallation', (t) =>
  t.fieldWithInput({
    right: rights.plan,
    ...commandResult('PlanInstallationResult', InstallationPlanRef, deploymentsCommands.planInstallation),
    description:
      'The effects of createInstallation, updateInstallation or deleteInstallation, without executing it. Null only together with an entry in `errors`.',
    typeOptions: { isOneOf: true, description: 'The input of the mutation, as exactly one of the three.' },
    input: {
      create: t.input.field({ type: CreateInstallationInput, description: 'Input of createInstallation.' }),
      update: t.input.field({ type: UpdateInstallationInput, description: 'Input of updateInstallation.' }),
      delete: t.input.field({ type: DeleteInstallationInput, description: 'Input of deleteInstallation.' }),
    },
    resolve: (_, { input }, context) =>
      answer(context.deployments.planInstallation(context.viewer, dropUndefined(input)), (plan) => ({
        __typename: 'InstallationPlan' as const,
        ...plan,
      })),
  }),
)
