import { graphql } from 'graphql'
import type { ClaimedItem, Report } from '../../src/core/ports/agents.ts'
import type { Viewer } from '../../src/core/ports/viewer.ts'
import type { TypedDocument } from '../../src/documents/typed-document.ts'
import { families } from '../../src/families/index.ts'
import { loadFamilies } from '../../src/families/load-families.ts'
import { createContext, type GraphQLServices } from '../../src/graphql/resolver-context.ts'
import { buildSchema } from '../../src/graphql/schema.ts'
import { gql } from './gql.ts'

/** A world acts through the public API: documents against the real schema, executed in process. */

export const loaded = await loadFamilies(families)
export const schema = buildSchema(loaded.map(({ graphql }) => graphql))

export interface Mutate {
  /** A mutation of one input, which may be wrong on purpose. */
  mutate<T>(document: Mutation<T>, input: object, viewer: Viewer): Promise<T>
  claim(input: object, viewer: Viewer): Promise<readonly ClaimedItem[]>
  /** Sends one report: true if it changed a phase, false if not, or the type of the refusal. */
  report(report: Report, viewer: Viewer): Promise<boolean | string>
}

type Mutation<T> = TypedDocument<{ readonly answer: T }, never>

const CLAIM = gql(`mutation ($input: ClaimWorkInput!) {
  answer: claimWork(input: $input) {
    __typename
    ... on ClaimedWork { items { fence objectId projectId kind name jobId action type target config attempt leaseUntil traceparent } }
    ... on Error { message }
  }
}`)
const REPORT = gql(`mutation ($input: ReportPhasesInput!) {
  answer: reportPhases(input: $input) {
    __typename
    ... on PhaseReports { results { __typename ... on PhaseReportAccepted { changed } } }
    ... on Error { message }
  }
}`)

export function mutateWith(services: GraphQLServices): Mutate {
  async function mutate<T>(document: Mutation<T>, input: object, viewer: Viewer): Promise<T> {
    const [source, contextValue] = [document.valueOf(), createContext(services, viewer)]
    const { data, errors } = await graphql({ schema, source, variableValues: { input }, contextValue })
    if (errors) throw new Error(errors.map((error) => error.stack ?? error.message).join('\n'))
    return (data as { readonly answer: T }).answer
  }
  return {
    mutate,
    async claim(input, viewer) {
      const answer = await mutate(CLAIM, input, viewer)
      if (!answer?.items) throw new Error(answer?.message)
      return answer.items.map((item) => ({ ...item, leaseUntil: new Date(item.leaseUntil) }))
    },
    async report(report, viewer) {
      const answer = await mutate(REPORT, { reports: [report] }, viewer)
      const result = answer?.results?.[0]
      if (!result) throw new Error(answer?.message ?? 'no result for the report')
      return result.changed ?? result.__typename
    },
  }
}
