import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import { HOPS_HEADER } from '../../../core/hook.ts'
import { urlProblem } from '../../../core/http-url.ts'
import { beginningOf, portableText } from '../../../core/portable.ts'
import type { System } from '../../../core/ports/system.ts'
import type { Secret } from '../../../core/secret.ts'
import type { Sandbox } from '../../../sandbox/index.ts'
import { isWebhookSecret, sign, WEBHOOK_HEADERS } from '../../../standard-webhooks.ts'
import { inTransaction } from '../../../store/in-transaction.ts'
import type { Sealing } from '../../../store/sealing.ts'
import { Addresses } from '../../addresses.ts'
import { grantsOfEditors } from '../../on-behalf.ts'
import { connectionProblem, OutgoingHttp } from '../../outgoing-http.ts'
import { heldUntil } from '../rules/collect.ts'
import { mayTell } from '../rules/may-tell.ts'
import { bodyOf, digestText, type MessageFacts, mailOf, scopeOf } from '../rules/message.ts'
import { nextAttempt } from '../rules/retry.ts'
import type { Receiver } from '../rules/spec.ts'
import {
  type ClaimedMessage,
  claimMessages,
  type Ended,
  endMessages,
  forgetMessages,
  lockRules,
  nextDue,
} from '../store/notifications.ts'

/** Messages that a process sends at a time, and of those for one rule: a receiver that hangs holds up no other. */
const AT_ONCE = 64
const OF_A_RULE = 4
/** How often messages that have ended are removed, in milliseconds. */
const FORGET_MS = 60_000
/** How long the end of the process waits for messages under way, in milliseconds. */
const END_MS = 3_000
/** Milliseconds in which a mail server takes a message, or it is tried again later. */
const MAIL_MS = 10_000
/** The part of an answer that is shown, in bytes. */
const MAX_ANSWER = 1_024
/** Longest text of a problem, in characters. */
const MAX_PROBLEM = 1_000

export interface SenderSettings {
  /** Private networks that rules may reach. */
  readonly networks: readonly string[]
  /** Null: e-mail is not set up. */
  readonly mail: { readonly url: Secret; readonly from: string } | null
  /** Origin of the dashboard, for links; null: messages have none. */
  readonly dashboard: string | null
}
export interface SenderParts extends SenderSettings {
  readonly pool: Pool
  readonly system: System
  readonly sandbox: Sandbox
  readonly sealing: Sealing
}

/** The answer of a receiver. Null as problem: the message is delivered. */
interface Result {
  readonly problem: string | null
  readonly retryAfterMs: number | null
}
const DELIVERED: Result = { problem: null, retryAfterMs: null }
const failed = (problem: string, retryAfterMs: number | null = null): Result => ({ problem, retryAfterMs })

/** Sends messages that are due. Each is claimed for as long as it takes, so another process sends what this one leaves. */
export class Sender implements AsyncDisposable {
  readonly #parts: SenderParts
  readonly #outgoing: OutgoingHttp
  readonly #wake: () => void
  readonly #sending = new Map<string, { readonly ruleId: string; readonly sent: Promise<void> }>()
  readonly #ended: Ended[] = []
  /** When messages of a rule were removed last, for as long as they are not removed again. */
  readonly #forgotten = new Map<string, number>()
  #mailer: Promise<Mailer> | null = null

  /** @param wake called when there is something to write */
  constructor(parts: SenderParts, wake: () => void) {
    this.#parts = parts
    this.#wake = wake
    this.#outgoing = new OutgoingHttp(new Addresses(parts.networks))
  }

