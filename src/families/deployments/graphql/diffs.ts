import { diffJson } from '../../../core/json-diff.ts'
import { RIGHTS } from '../../../core/rights.ts'
import { type GraphQLContext, perOperation } from '../../../graphql/context.ts'
import { objectLoader } from '../../../graphql/loaders.ts'
import { JsonDiffRef, MAX_DIFFERENCES } from '../../../graphql/objects/json-difference.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { ObjectKindEnum, PhaseEnum } from '../../../graphql/schema/enums.ts'
import { badInput } from '../../../graphql/schema/limits.ts'
import { TreeDiffRef } from '../../../graphql/schema/refs.ts'
import { compareRunPhases, type RunPhaseDifference } from '../rules/compare-runs.ts'
import {
  loadExportsAt,
  loadGenerations,
  loadRun,
  loadRunPhases,
  MAX_RUN_PHASES,
  type RunRow,
} from '../store/load-runs.ts'
import { specOf } from './loaders.ts'
import { RunRef } from './runs.ts'

/** Objects that one answer names. */
const MAX_OBJECTS = 1_000

interface Specs {
  readonly present: unknown
  readonly earlier: Awaited<ReturnType<typeof loadGenerations>> extends ReadonlyMap<string, infer Rows> ? Rows : never
}
const specs = perOperation((context: GraphQLContext) => async (id: string): Promise<Specs> => {
  const [present, generations] = await Promise.all([
    specOf<unknown>(context, id),
    loadGenerations(context.pool, [id], { withSpecs: true }),
  ])
  return { present, earlier: generations.get(id) ?? [] }
})

/** The spec that a root had at a time; undefined: it is not kept any more. */
function specAt({ present, earlier }: Specs, time: Date): unknown {
  // The newest first: the last one that was replaced later is that of the time.
  const spec = earlier.findLast(({ replacedAt }) => replacedAt > time)?.spec ?? present
  return spec
}

builder.objectFields(TreeDiffRef, (t) => ({
  spec: t.field({
    type: JsonDiffRef,
    nullable: true,
    description:
      'How the spec of a root installation differs, as far back as earlier specs are kept (`specGenerations`). Null for other roots, and for one that is deleted.',
    resolve: async ({ rootId, fromTime, toTime }, _, context) => {
      const root = await objectLoader(context).load(rootId)
      if (root?.kind !== 'INSTALLATION') return null
      const known = await specs(context)(rootId)
      const before = fromTime < root.createdAt ? undefined : specAt(known, fromTime)
      return diffJson(before, specAt(known, toTime), MAX_DIFFERENCES)
    },
  }),
  exports: t.field({
    type: JsonDiffRef,
    nullable: true,
    description:
      'How the exports of a root installation differ, by its runs. Null for other roots, and for one that is deleted.',
    resolve: async ({ rootId, fromTime, toTime }, _, context) => {
      const root = await objectLoader(context).load(rootId)
      if (root?.kind !== 'INSTALLATION') return null
      const [before, after] = await Promise.all([fromTime, toTime].map((at) => loadExportsAt(context.pool, rootId, at)))
      return diffJson(before, after, MAX_DIFFERENCES)
    },
  }),
}))

const RunPhaseDifferenceRef = builder.objectRef<RunPhaseDifference>('RunPhaseDifference').implement({
  description: 'How an object went through two runs.',
  fields: (t) => ({
    objectId: t.exposeID('objectId', { description: 'Id of the object.' }),
    kind: t.expose('kind', { type: ObjectKindEnum, description: 'Kind of the object.' }),
    path: t.exposeString('path', { description: 'Names from the root down to the object, divided by `/`.' }),
    phaseA: t.expose('phaseA', {
      type: PhaseEnum,
      nullable: true,
      description: 'Its last phase in the first run; null if it did not move in it.',
    }),
    phaseB: t.expose('phaseB', {
      type: PhaseEnum,
      nullable: true,
      description: 'Its last phase in the second run; null if it did not move in it.',
    }),
    durationMsA: t.float({
      nullable: true,
      description: 'Milliseconds from its first to its last phase change in the first run; null if it did not move.',
      resolve: ({ durationMsA }) => durationMsA,
    }),
    durationMsB: t.float({
      nullable: true,
      description: 'Milliseconds from its first to its last phase change in the second run; null if it did not move.',
      resolve: ({ durationMsB }) => durationMsB,
    }),
  }),
})

