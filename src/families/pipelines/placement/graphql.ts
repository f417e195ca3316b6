import type { BlockerValue } from '../../../graphql/family.ts'
import { LabelInput } from '../../../graphql/objects/label-input.ts'
import { addNodeType } from '../../../graphql/objects/node.ts'
import { LabelRef } from '../../../graphql/objects/object-parts.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { connect } from '../../../graphql/schema/connection.ts'
import { uuidCursor } from '../../../graphql/schema/cursors.ts'
import { dropUndefined } from '../../../graphql/schema/drop-undefined.ts'
import { answer } from '../../../graphql/schema/errors.ts'
import { pageCost } from '../../../graphql/schema/limits.ts'
import { BlockerRef, NodeRef } from '../../../graphql/schema/refs.ts'
import { commandResult } from '../../../graphql/schema/result-union.ts'
import { pipelinesCommands } from '../commands/index.ts'
import { rights } from '../rights.ts'
import type { PipelinesBlocker } from '../rules/blockers.ts'
import { PLACE_STATES, type PlaceState, placeState } from './rules/place-state.ts'
import { PLACEMENT_PROBLEMS, type PlacementProblem } from './rules/placement-problem.ts'
import { countPlaces, listPlaces, loadPlaces, type PlaceRow } from './store/place-queries.ts'

const STATES: Readonly<Record<PlaceState, string>> = {
  ACTIVE: 'It starts what is claimed.',
  FULL: 'It runs as many workers, or as many jobs, as its capacity allows.',
  SLOW: 'Its runtime is connected, but for 30 seconds it has not started claimed work or not claimed waiting work, or it does not renew its leases.',
  DRAINED: 'It takes nothing new.',
  LOST: 'Its runtime was silent for a minute, or since the leases of all its workloads expired.',
}
const PlaceStateEnum = builder.enumType('PlaceState', {
  description: 'How a place is. Later states in this list override earlier ones.',
  values: Object.fromEntries(PLACE_STATES.map((name) => [name, { description: STATES[name] }])) as Record<
    PlaceState,
    { description: string }
  >,
})

const DrainRef = builder.objectRef<PlaceRow & { readonly drainedAt: Date }>('PlaceDrain').implement({
  description: 'Why a place takes nothing new.',
  fields: (t) => ({
    at: t.expose('drainedAt', { type: 'DateTime', description: 'Since when it is drained.' }),
    by: t.string({ description: 'Name of who drained it last.', resolve: ({ drainedBy }) => drainedBy ?? '' }),
    reason: t.exposeString('drainReason', { nullable: true, description: 'Why, for people; null if none was given.' }),
  }),
})

const PlaceRef = builder.objectRef<PlaceRow>('Place').implement({
  description: 'A host or a cluster where a runtime starts workers and jobs.',
  interfaces: [NodeRef],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Unique and permanent.' }),
    name: t.exposeString('name', { description: 'Instance that its runtime claims with.' }),
    type: t.exposeString('type', { description: 'Type of its runtime, e.g. process.' }),
    agentName: t.exposeString('agentName', { description: 'Name of the principal of its runtime.' }),
    labels: t.field({
      type: [LabelRef],
      description: 'Labels that workers and jobs may require; at most 64.',
      resolve: ({ labels }) => Object.entries(labels).map(([key, value]) => ({ key, value })),
    }),
    capacity: t.exposeInt('capacity', {
      nullable: true,
      description: 'It runs at most so many workers and at most so many jobs at the same time; null: no limit.',
    }),
    runningWorkers: t.int({
      description: 'Count of workers that it has claimed and that have not ended.',
      resolve: ({ running }) => running.WORKER ?? 0,
    }),
    runningJobs: t.int({
      description: 'Count of jobs that it has claimed and that have not ended.',
      resolve: ({ running }) => running.JOB ?? 0,
    }),
    state: t.field({
      type: PlaceStateEnum,
      description: 'How it is, derived from the other fields.',
      resolve: (place, _, { system }) => placeState(place, system.now()),
    }),
    drain: t.field({
      type: DrainRef,
      nullable: true,
      description: 'Why it takes nothing new; null if it is not drained.',
      resolve: (place) => (place.drainedAt ? { ...place, drainedAt: place.drainedAt } : null),
    }),
    registeredAt: t.expose('registeredAt', { type: 'DateTime', description: 'When it was first registered.' }),
    seenAt: t.expose('seenAt', {
      type: 'DateTime',
      nullable: true,
      description:
        "Time of its runtime's last call, to half a minute; null if that is longer ago than agents are kept.",
    }),
    startingSince: t.expose('startingSince', {
      type: 'DateTime',
      nullable: true,
      description: 'When it claimed the oldest worker or job that it has not started yet; null if there is none.',
    }),
    waitingSince: t.expose('waitingSince', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when the oldest worker or job has been waiting that it could claim; null if there is none.',
    }),
  }),
})
const PlaceConnection = builder.connectionObject({ name: 'PlaceConnection', type: PlaceRef }, {})

addNodeType('Place', rights.readPlaces, loadPlaces)

