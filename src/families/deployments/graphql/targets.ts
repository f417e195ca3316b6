import { NO_TARGET } from '../../../core/audit.ts'
import type { ClaimedItem } from '../../../core/ports/agents.ts'
import { reachOf } from '../../../core/rights.ts'
import { agentsSince } from '../../../graphql/agents/agent.ts'
import { WorkItemRef } from '../../../graphql/agents/claim-work.ts'
import { callerOf } from '../../../graphql/audit/caller-of.ts'
import { perOperation } from '../../../graphql/context.ts'
import { loadCounts, loadPages, objectLoader } from '../../../graphql/loaders.ts'
import { LabelInput } from '../../../graphql/objects/label-input.ts'
import { LabelRef } from '../../../graphql/objects/object-parts.ts'
import { addRecord, connectRecords, deletedRecord, recordFields } from '../../../graphql/objects/project-record.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { connect } from '../../../graphql/schema/connection.ts'
import { uuidCursor } from '../../../graphql/schema/cursors.ts'
import { dropUndefined } from '../../../graphql/schema/drop-undefined.ts'
import { answer } from '../../../graphql/schema/errors.ts'
import { pageCost } from '../../../graphql/schema/limits.ts'
import { AgentConnection, NodeRef, TreeObjectRef } from '../../../graphql/schema/refs.ts'
import { commandResult } from '../../../graphql/schema/result-union.ts'
import type { AgentRow } from '../../../store/loaders/agents.ts'
import type { Window } from '../../../store/loaders/window.ts'
import { TARGETS, type TargetRow } from '../../../store/targets.ts'
import { deploymentsCommands } from '../commands/index.ts'
import { rights } from '../rights.ts'
import type { TargetCredentials } from '../store/target-credentials.ts'
import { countServing, countUses, loadServing, loadUses, type TargetUse } from '../store/target-users.ts'

type TargetValue = TargetRow & { readonly __typename: 'Target' }
const brand = (row: TargetRow): TargetValue => ({ ...row, __typename: 'Target' })

const uses = perOperation(({ pool }) => ({
  pages: loadPages((ids, window: Window<string>) => loadUses(pool, ids, window)),
  counts: loadCounts((ids) => countUses(pool, ids)),
}))

const serving = perOperation(({ pool, system }) => {
  const since = agentsSince(system.now())
  return {
    pages: loadPages((ids, window: Window<string>) => loadServing(pool, ids, window, since)),
    counts: loadCounts((ids) => countServing(pool, ids, since)),
  }
})

const TargetUseRef = builder.objectRef<TargetUse>('TargetUse').implement({
  description: 'An installation with deploy items at a target.',
  fields: (t) => ({
    root: t.field({
      type: TreeObjectRef,
      nullable: true,
      description: 'The root installation; null once it is deleted, or if the viewer may not read it.',
      resolve: ({ rootId }, _, context) => objectLoader(context).load(rootId),
    }),
    itemCount: t.exposeInt('itemCount', {
      description: 'Number of its deploy items there, those that are being deleted included.',
    }),
  }),
})
const TargetUseConnection = builder.connectionObject({ name: 'TargetUseConnection', type: TargetUseRef }, {})

const TargetRef = builder.objectRef<TargetValue>('Target').implement({
  description:
    'A place of a project where deploy items go, such as a cluster. Items name it, or select it by type and labels.',
  interfaces: [NodeRef],
  fields: (t) => ({
    ...recordFields(t, {
      name: 'Unique in its project: the `target` of deploy items.',
      generation: 'Counts its changes, those of its credentials included, from 1.',
    }),
    type: t.exposeString('type', { description: 'Its type, e.g. kubernetes, whose credentials are a kubeconfig.' }),
    labels: t.field({
      type: [LabelRef],
      description: 'Labels that selectors may require; at most 64.',
      resolve: ({ labels }) => Object.entries(labels).map(([key, value]) => ({ key, value })),
    }),
    description: t.exposeString('description', { description: 'A sentence for people; empty if it has none.' }),
    hasCredentials: t.exposeBoolean('hasCredentials', {
      description:
        'True if it has credentials, which cannot be read: only the deployer that claims an item there gets them.',
    }),
    servingAgents: t.field({
      type: AgentConnection,
      description: 'Connected deployers that claim for it, because they name it or their selector selects it.',
      args: t.arg.connectionArgs(),
      complexity: (args) => pageCost(args),
      resolve: ({ id }, args, context) =>
        connect(args, {
          cursor: uuidCursor,
          position: (agent: AgentRow) => agent.id,
          load: (window) => serving(context).pages.load({ id, window }),
          count: () => serving(context).counts.load(id),
        }),
    }),
    uses: t.field({
      type: TargetUseConnection,
      description: 'Installations with deploy items there, by age.',
      args: t.arg.connectionArgs(),
      complexity: (args) => pageCost(args),
      resolve: ({ id }, args, context) =>
        connect(args, {
          cursor: uuidCursor,
          position: ({ rootId }: TargetUse) => rootId,
          load: (window) => uses(context).pages.load({ id, window }),
          count: () => uses(context).counts.load(id),
        }),
    }),
  }),
})
const TargetConnection = builder.connectionObject({ name: 'TargetConnection', type: TargetRef }, {})

const shown = {
  ...{ field: 'target', noun: 'target', ref: TargetRef, records: TARGETS, right: rights.readTargets },
  ...{ limit: 'target' as const, brand },
}
addRecord(shown)

