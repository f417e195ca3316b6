import { setTimeout as delay } from 'node:timers/promises'
import { backoffMs } from '../../../core/backoff.ts'
import { isDatabaseUnavailable } from '../../../core/database-unavailable.ts'
import { jsonProblem } from '../../../core/json-problem.ts'
import { beginningOf, portableText } from '../../../core/portable.ts'
import type { FamilyServices } from '../../../graphql/context.ts'
import { LIMITS as SANDBOX } from '../../../sandbox/limits.ts'
import { type ClaimedPoll, claimGatePolls, nextGatePoll, noteGateAnswer } from '../../../store/gate-polls.ts'
import { underAdvisoryLock } from '../../../store/under-advisory-lock.ts'
import { Addresses } from '../../addresses.ts'
import type { FamilyWorker, WorkerParts } from '../../define-family.ts'
import { conditionOf, type HttpOpener, headersOf } from '../../http-gate.ts'
import { connectionProblem, type OutgoingAnswer, OutgoingHttp } from '../../outgoing-http.ts'
import { startSearchLoop } from '../../search-loop.ts'

/** Addresses that a process asks at a time. The store bounds what the whole instance asks. */
const AT_ONCE = 16
/** The part of an answer that a condition may read, in bytes. A longer one is none. */
const MAX_ANSWER = 256 * 1_024
const MAX_SENTENCE = 1_000
/** An address that fails is asked less and less often, down to this, in milliseconds, or as often as its gate says. */
const CAP_MS = 10 * 60 * 1_000
/** The longest time that an address may ask for, in milliseconds. */
const RETRY_AFTER_MS = 60 * 60 * 1_000
/** The pause of a process that may not ask what is due, since a bound is reached or another process is choosing, in milliseconds. */
const BUSY_MS = 250
/** How long the end of the process waits for answers, in milliseconds. */
const END_MS = 3_000

/** An answer, or why there is none. */
interface Heard {
  readonly opens: boolean
  /** In a sentence. */
  readonly answer: string
  /** It is asked less often. */
  readonly isFailure: boolean
  readonly retryAfterMs: number | null
}
const failed = (answer: string, retryAfterMs: number | null = null): Heard => ({
  ...{ opens: false, answer, isFailure: true, retryAfterMs },
})

/** Asks the addresses of gates that wait, in each process with an engine. No transaction is open meanwhile. */
export function startAsking(parts: WorkerParts, { gates }: FamilyServices): FamilyWorker {
  const { pool, system, logger } = parts
  const outgoing = new OutgoingHttp(new Addresses(parts.config.outgoing.networks))
  const asking = new Set<Promise<void>>()
  let isOver = false
  const msUntil = (due: Date) => due.getTime() - system.now().getTime()

  async function ask(poll: ClaimedPoll): Promise<void> {
    const { rootId, objectId, id: pollId, failures } = poll
    const http = poll.http as HttpOpener
    const { opens, answer, isFailure, retryAfterMs } = await hear(parts, outgoing, poll)
    // The request was cut off.
    if (isOver) return
    if (opens) return await gates.openByAddress({ rootId, objectId, pollId, message: answer })
    const failed = isFailure ? failures + 1 : 0
    const backoff = { baseMs: http.everyMs, factor: 2, capMs: Math.max(CAP_MS, http.everyMs) }
    const waitMs = failed < 2 ? 0 : backoffMs(failed, system.random(), backoff)
    const wait = Math.max(http.everyMs, waitMs, Math.min(retryAfterMs ?? 0, RETRY_AFTER_MS))
    const at = system.now()
    await noteGateAnswer(pool, poll, {
      ...{ at, failures: failed, nextAt: new Date(at.getTime() + wait) },
      answer: portableText(beginningOf(answer, MAX_SENTENCE)),
    })
  }

  const loop = startSearchLoop(parts, {
    what: 'the search for addresses to ask',
    async round() {
      const due = await nextGatePoll(pool)
      if (!due || asking.size >= AT_ONCE) return null
      if (msUntil(due) > 0) return msUntil(due)
      const polls = await underAdvisoryLock(pool, 'askForGates', (client) =>
        claimGatePolls(client, system.now(), AT_ONCE - asking.size),
      )
      for (const poll of polls ?? []) {
        const asked = ask(poll)
          // Its lease ends, and it is asked again.
          .catch((error: unknown) => {
            if (!isDatabaseUnavailable(error)) logger.error({ err: error }, 'asking an address failed')
          })
          .finally(() => {
            asking.delete(asked)
            loop.wake()
          })
        asking.add(asked)
      }
      return BUSY_MS
    },
  })
  return {
    async isAtRest(client) {
      const due = await nextGatePoll(client)
      return asking.size === 0 && (!due || msUntil(due) > 0)
    },
    async [Symbol.asyncDispose]() {
      await loop[Symbol.asyncDispose]()
      await Promise.race([Promise.all(asking), delay(END_MS, undefined, { ref: false })])
      isOver = true
      outgoing[Symbol.dispose]()
    },
  }
}

/** Asks one address, and judges its answer. Sentences hold nothing of what was sent, or of the body. */
async function hear(
  { sandbox, sealing }: Pick<WorkerParts, 'sandbox' | 'sealing'>,
  outgoing: OutgoingHttp,
  { http: opener, projectId, sealed }: ClaimedPoll,
): Promise<Heard> {
  const http = opener as HttpOpener
  const url = new URL(http.url)
  const { secret: name } = http
  const secret = name === null ? null : sealed && sealing.open({ projectId, name }, sealed)
  if (name !== null && secret === null) return failed(`The project has no secret ${name} that this server can open.`)
  const own = name === null || secret === null ? {} : headersOf(name, secret, url)
  if (typeof own === 'string') return failed(own)
  const headers = { accept: 'application/json, */*;q=0.5', 'user-agent': 'Phaseline', ...http.headers, ...own }
  let answer: OutgoingAnswer
  try {
    answer = await outgoing.send(url, { method: 'GET', headers, maxAnswer: MAX_ANSWER })
  } catch (error) {
    return failed(`${connectionProblem(error, 'It')}.`.replace(/\.\.$/, '.'))
  }
  const { status, retryAfterMs } = answer
  if (answer.isCut)
    return failed(`It has answered ${status}, and not to the end: at most ${MAX_ANSWER} bytes are read, within 10 s.`)
  const isFailure = status >= 500 || status === 429
  const scope = { status, headers: textsOf(answer), body: bodyOf(answer.text) }
  const [read] = await sandbox.resolve([{ template: conditionOf(http), scope }], projectId)
  const heard = { opens: false, answer: `It has answered ${status}.`, isFailure, retryAfterMs }
  if (!read || (!read.ok && read.isTransient)) return heard
  if (!read.ok) return failed(`It has answered ${status}, and the condition fails: ${read.message}`, retryAfterMs)
  if (read.value === true) return { ...heard, opens: true }
  return read.value === false
    ? heard
    : failed(`It has answered ${status}, and the condition is neither true nor false.`)
}

const textsOf = ({ headers }: OutgoingAnswer): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))

/** JSON as what it says, anything else as a text. */
function bodyOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    // A condition could not read what is nested deeper.
    return jsonProblem(value, { depth: SANDBOX.depth, size: Number.POSITIVE_INFINITY }, () => null) ? text : value
  } catch {
    return text
  }
}
