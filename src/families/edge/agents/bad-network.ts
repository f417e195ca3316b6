import type { Client, CrmRequest, QueryOptions, SubscribeOptions, Variables } from '../../../client/index.ts'
import { pause } from '../../../client/pause.ts'
import type { TypedDocument } from '../../../documents/typed-document.ts'
import type { CrmBehaviour } from './behaviour.ts'
import type { Chance } from './chance.ts'
import { labelOf } from './folder-driver.ts'

interface SentReport {
  readonly fence: string
  readonly phase?: string
}
interface Answer {
  readonly __typename: string
}
interface Reported {
  readonly reportPhases: { readonly __typename: string; readonly results?: readonly Answer[] }
}
interface Requested {
  readonly crmRequests: CrmRequest
}
interface Connected {
  readonly connectCrm: { readonly requests?: readonly CrmRequest[] }
}

const ENDS = /^(READY|NOT_PRESENT|DELETED|\w+_ERROR)$/
const ACCEPTED: Answer = { __typename: 'PhaseReportAccepted' }
/** Requests whose reports it recognises; it never touches others. */
const MAX_LABELS = 10_000

/** A connection that loses, repeats and reorders requests and reports, as the behaviour says. */
export function badNetwork(client: Client, behaviour: CrmBehaviour, chance: Chance): Client {
  const labels = new Map<string, string>()

  /** Number of times that a request arrives. */
  function arrivals(request: CrmRequest): number {
    const label = labelOf(request)
    labels.set(request.fence, label)
    for (const fence of labels.keys()) {
      if (labels.size <= MAX_LABELS) break
      labels.delete(fence)
    }
    if (chance.hits(behaviour.loseRequests, `lose request ${label}`)) return 0
    return chance.hits(behaviour.repeatRequests, `repeat request ${label}`) ? 2 : 1
  }
  const arriving = (request: CrmRequest): readonly CrmRequest[] =>
    Array.from({ length: arrivals(request) }, () => request)

  function fateOf({ fence, phase }: SentReport): 'lost' | 'late' | 'twice' | 'sent' {
    const request = labels.get(fence)
    if (request === undefined) return 'sent'
    const isEnd = phase !== undefined && ENDS.test(phase)
    const what = `report ${request} ${isEnd ? 'end' : (phase ?? 'progress')}`
    if (chance.hits(isEnd ? behaviour.loseEnds : behaviour.loseBeginnings, `lose ${what}`)) return 'lost'
    if (chance.hits(behaviour.delayReports, `delay ${what}`)) return 'late'
    return chance.hits(behaviour.repeatReports, `repeat ${what}`) ? 'twice' : 'sent'
  }

  async function* arrivingOf(requests: AsyncIterable<Requested>): AsyncGenerator<Requested> {
    for await (const { crmRequests: request } of requests) {
      for (const crmRequests of arriving(request)) yield { crmRequests }
    }
  }

  async function report(document: string, reports: readonly SentReport[]): Promise<Reported> {
    const fates = reports.map(fateOf)
    const those = (...wanted: readonly string[]) => reports.filter((_, i) => wanted.includes(fates[i] ?? ''))
    const send = (some: readonly SentReport[]) => client.query<Reported>(document, { input: { reports: some } })
    const late = those('late', 'twice')
    // Like any message that is only sent, it has no answer.
    if (late.length > 0) void pause(behaviour.laterMs).then(() => send(late).catch(() => {}))
    const now = those('sent', 'twice')
    if (now.length === 0) return answerWith(reports.map(() => ACCEPTED))
    const answer = await send(now)
    const results = [...(answer.reportPhases.results ?? [])]
    if (answer.reportPhases.__typename !== 'PhaseReports') return answer
    return answerWith(
      fates.map((fate) => (fate === 'lost' || fate === 'late' ? ACCEPTED : (results.shift() ?? ACCEPTED))),
    )
  }

  return {
    async query<T>(typed: TypedDocument<T, never>, variables?: unknown, options?: QueryOptions): Promise<T> {
      const document = typed.valueOf()
      const { input } = (variables ?? {}) as { readonly input?: { readonly reports?: readonly SentReport[] } }
      if (document.includes('reportPhases(')) return (await report(document, input?.reports ?? [])) as T
      const data = await client.query<T>(document, variables as Variables, options)
      if (!document.includes('connectCrm(')) return data
      const { connectCrm } = data as Connected
      return { ...data, connectCrm: { ...connectCrm, requests: (connectCrm.requests ?? []).flatMap(arriving) } }
    },
    readArtifact: (id, options) => client.readArtifact(id, options),
    writeArtifact: (upload, options) => client.writeArtifact(upload, options),
    readLog: (parameters, options) => client.readLog(parameters, options),
    readSeals: (after, options) => client.readSeals(after, options),
    // A CRM has no other subscription.
    subscribe: <T>(document: TypedDocument<T, never>, variables?: unknown, options?: SubscribeOptions) =>
      arrivingOf(
        client.subscribe<Requested>(document.valueOf(), variables as () => Variables, options),
      ) as AsyncIterable<unknown> as AsyncIterable<T>,
    followPhases: (options) => client.followPhases(options),
    close: () => client.close(),
    [Symbol.asyncDispose]: () => client.close(),
  }
}

const answerWith = (results: readonly Answer[]): Reported => ({
  reportPhases: { __typename: 'PhaseReports', results },
})
