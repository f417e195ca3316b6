import { v7 } from 'uuid'
import type { Viewer } from '../../../src/core/ports/viewer.ts'
import { RIGHTS, type Right, right } from '../../../src/core/rights.ts'
import type { Actor } from '../../../src/core/vocabulary.ts'
import { addJob } from '../../testkit/pipelines.ts'
import type { Api } from '../api.ts'
import { fresh, OFFERED, type Place } from './places.ts'

/** A call of one root field, as anybody can make it: it changes little if it is permitted. */
export interface Case {
  /** Variables of the call in a place. Absent: the field is of no place, and is called once. */
  readonly inPlace?: (place: Place) => object
  readonly variables?: object
  /** The root that the call is about, which a worker may not read unless it is its own. Absent: the project. */
  readonly root?: keyof Place
  /** Objects made anew for each call. */
  readonly fresh?: (api: Api, place: Place, viewer: Viewer) => Promise<Partial<Place>>
  /** Only this actor has something to do in the place. */
  readonly actor?: Actor
  /** The right to check, if it is not the field's own. */
  readonly right?: Right
  /** Part of the answer for those who read the place, for a field of no place. */
  readonly shows?: (place: Place) => string
  /** The event that ends the test of a stream; by default the first one. */
  readonly isLast?: (event: string) => boolean
  /** Causes an event once the stream is open. */
  readonly cause?: (api: Api, place: Place) => Promise<unknown>
}

const input =
  (of: (place: Place) => object) =>
  (place: Place): object => ({ input: of(place) })
const worker = { command: ['true'] }
const spec = { size: 1 }
const bringing = { deployItems: [{ name: 'a', type: 'gadget', config: { gadget: 'a' } }] }
/** It takes EDITOR and AUTHOR, which no caller of one role has. */
const both = (verb: string, kind: string): Right => right(verb, kind, ['ADMINISTRATOR'])

const queries: Readonly<Record<string, Case | readonly Case[]>> = {
  auditChain: {},
  auditLog: { variables: { filter: { outcome: 'DONE' } } },
  agents: { shows: ({ project }) => `${project}-agent` },
  compareRuns: { inPlace: ({ installation }) => ({ id: installation, a: 1, b: 1 }), root: 'installation' },
  dryRun: { inPlace: ({ dryRun }) => ({ id: dryRun }), root: 'installation' },
  families: {},
  health: { inPlace: ({ project }) => ({ project }) },
  hook: { inPlace: ({ project, hookName }) => ({ project, name: hookName }) },
  hooks: { inPlace: ({ project }) => ({ project }) },
  nextTimes: { variables: { when: { cron: ['0 0 1 1 *'] } } },
  timesInWords: { variables: { when: { cron: ['0 0 1 1 *'] } } },
  locks: { shows: ({ project }) => `${project}-resource`, root: 'task' },
  log: {},
  output: {},
  node: { inPlace: ({ installation }) => ({ id: installation }), root: 'installation' },
  nodes: [
    { inPlace: ({ event }) => ({ ids: [event] }), root: 'event' },
    { inPlace: ({ projectId }) => ({ ids: [projectId] }) },
  ],
  object: [
    { inPlace: ({ worker: id }) => ({ id }), root: 'event' },
    { inPlace: ({ app }) => ({ id: app }), root: 'cloudlet' },
  ],
  objectByPath: {
    inPlace: ({ project }) => ({ project, kind: 'INSTALLATION', path: [`${project}-app`] }),
    root: 'installation',
  },
  objectsByPath: { inPlace: ({ project }) => ({ project, path: [`${project}-app`] }), root: 'installation' },
  objects: { inPlace: ({ project }) => ({ filter: { project } }) },
  phaseChanges: { inPlace: ({ project }) => ({ filter: { project } }) },
  places: {},
  target: { inPlace: ({ project }) => ({ project, name: `${project}-target` }) },
  automationHolds: {},
  previewBulkOperation: { inPlace: input(({ project }) => ({ project, verb: 'cancel', filter: {} })) },
  invariants: { inPlace: ({ project }) => ({ project }), fresh: fresh.invariant },
  invariant: { inPlace: ({ project }) => ({ project, name: `${project}-invariant` }), fresh: fresh.invariant },
  limits: { shows: ({ project }) => `${project}-limit` },
  limit: { inPlace: ({ project }) => ({ project, name: `${project}-limit` }) },
  notificationRules: { shows: ({ project }) => `${project}-rule` },
  notificationRule: { inPlace: ({ project }) => ({ project, name: `${project}-rule` }) },
  targets: { shows: ({ project }) => `${project}-target` },
  planInstallation: {
    inPlace: input(({ installation }) => ({ update: { id: installation, spec: {} } })),
    root: 'installation',
  },
  principals: { shows: ({ project }) => `${project}-reader` },
  principalsConnection: { shows: ({ project }) => `${project}-reader` },
  project: { inPlace: ({ project }) => ({ name: project }) },
  projects: { shows: ({ projectId }) => projectId },
  stateMachines: {},
  subscriptions: {},
  load: {},
  tokens: { shows: ({ project }) => `${project}-reader` },
  tokensConnection: { shows: ({ project }) => `${project}-reader` },
  tree: { inPlace: ({ event }) => ({ rootId: event }), root: 'event' },
  treeAt: { inPlace: ({ event }) => ({ rootId: event, sequence: 1 }), root: 'event' },
  treeDiff: { inPlace: ({ event }) => ({ rootId: event, from: 1 }), root: 'event' },
  viewer: {},
}