  /** Milliseconds until the next message is due; null: none waits, or each that waits waits for one under way. */
  async round(): Promise<number | null> {
    const { pool, system } = this.#parts
    await this.#write()
    const all = AT_ONCE - this.#sending.size
    if (all <= 0) return null
    const claimed = await claimMessages(pool, { of: this.#free(), others: OF_A_RULE, all }, system.now())
    await this.#startAll(claimed.filter(({ id }) => !this.#sending.has(id)))
    const full = Array.from(this.#free()).flatMap(([rule, free]) => (free > 0 ? [] : [rule]))
    const due = this.#sending.size < AT_ONCE ? await nextDue(pool, full) : null
    return due && Math.max(0, due.getTime() - system.now().getTime())
  }

  /** Messages under way get a moment to end, or they would be sent again. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.race([
      Promise.all(this.#sending.values().map(({ sent }) => sent)),
      delay(END_MS, undefined, { ref: false }),
    ])
    this.#outgoing[Symbol.dispose]()
    await this.#mailer?.then((mailer) => mailer.close()).catch(() => undefined)
    await this.#write().catch(() => undefined)
  }

  /** How many more messages of a rule may be sent, of those that send some. */
  #free(): ReadonlyMap<string, number> {
    const busy = Map.groupBy(this.#sending.values(), ({ ruleId }) => ruleId)
    return new Map(Array.from(busy, ([id, some]) => [id, Math.max(0, OF_A_RULE - some.length)]))
  }

  async #startAll(claimed: readonly ClaimedMessage[]): Promise<void> {
    if (claimed.length === 0) return
    const grants = await grantsOfEditors(this.#parts.pool, claimed)
    const now = this.#parts.system.now()
    for (const [i, message] of claimed.entries()) {
      if (this.#putBack(message, now)) continue
      const { editor, id, ruleId } = message
      const may = mayTell(message, grants[i] ?? [])
      const sending = may
        ? this.#send(message)
        : Promise.resolve(failed(`FORBIDDEN: ${editor.name} may not edit rules.`))
      const sent = sending
        .catch((error: unknown) => failed(connectionProblem(error, 'The receiver')))
        .then((result) => {
          this.#sending.delete(id)
          this.#ended.push(this.#judge(message, result))
          this.#wake()
        })
      this.#sending.set(id, { ruleId, sent })
    }
  }

  /** A message that has become due late, or whose next attempt has come, waits for the end of quiet hours, too. */
  #putBack(message: ClaimedMessage, now: Date): boolean {
    const { id, ruleId, leaseUntil, spec, told, attempts } = message
    const due = message.isLate || message.isUrged ? null : heldUntil(spec, told, now)
    if (!due) return false
    this.#ended.push({ id, ruleId, leaseUntil, state: 'PENDING', due, problem: null, attempts: attempts - 1 })
    this.#wake()
    return true
  }

  #judge(message: ClaimedMessage, { problem, retryAfterMs }: Result): Ended {
    const { id, ruleId, leaseUntil, attempts, firstSentAt } = message
    const ended = { id, ruleId, leaseUntil, attempts: null }
    if (problem === null) return { ...ended, state: 'DELIVERED', due: null, problem: null }
    const { system } = this.#parts
    const due = nextAttempt({ attempts, firstAt: firstSentAt, retryAfterMs }, system.now(), system.random())
    const shown = portableText(beginningOf(problem, MAX_PROBLEM))
    return { ...ended, state: due ? 'PENDING' : 'FAILED', due, problem: shown }
  }

  async #write(): Promise<void> {
    const ended = this.#ended.splice(0)
    if (ended.length === 0) return
    const { pool, system } = this.#parts
    const rules = [...new Set(ended.map(({ ruleId }) => ruleId))]
    const now = performance.now()
    for (const [rule, at] of this.#forgotten) if (now - at > FORGET_MS) this.#forgotten.delete(rule)
    const old = rules.filter((rule) => !this.#forgotten.has(rule))
    try {
      await inTransaction(pool, async (client) => {
        await lockRules(client, rules)
        await endMessages(client, ended, system.now())
        if (old.length > 0) await forgetMessages(client, old)
      })
    } catch (error) {
      this.#ended.unshift(...ended)
      throw error
    }
    for (const rule of old) this.#forgotten.set(rule, now)
  }

  async #send(message: ClaimedMessage): Promise<Result> {
    const { receiver, text } = message.spec
    const { rule, project, projectId, told, id, isLate } = message
    const facts: MessageFacts = {
      ...{ id, rule, project, told, isLate, dashboard: this.#parts.dashboard },
      text: text === null ? null : await this.#evaluate(text, message, projectId),
    }
    return receiver.channel === 'EMAIL' ? await this.#mail(receiver, facts) : await this.#post(receiver, message, facts)
  }

  /** The text of the rule for the change, or for each of a digest; null: the message tells none. */
  async #evaluate(template: string, message: ClaimedMessage, projectId: string): Promise<string | null> {
    const { told } = message
    const changes = told.type === 'DIGEST' ? told.changes : told.type === 'CHANGE' ? [told.change] : []
    const wanted = changes.map((change) => ({ template, scope: scopeOf(message, change) }))
    const texts = (await this.#parts.sandbox.resolve(wanted, projectId)).map((read) => {
      if (!read.ok && read.isTransient) throw new Error(read.message)
      if (!read.ok) return `${template} (${read.message})`
      return typeof read.value === 'string' ? read.value : JSON.stringify(read.value)
    })
    return told.type === 'DIGEST' ? digestText(told, texts) : (texts[0] ?? null)
  }

  async #post(receiver: Receiver, message: ClaimedMessage, facts: MessageFacts): Promise<Result> {
    const { channel, secret: name } = receiver
    if (channel === 'EMAIL') throw new Error('an e-mail is not posted')
    const secret = name === null ? null : this.#secretOf(message, name)
    if (name !== null && secret === null) return failed(`The project has no secret ${name} that this server can open.`)
    const url = receiver.url ?? secret ?? ''
    if (urlProblem(url)) return failed(`The secret ${name} is no http or https URL.`)
    const { system } = this.#parts
    const body = bodyOf(channel, facts, system.now())
    const headers: Record<string, string> = { 'content-type': body.contentType, 'user-agent': 'Phaseline' }
    // A chain of notifications and hooks that comes back to itself ends at a bound.
    headers[HOPS_HEADER] = String(message.hops + 1)
    if (channel !== 'SLACK') {
      const timestamp = Math.floor(system.now().getTime() / 1_000)
      headers[WEBHOOK_HEADERS.id] = facts.id
      headers[WEBHOOK_HEADERS.timestamp] = String(timestamp)
      if (secret !== null && !isWebhookSecret(secret))
        return failed(
          `The secret ${name} must be 16 to 128 random bytes in base64, with or without whsec_ before them.`,
        )
      if (secret !== null)
        headers[WEBHOOK_HEADERS.signature] = sign([secret], { id: facts.id, timestamp, body: body.text })
    }
    const request = { method: 'POST', headers, body: body.text, maxAnswer: MAX_ANSWER } as const
    const { status, retryAfterMs, text } = await this.#outgoing.send(new URL(url), request)
    if (status >= 200 && status < 300) return DELIVERED
    const redirect = status >= 300 && status < 400 ? ', a redirect, which is not followed' : ''
    // An answer may repeat the address, which is a secret of SLACK.
    const said = text.trim() && channel !== 'SLACK' ? `: ${text.trim()}` : ''
    return failed(`The receiver has answered ${status}${redirect}${said}`, retryAfterMs)
  }

