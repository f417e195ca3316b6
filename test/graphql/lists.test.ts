import { readFileSync } from 'node:fs'
import {
  buildSchema,
  type GraphQLField,
  type GraphQLOutputType,
  getNamedType,
  isInterfaceType,
  isListType,
  isObjectType,
  isWrappingType,
} from 'graphql'
import { expect, test } from 'vitest'
import { LIMITS, type LimitName } from '../../src/core/limits.ts'

/** No list ends without saying so: it has pages, or one of these reasons not to need them. */

/** As long as the input that it shows may be. */
const OF_INPUT: Readonly<Partial<Record<LimitName, readonly string[]>>> = {
  flags: ['BulkOperation.flags'],
  argv: [
    ...['ServiceReadiness.command', 'ServiceSpec.args', 'ServiceSpec.command'],
    ...['WorkloadSpec.args', 'WorkloadSpec.command'],
  ],
  chosenProjects: ['Hook.projects', 'NotificationFilter.projects'],
  choices: [
    'NotificationFilter.classes',
    'NotificationFilter.kinds',
    'NotificationFilter.to',
    'NotificationRule.urgent',
  ],
  quietRanges: ['NotificationQuietHours.ranges'],
  weekdays: ['NotificationQuietRange.days'],
  reasons: ['NotificationFilter.reasons'],
  recipients: ['NotificationReceiver.to'],
  cronLines: ['ReconcileAfterFailure.cron', 'ReconcileAfterSuccess.cron', 'ScheduleSpec.cron'],
  dependencies: ['DeployItemSpec.dependsOn'],
  deployItems: ['InstallationSpec.deployItems'],
  env: ['ServiceSpec.env', 'WorkloadSpec.env'],
  eventTypes: ['EventSubscription.types'],
  fences: ['RenewedLeases.leases'],
  exports: ['InstallationSpec.exports'],
  files: ['WorkloadSpec.files'],
  gadgetArgs: ['GadgetJob.args', 'GadgetJobSpec.args'],
  gadgetEnv: ['GadgetJobSpec.env'],
  grants: ['Principal.grants', 'Token.projects', 'Viewer.grants', 'Viewer.projects'],
  ids: ['Query.nodes'],
  imports: ['InstallationSpec.imports'],
  installations: ['InstallationSpec.installations'],
  jobDependencies: ['GadgetJobSpec.dependsOn'],
  limitRequests: ['DeployItemSpec.limits', 'WorkloadSpec.limits'],
  sameValues: ['InvariantAfter.sameValues'],
  limitWeights: ['Limit.overrides', 'Limit.weights'],
  labels: [
    'Event.qualifiers',
    'NotificationFilter.labels',
    'EventSubscription.labels',
    'EventSubscription.qualifiers',
    'HookEvent.labels',
    'HookEvent.qualifiers',
    'Place.labels',
    'Target.labels',
    'TargetSelector.labels',
    'TreeObject.labels',
    'WorkloadSpec.targetLabels',
    'WorkloadSpec.artifacts',
    'WorkloadSpec.caches',
    'CacheSpec.restoreKeys',
    'WorkloadSpec.takes',
  ],
  path: [
    'CrmOrphan.path',
    'CrmRequest.path',
    'DryRunItem.path',
    'PlanBlocker.path',
    'PlanStep.path',
    'PlannedCode.path',
  ],
  plannedChanges: ['DryRunItem.changes'],
  plannedFields: ['PlannedChange.fields'],
  reports: ['DryRunReports.results', 'PhaseReports.results'],
  retryCodes: ['RetryPolicy.not', 'RetryPolicy.on'],
  servicePorts: ['ServiceSpec.ports'],
  serviceSecrets: ['ServiceSpec.secrets'],
  services: ['WorkloadSpec.services'],
  subscriptions: ['Project.subscriptions'],
  targets: ['Agent.targets', 'Principal.targets', 'Token.targets', 'Viewer.targets'],
  workTypes: ['Agent.types', 'Principal.types', 'Token.types', 'Viewer.types'],
}

/** Declared in code: machines, kinds, verbs. */
const OF_DEFINITIONS = [
  'AgentBlocker.types',
  'DecisionBlocker.verbs',
  'Family.kinds',
  'Kind.agents',
  'Kind.stateMachines',
  'Query.families',
  'Query.objectsByPath',
  'Query.stateMachines',
  'Load.agents',
  'Load.slots',
  'StateMachine.classes',
  'StateMachine.final',
  'StateMachine.kinds',
  'StateMachine.phases',
  'StateMachine.transitions',
  'StateMachine.verbs',
  'TransitionError.allowed',
  'TreeObject.allowedTransitions',
  'TreeObject.deadlines',
  'TreeObject.verbs',
  'Verb.flags',
  'Verb.phases',
  'Verb.to',
  'Job.resources',
  'Worker.resources',
]

