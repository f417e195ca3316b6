import { PLANNED_ACTIONS, type PlannedAction, type PlannedChange, type PlannedField } from '../../../core/dry-run.ts'
import { hasRight } from '../../../core/rights.ts'
import type { GraphQLContext } from '../../../graphql/context.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { dropUndefined } from '../../../graphql/schema/drop-undefined.ts'
import { errorValue } from '../../../graphql/schema/errors.ts'
import { isUuid } from '../../../graphql/schema/ids.ts'
import { commandResult } from '../../../graphql/schema/result-union.ts'
import { deploymentsCommands } from '../commands/index.ts'
import { rights } from '../rights.ts'
import { DRY_RUN, DRY_RUN_STATES, type DryRunState, isOpen, judgeDryRun } from '../rules/dry-run-state.ts'
import { type DryRunItemRow, type DryRunRow, findDryRun, loadDryRunItems } from '../store/dry-runs.ts'
import { CreateInstallationInput, DeleteInstallationInput, UpdateInstallationInput } from './installation-mutations.ts'
import { PlanAction } from './plan.ts'
import { ReconcileModeEnum } from './reconcile-mode.ts'

const STATES: Readonly<Record<DryRunState, string>> = {
  OFFERED: `It waits for an agent, for ${DRY_RUN.offeredMs / 1_000} s at most.`,
  CLAIMED: 'An agent asks its target.',
  PLANNED: '`changes` has what would change.',
  SKIPPED: 'Nothing can be said; `message` says why, e.g. which expression waits for which export.',
  FAILED: 'The target or the agent refuses it, as it would refuse the real run; `code` and `message` say why.',
  EXPIRED: 'No agent has claimed it, or answered, in time.',
}
const ACTIONS: Readonly<Record<PlannedAction, string>> = {
  CREATE: 'It is not there yet, and is created.',
  UPDATE: 'It is changed.',
  RECREATE: 'It cannot become what it has to be: it is deleted and created anew.',
  DELETE: 'It is deleted.',
  UNCHANGED: 'It stays as it is.',
}
const describe = <T extends string>(names: readonly T[], meanings: Readonly<Record<T, string>>) =>
  Object.fromEntries(names.map((name) => [name, { description: meanings[name] }])) as Record<T, { description: string }>

const DryRunStateEnum = builder.enumType('DryRunState', {
  description: 'How far the dry run of a deploy item has come.',
  values: describe(DRY_RUN_STATES, STATES),
})
export const PlannedActionEnum = builder.enumType('PlannedAction', {
  description: 'The effect on an object at a target.',
  values: describe(PLANNED_ACTIONS, ACTIONS),
})

const PlannedFieldRef = builder.objectRef<PlannedField>('PlannedField').implement({
  description: 'A field of an object at a target that would change.',
  fields: (t) => ({
    path: t.exposeString('path', {
      description: 'Names of the members that lead to it, divided by dots, e.g. `spec.replicas`.',
    }),
    before: t.field({
      type: 'JSON',
      nullable: true,
      description: 'The present value; null if there is none.',
      resolve: ({ before }) => before,
    }),
    after: t.field({
      type: 'JSON',
      nullable: true,
      description: 'The value afterwards; null if there is none.',
      resolve: ({ after }) => after,
    }),
    masked: t.boolean({
      description: 'True if the values are secret: `***` stands for each that is there.',
      resolve: ({ masked = false }) => masked,
    }),
  }),
})
const PlannedChangeRef = builder.objectRef<PlannedChange>('PlannedChange').implement({
  description: 'An object at a target, such as one of Kubernetes, and what would become of it.',
  fields: (t) => ({
    group: t.string({
      description: 'API group of its kind; empty if it has none.',
      resolve: ({ group = '' }) => group,
    }),
    kind: t.exposeString('kind', { description: 'Its kind at the target, e.g. `Deployment`.' }),
    namespace: t.string({
      nullable: true,
      description: 'Its namespace; null if it is in none.',
      resolve: ({ namespace = null }) => namespace,
    }),
    name: t.exposeString('name', { description: 'Its name at the target.' }),
    action: t.expose('action', { type: PlannedActionEnum, description: 'The effect on it.' }),
    reason: t.string({
      nullable: true,
      description: 'Why, or what cannot be foreseen of it; null if there is nothing to say.',
      resolve: ({ reason = null }) => reason,
    }),
    fields: t.field({
      type: [PlannedFieldRef],
      description: 'Fields that change, for UPDATE.',
      resolve: ({ fields }) => [...(fields ?? [])],
    }),
    diff: t.string({
      nullable: true,
      description:
        'The change as `diff -u` prints it, without file headers, with secret values masked; null if there is none.',
      resolve: ({ diff = null }) => diff,
    }),
  }),
})

