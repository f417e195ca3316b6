import { z } from 'zod'
import { nameSchema } from './installation.ts'
import { mapOf, type Pair, pairsOf } from './pairs.ts'
import { textMap as map } from './text-map.ts'

const text = z.string('must be text: put it in quotes')

/** A secret value is never in a document. */
const valueFrom = {
  file: text.optional().describe('A file beside the document that holds the value.'),
  env: text.optional().describe('A variable of the environment of the command that holds the value.'),
}

/** A document of the kind Hook. Only the shape is validated here; the server validates expressions. */
export const hookSchema = z.strictObject({
  kind: z.literal('Hook', 'must be Hook').optional(),
  name: nameSchema,
  project: nameSchema.optional(),
  description: text.optional(),
  disabled: z.boolean().optional(),
  format: z.enum(['GITHUB', 'GITLAB', 'CLOUDEVENTS', 'STANDARD_WEBHOOKS', 'GENERIC']),
  secrets: z
    .array(
      z
        .strictObject({ name: nameSchema, ...valueFrom })
        .refine(({ file, env }) => file === undefined || env === undefined, 'must have file or env, not both'),
    )
    .optional(),
  filter: text.optional(),
  projects: z.array(nameSchema).optional(),
  event: z
    .strictObject({
      project: text.optional(),
      ...{ source: text.optional(), type: text.optional(), payload: text.optional() },
      ...{ qualifiers: map.optional(), labels: map.optional() },
    })
    .optional(),
  deliveryId: text.optional(),
  redelivery: z.strictObject({ address: text, token: z.strictObject(valueFrom).optional() }).optional(),
  signature: z
    .strictObject({
      header: text,
      algorithm: z.enum(['SHA256', 'SHA512', 'SHA1']).optional(),
      encoding: z.enum(['HEX', 'BASE64']).optional(),
      prefix: text.optional(),
    })
    .optional(),
})
export type HookManifest = z.infer<typeof hookSchema>

/** The input of createHook and updateHook, apart from name, project, and whatever has secrets. */
export function hookInput(hook: HookManifest) {
  const { format, description, disabled, filter, projects, event, deliveryId, signature } = hook
  const { qualifiers, labels, ...texts } = event ?? {}
  return {
    ...{ format, description: description ?? null, disabled: disabled ?? null, filter: filter ?? null },
    ...{ projects: projects ?? null, deliveryId: deliveryId ?? null, signature: signature ?? null },
    event: event ? { ...texts, qualifiers: pairsOf(qualifiers), labels: pairsOf(labels) } : null,
  }
}

/** A hook as the API shows it. */
export interface ShownHook {
  readonly name: string
  readonly project: { readonly name: string }
  readonly format: HookManifest['format']
  readonly description: string
  readonly disabled: boolean
  readonly secrets: readonly { readonly name: string }[]
  readonly filter: string | null
  readonly projects: readonly string[] | null
  readonly event: {
    readonly project: string | null
    readonly source: string | null
    readonly type: string | null
    readonly payload: string | null
    readonly qualifiers: readonly Pair[]
    readonly labels: readonly Pair[]
  }
  readonly deliveryId: string | null
  readonly redelivery: { readonly address: string } | null
  readonly signature: Required<NonNullable<HookManifest['signature']>> | null
}

/** The document that makes this hook; its secrets stay as they are where it is applied again. */
export function hookManifest(hook: ShownHook): HookManifest {
  const { project, source, type, payload, qualifiers, labels } = hook.event
  const event = {
    ...(project !== null && { project }),
    ...(source !== null && { source }),
    ...(type !== null && { type }),
    ...(qualifiers.length > 0 && { qualifiers: mapOf(qualifiers) }),
    ...(labels.length > 0 && { labels: mapOf(labels) }),
    ...(payload !== null && { payload }),
  }
  const hasOwnSignature = hook.format === 'GENERIC' || hook.format === 'CLOUDEVENTS'
  return {
    ...{ kind: 'Hook', name: hook.name, project: hook.project.name },
    ...(hook.description !== '' && { description: hook.description }),
    ...(hook.disabled && { disabled: true }),
    format: hook.format,
    secrets: hook.secrets.map(({ name }) => ({ name })),
    ...(hook.filter !== null && { filter: hook.filter }),
    ...(hook.projects && { projects: [...hook.projects] }),
    ...(Object.keys(event).length > 0 && { event }),
    ...(hook.deliveryId !== null && { deliveryId: hook.deliveryId }),
    ...(hook.redelivery && { redelivery: { address: hook.redelivery.address } }),
    ...(hook.signature && hasOwnSignature && { signature: hook.signature }),
  }
}

/** The document as `export` prints it once it is applied, with the defaults of the server. */
export function appliedHook(hook: HookManifest & { readonly project: string }): HookManifest {
  const { event = {}, projects = [], redelivery, signature } = hook
  return hookManifest({
    ...{ name: hook.name, project: { name: hook.project }, format: hook.format },
    ...{ description: hook.description ?? '', disabled: hook.disabled ?? false, secrets: hook.secrets ?? [] },
    ...{ filter: hook.filter ?? null, projects: projects.length > 0 ? [...new Set(projects)] : null },
    event: {
      ...{ project: event.project || null, source: event.source ?? null, type: event.type ?? null },
      ...{ payload: event.payload ?? null, qualifiers: pairsOf(event.qualifiers), labels: pairsOf(event.labels) },
    },
    deliveryId: hook.deliveryId ?? null,
    redelivery: redelivery ? { address: redelivery.address.replace(/\/$/, '') } : null,
    signature: signature
      ? {
          ...{ header: signature.header.toLowerCase(), prefix: signature.prefix ?? '' },
          ...{ algorithm: signature.algorithm ?? 'SHA256', encoding: signature.encoding ?? 'HEX' },
        }
      : null,
  })
}
