import { z } from 'zod'
import { WEEKDAYS } from '../core/date-time.ts'
import { PHASE_CLASSES } from '../core/machine.ts'
import { writeDuration } from '../core/parse-duration.ts'
import { duration } from './duration.ts'
import { nameSchema } from './installation.ts'
import { mapOf, type Pair, pairsOf } from './pairs.ts'
import { textMap } from './text-map.ts'
import { withoutEmpty } from './write-yaml.ts'

const text = z.string('must be text: put it in quotes')
const words = z.array(text)
const classes = z.array(z.enum(PHASE_CLASSES))
const http = z.strictObject({ url: text, secret: text.optional() })

/** A document of the kind NotificationRule. Only the shape is validated here; the server validates words, URLs and texts. */
export const notificationRuleSchema = z.strictObject({
  kind: z.literal('NotificationRule', 'must be NotificationRule').optional(),
  name: nameSchema,
  project: nameSchema.optional(),
  description: text.optional(),
  changes: z
    .strictObject({
      projects: words.optional(),
      ...{ kinds: words.optional(), to: words.optional(), classes: classes.optional(), reasons: words.optional() },
      ...{ rootsOnly: z.boolean().optional(), labels: textMap.optional() },
    })
    .optional(),
  receiver: z.strictObject({
    webhook: http.optional(),
    cloudEvents: http.optional(),
    slack: z.strictObject({ secret: text }).optional(),
    email: z.strictObject({ to: words }).optional(),
  }),
  text: text.optional(),
  digest: duration
    .optional()
    .describe('Duration of a window whose changes are one message, such as 10m. Left out: each change is one.'),
  quietHours: z
    .strictObject({
      timeZone: text.optional(),
      ranges: z.array(z.strictObject({ days: z.array(z.enum(WEEKDAYS)).optional(), from: text, to: text })),
    })
    .optional(),
  urgent: classes.optional(),
  enabled: z.boolean().optional(),
})
export type NotificationRuleManifest = z.infer<typeof notificationRuleSchema>

/** The input of createNotificationRule and updateNotificationRule, apart from name and project. */
export function notificationRuleInput(manifest: NotificationRuleManifest) {
  const { description, changes, receiver, text, digest, quietHours, urgent, enabled } = manifest
  const { labels, ...selects } = changes ?? {}
  return {
    ...{
      digest: digest === undefined ? null : { windowMs: digest },
      quietHours: quietHours ?? null,
      urgent: urgent ?? null,
    },
    ...{ description: description ?? null, receiver, text: text ?? null, enabled: enabled ?? null },
    changes: { ...selects, labels: pairsOf(labels) },
  }
}

/** A rule as the API shows it. */
export interface ShownNotificationRule {
  readonly name: string
  /** Its name alone in what `get` prints. */
  readonly project: { readonly name: string } | string
  readonly description: string
  readonly enabled: boolean
  readonly text: string | null
  readonly changes: {
    readonly projects: readonly string[]
    readonly kinds: readonly string[]
    readonly to: readonly string[]
    readonly classes: readonly string[]
    readonly reasons: readonly string[]
    readonly rootsOnly: boolean
    readonly labels: readonly Pair[]
  }
  readonly receiver: {
    readonly channel: 'WEBHOOK' | 'CLOUDEVENTS' | 'SLACK' | 'EMAIL'
    readonly url: string | null
    readonly secret: string | null
    readonly to: readonly string[]
  }
  readonly digest: { readonly windowMs: number } | null
  readonly quietHours: {
    readonly timeZone: string
    readonly ranges: readonly { readonly days: readonly string[]; readonly from: string; readonly to: string }[]
  } | null
  readonly urgent: readonly string[]
}
const RECEIVERS = { WEBHOOK: 'webhook', CLOUDEVENTS: 'cloudEvents', SLACK: 'slack', EMAIL: 'email' } as const

/** The document that makes this rule. A secret is its name. */
export function notificationRuleManifest(rule: ShownNotificationRule) {
  const { changes, receiver, digest, quietHours } = rule
  const project = typeof rule.project === 'string' ? rule.project : rule.project.name
  const { rootsOnly, labels, ...selects } = changes
  const { channel, ...address } = receiver
  return {
    ...{ kind: 'NotificationRule', name: rule.name, project },
    ...withoutEmpty({
      description: rule.description || null,
      changes: withoutEmpty({
        ...{ ...selects, rootsOnly: rootsOnly || null },
        labels: mapOf(labels),
      }),
    }),
    receiver: { [RECEIVERS[channel]]: withoutEmpty(address) },
    ...withoutEmpty({
      ...{ text: rule.text || null, digest: digest && writeDuration(digest.windowMs) },
      quietHours: quietHours && {
        timeZone: quietHours.timeZone,
        ranges: quietHours.ranges.map(({ days, from, to }) => ({ ...withoutEmpty({ days }), from, to })),
      },
      urgent: rule.urgent,
    }),
    ...(rule.enabled ? {} : { enabled: false }),
  }
}

const unique = <T>(list: readonly T[] = []): readonly T[] => [...new Set(list)]

/** The document as `export` prints it once it is applied, with the defaults of the server. */
export function appliedNotificationRule(rule: NotificationRuleManifest & { readonly project: string }) {
  const { changes = {}, receiver, digest, quietHours } = rule
  const { webhook, cloudEvents, slack, email } = receiver
  const { url = null, secret = null } = webhook ?? cloudEvents ?? { url: null, ...slack }
  return notificationRuleManifest({
    ...{
      name: rule.name,
      project: rule.project,
      description: rule.description ?? '',
      enabled: rule.enabled ?? true,
      text: rule.text ?? null,
    },
    changes: {
      ...{ projects: unique(changes.projects), kinds: unique(changes.kinds), to: unique(changes.to) },
      ...{ classes: unique(changes.classes), reasons: unique(changes.reasons) },
      ...{ rootsOnly: changes.rootsOnly ?? false, labels: pairsOf(changes.labels) },
    },
    receiver: {
      channel: webhook ? 'WEBHOOK' : cloudEvents ? 'CLOUDEVENTS' : slack ? 'SLACK' : 'EMAIL',
      ...{ url, secret, to: email?.to ?? [] },
    },
    digest: digest === undefined ? null : { windowMs: digest },
    quietHours: quietHours
      ? {
          timeZone: quietHours.timeZone ?? 'UTC',
          ranges: quietHours.ranges.map(({ days, from, to }) => ({ days: unique(days), from, to })),
        }
      : null,
    urgent: unique(rule.urgent),
  })
}
