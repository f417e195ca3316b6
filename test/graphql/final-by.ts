import { gql } from '../testkit/gql.ts'
import type { Api } from './api.ts'

const ATTEMPTS = gql(`query FinalBy($id: ID!) { object(id: $id) { ... on WorkObject { attempts { finalBy } } } }`)

/** The party that has made each attempt of an object final. */
export async function finalBy(api: Api, id: string) {
  const { object } = await api.query(ATTEMPTS, { id })
  return (object as { attempts?: { finalBy: string | null }[] } | null)?.attempts?.map((attempt) => attempt.finalBy)
}