type Item = DryRunItemRow
const DryRunItemRef = builder.objectRef<Item>('DryRunItem').implement({
  description: 'The effects that a run would have at the target of one deploy item.',
  fields: (t) => ({
    path: t.stringList({
      description: 'Names from the root down to the item, as those of a plan.',
      resolve: ({ path }) => [...path],
    }),
    action: t.expose('action', { type: PlanAction, description: 'The effect on the item itself.' }),
    type: t.exposeString('type', { description: 'Type of the item.' }),
    target: t.exposeString('target', { nullable: true, description: 'Its target; null if it names none.' }),
    state: t.field({
      type: DryRunStateEnum,
      description: 'How far it has come.',
      resolve: (item) => judgeDryRun(item).state,
    }),
    code: t.string({
      nullable: true,
      description: 'Why it has FAILED, for programs, in the vocabulary of its agent; null otherwise.',
      resolve: (item) => judgeDryRun(item).error?.code ?? null,
    }),
    message: t.string({
      nullable: true,
      description: 'Why it is SKIPPED, FAILED or EXPIRED, for people; null otherwise.',
      resolve: (item) => {
        const { error, reason } = judgeDryRun(item)
        return error?.message ?? reason
      },
    }),
    changes: t.field({
      type: [PlannedChangeRef],
      description: 'Objects at the target; those that stay as they are may be missing. Empty unless it is PLANNED.',
      complexity: { field: 1, multiplier: 10 },
      resolve: ({ changes }) => [...(changes ?? [])],
    }),
    truncated: t.exposeBoolean('truncated', {
      description: `True if objects, fields or diffs are left out: an item has at most ${DRY_RUN.itemSize / 1_024} KiB of them, a dry run ${DRY_RUN.wholeSize / 1_024 / 1_024} MiB.`,
    }),
  }),
})

interface DryRun extends DryRunRow {
  readonly __typename: 'DryRun'
  readonly items: readonly Item[]
}
const DryRunRef = builder.objectRef<DryRun>('DryRun').implement({
  description: `The effects that a run would have at the targets of an installation. It is kept for ${DRY_RUN.keptMs / 3_600_000} hour.`,
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Unique and permanent.' }),
    projectName: t.exposeString('project', { description: 'Name of its project.' }),
    name: t.exposeString('name', { description: 'Name of the root installation.' }),
    requestedBy: t.exposeString('requestedBy', { description: 'Name of the principal that has requested it.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of the request.' }),
    expiresAt: t.field({
      type: 'DateTime',
      description: 'Time of its removal.',
      resolve: ({ createdAt }) => new Date(createdAt.getTime() + DRY_RUN.keptMs),
    }),
    complete: t.boolean({
      description: 'True once nothing of it changes any more.',
      resolve: ({ items }) => items.every((item) => !isOpen(judgeDryRun(item).state)),
    }),
    items: t.field({
      type: [DryRunItemRef],
      description: 'Its deploy items, in the order in which a run begins them.',
      complexity: { field: 1, multiplier: 20 },
      resolve: ({ items }) => [...items],
    }),
  }),
})

async function load({ pool, system, viewer }: GraphQLContext, id: string): Promise<DryRun | null> {
  const found = isUuid(id) ? await findDryRun(pool, id) : null
  if (!found || !hasRight(viewer, rights.dryRun, found.projectId)) return null
  return { __typename: 'DryRun', ...found, items: await loadDryRunItems(pool, id, system.fixedTime) }
}

builder.queryField('dryRun', (t) =>
  t.field({
    right: rights.dryRun,
    type: DryRunRef,
    nullable: true,
    description:
      'A dry run, read again until it is complete. Null if there is none of this id any more, or it belongs to a project in which the viewer may ask for none.',
    args: { id: t.arg.id({ required: true, description: 'Id of the dry run.' }) },
    resolve: (_, { id }, context) => load(context, id),
  }),
)

const ReconcileToTry = builder.inputType('DryRunReconcileInput', {
  description: 'An installation that would run again as it is.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Id of the root installation.' }),
    mode: t.field({
      type: ReconcileModeEnum,
      required: true,
      defaultValue: 'STANDARD',
      description: 'How the job would treat the tree.',
    }),
  }),
})

builder.mutationField('dryRunInstallation', (t) =>
  t.fieldWithInput({
    right: rights.dryRun,
    ...commandResult('DryRunInstallationResult', DryRunRef, deploymentsCommands.dryRunInstallation),
    description: `Asks the agents of an installation what a mutation would change at their targets, and changes nothing: \`dryRun\` reads the answer. A spec is refused as the mutation refuses it, also for code that the caller may not bring. A project keeps at most ${DRY_RUN.perProject} dry runs.`,
    typeOptions: { isOneOf: true, description: 'The input of the mutation, as exactly one of these.' },
    input: {
      create: t.input.field({ type: CreateInstallationInput, description: 'Input of createInstallation.' }),
      update: t.input.field({ type: UpdateInstallationInput, description: 'Input of updateInstallation.' }),
      delete: t.input.field({ type: DeleteInstallationInput, description: 'Input of deleteInstallation.' }),
      reconcile: t.input.field({ type: ReconcileToTry, description: 'An installation as it is.' }),
    },
    resolve: async (_, { input }, context) => {
      const asked = await context.deployments.dryRunInstallation(context.viewer, dropUndefined(input))
      return asked.ok ? await load(context, asked.dryRunId) : errorValue(asked.refusal)
    },
  }),
)