builder.queryField('places', (t) =>
  t.field({
    right: rights.readPlaces,
    type: PlaceConnection,
    nullable: true,
    description:
      'Places whose runtimes work in projects that the viewer may read, also those that are lost. Null only together with an entry in `errors`.',
    args: t.arg.connectionArgs(),
    complexity: (args) => pageCost(args),
    resolve: (_, args, { pool, viewer: { projects } }) =>
      connect(args, {
        cursor: uuidCursor,
        position: ({ id }: PlaceRow) => id,
        load: (window) => listPlaces(pool, projects, window),
        count: () => countPlaces(pool, projects),
      }),
  }),
)

interface Changed {
  readonly __typename: 'ChangedPlaces'
  readonly places: readonly PlaceRow[]
}
const ChangedPlacesRef = builder.objectRef<Changed>('ChangedPlaces').implement({
  description: 'Places that a request has changed.',
  fields: (t) => ({
    places: t.field({
      type: [PlaceRef],
      description: 'Each of them, as it is now.',
      complexity: { field: 1, multiplier: 10 },
      resolve: ({ places }) => [...places],
    }),
  }),
})
const changed = ({ places }: { readonly places: readonly PlaceRow[] }): Changed => ({
  __typename: 'ChangedPlaces',
  places,
})

builder.mutationField('registerPlace', (t) =>
  t.fieldWithInput({
    right: rights.registerPlace,
    ...commandResult('RegisterPlaceResult', ChangedPlacesRef, pipelinesCommands.registerPlace),
    description:
      'Says what the place of a runtime is like. Runtimes send it before they claim; repeated, it replaces labels and capacity, and a drain stays.',
    typeOptions: { description: 'The place. The token identifies the owner.' },
    input: {
      name: t.input.string({
        required: true,
        limit: 'instance',
        description: 'Instance that the runtime claims with; the token must allow it as a target.',
      }),
      type: t.input.string({
        required: true,
        limit: 'workType',
        description: 'Type of the runtime, which the token must allow.',
      }),
      labels: t.input.field({
        type: [LabelInput],
        required: true,
        defaultValue: [],
        limit: 'labels',
        description: 'Labels that workers and jobs may require. Each key stands once.',
      }),
      capacity: t.input.int({
        description:
          'How many workers, and how many jobs, it runs at the same time, from 1 to 100,000. Left out or null: no limit.',
      }),
    },
    resolve: (_, { input }, context) =>
      answer(context.pipelines.registerPlace(context.viewer, dropUndefined(input)), changed),
  }),
)

const NAME = 'Name of the place.'
const TYPE = 'Type of its runtime. Left out or null: the places of this name of every type.'

builder.mutationField('drainPlace', (t) =>
  t.fieldWithInput({
    right: rights.drainPlace,
    ...commandResult('DrainPlaceResult', ChangedPlacesRef, pipelinesCommands.drainPlace),
    description:
      'Lets a place take nothing new, at once for all that is not claimed yet. Running workloads continue, and jobs that share the workspace of a worker there still start. Safe to repeat.',
    typeOptions: { description: 'The place to drain.' },
    input: {
      name: t.input.string({ required: true, limit: 'instance', description: NAME }),
      type: t.input.string({ limit: 'workType', description: TYPE }),
      reason: t.input.string({ limit: 'reason', description: 'Why, for people. Left out or null: none.' }),
    },
    resolve: (_, { input }, context) =>
      answer(context.pipelines.drainPlace(context.viewer, dropUndefined(input)), changed),
  }),
)
builder.mutationField('undrainPlace', (t) =>
  t.fieldWithInput({
    right: rights.drainPlace,
    ...commandResult('UndrainPlaceResult', ChangedPlacesRef, pipelinesCommands.undrainPlace),
    description: 'Lets a place that was drained take work again. Safe to repeat.',
    typeOptions: { description: 'The place that was drained.' },
    input: {
      name: t.input.string({ required: true, limit: 'instance', description: NAME }),
      type: t.input.string({ limit: 'workType', description: TYPE }),
    },
    resolve: (_, { input }, context) =>
      answer(context.pipelines.undrainPlace(context.viewer, dropUndefined(input)), changed),
  }),
)

const PROBLEMS: Readonly<Record<PlacementProblem, string>> = {
  LABELS: 'No place of the runtime has the labels.',
  DRAINED: 'The places that have them are drained.',
  FULL: 'The places that have them, and are not drained, are full.',
  LOST: 'The places that have them are lost.',
}
const PlacementProblemEnum = builder.enumType('PlacementProblem', {
  description: 'Why no place takes a worker or a job.',
  values: Object.fromEntries(PLACEMENT_PROBLEMS.map((name) => [name, { description: PROBLEMS[name] }])) as Record<
    PlacementProblem,
    { description: string }
  >,
})

type PlaceBlocker = Extract<PipelinesBlocker, { readonly reason: 'PLACE' }> & BlockerValue
builder.objectRef<PlaceBlocker>('PlaceBlocker').implement({
  description: 'The worker or job waits for a place of its runtime.',
  interfaces: [BlockerRef],
  fields: (t) => ({
    type: t.exposeString('type', { description: 'Type of its runtime.' }),
    problem: t.expose('problem', { type: PlacementProblemEnum, description: 'Why no place takes it.' }),
    places: t.stringList({
      description: 'Names of the places that could take it otherwise; empty if none has the labels.',
      resolve: ({ places }) => [...places],
    }),
  }),
})
