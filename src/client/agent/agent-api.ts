import type { Phase } from '../../core/vocabulary.ts'
import { gql } from '../../documents/gql.ts'
import type { TypedDocument } from '../../documents/typed-document.ts'
import type { Client } from '../client.ts'
import { ClientError } from '../client-error.ts'
import type { AgentOptions, TargetSelector } from './agent.ts'
import type { DryRunOutcome, LogStream, WorkItem, WorkOutcome } from './work.ts'

/** The agents' mutations. A refusal of a whole call is thrown as a ClientError. */
export interface AgentApi {
  claim(request: ClaimRequest, signal: AbortSignal): Promise<Claimed>
  /** In the order of the fences. */
  renew(fences: readonly string[], leaseMs: number): Promise<readonly LeaseState[]>
  /** In the order of the reports. */
  report(reports: readonly FencedReport[]): Promise<readonly ReportAnswer[]>
  /** @param sentAt by the clock of the lines' own times */
  appendLogs(lines: readonly FencedLine[], sentAt: string): Promise<void>
}
export interface Claimed {
  readonly items: readonly WorkItem[]
  /** Milliseconds from the request to the start of the leases. */
  readonly waitedMs: number
}
export interface ClaimRequest {
  readonly instance: string
  readonly types: readonly string[]
  readonly targets?: readonly string[] | undefined
  readonly targetSelector?: TargetSelector | undefined
  /** Left out where an older server is to be asked as well. */
  readonly dryRuns?: boolean | undefined
  readonly max: number
  readonly leaseMs: number
  /** How long the server may wait for work to become ready. */
  readonly waitMs: number
}
export type LeaseState = 'HELD' | 'ABORT_REQUESTED' | 'LOST'
export type FencedReport = { readonly fence: string; readonly dryRun?: DryRunOutcome } & Readonly<
  Record<string, unknown>
> &
  Partial<Exclude<WorkOutcome, null | { readonly dryRun: unknown }>>
export interface FencedLine {
  readonly fence: string
  readonly at: string
  readonly stream: LogStream
  readonly text: string
}
export type ReportAnswer =
  | { readonly accepted: true }
  | {
      readonly accepted: false
      readonly type: string
      readonly message: string
      /** The phases that a TransitionError allows to report now. */
      readonly allowed?: readonly Phase[] | undefined
    }

const CLAIM = gql(`mutation Claim($input: ClaimWorkInput!) {
  claimWork(input: $input) {
    __typename
    ... on ClaimedWork {
      waitedMs
      items { fence objectId projectId kind name jobId action dryRunOf type target config attempt token traceparent }
    }
    ... on Error { message code }
  }
}`)
/** Agents that need no credentials never get any. */
const CLAIM_WITH_CREDENTIALS = gql(`mutation ClaimWithCredentials($input: ClaimWorkInput!) {
  claimWork(input: $input) {
    __typename
    ... on ClaimedWork {
      waitedMs
      items {
        fence objectId projectId kind name jobId action type target config attempt token traceparent
        targetCredentials { targetId targetType generation secret }
      }
    }
    ... on Error { message code }
  }
}`)
const RENEW = gql(`mutation Renew($input: RenewLeasesInput!) {
  renewLeases(input: $input) {
    __typename
    ... on RenewedLeases { leases { fence state } }
    ... on Error { message code }
  }
}`)
const REPORT = gql(`mutation Report($input: ReportPhasesInput!) {
  reportPhases(input: $input) {
    __typename
    ... on PhaseReports { results { __typename ... on Error { message } ... on TransitionError { allowed } } }
    ... on Error { message code }
  }
}`)
const REPORT_DRY_RUNS = gql(`mutation ReportDryRuns($input: ReportDryRunsInput!) {
  reportDryRuns(input: $input) {
    __typename
    ... on DryRunReports { results { __typename ... on Error { message } } }
    ... on Error { message code }
  }
}`)
const APPEND_LOGS = gql(`mutation AppendLogs($input: AppendLogsInput!) {
  appendLogs(input: $input) {
    __typename
    ... on Error { message code }
  }
}`)

interface Answer {
  readonly __typename: string
  readonly message?: string | undefined
  readonly code?: string | undefined
}
interface Refusal {
  readonly __typename: `${string}Error`
}

/**
 * One mutation whose result is a union of a payload and errors.
 * @throws ClientError, also for an error of the union, whose code it takes
 */
export async function callAgents<Field extends string, T extends Answer, Input>(
  client: Client,
  field: Field,
  document: TypedDocument<Readonly<Record<Field, T | null>>, { readonly input: Input }>,
  input: NoInfer<Input>,
  signal?: AbortSignal,
): Promise<Exclude<T, Refusal>> {
  const data = await client.query(document, { input }, { signal })
  const answer: T | null = data[field]
  if (!answer) throw new ClientError('graphql', `The server answered ${field} without a result.`, { retryable: true })
  if (answer.__typename.endsWith('Error')) {
    throw new ClientError('graphql', answer.message ?? answer.__typename, { code: answer.code })
  }
  return answer as Exclude<T, Refusal>
}

interface ReportResult {
  readonly __typename: string
  readonly message?: string | undefined
  readonly allowed?: readonly Phase[] | undefined
}
function answerOf(result: ReportResult | undefined): ReportAnswer {
  const { __typename: type, message = '', allowed } = result ?? { __typename: 'NoAnswer' }
  if (type === 'PhaseReportAccepted' || type === 'DryRunReportAccepted') return { accepted: true }
  return { accepted: false, type, message, ...(allowed && { allowed }) }
}

export function agentApi(
  client: Client,
  { targetCredentials }: Pick<AgentOptions, 'targetCredentials'> = {},
): AgentApi {
  return {
    async claim(request, signal) {
      return targetCredentials
        ? await callAgents(client, 'claimWork', CLAIM_WITH_CREDENTIALS, request, signal)
        : await callAgents(client, 'claimWork', CLAIM, request, signal)
    },
    async renew(fences, leaseMs) {
      const { leases } = await callAgents(client, 'renewLeases', RENEW, { fences, leaseMs })
      const states = new Map(leases.map(({ fence, state }) => [fence, state]))
      return fences.map((fence) => states.get(fence) ?? 'LOST')
    },
    async report(reports) {
      const dryRuns = reports.flatMap(({ fence, dryRun }) => (dryRun ? [{ fence, ...dryRun }] : []))
      const phases = reports.filter(({ dryRun }) => !dryRun)
      const [ofPhases, ofDryRuns] = await Promise.all([
        phases.length > 0 ? callAgents(client, 'reportPhases', REPORT, { reports: phases }) : null,
        dryRuns.length > 0 ? callAgents(client, 'reportDryRuns', REPORT_DRY_RUNS, { reports: dryRuns }) : null,
      ])
      const answers = [(ofPhases?.results ?? []).values(), (ofDryRuns?.results ?? []).values()] as const
      return reports.map(({ dryRun }) => answerOf(answers[dryRun ? 1 : 0].next().value))
    },
    async appendLogs(lines, sentAt) {
      await callAgents(client, 'appendLogs', APPEND_LOGS, { lines, sentAt })
    },
  }
}
