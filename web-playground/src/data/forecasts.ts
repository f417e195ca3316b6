import { FORECAST_FRAGMENT } from 'phaseline/client-model'
import { AskedStore } from './asked-store.ts'
import { gql, type ResultOf } from './gql.ts'
import type { Session } from './session.ts'

const FORECASTS = gql(`query Forecasts($ids: [ID!]!) { nodes(ids: $ids) { ...Expected } }\n${FORECAST_FRAGMENT}`)
type Read = ResultOf<typeof FORECASTS>['nodes'][number]
export type ShownForecast = NonNullable<NonNullable<Read>['forecast']>

/** When objects are expected to end, by id. They are read from time to time: a forecast costs the server more than other fields. */
export const forecastsOf = (session: Session, ids: readonly string[], signal: AbortSignal) =>
  new AskedStore<ReadonlyMap<string, ShownForecast>>(
    session,
    {
      ask: async ({ client }, asking) => {
        if (ids.length === 0) return new Map()
        const { nodes } = await client.query(FORECASTS, { ids }, { signal: asking })
        return new Map(nodes.flatMap((node, i) => (node?.forecast ? [[ids[i] as string, node.forecast] as const] : [])))
      },
      concerns: ({ objectId, rejected }) => !rejected && ids.includes(objectId),
    },
    signal,
  )