  #secretOf({ projectId, sealed }: ClaimedMessage, name: string): string | null {
    return sealed && this.#parts.sealing.open({ projectId, name }, sealed)
  }

  async #mail({ to }: Receiver, facts: MessageFacts): Promise<Result> {
    const { mail } = this.#parts
    if (!mail) return failed('This server sends no e-mail: set PHASELINE_SMTP_URL and PHASELINE_SMTP_FROM.')
    this.#mailer ??= openMailer(mail.url)
    // The next message tries again.
    this.#mailer.catch(() => {
      this.#mailer = null
    })
    const mailer = await this.#mailer
    const { subject, text } = mailOf(facts)
    // The same in each repetition, so that a mail server that knows it shows it once.
    const messageId = `<${facts.id}@phaseline>`
    const sent = mailer.sendMail({ from: mail.from, to: [...to], subject, text, messageId })
    const late = delay(MAIL_MS, undefined, { ref: false }).then(() =>
      failed('The mail server has not taken it within 10 s.'),
    )
    return await Promise.race([sent.then(() => DELIVERED), late])
  }
}

interface Mailer {
  sendMail(mail: object): Promise<unknown>
  close(): void
}
async function openMailer(url: Secret): Promise<Mailer> {
  const { createTransport } = await import('nodemailer')
  const waits = { connectionTimeout: MAIL_MS, greetingTimeout: MAIL_MS, socketTimeout: MAIL_MS }
  return createTransport({ url: url.reveal(), ...waits, disableFileAccess: true, disableUrlAccess: true })
}