interface Comparison {
  readonly id: string
  readonly a: RunRow
  readonly b: RunRow
}
/** The objects that differ are found once, for the list and for what says whether it is complete. */
const differences = perOperation(({ pool, log }: GraphQLContext) => {
  const found = new WeakMap<Comparison, Promise<Differences>>()
  const find = async ({ id, a, b }: Comparison): Promise<Differences> => {
    await log.caughtUp()
    const { phases, truncated } = await loadRunPhases(pool, id, [a.jobId, b.jobId])
    const objects = compareRunPhases(phases, a.jobId, b.jobId)
    return { objects: objects.slice(0, MAX_OBJECTS), truncated: truncated || objects.length > MAX_OBJECTS }
  }
  return (comparison: Comparison): Promise<Differences> => {
    const known = found.get(comparison) ?? find(comparison)
    found.set(comparison, known)
    return known
  }
})
interface Differences {
  readonly objects: readonly RunPhaseDifference[]
  readonly truncated: boolean
}

const RunComparisonRef = builder.objectRef<Comparison>('RunComparison').implement({
  description: 'Two runs of a root installation side by side.',
  fields: (t) => ({
    a: t.expose('a', { type: RunRef, description: 'The first run.' }),
    b: t.expose('b', { type: RunRef, description: 'The second run.' }),
    spec: t.field({
      type: JsonDiffRef,
      nullable: true,
      description: 'How their specs differ; null if one of them is not kept any more.',
      resolve: async ({ id, a, b }, _, context) => {
        const { present, earlier } = await specs(context)(id)
        const row = await objectLoader(context).load(id)
        const specOfRun = ({ generation }: RunRow): unknown =>
          generation === row?.generation ? present : earlier.find((one) => one.generation === generation)?.spec
        const [before, after] = [specOfRun(a), specOfRun(b)]
        if (before === undefined || after === undefined) return null
        return diffJson(before, after, MAX_DIFFERENCES)
      },
    }),
    exports: t.field({
      type: JsonDiffRef,
      description: 'How their exports differ; a run that did not succeed has none.',
      resolve: ({ a, b }) => diffJson(a.exports ?? undefined, b.exports ?? undefined, MAX_DIFFERENCES),
    }),
    objects: t.field({
      type: [RunPhaseDifferenceRef],
      description: `Objects that ended in another phase, took part in one of the two alone, or took at least a second and twice as long in one, at most ${MAX_OBJECTS.toLocaleString('en')}. Lost changes are missing.`,
      complexity: { field: 1, multiplier: 100 },
      resolve: async (comparison, _, context) => [...(await differences(context)(comparison)).objects],
    }),
    truncated: t.boolean({
      description: `True if \`objects\` lacks some: more than ${MAX_OBJECTS.toLocaleString('en')} differ, or more than ${MAX_RUN_PHASES.toLocaleString('en')} took part, counted in each of the runs.`,
      resolve: async (comparison, _, context) => (await differences(context)(comparison)).truncated,
    }),
  }),
})

builder.queryField('compareRuns', (t) =>
  t.field({
    right: RIGHTS.readObjects,
    type: RunComparisonRef,
    nullable: true,
    description:
      'Compares two runs of a root installation. Null if the id is not that of one that the viewer may read, or a run is not kept.',
    args: {
      id: t.arg.id({ required: true, description: 'Id of the installation.' }),
      a: t.arg.int({ required: true, description: 'Number of the first run.' }),
      b: t.arg.int({ required: true, description: 'Number of the second run.' }),
    },
    resolve: async (_, { id, a, b }, context) => {
      for (const number of [a, b])
        if (number < 1 || number > 1e9) throw badInput(`${number} is not the number of a run.`)
      const row = await objectLoader(context).load(id)
      if (row?.kind !== 'INSTALLATION') return null
      const [first, second] = await Promise.all([a, b].map((number) => loadRun(context.pool, row.id, number)))
      return first && second ? { id: row.id, a: first, b: second } : null
    },
  }),
)
