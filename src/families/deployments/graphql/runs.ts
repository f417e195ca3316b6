import type { ObjectRow } from '../../../core/tree.ts'
import { type GraphQLContext, perOperation } from '../../../graphql/context.ts'
import { loadCounts, loadPages, loadSide } from '../../../graphql/loaders.ts'
import { ObjectErrorRef } from '../../../graphql/objects/object-parts.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { type Connection, connect, type PageArgs } from '../../../graphql/schema/connection.ts'
import { plainCursor } from '../../../graphql/schema/cursors.ts'
import { PhaseEnum } from '../../../graphql/schema/enums.ts'
import { pageCost } from '../../../graphql/schema/limits.ts'
import type { Window } from '../../../store/loaders/window.ts'
import type { RunCause } from '../rules/origin.ts'
import type { InstallationSpec } from '../rules/spec.ts'
import { countRuns, type GenerationRow, loadGenerations, loadRuns, type RunRow } from '../store/load-runs.ts'
import { MAX_RUNS } from '../store/runs.ts'
import { MAX_GENERATIONS } from '../store/spec-generations.ts'
import { InstallationRef } from './installation.ts'
import { InstallationSpecRef } from './installation-spec.ts'
import { ReconcileModeEnum } from './reconcile-mode.ts'

const CAUSES: Readonly<Record<RunCause, { readonly description: string }>> = {
  CREATED: { description: 'The installation was created.' },
  CHANGED: { description: 'Its spec was changed, or `ignored` was taken back.' },
  REQUESTED: { description: 'Somebody asked for it.' },
  ROLLED_BACK: { description: 'An earlier spec was brought back.' },
  IMPORTS_CHANGED: { description: 'A value that it imports has changed.' },
  AUTOMATIC: { description: 'Its `automaticReconcile` says so.' },
  DELETED: { description: 'Its deletion was requested.' },
}
const RunCauseEnum = builder.enumType('RunCause', { description: 'Why a run began.', values: CAUSES })

export const RunRef = builder.objectRef<RunRow>('Run').implement({
  description: 'A job of a root installation over its whole tree.',
  fields: (t) => ({
    number: t.exposeInt('number', { description: '1 for the first one of the installation.' }),
    jobId: t.exposeID('jobId', {
      description: 'The `jobId` of all objects that took part, and of their phase changes.',
    }),
    mode: t.expose('mode', { type: ReconcileModeEnum, description: 'How it went about the tree.' }),
    cause: t.expose('cause', { type: RunCauseEnum, description: 'Why it began.' }),
    by: t.exposeString('by', {
      nullable: true,
      description: 'Name of the principal that asked for it; null if the engine did.',
    }),
    generation: t.exposeInt('generation', {
      description: 'Generation of the spec that it used; while it runs, the present one.',
    }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When it began.' }),
    endedAt: t.expose('endedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it ended; null while it runs.',
    }),
    durationMs: t.float({
      nullable: true,
      description: 'Milliseconds from its begin to its end; null while it runs.',
      resolve: ({ startedAt, endedAt }) => endedAt && Math.max(0, endedAt.getTime() - startedAt.getTime()),
    }),
    phase: t.expose('phase', {
      type: PhaseEnum,
      nullable: true,
      description: 'Phase of the installation in which it ended; null while it runs.',
    }),
    error: t.expose('error', {
      type: ObjectErrorRef,
      nullable: true,
      description: 'Why it did not succeed; null if it did, or runs.',
    }),
    exports: t.expose('exports', {
      type: 'JSON',
      nullable: true,
      description:
        'The exports of the installation in this run; null if it did not succeed, or if they were too large to keep.',
    }),
  }),
})

const generations = perOperation(({ pool }) => loadSide((ids) => loadGenerations(pool, ids, { withSpecs: false })))
const earlierSpecs = perOperation(({ pool }) => loadSide((ids) => loadGenerations(pool, ids, { withSpecs: true })))
async function earlierSpec(row: GenerationRow, _: unknown, context: GraphQLContext): Promise<InstallationSpec | null> {
  const all = await earlierSpecs(context).load(row.rootId)
  return (all?.find(({ generation }) => generation === row.generation)?.spec as InstallationSpec | undefined) ?? null
}

const SpecGenerationRef = builder.objectRef<GenerationRow>('SpecGeneration').implement({
  description: 'An earlier spec of a root installation.',
  fields: (t) => ({
    generation: t.exposeInt('generation', { description: 'Its number, for `rollbackInstallation`.' }),
    spec: t.field({
      type: 'JSON',
      nullable: true,
      description: 'The spec in the form of InstallationSpecInput; null only together with an entry in `errors`.',
      resolve: earlierSpec,
    }),
    installationSpec: t.field({
      type: InstallationSpecRef,
      nullable: true,
      description: 'The same as `spec`, with types; null only together with an entry in `errors`.',
      resolve: earlierSpec,
    }),
    replacedAt: t.expose('replacedAt', { type: 'DateTime', description: 'When the next generation replaced it.' }),
    replacedBy: t.exposeString('replacedBy', { description: 'Name of the principal that replaced it.' }),
  }),
})

const RunConnection = builder.connectionObject({ name: 'RunConnection', type: RunRef }, {})

const runs = perOperation(({ pool }) => ({
  pages: loadPages((ids, window: Window<number>) => loadRuns(pool, ids, window)),
  counts: loadCounts((ids) => countRuns(pool, ids)),
}))
const numberCursor = plainCursor((text) => /^[1-9]\d{0,8}$/.test(text))

function runsOf(context: GraphQLContext, { id }: ObjectRow, args: PageArgs): Promise<Connection<RunRow>> {
  const { pages, counts } = runs(context)
  return connect(args, {
    cursor: numberCursor,
    position: ({ number }: RunRow) => String(number),
    load: ({ after, before, ...window }) =>
      pages.load({
        id,
        window: {
          ...window,
          after: after === null ? null : Number(after),
          before: before === null ? null : Number(before),
        },
      }),
    count: () => counts.load(id),
  })
}

builder.objectFields(InstallationRef, (t) => ({
  runs: t.field({
    type: RunConnection,
    description: `Jobs of a root, the newest first: the one that runs, and the last ${MAX_RUNS} that have ended. Empty for a nested installation, whose jobs are its root's.`,
    args: t.arg.connectionArgs(),
    complexity: (args) => pageCost(args),
    resolve: (row, args, context) => runsOf(context, row, args),
  }),
  specGenerations: t.field({
    type: [SpecGenerationRef],
    description: `Earlier specs of a root, the newest first, at most ${MAX_GENERATIONS}. The present one is \`spec\`.`,
    complexity: () => ({ field: 1, multiplier: MAX_GENERATIONS }),
    resolve: async ({ id }, _, context) => (await generations(context).load(id)) ?? [],
  }),
}))
