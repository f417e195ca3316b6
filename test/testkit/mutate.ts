import { graphql } from 'graphql'
import type { ClaimedItem, Report } from '../../src/core/ports/agents.ts'
import type { Viewer } from '../../src/core/ports/viewer.ts'
import type { TypedDocument } from '../../src/documents/typed-document.ts'
import { loadFamilies } from '../../src/families/define-family.ts'
import { families } from '../../src/families/index.ts'
import { createContext, type GraphQLServices } from '../../src/graphql/context.ts'
import { buildSchema } from '../../src/graphql/schema.ts'
import { gql } from './gql.ts'

/** A world acts through the public API: documents against the real schema, executed in process. */

export const loaded = await loadFamilies(families)
export const schema = buildSchema(loaded.map(({ graphql }) => graphql))

export type Answer = { readonly __typename: string; readonly id?: string; readonly message?: string }
export interface Mutate {
  /** A mutation of one input; its answer's type name, the object's id, or the refusal's message. */
  mutate(field: string, input: object, viewer: Viewer): Promise<Answer>
  claim(input: object, viewer: Viewer): Promise<readonly ClaimedItem[]>
  /** Of one report: whether it changed a phase, or the type of the refusal. */
  report(report: Report, viewer: Viewer): Promise<boolean | string>
}

const inputOf = (field: string): string => `${field.charAt(0).toUpperCase()}${field.slice(1)}Input`
const shownOf = (field: string): string => (field.endsWith('Installation') ? '... on Installation { id }' : '')
const CLAIM = gql(`mutation ($input: ClaimWorkInput!) {
  answer: claimWork(input: $input) {
    __typename
    ... on ClaimedWork { items { fence objectId kind name jobId action type target config attempt leaseUntil } }
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
  async function send<T>(source: string, input: object, viewer: Viewer): Promise<T> {
    const contextValue = createContext(services, viewer)
    const { data, errors } = await graphql({ schema, source, variableValues: { input }, contextValue })
    if (errors) throw new Error(errors.map((error) => error.stack ?? error.message).join('\n'))
    return (data as { answer: T }).answer
  }
  /** Inputs of tests may be wrong on purpose. */
  const ask = <T>(document: string & TypedDocument<{ readonly answer: T }, never>, input: object, viewer: Viewer) =>
    send<T>(document, input, viewer)
  return {
    mutate: (field, input, viewer) =>
      send(
        `mutation ($input: ${inputOf(field)}!) {
          answer: ${field}(input: $input) { __typename ${shownOf(field)} ... on Error { message } }
        }`,
        input,
        viewer,
      ),
    async claim(input, viewer) {
      const answer = await ask(CLAIM, input, viewer)
      if (!answer?.items) throw new Error(answer?.message)
      return answer.items.map((item) => ({ ...item, leaseUntil: new Date(item.leaseUntil) }))
    },
    async report(report, viewer) {
      const answer = await ask(REPORT, { reports: [report] }, viewer)
      const result = answer?.results?.[0]
      if (!result) throw new Error(answer?.message ?? 'no result for the report')
      return result.changed ?? result.__typename
    },
  }
}