const mutations: Readonly<Record<string, Case | readonly Case[]>> = {
  appendLogs: {
    inPlace: input(({ fence }) => ({ lines: [{ fence, stream: 'STDOUT', text: 'line' }] })),
    fresh: fresh.work,
    actor: 'DEPLOYER',
  },
  cancelAppInst: { inPlace: input(({ app }) => ({ id: app })), root: 'cloudlet' },
  cancelClusterInst: { inPlace: input(({ cluster }) => ({ id: cluster })), root: 'cloudlet' },
  cancelEvent: { inPlace: input(({ endedEvent }) => ({ id: endedEvent })), root: 'endedEvent' },
  cancelEvents: { inPlace: input(({ project }) => ({ project, phases: ['PENDING'], source: 'none' })) },
  cancelInstallation: { inPlace: input(({ idle }) => ({ id: idle })), root: 'idle' },
  cancelJob: { inPlace: input(({ job }) => ({ id: job })), root: 'event' },
  cancelTask: { inPlace: input(({ endedTask }) => ({ id: endedTask })), root: 'endedTask' },
  claimWork: {
    inPlace: input(({ project }) => ({ instance: 'one', types: [`${project}-offered`], leaseMs: 600_000 })),
    fresh: fresh.offer,
    actor: 'DEPLOYER',
  },
  cloneEvent: { inPlace: input(({ endedEvent }) => ({ id: endedEvent })), root: 'endedEvent' },
  connectCrm: {
    inPlace: input(({ newCloudlet }) => ({ cloudletId: newCloudlet, instance: v7(), version: '1', objects: [] })),
    root: 'newCloudlet',
  },
  createAppInst: {
    inPlace: input(({ cluster, project }) => ({ clusterInstId: cluster, name: `${project}-pending`, spec })),
    root: 'cloudlet',
    right: both('bring code with', 'APP_INST'),
  },
  createCloudlet: { inPlace: input(({ project }) => ({ project, name: `${project}-cloudlet` })) },
  createClusterInst: {
    inPlace: input(({ cloudlet, project }) => ({ cloudletId: cloudlet, name: `${project}-cluster`, spec })),
    root: 'cloudlet',
  },
  createEvent: { inPlace: input(({ project }) => ({ project, source: 'test', type: 'push' })) },
  createInstallation: [
    { inPlace: input(({ project }) => ({ project, name: `${project}-app`, spec: {} })) },
    {
      inPlace: input(({ project }) => ({ project, name: `${project}-app`, spec: bringing })),
      right: both('bring code with', 'INSTALLATION'),
    },
  ],
  createJob: { variables: { input: { name: 'another', spec: worker } } },
  holdAutomation: { inPlace: input(({ project }) => ({ project, reason: 'a test' })) },
  releaseAutomation: { inPlace: input(({ project }) => ({ project })), fresh: fresh.hold },
  // A caller with the right learns that it takes another project, which not each of them may read.
  createInvariant: { inPlace: input(({ project }) => ({ project, name: 'another', after: { project } })) },
  updateInvariant: {
    inPlace: input(({ project, invariant }) => ({ id: invariant, after: { project } })),
    fresh: fresh.invariant,
  },
  deleteInvariant: { inPlace: input(({ invariant }) => ({ id: invariant })), fresh: fresh.invariant },
  createLimit: { inPlace: input(({ project }) => ({ project, name: 'another', max: 1 })) },
  overrideLimit: { inPlace: input(({ limit }) => ({ id: limit, maxPerKey: 1, ttlMs: 1_000 })) },
  pauseLimit: { inPlace: input(({ limit }) => ({ id: limit })) },
  resumeLimit: { inPlace: input(({ limit }) => ({ id: limit })) },
  updateLimit: { inPlace: input(({ limit }) => ({ id: limit, max: 2 })) },
  deleteLimit: { inPlace: input(({ limit }) => ({ id: limit })), fresh: fresh.limit },
  createNotificationRule: {
    inPlace: input(({ project }) => ({
      project,
      name: 'another',
      receiver: { webhook: { url: 'https://example.org/' } },
    })),
  },
  updateNotificationRule: {
    inPlace: input(({ rule }) => ({ id: rule, receiver: { webhook: { url: 'https://example.org/' } } })),
  },
  deleteNotificationRule: { inPlace: input(({ rule }) => ({ id: rule })), fresh: fresh.rule },
  testNotificationRule: { inPlace: input(({ rule }) => ({ id: rule })) },
  replayNotification: { inPlace: input(({ message }) => ({ id: message })), fresh: fresh.rule },
  createPrincipal: { inPlace: input(({ project }) => ({ name: 'one', grants: [{ role: 'VIEWER', project }] })) },
  createPrincipalToken: { inPlace: input(({ principal }) => ({ principalId: principal, name: 'another' })) },
  createProject: { variables: { input: { name: 'default' } } },
  createSchedule: {
    inPlace: input(({ project }) => ({
      ...{ project, name: 'nightly', when: { cron: ['0 0 1 1 *'] } },
      run: { reconcileInstallation: { name: 'none' } },
    })),
  },
  updateSchedule: {
    inPlace: input(({ schedule }) => ({
      ...{ id: schedule, when: { cron: ['0 0 2 1 *'] }, run: { reconcileInstallation: { name: 'none' } } },
    })),
    root: 'schedule',
  },
  deleteSchedule: {
    inPlace: input(({ schedule }) => ({ id: schedule })),
    fresh: fresh.schedule,
    root: 'schedule',
  },
  pauseSchedule: { inPlace: input(({ schedule }) => ({ id: schedule })), fresh: fresh.schedule, root: 'schedule' },
  resumeSchedule: { inPlace: input(({ schedule }) => ({ id: schedule })), root: 'schedule' },
  backfillSchedule: {
    inPlace: input(({ schedule }) => ({ id: schedule, from: '2020-01-01T00:00:00Z', until: '2021-01-01T00:00:00Z' })),
    root: 'schedule',
  },
  cancelBackfill: { inPlace: input(({ schedule }) => ({ id: schedule })), root: 'schedule' },
  fireSchedule: { inPlace: input(({ schedule }) => ({ id: schedule })), root: 'schedule' },
  createBulkOperation: {
    inPlace: input(({ project, event }) => ({ project, name: `b-${v7()}`, verb: 'cancel', ids: [event] })),
  },
  cancelBulkOperation: { inPlace: input(({ bulk }) => ({ id: bulk })), fresh: fresh.bulk, root: 'bulk' },
  deleteBulkOperation: { inPlace: input(({ bulk }) => ({ id: bulk })), root: 'bulk' },
  createHook: {
    inPlace: input(({ project }) => ({
      ...{ project, name: `h-${v7()}`, format: 'GENERIC', secrets: [{ name: 'one', value: 'sixteen characters' }] },
    })),
  },
  updateHook: { inPlace: input(({ hook }) => ({ id: hook, format: 'GENERIC', filter: 'false' })) },
  deleteHook: { inPlace: input(({ hook }) => ({ id: hook })), fresh: fresh.hook },
  replayDelivery: { inPlace: input(({ delivery }) => ({ id: delivery })) },
  createTask: {
    inPlace: input(({ project }) => ({ project, name: `${project}-task`, jobs: [{ name: 'a', gadget: 'a' }] })),
  },
  createToken: { inPlace: input(({ project }) => ({ name: 'one', role: 'READER', projects: [project] })) },
  deleteAppInst: { inPlace: input(({ pendingApp }) => ({ id: pendingApp })), root: 'cloudlet' },
  deleteCloudlet: { inPlace: input(({ cloudlet }) => ({ id: cloudlet })), root: 'cloudlet' },
  deleteClusterInst: { inPlace: input(({ cluster }) => ({ id: cluster })), root: 'cloudlet' },
  deleteDataObject: { inPlace: input(({ project }) => ({ project, name: `${project}-old` })), fresh: fresh.data },
  deleteEvent: { inPlace: input(({ event }) => ({ id: event })), root: 'event', fresh: fresh.event },
  deleteEvents: { inPlace: input(({ project }) => ({ project, phases: ['PENDING'], source: 'none' })) },
  deleteInstallation: { inPlace: input(({ nested }) => ({ id: nested })), root: 'installation' },
  deletePrincipal: { inPlace: input(({ principal }) => ({ id: principal })), fresh: fresh.principal },
  deleteProject: { inPlace: input(({ project }) => ({ name: project })) },
  deleteTarget: { inPlace: input(({ project }) => ({ project, name: 'old' })), fresh: fresh.target },
  deleteCache: { inPlace: input(({ project }) => ({ project, key: 'old' })), fresh: fresh.cache },
  deleteSecret: { inPlace: input(({ project }) => ({ project, name: 'OLD' })), fresh: fresh.secret },
  deleteTask: { inPlace: input(({ task }) => ({ id: task })), root: 'task' },
  log: {},
  updateLabels: { inPlace: input(({ app }) => ({ id: app, set: [{ key: 'a', value: 'b' }] })), root: 'cloudlet' },
  drainPlace: { variables: { input: { name: 'nowhere' } } },
  registerPlace: { variables: { input: { name: 'host', type: 'process' } } },
  undrainPlace: { variables: { input: { name: 'nowhere' } } },
  dryRunInstallation: [
    { inPlace: input(({ installation }) => ({ reconcile: { id: installation } })), root: 'installation' },
    {
      inPlace: input(({ project }) => ({ create: { project, name: `${project}-tried`, spec: bringing } })),
      right: both('bring code with', 'DEPLOY_ITEM'),
    },
  ],
  reconcileInstallation: { inPlace: input(({ nested }) => ({ id: nested })), root: 'installation' },
  renewLeases: { inPlace: input(({ fence }) => ({ fences: [fence] })), fresh: fresh.work, actor: 'DEPLOYER' },
  reportDryRuns: {
    inPlace: input(({ fence }) => ({ reports: [{ fence, changes: [] }] })),
    fresh: fresh.dryRun,
    actor: 'DEPLOYER',
  },
  reportPhases: {
    inPlace: input(({ fence }) => ({ reports: [{ fence, message: 'on its way' }] })),
    fresh: fresh.work,
    actor: 'DEPLOYER',
  },
  resealSecrets: {},
  resolveCloudletUpgrade: { inPlace: input(({ cloudlet }) => ({ id: cloudlet })), root: 'cloudlet' },
  resolveUndo: { inPlace: input(({ gadgetJob }) => ({ id: gadgetJob, decision: 'GIVE_UP' })), root: 'task' },
  pause: { inPlace: input(({ installation }) => ({ id: installation })), root: 'installation' },
  resume: { inPlace: input(({ installation }) => ({ id: installation })), root: 'installation' },
  retryNow: { inPlace: input(({ item }) => ({ id: item })), root: 'installation' },
  approve: { inPlace: input(({ item }) => ({ id: item })), root: 'installation' },
  reject: { inPlace: input(({ item }) => ({ id: item })), root: 'installation' },
  signal: { inPlace: input(({ item }) => ({ id: item, name: 'none' })), root: 'installation' },
  giveUpRetries: { inPlace: input(({ item }) => ({ id: item })), root: 'installation' },
  retryTask: { inPlace: input(({ endedTask }) => ({ id: endedTask })), root: 'endedTask' },
  retryEvent: { inPlace: input(({ event }) => ({ id: event })), root: 'event' },
  revokeToken: { inPlace: input(({ token }) => ({ id: token })), fresh: fresh.principal },
  setDataObject: { inPlace: input(({ project }) => ({ project, name: `${project}-data`, value: 1 })) },
  setTarget: { inPlace: input(({ project }) => ({ project, name: 'target', type: 'own' })) },
  setSecret: { inPlace: input(({ project }) => ({ project, name: 'SECRET', value: 'x' })) },
  updateAppInst: {
    inPlace: input(({ pendingApp }) => ({ id: pendingApp, spec: { size: 2 } })),
    root: 'cloudlet',
    right: both('bring code with', 'APP_INST'),
  },
  updateClusterInst: { inPlace: input(({ cluster }) => ({ id: cluster, spec })), root: 'cloudlet' },
  rollbackInstallation: {
    inPlace: input(({ idle }) => ({ id: idle, toGeneration: 1, reconcile: false })),
    root: 'idle',
  },
  updateInstallation: { inPlace: input(({ idle }) => ({ id: idle, reconcile: false })), root: 'idle' },
  updatePrincipal: { inPlace: input(({ principal }) => ({ id: principal })) },
  updateProject: [
    { inPlace: input(({ project }) => ({ name: project })) },
    { inPlace: input(({ project }) => ({ name: project, limits: {} })), right: RIGHTS.configureProject },
    { inPlace: input(({ project }) => ({ name: project, subscriptions: [] })), right: RIGHTS.configureProject },
    { inPlace: input(({ project }) => ({ name: project, workerTemplate: worker })), right: RIGHTS.programProject },
  ],
  upgradeCloudlet: { inPlace: input(({ cloudlet }) => ({ id: cloudlet, version: '2' })), root: 'cloudlet' },
}

