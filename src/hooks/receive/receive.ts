import { createHash } from 'node:crypto'
import { codeOf } from '../../core/errors.ts'
import { type DeliveryOutcome, HOPS_HEADER, hopsOf, MAX_HOPS } from '../../core/hook.ts'
import { jsonProblem } from '../../core/json-problem.ts'
import { LIMITS } from '../../core/limits.ts'
import { portableText } from '../../core/portable.ts'
import type { AnsweredDelivery, HookHeaders } from '../../core/ports/hooks.ts'
import type { Viewer } from '../../core/ports/viewer.ts'
import { requireRight } from '../../core/rights.ts'
import { grantsOfEditors, viewerOnBehalf } from '../../families/on-behalf.ts'
import { failureOf } from '../../graphql/schema/failures.ts'
import { SandboxBusy } from '../../sandbox/index.ts'
import { LIMITS as SANDBOX } from '../../sandbox/limits.ts'
import type { Client } from '../../store/client.ts'
import { findSpent, insertDelivery, type NewDelivery } from '../../store/hook-deliveries.ts'
import { findRecipient, hookStands } from '../../store/hooks.ts'
import { type Hook, type HookParts, rightOf, TRIGGER } from '../commands/parts.ts'
import { formatOf } from '../rules/formats.ts'
import { withoutSecrets } from '../rules/headers.ts'
import { type ReadDelivery, type ReadRequest, readRequest } from '../rules/read-request.ts'
import type { Signature } from '../rules/spec.ts'

/** A request that is authentic, or a delivery that is played again. */
export interface Received {
  readonly headers: HookHeaders
  readonly body: Buffer
  readonly secretName: string | null
  /** Absent: it comes from its sender. */
  readonly replay?: Replay
}
interface Replay {
  /** The mutation, for the audit. */
  readonly call: Viewer['call']
  readonly of: string
  /** For a delivery that has spent its id. Null: the id is free, so that the sender and several people may do it once between them. */
  readonly own: { readonly onceKey: string | null; readonly deliveryId: string | null } | null
}
export interface Answered extends AnsweredDelivery {
  readonly status: 200 | 202 | 403 | 413 | 422 | 503
}

export const signatureOf = ({ format, name, spec }: Hook): Signature | null =>
  spec.signature ?? formatOf(format, name).signature

/** Each delivery of a request is decided by itself, in the order of the request, and durable before the next one. */
export async function receive(parts: HookParts, hook: Hook, received: Received): Promise<readonly Answered[]> {
  const headers = withoutSecrets(received.headers, signatureOf(hook)?.header ?? null)
  const kept = { contentType: null, body: received.body }
  const nothing = { body: null, payload: '', deliveryId: null, onceKey: null, kept, isPing: false }
  const unread = new Delivery(parts, hook, { ...received, headers }, nothing)
  const read = readIn(hook, received)
  if (read instanceof TooLong) return [await unread.refuseLong(read.length)]
  if (!read.ok) return [await unread.refuse(read.message)]
  const answers: Answered[] = []
  for (const each of read.deliveries)
    answers.push(await new Delivery(parts, hook, { ...received, headers }, each).decide())
  return answers
}

function readIn({ format }: Hook, { headers, body }: Received): ReadRequest | TooLong {
  try {
    return readRequest({ format, text: textOf, parse: parseJson, digest }, headers, body)
  } catch (error) {
    if (error instanceof TooLong) return error
    throw error
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })
function textOf(body: Buffer): string | null {
  try {
    return utf8.decode(body)
  } catch {
    return null
  }
}

/** A text that expressions would not see is not parsed: that would only hold up others. */
class TooLong extends Error {
  readonly length: number
  constructor(length: number) {
    super('the text is too long for expressions')
    this.length = length
  }
}

/** Expressions could not read JSON that is nested deeper. */
function parseJson(text: string): unknown {
  if (text.length > SANDBOX.scope) throw new TooLong(text.length)
  const value: unknown = JSON.parse(text)
  if (jsonProblem(value, { depth: SANDBOX.depth, size: Number.POSITIVE_INFINITY }, () => null))
    throw new SyntaxError(`nested more than ${SANDBOX.depth} levels deep`)
  return value
}

const digest = (body: Buffer): string => createHash('sha256').update(body).digest('hex')

type Recipient = NonNullable<Awaited<ReturnType<typeof findRecipient>>>

/** Rolls back the event of a delivery that another request has spent meanwhile. */
class Spent extends Error {}

/** Others' work is the reason that a delivery cannot be judged now. */
class Busy extends Error {}

/** Why the error may be another one later; null: it is no such error. */
function busyReasonOf(error: unknown): string | null {
  if (error instanceof Busy || error instanceof SandboxBusy) return error.message
  const failure = error instanceof Error ? failureOf(error) : null
  return failure && /^(BUSY|TIMEOUT)$/.test(String(failure.extensions.code)) ? failure.message : null
}

