import { createClient } from '../../src/client/index.ts'
import { payloadOf } from '../testkit/ask.ts'
import { gql } from '../testkit/gql.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'

/** Work that the played runtime was handed. */
export interface PlayedWork {
  readonly fence: string
  readonly name: string
  readonly kind: string
  readonly action: string
  readonly token: string | null
  readonly config: {
    readonly project: string
    readonly files: readonly { readonly path: string; readonly content: string }[]
    readonly env: Readonly<Record<string, string>>
    readonly secrets: Readonly<Record<string, string>>
    readonly event: Readonly<Record<string, unknown>> & { readonly name: string }
  }
}
/** A runtime that runs nothing: the test says over the API what becomes of each workload. */
export interface PlayedRuntime extends AsyncDisposable {
  /** Waits for the worker of an event, or for a job of it, and lets it run. */
  start(event: string, name?: string): Promise<PlayedWork>
  write(work: PlayedWork, ...lines: readonly string[]): Promise<void>
  /** With 0 it succeeds. */
  end(work: PlayedWork, exitCode: number): Promise<void>
  /** As the worker does, with its own token. */
  addJob(worker: PlayedWork, name: string, spec?: object): Promise<void>
}

/** The type that templates name to be run by it. */
export const PLAYED = 'played'

const TOKEN = gql(`mutation { createToken(input: { name: "stage", role: AGENT, actor: RUNTIME, types: ["${PLAYED}"] }) {
  ... on CreatedToken { secret } ... on Error { message }
} }`)
const CLAIM =
  gql(`mutation { claimWork(input: { instance: "here", types: ["${PLAYED}"], targets: ["here"], max: 50, leaseMs: 600000 }) {
  ... on ClaimedWork { items { fence name kind action token config } } ... on Error { message }
} }`)
const REPORT = gql(`mutation ($reports: [PhaseReportInput!]!) { reportPhases(input: { reports: $reports }) {
  ... on PhaseReports { results { __typename ... on Error { message } } } ... on Error { message }
} }`)
const APPEND = gql(`mutation ($lines: [LogLineInput!]!) { appendLogs(input: { lines: $lines }) {
  ... on AppendedLogs { accepted } ... on Error { message }
} }`)
const ADD = gql(
  `mutation ($input: CreateJobInput!) { createJob(input: $input) { __typename ... on Error { message } } }`,
)

export async function playRuntime({ client: admin, url }: ReachableServer): Promise<PlayedRuntime> {
  const { createToken } = await admin.query(TOKEN)
  const client = createClient({ url, token: payloadOf(createToken).secret })
  const offered: PlayedWork[] = []
  const report = async (work: PlayedWork, what: object): Promise<void> => {
    const answer = await client.query(REPORT, { reports: [{ fence: work.fence, ...what }] })
    if (!JSON.stringify(answer).includes('PhaseReportAccepted')) throw new Error(JSON.stringify(answer))
  }
  const find = async (event: string, name: string): Promise<PlayedWork | undefined> => {
    const { claimWork } = await client.query(CLAIM)
    const started = payloadOf(claimWork).items.filter(({ action }) => action === 'START')
    offered.push(...started.map((item) => ({ ...item, config: item.config as PlayedWork['config'] })))
    return offered.find((work) => work.name === name && `${work.config.project}/${work.config.event.name}` === event)
  }
  return {
    async start(event, name = 'worker') {
      const work = await until(() => find(event, name), { what: `${name} of ${event} is handed out` })
      await report(work, { phase: 'RUNNING' })
      return work
    },
    async write({ fence }, ...lines) {
      const answer = await client.query(APPEND, {
        lines: lines.map((text) => ({ fence, stream: 'STDOUT' as const, text })),
      })
      if (answer.appendLogs?.accepted !== lines.length) throw new Error(JSON.stringify(answer))
    },
    end: (work, exitCode) =>
      report(work, {
        phase: exitCode === 0 ? 'SUCCEEDED' : 'FAILED',
        exports: { exitCode, signal: null },
        ...(exitCode === 0 ? {} : { error: { code: 'EXIT_CODE', message: `It ended with exit code ${exitCode}.` } }),
      }),
    async addJob({ token }, name, spec = {}) {
      await using worker = createClient({ url, token: token ?? '' })
      const answer = await worker.query(ADD, { input: { name, spec: { command: ['true'], ...spec } } })
      if (!JSON.stringify(answer).includes('"Job"')) throw new Error(JSON.stringify(answer))
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}
