import type { QuietHoursInput } from '../../../core/date-time.ts'
import { urlProblem } from '../../../core/http-url.ts'
import { type LabelInput, labelsOf } from '../../../core/labels.ts'
import type { PhaseClass } from '../../../core/machine.ts'
import { textProblem } from '../../../core/portable.ts'
import type { Problems } from '../../../core/problems.ts'
import type { ObjectKind, Phase } from '../../../core/vocabulary.ts'
import { checkVariable } from '../../../projects/rules/names.ts'
import { normaliseQuietHours } from '../../quiet-hours.ts'
import type { Receiver, RuleFilter, RuleSpec } from './spec.ts'

export interface RuleInput {
  readonly changes?: {
    readonly projects?: readonly string[] | null
    readonly kinds?: readonly ObjectKind[] | null
    readonly to?: readonly Phase[] | null
    readonly classes?: readonly PhaseClass[] | null
    readonly reasons?: readonly string[] | null
    readonly rootsOnly?: boolean | null
    readonly labels?: readonly LabelInput[] | null
  } | null
  readonly receiver: ReceiverInput
  readonly text?: string | null
  readonly digest?: { readonly windowMs: number } | null
  readonly quietHours?: QuietHoursInput | null
  readonly urgent?: readonly PhaseClass[] | null
}
interface HttpInput {
  readonly url: string
  /** Name of a secret of the project. */
  readonly secret?: string | null
}
export interface ReceiverInput {
  readonly webhook?: HttpInput | null
  readonly cloudEvents?: HttpInput | null
  /** Name of the secret that is its URL. */
  readonly slack?: { readonly secret: string } | null
  readonly email?: { readonly to: readonly string[] } | null
}

/** Recipients of an e-mail. */
const MAX_RECIPIENTS = 20
/** Not what RFC 5321 allows: what people have, and nothing that could be a second header or recipient. */
const ADDRESS = /^[^\s@<>(),:;"\\[\]]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/

export function normaliseRule(input: RuleInput, problems: Problems): RuleSpec {
  const { changes } = input
  const listed = <T>(list: readonly T[] | null | undefined): readonly T[] | null =>
    list && list.length > 0 ? [...new Set(list)] : null
  const projects = listed(changes?.projects)
  const read: RuleFilter = {
    ...(projects && { projects }),
    kinds: listed(changes?.kinds),
    to: listed(changes?.to),
    classes: listed(changes?.classes),
    reasons: listed(changes?.reasons),
    rootsOnly: changes?.rootsOnly ?? false,
    labels: labelsOf(changes?.labels ?? [], problems, 'input.changes.labels'),
  }
  const text = input.text || null
  const problem = text === null ? null : textProblem(text)
  if (problem) problems.add('input.text', problem)
  const { digest } = input
  if (digest && !(digest.windowMs >= WINDOW.leastMs && digest.windowMs <= WINDOW.mostMs))
    problems.add('input.digest.windowMs', `must be from ${WINDOW.leastMs} to ${WINDOW.mostMs}`)
  const quietHours = input.quietHours && normaliseQuietHours(input.quietHours, 'input.quietHours', problems)
  const urgent = listed(input.urgent)
  if (urgent && !digest && !quietHours)
    problems.add('input.urgent', 'needs a digest or quiet hours: otherwise nothing waits')
  return {
    ...{ changes: read, receiver: normaliseReceiver(input.receiver, problems), text },
    ...(digest && { digest: { windowMs: digest.windowMs } }),
    ...(quietHours && { quietHours }),
    ...(urgent && { urgent }),
  }
}

/** The length of the window of a digest. */
export const WINDOW = { leastMs: 1_000, mostMs: 24 * 60 * 60 * 1_000 } as const

function normaliseReceiver({ webhook, cloudEvents, slack, email }: ReceiverInput, problems: Problems): Receiver {
  const given = [webhook, cloudEvents, slack, email].filter((one) => one !== null && one !== undefined)
  if (given.length !== 1) problems.add('input.receiver', 'must have one of webhook, cloudEvents, slack and email')
  const http = (channel: 'WEBHOOK' | 'CLOUDEVENTS', field: string, { url, secret = null }: HttpInput): Receiver => {
    const found = urlProblem(url)
    if (found) problems.add(`input.receiver.${field}.url`, found)
    return { channel, url, secret: named(secret, `input.receiver.${field}.secret`, problems), to: [] }
  }
  if (webhook) return http('WEBHOOK', 'webhook', webhook)
  if (cloudEvents) return http('CLOUDEVENTS', 'cloudEvents', cloudEvents)
  if (slack)
    return { channel: 'SLACK', url: null, secret: named(slack.secret, 'input.receiver.slack.secret', problems), to: [] }
  const to = email?.to ?? []
  if (email && (to.length === 0 || to.length > MAX_RECIPIENTS))
    problems.add('input.receiver.email.to', `must have from 1 to ${MAX_RECIPIENTS} addresses`)
  for (const [i, address] of to.entries())
    if (!ADDRESS.test(address)) problems.add(`input.receiver.email.to.${i}`, 'is no address such as team@example.org')
  return { channel: 'EMAIL', url: null, secret: null, to }
}

function named(secret: string | null, path: string, problems: Problems): string | null {
  if (secret !== null) checkVariable(secret, path, problems)
  return secret
}
