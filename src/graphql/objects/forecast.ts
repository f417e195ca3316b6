import type { ObjectRow } from '../../core/tree.ts'
import type { ForecastValue } from '../family.ts'
import { objectLoader } from '../loaders.ts'
import { builder } from '../schema/builder.ts'
import { FIRST_ENTRIES } from '../schema/descriptions.ts'
import { TreeObjectRef } from '../schema/refs.ts'

export const ForecastRef = builder.objectRef<ForecastValue>('Forecast').implement({
  description:
    'When an object is expected to end, from the courses of earlier runs of its tree. It says nothing of a run that fails.',
  fields: (t) => ({
    p50: t.expose('p50', {
      type: 'DateTime',
      nullable: true,
      description: 'Half of such runs end earlier; null if no earlier run took this long.',
    }),
    p90: t.expose('p90', {
      type: 'DateTime',
      nullable: true,
      description:
        'Nine of ten such runs end earlier; null with fewer than five earlier runs, and where fewer than four can be compared at this point.',
    }),
    runs: t.exposeInt('runs', { description: 'Number of earlier runs that it is drawn from, all of which succeeded.' }),
    endedRuns: t.exposeInt('endedRuns', {
      description: 'How many of these had ended the object by this point. If all had, the run is the slowest of them.',
    }),
    criticalPath: t.field({
      type: [TreeObjectRef],
      description: 'Objects whose ends determine its end and are still to come, in the order of time.',
      args: { first: t.arg.int({ required: true, defaultValue: 10, description: FIRST_ENTRIES }) },
      complexity: ({ first }) => ({ field: 1, multiplier: first }),
      resolve: async ({ criticalPath }, { first }, context) => {
        const ids = criticalPath.slice(0, Math.max(0, first))
        const found = await Promise.all(ids.map((id) => objectLoader(context).load(id)))
        return found.filter((row): row is ObjectRow => row !== null)
      },
    }),
  }),
})

builder.interfaceFields(TreeObjectRef, (t) => ({
  forecast: t.field({
    type: ForecastRef,
    nullable: true,
    description:
      'When the object is expected to end in the run of its tree. Null if its tree does not run, is paused, cancelled or deleted, or has failed; while the run deletes objects that the spec no longer has; and where nothing shows how long the rest takes: the first run of a tree, an item unlike any before, a kind without runs, a tree of more than 10,000 objects.',
    complexity: 30,
    resolve: (row, _, context) => context.kinds.familyOf(row.kind).forecast?.(context, row) ?? null,
  }),
}))
