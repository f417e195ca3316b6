import { addRecordMutations } from '../../../graphql/objects/project-record.ts'
import { builder, type Types } from '../../../graphql/schema/builder.ts'
import { IDEMPOTENCY_KEY } from '../../../graphql/schema/descriptions.ts'
import { dropUndefined } from '../../../graphql/schema/drop-undefined.ts'
import { answer } from '../../../graphql/schema/errors.ts'
import { commandResult } from '../../../graphql/schema/result-union.ts'
import { flowCommands, LIMIT } from '../commands/limits.ts'
import { rights } from '../rights.ts'
import { brand, LimitRef, StrategyEnum } from './limit.ts'

type InputBuilder = PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>
const RateInput = builder.inputType('LimitRateInput', {
  description: 'How many objects may start with the same key in any time of some length.',
  fields: (t) => ({
    count: t.int({ required: true, description: 'How many may start, from 1 to 10,000.' }),
    perMs: t.int({
      required: true,
      description: 'In any time as long as this, from one second to 7 days, in milliseconds.',
    }),
  }),
})
const WeightInput = builder.inputType('LimitWeightInput', {
  description: 'The weight of a key.',
  fields: (t) => ({
    key: t.string({ required: true, limit: 'limitKey', description: 'The key. Each stands once.' }),
    weight: t.int({
      required: true,
      description: 'So many of its objects start while one with a key of weight 1 does, from 1 to 100.',
    }),
  }),
})
const settings = (t: InputBuilder) => ({
  description: t.string({ limit: 'description', description: 'A sentence for people. Left out or null: none.' }),
  max: t.int({
    description: 'How many may hold it at once, of all keys together, from 1 to 100,000. Left out or null: no bound.',
  }),
  maxPerKey: t.int({
    description: 'How many may hold it at once with the same key, from 1 to 100,000. Left out or null: no bound.',
  }),
  rate: t.field({
    type: RateInput,
    description: 'How many may start with the same key in a time. Left out or null: no bound.',
  }),
  weights: t.field({
    type: [WeightInput],
    limit: 'limitWeights',
    description: 'Weights of keys, which take turns. Left out or null: each has 1.',
  }),
  strategy: t.field({
    type: StrategyEnum,
    description: 'How it treats workers and jobs of a key when a newer one comes. Left out or null: QUEUE.',
  }),
  debounceMs: t.int({
    description:
      'A worker or job starts once it is so old, from 100 ms to 24 hours, so that a newer one can take its place before; for LATEST_ONLY and CANCEL_RUNNING. Left out or null: at once.',
  }),
  shared: t.boolean({
    description:
      'Objects of other projects may ask for it, too, as `project/name`. Takes the strategy QUEUE, and an administrator. Left out or null: false.',
  }),
})
const ID = { required: true, description: 'Id of the limit.' } as const

const written = addRecordMutations(LIMIT, {
  ...{ ref: LimitRef, brand },
  create: {
    command: flowCommands.createLimit,
    description:
      'Creates a limit, for what asks for it from then on. It has max, maxPerKey, rate, or a strategy other than QUEUE. Refused if the name is taken (ALREADY_EXISTS), and beyond 1,000 limits in a project (LIMIT).',
    fields: (t) => ({ ...settings(t), idempotencyKey: t.string(IDEMPOTENCY_KEY) }),
    run: ({ flow }) => flow.createLimit,
  },
  update: {
    command: flowCommands.updateLimit,
    description: 'Replaces a limit. A higher bound starts what waits; a lower one ends nothing that runs.',
    fields: settings,
    run: ({ flow }) => flow.updateLimit,
  },
  delete: {
    command: flowCommands.deleteLimit,
    description:
      'Deletes a limit. Objects that are there ask for it no longer, so those that wait start. New ones that ask for it are refused.',
    run: ({ flow }) => flow.deleteLimit,
  },
})

builder.mutationField('overrideLimit', (t) =>
  t.fieldWithInput({
    right: rights.override,
    ...commandResult('OverrideLimitResult', LimitRef, flowCommands.overrideLimit),
    description:
      'Gives a key other bounds for a time, instead of those that it has; without bounds, those of the limit apply to it again. Refused beyond 100 keys of a limit (LIMIT).',
    typeOptions: { description: 'Other bounds of a key.' },
    input: {
      id: t.input.id(ID),
      key: t.input.string({ limit: 'limitKey', description: 'The key. Left out or null: the empty one.' }),
      maxPerKey: t.input.int({
        description:
          'How many may hold the limit at once with the key, from 0 to 100,000; 0: none starts. Left out or null: as the limit says.',
      }),
      rate: t.input.field({
        type: RateInput,
        description: 'How many may start with the key in a time. Left out or null: as the limit says.',
      }),
      ttlMs: t.input.int({
        description:
          'How long it lasts, from one second to 24 days, in milliseconds. Only left out or null without bounds.',
      }),
    },
    resolve: (_, { input }, context) =>
      answer(context.flow.overrideLimit(context.viewer, dropUndefined(input)), (done) => written(context, done)),
  }),
)
builder.mutationField('pauseLimit', (t) =>
  t.fieldWithInput({
    right: rights.pause,
    ...commandResult('PauseLimitResult', LimitRef, flowCommands.pauseLimit),
    description:
      'Pauses a limit: nothing starts that asks for it, and nothing that runs ends. One that is paused gets the new reason.',
    typeOptions: { description: 'The limit to pause.' },
    input: {
      id: t.input.id(ID),
      reason: t.input.string({ limit: 'reason', description: 'Shown while it is paused. Left out or null: none.' }),
    },
    resolve: (_, { input }, context) =>
      answer(context.flow.pauseLimit(context.viewer, dropUndefined(input)), (done) => written(context, done)),
  }),
)
builder.mutationField('resumeLimit', (t) =>
  t.fieldWithInput({
    right: rights.pause,
    ...commandResult('ResumeLimitResult', LimitRef, flowCommands.resumeLimit),
    description: 'Ends the pause of a limit.',
    typeOptions: { description: 'The limit to resume.' },
    input: { id: t.input.id(ID) },
    resolve: (_, { input }, context) =>
      answer(context.flow.resumeLimit(context.viewer, input), (done) => written(context, done)),
  }),
)