/** All of them, however many: what one request, one object or one tree brought about, read into memory in any case. */
const COMPLETE = [
  'AuditEvent.fields',
  'BulkPreview.groups',
  'Query.automationHolds',
  'WorkObject.attempts',
  'ChangedPlaces.places',
  'Cloudlet.agents',
  'CreatedEvents.events',
  'CreatedEvents.tasks',
  'CrmSession.requests',
  'DryRun.items',
  'Gate.approvals',
  'GadgetJob.journal',
  'GadgetJob.locks',
  'Health.causes',
  'InstallationPlan.blockers',
  'InstallationPlan.broughtCode',
  'InstallationPlan.steps',
  'InvalidInputError.fields',
  'JsonDifference.path',
  'PlaceBlocker.places',
  'ResealedSecrets.keys',
  'TreeObject.pendingRequests',
  'TreeSnapshot.objects',
]

/** As many as an argument asks for. */
const OF_ARGUMENT: Readonly<Record<string, string>> = {
  'ClaimedWork.items': 'ClaimWorkInput.max',
  'PhaseLogBatch.changes': 'Subscription.phaseLog',
}

/** Cut, and another field of the type says so. */
const MARKED: Readonly<Record<string, string>> = {
  'Cloudlet.driftedInstances': 'driftedInstanceCount',
  'Cloudlet.orphans': 'orphanCount',
  'GatewaySubscriptions.nodes': 'totalCount',
  'JsonDiff.differences': 'truncated',
  'ObjectError.causes': 'causeCount',
  'ProjectChanges.trees': 'treeCount',
  'RunComparison.objects': 'truncated',
  'TreeDiff.objects': 'objectCount',
}

/** The first of what is no list to be read as a whole, and their description, or that of `first`, says how many. */
const EXAMPLES = [
  'Load.work',
  ...['LimitBlocker.holders', 'LockBlocker.holders', 'LockBlocker.waiters', 'Query.nextTimes', 'Schedule.nextTimes'],
  'BulkPreview.sample',
  'Forecast.criticalPath',
  'Schedule.days',
  'TreeObject.blockedBy',
]

/** No more than these are kept. */
const KEPT = ['Hook.secrets', 'Installation.specGenerations', 'Project.secrets']

/** Refused where it would have to be cut. */
const WHOLE_OR_REFUSED = ['Principal.tokens', 'Query.principals', 'Query.tokens']

const schema = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'))

const isList = (type: GraphQLOutputType): boolean =>
  isListType(type) || (isWrappingType(type) && isList(type.ofType as GraphQLOutputType))

/** Fields of interfaces are those of the first that declares them. */
function listFields(): ReadonlyMap<string, GraphQLField<unknown, unknown>> {
  const found = new Map<string, GraphQLField<unknown, unknown>>()
  for (const type of Object.values(schema.getTypeMap())) {
    if (!(isObjectType(type) || isInterfaceType(type)) || type.name.startsWith('__')) continue
    for (const field of Object.values(type.getFields())) {
      const isInherited = type.getInterfaces().some((one) => one.getFields()[field.name])
      const isPage = field.name === 'edges' && 'pageInfo' in type.getFields()
      if (isList(field.type) && !isInherited && !isPage) found.set(`${type.name}.${field.name}`, field)
    }
  }
  return found
}
const fields = listFields()

test('each list has pages, or a reason not to need them', () => {
  const reasons = [
    ...Object.values(OF_INPUT).flat(),
    ...OF_DEFINITIONS,
    ...COMPLETE,
    ...Object.keys(OF_ARGUMENT),
    ...Object.keys(MARKED),
    ...EXAMPLES,
    ...KEPT,
    ...WHOLE_OR_REFUSED,
  ]
  expect(reasons.toSorted()).toEqual([...fields.keys()].toSorted())
})

test('each reason holds in the schema', () => {
  for (const limit of Object.keys(OF_INPUT))
    expect([limit, LIMITS[limit as LimitName].unit]).toEqual([limit, 'entries'])
  for (const [coordinate, mark] of Object.entries(MARKED)) {
    const type = schema.getType(coordinate.split('.')[0] ?? '')
    const said = isObjectType(type) && type.getFields()[mark]
    expect([coordinate, said && getNamedType(said.type).name]).toEqual([
      coordinate,
      expect.stringMatching(/^(Int|Boolean)$/),
    ])
  }
  for (const coordinate of [...EXAMPLES, ...KEPT, ...WHOLE_OR_REFUSED]) {
    const { description, args } = fields.get(coordinate) ?? { description: '', args: [] }
    const said = [description, ...args.map((arg) => arg.description)].join(' ')
    expect([coordinate, said]).toEqual([coordinate, expect.stringMatching(/at most|more than/i)])
  }
  for (const coordinate of WHOLE_OR_REFUSED)
    expect(fields.get(coordinate)?.deprecationReason).toMatch(/^Use `\w+Connection`/)
})