const CHANGED = 'changed-by-the-test'
const addChange = ({ world }: Api, { event }: Place) => addJob(world, event, `${CHANGED}-${v7()}`)
const isChange = (event: string): boolean => event.includes(CHANGED)

const subscriptions: Readonly<Record<string, Case>> = {
  auditEvents: { variables: { after: '0', filter: { outcome: 'DONE' } } },
  crmRequests: {
    inPlace: ({ cloudlet }) => ({ cloudletId: cloudlet, epoch: 1 }),
    root: 'cloudlet',
    fresh: fresh.served,
  },
  // A place that no line has ends it for those who may read at all.
  output: { variables: { after: '999999999999' } },
  logs: { inPlace: ({ worker: id }) => ({ objectId: id }), root: 'event' },
  objectUpdates: { inPlace: ({ event }) => ({ rootId: event }), root: 'event', cause: addChange },
  phaseChanges: { variables: { after: 0 }, shows: ({ event }) => event, cause: addChange, isLast: isChange },
  phaseLog: { inPlace: ({ project }) => ({ filter: { project }, after: 0 }) },
  workOffered: {
    inPlace: ({ project }) => ({ types: [`${project}-offered`, OFFERED] }),
    fresh: fresh.offer,
    isLast: (event) => event.includes(`"${OFFERED}"`),
    actor: 'DEPLOYER',
  },
}

export const CASES = { Query: queries, Mutation: mutations, Subscription: subscriptions }
