import { describeFields } from '../objects/fields.ts'
import type { Session } from '../session.ts'
import type { FoundHook } from './find.ts'

export const outcomeOf = ({ outcome, reason }: { readonly outcome: string; readonly reason: string | null }): string =>
  reason === null ? outcome : `${outcome}: ${reason}`

const pairs = (of: readonly { readonly key: string; readonly value: string }[]): string =>
  of.map(({ key, value }) => `${key}=${value}`).join(', ')

export function describeHook({ paint, connection }: Session, hook: FoundHook): readonly string[] {
  const { event, defaultEvent, signature } = hook
  const ofFormat = (text: string | null) => text && `${text}  (of the format)`
  return describeFields(
    [
      ['hook', `${hook.project.name}/${hook.name}${hook.disabled ? '  disabled' : ''}`],
      ['id', hook.id],
      ['description', hook.description],
      ['address', new URL(hook.path, connection.url).href],
      ['format', hook.format],
      ['secrets', hook.secrets.map(({ name, createdAt }) => `${name} (${createdAt})`).join(', ')],
      ['signature', signature && `${signature.algorithm} in ${signature.header}, ${signature.encoding}`],
      ['filter', hook.filter],
      ['projects', hook.projects?.join(', ')],
      ['project', event.project],
      ['source', event.source ?? ofFormat(defaultEvent.source)],
      ['type', event.type ?? ofFormat(defaultEvent.type)],
      ['qualifiers', pairs(event.qualifiers)],
      ['labels', pairs(event.labels)],
      ['payload', event.payload],
      ['delivery id', hook.deliveryId],
      ['asks again', hook.redelivery && askedAgain(hook.redelivery)],
      ['acts with the rights of', hook.editor],
      ['generation', String(hook.generation)],
    ],
    paint,
  )
}

const askedAgain = ({ address, checkedAt, problem }: NonNullable<FoundHook['redelivery']>): string =>
  [address, checkedAt ? `last at ${checkedAt}` : 'not yet', problem].filter(Boolean).join('; ')

interface DescribedDelivery {
  readonly id: string
  readonly at: string
  readonly outcome: string
  readonly reason: string | null
  readonly deliveryId: string | null
  readonly secretName: string | null
  readonly hops: number
  readonly headers: unknown
  readonly body: string | null
  readonly bodyBytes: number
  readonly hook: { readonly name: string; readonly project: { readonly name: string } }
  readonly replayOf: { readonly id: string } | null
  readonly started: { readonly id: string; readonly name: string; readonly phase: string } | null
}

export function describeDelivery({ paint }: Session, delivery: DescribedDelivery): readonly string[] {
  const { started, hook, headers, body } = delivery
  const lines = Object.entries(headers as Readonly<Record<string, string>>).map(([name, value]) => `${name}: ${value}`)
  return [
    ...describeFields(
      [
        ['delivery', delivery.id],
        ['hook', `${hook.project.name}/${hook.name}`],
        ['at', delivery.at],
        ['outcome', outcomeOf(delivery)],
        ['event', started && `${started.name} ${started.phase} ${started.id}`],
        ['its id', delivery.deliveryId],
        ['secret', delivery.secretName],
        ['plays again', delivery.replayOf?.id ?? null],
        ['hops', delivery.hops > 0 ? String(delivery.hops) : null],
        ['headers', lines],
      ],
      paint,
    ),
    '',
    ...(body?.split('\n') ?? [withoutBody(delivery)]),
  ]
}

/** The delivery that a repetition repeats is named by its reason. */
const withoutBody = ({ outcome, bodyBytes }: DescribedDelivery): string =>
  outcome === 'DUPLICATE'
    ? `The body of ${bodyBytes} bytes is kept with the delivery that it repeats.`
    : `The body of ${bodyBytes} bytes is not kept any more.`