const TargetFilterInput = builder.inputType('TargetFilter', {
  description: 'Selects targets: those that have all that is given.',
  fields: (t) => ({
    project: t.string({ limit: 'reference', description: 'Name of the project. Left out or null: any.' }),
    type: t.string({ limit: 'workType', description: 'Type of the target. Left out or null: any.' }),
    labels: t.field({
      type: [LabelInput],
      limit: 'labels',
      description: 'Labels that the target has. Left out or null: any.',
    }),
  }),
})

builder.queryField('targets', (t) =>
  t.field({
    right: rights.readTargets,
    type: TargetConnection,
    nullable: true,
    description: 'Targets that the viewer may read, by name. Null only together with an entry in `errors`.',
    args: {
      filter: t.arg({ type: TargetFilterInput, description: 'Selects targets. Left out or null: all.' }),
      ...t.arg.connectionArgs(),
    },
    complexity: (args) => pageCost(args),
    resolve: (_, { filter, ...args }, { pool, viewer }) => {
      const { project = null, type = null, labels } = filter ?? {}
      const wanted = Object.fromEntries((labels ?? []).map(({ key, value }) => [key, value]))
      const query = { reach: reachOf(viewer, rights.readTargets), project }
      return connectRecords(pool, args, shown, query, [type, JSON.stringify(wanted)])
    },
  }),
)

const PROJECT = 'Name of the project.'

builder.mutationField('setTarget', (t) =>
  t.fieldWithInput({
    right: rights.setTarget,
    ...commandResult('SetTargetResult', TargetRef, deploymentsCommands.setTarget),
    description:
      'Creates a target, or changes what is given of one. Items that deployers work on keep the credentials that they have got; whatever is claimed from then on gets the new ones. Refused beyond 1,000 targets or 16 MiB of credentials in a project (LIMIT).',
    typeOptions: { description: 'The target to set.' },
    input: {
      project: t.input.string({ required: true, defaultValue: 'default', limit: 'reference', description: PROJECT }),
      name: t.input.string({
        required: true,
        limit: 'target',
        description: 'Its name: a letter or digit, then letters, digits, `.`, `_` or `-`, at most 128 characters.',
      }),
      type: t.input.string({
        limit: 'workType',
        description:
          'Its type: kubernetes, or another word of letters, digits, `.`, `_`, `/` and `-`. Left out or null: as it is; a new target needs one.',
      }),
      labels: t.input.field({
        type: [LabelInput],
        limit: 'labels',
        description: 'Labels that replace those it has. Left out or null: as they are.',
      }),
      description: t.input.string({
        limit: 'description',
        description: 'A sentence for people. Left out or null: as it is.',
      }),
      credentials: t.input.string({
        limit: 'credentials',
        description:
          'Credentials, which cannot be read again; of a target of the type kubernetes a kubeconfig with one context, and everything that it needs in it. Left out: as they are. Null: none.',
      }),
      expectedGeneration: t.input.int({
        description:
          'Refuses the change (GENERATION_MISMATCH) if the target has another generation; 0: if there is one. Left out or null: not compared.',
      }),
    },
    resolve: (_, { input }, context) =>
      answer(context.deployments.setTarget(context.viewer, dropUndefined(input)), ({ target }) => brand(target)),
  }),
)

const deleted = deletedRecord('DeletedTarget', 'a target')
builder.mutationField('deleteTarget', (t) =>
  t.fieldWithInput({
    right: rights.deleteTarget,
    ...commandResult('DeleteTargetResult', deleted.ref, deploymentsCommands.deleteTarget),
    description:
      'Deletes a target with its credentials. Refused as long as deploy items are there (IN_USE), since nothing else could uninstall them.',
    typeOptions: { description: 'The target to delete.' },
    input: {
      project: t.input.string({ required: true, defaultValue: 'default', limit: 'reference', description: PROJECT }),
      name: t.input.string({ required: true, limit: 'target', description: 'Name of the target.' }),
    },
    resolve: (_, { input }, context) => answer(context.deployments.deleteTarget(context.viewer, input), deleted.of),
  }),
)

const TargetCredentialsRef = builder.objectRef<TargetCredentials>('TargetCredentials').implement({
  description: 'The credentials of a target, for the deployer that has claimed an item there: never log or store them.',
  fields: (t) => ({
    targetId: t.exposeID('id', { description: 'Id of the target.' }),
    targetType: t.exposeString('type', { description: 'Type of the target.' }),
    generation: t.exposeInt('generation', { description: 'Generation of the target that they are of.' }),
    secret: t.exposeString('secret', {
      nullable: true,
      description: 'The credentials; null if the target has none, or the server lacks the key that has sealed them.',
    }),
  }),
})

builder.objectField(WorkItemRef, 'targetCredentials', (t) =>
  t.field({
    type: TargetCredentialsRef,
    nullable: true,
    description:
      'Credentials of the target of a deploy item; null if its project has no such target, so that `target` is a word between people and deployers only.',
    resolve: async (item: ClaimedItem, _, context) => {
      const { projectId, target, objectId, kind, name } = item
      if (kind !== 'DEPLOY_ITEM' || projectId === null || target === null) return null
      const found = await context.deployments.credentialsOf({ projectId, name: target })
      if (found?.secret)
        context.audit.note({
          ...{ ...callerOf(context.viewer), ...NO_TARGET, objectId, objectKind: kind, objectName: name },
          ...{ operation: 'claimWork', outcome: 'DONE', code: null, fields: [`target/${target}`], count: 1 },
        })
      return found
    },
  }),
)