/** One delivery to a hook. */
class Delivery {
  readonly #parts: HookParts
  readonly #hook: Hook
  readonly #received: Received
  readonly #read: ReadDelivery
  readonly #hops: number | null
  #deliveryId: string | null
  #onceKey: string | null

  constructor(parts: HookParts, hook: Hook, received: Received, read: ReadDelivery) {
    this.#parts = parts
    this.#hook = hook
    this.#received = received
    this.#read = read
    this.#hops = hopsOf(received.headers[HOPS_HEADER])
    this.#deliveryId = (received.replay?.own ?? read).deliveryId
    this.#onceKey = (received.replay?.own ?? read).onceKey
  }

  async decide(): Promise<Answered> {
    try {
      return await this.#judge()
    } catch (error) {
      const reason = busyReasonOf(error)
      if (reason === null) throw error
      return await this.#keep(503, 'REFUSED', `BUSY: ${reason} The delivery can be played again.`)
    }
  }

  async #judge(): Promise<Answered> {
    const { spec, disabled, isHeld } = this.#hook
    if (disabled && !this.#received.replay)
      return await this.#keep(503, 'REFUSED', 'DISABLED: The hook is disabled. The delivery can be played again.')
    if (isHeld) return await this.#keep(503, 'REFUSED', 'HELD: Automation is held. The delivery can be played again.')
    if (this.#hops === null) return await this.refuse('HOPS: The header Phaseline-Hops has no count.')
    if (this.#hops >= MAX_HOPS)
      return await this.refuse(
        `HOPS: This chain of notifications and hooks has come back ${this.#hops} times; ${MAX_HOPS} is the bound.`,
      )
    const scope = { headers: this.#received.headers, body: this.#read.body }
    const { length } = this.#read.payload
    if (length > SANDBOX.scope) return await this.refuseLong(length)
    if (spec.deliveryId !== null && !this.#received.replay?.own) {
      const named = await this.#evaluate(spec.deliveryId, scope)
      if (!named.ok) return await this.refuse(`The id of the delivery: ${named.message}`)
      // Else all deliveries without an id would repeat the first of them.
      const id = named.value === '' ? null : named.value
      if (id !== null && typeof id !== 'string' && typeof id !== 'number')
        return await this.refuse('The id of the delivery is neither text nor a number.')
      this.#deliveryId = this.#onceKey = id === null ? null : String(id)
    }
    const spent = await this.#repeated()
    if (spent) return spent
    if (this.#read.isPing) return await this.#keep(200, 'FILTERED', 'It is the ping with which GitHub tries a hook.')
    if (spec.filter !== null) {
      const wanted = await this.#evaluate(`\${${spec.filter}}`, scope)
      if (!wanted.ok) return await this.refuse(`The filter: ${wanted.message}`)
      if (wanted.value === false) return await this.#keep(200, 'FILTERED', null)
      if (wanted.value !== true) return await this.refuse('The filter is neither true nor false.')
    }
    return await this.#create(scope)
  }

  refuse(reason: string): Promise<Answered> {
    return this.#keep(422, 'REFUSED', reason)
  }

  refuseLong(length: number): Promise<Answered> {
    const reason = `TOO_LARGE: Expressions see at most ${SANDBOX.scope} characters, and the body has ${length}.`
    return this.#keep(413, 'REFUSED', reason)
  }

  async #evaluate(template: unknown, scope: Readonly<Record<string, unknown>>) {
    const [resolved] = await this.#parts.sandbox.resolve([{ template, scope }], this.#hook.projectId)
    if (resolved?.ok === false && resolved.isTransient) throw new Busy(`An expression failed: ${resolved.message}.`)
    return resolved ?? { ok: false as const, message: 'It could not be evaluated.' }
  }

  async #create(scope: Readonly<Record<string, unknown>>): Promise<Answered> {
    const hook = this.#hook
    const { triggers, pool, system } = this.#parts
    const trigger = triggers[TRIGGER]
    if (!trigger) return await this.refuse(`This server has no family with ${TRIGGER}.`)
    const resolved = await this.#evaluate(this.#template(), scope)
    if (!resolved.ok) return await this.refuse(`The event: ${resolved.message}`)
    const { project, ...found } = resolved.value as { readonly project?: unknown }
    const event = { payload: this.#read.payload, ...found }
    const { max } = LIMITS.payload
    if (typeof event.payload === 'string' && Buffer.byteLength(event.payload) > max)
      return await this.#keep(413, 'REFUSED', `TOO_LARGE: The payload of an event has at most ${max} bytes.`)
    const chosen = await this.#recipient(project)
    if (typeof chosen === 'string') return await this.refuse(chosen)
    if (chosen.isHeld)
      return await this.#keep(
        ...([503, 'REFUSED', `HELD: Automation of ${chosen.name} is held. The delivery can be played again.`] as const),
      )
    const [grants = []] = await grantsOfEditors(pool, [{ editor: hook.editor, projectId: chosen.id }])
    const row = this.#row('ACCEPTED', null, null)
    const onBehalf = viewerOnBehalf('hook', hook, grants, async (client, eventId) => {
      if (!(await hookStands(client as Client, hook, chosen.id)))
        throw new Busy('The hook was changed, or held, meanwhile.')
      if (!(await insertDelivery(client as Client, { ...row, eventId }))) throw new Spent()
    })
    const call = this.#received.replay?.call
    const viewer = { ...onBehalf, projects: [chosen.id], ...(call && { call }) }
    const right = rightOf(trigger, hook.spec)
    const missing = requireRight({ ...viewer, name: hook.editor.name }, right, chosen.id)
    if (missing) return await this.#keep(403, 'FORBIDDEN', missing.message)
    const schedule = { name: hook.name, due: system.now().toISOString(), previous: null, count: 0 }
    try {
      const done = await trigger.run(viewer, {
        ...{ project: chosen.name, input: {}, resolved: event, hops: this.#hops ?? 0, schedule },
      })
      if (done.ok) return answerOf(row, 202, done.objectId)
      const isForbidden = done.refusal.type === 'ForbiddenError'
      return await this.#keep(
        isForbidden ? 403 : 422,
        isForbidden ? 'FORBIDDEN' : 'REFUSED',
        `${codeOf(done.refusal)}: ${done.refusal.message}`,
      )
    } catch (error) {
      if (!(error instanceof Spent)) throw error
      return (await this.#repeated()) ?? (await this.refuse('The hook is gone.'))
    }
  }

  /** The project that gets the event, or why none does. A sender chooses none that the hook does not name. */
  async #recipient(chosen: unknown): Promise<Recipient | string> {
    const { projectId: id, projectName: name, isHeld, spec } = this.#hook
    if (!spec.projects) return { id, name, isHeld }
    const shown = JSON.stringify(chosen)?.slice(0, 100) ?? 'nothing'
    if (typeof chosen !== 'string' || !spec.projects.includes(chosen))
      return `PROJECT: The delivery chooses the project ${shown}, which the hook does not name.`
    return (await findRecipient(this.#parts.pool, chosen)) ?? `PROJECT: There is no project ${shown}.`
  }

  #template() {
    const { format, name, spec } = this.#hook
    const { event } = formatOf(format, name)
    const { payload } = spec.event
    return {
      ...(spec.projects && { project: spec.event.project }),
      source: spec.event.source ?? event.source,
      type: spec.event.type ?? event.type,
      qualifiers: spec.event.qualifiers ?? event.qualifiers,
      labels: spec.event.labels ?? [],
      ...(payload !== null && { payload }),
    }
  }

  /** The answer to a delivery that was here before; null: it was not. */
  async #repeated(): Promise<Answered | null> {
    if (this.#onceKey === null) return null
    const spent = await findSpent(this.#parts.pool, this.#hook.id, keyOf(this.#onceKey))
    if (!spent) return null
    const row = { ...this.#row('DUPLICATE', `It repeats the delivery ${spent.id}.`, spent.eventId), body: null }
    await insertDelivery(this.#parts.pool, row)
    return answerOf(row, 200, spent.eventId)
  }

  async #keep(status: Answered['status'], outcome: DeliveryOutcome, reason: string | null): Promise<Answered> {
    const row = this.#row(outcome, reason, null)
    if (await insertDelivery(this.#parts.pool, status === 413 ? { ...row, body: null } : row))
      return answerOf(row, status, null)
    return (await this.#repeated()) ?? answerOf(row, status, null)
  }

  #row(outcome: DeliveryOutcome, reason: string | null, eventId: string | null): NewDelivery {
    const { system } = this.#parts
    const { headers, secretName, replay } = this.#received
    const { kept } = this.#read
    const contentType = kept.contentType ?? headers['content-type']
    return {
      id: system.id(),
      hookId: this.#hook.id,
      at: system.now(),
      outcome,
      reason: reason === null ? null : portableText(reason.slice(0, 2_000)),
      deliveryId: this.#deliveryId === null ? null : portableText(this.#deliveryId.slice(0, 255)),
      onceKey: this.#onceKey === null ? null : keyOf(this.#onceKey),
      eventId,
      headers: contentType === undefined ? headers : { ...headers, 'content-type': contentType },
      body: kept.body,
      bodyBytes: kept.body.length,
      secretName,
      hops: Math.min(this.#hops ?? 0, 1_000_000),
      replayOf: replay?.of ?? null,
    }
  }
}

/** An index has no room for a longer one. */
const keyOf = (key: string): string =>
  key.length <= 255 && key === portableText(key) ? key : `sha256 ${digest(Buffer.from(key))}`

const answerOf = (
  { id, deliveryId, outcome, reason }: NewDelivery,
  status: Answered['status'],
  eventId: string | null,
): Answered => ({
  ...{ id, deliveryId, outcome, reason, eventId, status },
})
