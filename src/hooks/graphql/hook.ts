import { DELIVERY_OUTCOMES, HOOK_FORMATS } from '../../core/hook.ts'
import { isAdministrator, RIGHTS, reachOf } from '../../core/rights.ts'
import { perOperation } from '../../graphql/context.ts'
import { addHealthFacts, MAX_FACTS } from '../../graphql/health/facts.ts'
import { loadCounts, loadPages, loadSide, objectLoader } from '../../graphql/loaders.ts'
import { addNodeType } from '../../graphql/objects/node.ts'
import { LabelRef } from '../../graphql/objects/object-parts.ts'
import { addRecord, addRecordList, readRecord, recordFields } from '../../graphql/objects/project-record.ts'
import { builder } from '../../graphql/schema/builder.ts'
import { connect } from '../../graphql/schema/connection.ts'
import { uuidCursor } from '../../graphql/schema/cursors.ts'
import { pageCost } from '../../graphql/schema/limits.ts'
import { NodeRef, TreeObjectRef } from '../../graphql/schema/refs.ts'
import {
  countDeliveriesOf,
  type DeliveryRow,
  KEPT_DELIVERIES,
  loadBodies,
  loadDeliveries,
  loadDeliveriesOf,
} from '../../store/hook-deliveries.ts'
import { type HookSecretRow, loadHookSecrets, troubledHooks } from '../../store/hooks.ts'
import type { Window } from '../../store/loaders/window.ts'
import { HOOK, type Hook } from '../commands/parts.ts'
import { formatOf } from '../rules/formats.ts'
import { type EventTemplate, SIGNATURE_ALGORITHMS, SIGNATURE_ENCODINGS, type Signature } from '../rules/spec.ts'

const words = <T extends string>(meanings: Readonly<Record<T, string>>, order: readonly T[]) =>
  Object.fromEntries(order.map((word) => [word, { description: meanings[word] }])) as {
    readonly [Word in T]: { readonly description: string }
  }

export const HookFormatEnum = builder.enumType('HookFormat', {
  description: 'The form in which a sender posts: how a request is authentic, and what one delivery is.',
  values: words(
    {
      GITHUB:
        'GitHub: an HMAC of the body in X-Hub-Signature-256; X-GitHub-Delivery names the delivery. A ping creates no event.',
      GITLAB: 'GitLab: the secret in X-Gitlab-Token; Idempotency-Key or X-Gitlab-Event-UUID names the delivery.',
      CLOUDEVENTS:
        'CloudEvents 1.0 over HTTP, binary, structured or as a batch: a bearer token or a signature of your choice; source and id name the delivery.',
      STANDARD_WEBHOOKS:
        'Standard Webhooks: an HMAC of id, time and body in webhook-signature, good for five minutes; webhook-id names the delivery.',
      GENERIC: 'Any other: a bearer token or a signature of your choice; an expression may name the delivery.',
    },
    HOOK_FORMATS,
  ),
})
const DeliveryOutcomeEnum = builder.enumType('DeliveryOutcome', {
  description: 'The outcome of a delivery.',
  values: words(
    {
      ACCEPTED: 'It has created an event.',
      FILTERED: 'The filter does not want it.',
      DUPLICATE: 'It repeats one that was accepted or filtered.',
      REFUSED: 'No event could be made of it; `reason` says why. It may be sent again.',
      FORBIDDEN: 'The last editor of the hook lacks the right; `reason` says which. It may be sent again.',
    },
    DELIVERY_OUTCOMES,
  ),
})
export const SignatureAlgorithmEnum = builder.enumType('HookSignatureAlgorithm', {
  description: 'The hash of an HMAC.',
  values: words(
    { SHA256: 'SHA-256.', SHA512: 'SHA-512.', SHA1: 'SHA-1, for senders that have no other.' },
    SIGNATURE_ALGORITHMS,
  ),
})
export const SignatureEncodingEnum = builder.enumType('HookSignatureEncoding', {
  description: 'The form of a digest in a header.',
  values: words({ HEX: 'Hexadecimal digits.', BASE64: 'Base64, also its form for URLs.' }, SIGNATURE_ENCODINGS),
})

const loaders = perOperation(({ pool }) => ({
  secrets: loadSide((ids) => loadHookSecrets(pool, ids)),
  pages: loadPages((ids, window: Window<string>) => loadDeliveriesOf(pool, ids, window)),
  counts: loadCounts((ids) => countDeliveriesOf(pool, ids)),
  bodies: loadSide((ids) => loadBodies(pool, ids)),
}))

addHealthFacts('hooks', RIGHTS.readHooks, async ({ pool, viewer }, projects) =>
  (await troubledHooks(pool, { projects, isAdministrator: isAdministrator(viewer) }, MAX_FACTS)).map(
    ({ name, project, reason, refusedAt, checkedAt, checkProblem }) => ({
      subject: { project, name, object: null },
      refused: refusedAt && { since: refusedAt, message: reason ?? 'Its last delivery was refused.' },
      check: checkProblem === null ? null : { since: checkedAt, message: checkProblem },
    }),
  ),
)

export type HookValue = Hook & { readonly __typename: 'Hook' }
export const brandHook = (row: Hook): HookValue => ({ ...row, __typename: 'Hook' })
export type DeliveryValue = DeliveryRow & { readonly __typename: 'HookDelivery' }
export const brandDelivery = (row: DeliveryRow): DeliveryValue => ({ ...row, __typename: 'HookDelivery' })

const HookSecretRef = builder.objectRef<HookSecretRow>('HookSecret').implement({
  description: 'A secret that a hook shares with its sender; its value cannot be read.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Unique in its hook.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When its value was written.' }),
  }),
})
const SignatureRef = builder.objectRef<Signature>('HookSignature').implement({
  description: 'An HMAC of the body in a header, with a secret of the hook as its key.',
  fields: (t) => ({
    header: t.exposeString('header', { description: 'Name of the header, in lower case.' }),
    algorithm: t.expose('algorithm', { type: SignatureAlgorithmEnum, description: 'Its hash.' }),
    encoding: t.expose('encoding', { type: SignatureEncodingEnum, description: 'Its form in the header.' }),
    prefix: t.exposeString('prefix', { description: 'Stands before it, such as `sha256=`; empty if nothing does.' }),
  }),
})
type Checked = Pick<Hook, 'spec' | 'checkedAt' | 'checkProblem'>
const RedeliveryRef = builder.objectRef<Checked>('HookRedelivery').implement({
  description:
    'How GitHub is asked again for deliveries that nobody has answered: after a start of the server, and hourly.',
  fields: (t) => ({
    address: t.string({
      description: 'Address of the webhook in the API of GitHub.',
      resolve: ({ spec }) => spec.redelivery?.address ?? '',
    }),
    checkedAt: t.expose('checkedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When GitHub was last asked; null: not yet.',
    }),
    problem: t.exposeString('checkProblem', {
      nullable: true,
      description: 'Why it could not be asked then; null if it could.',
    }),
  }),
})
const EventTemplateRef = builder.objectRef<EventTemplate>('HookEvent').implement({
  description: 'The event of a delivery: texts that may hold `${…}` over `headers` and `body`.',
  fields: (t) => ({
    project: t.exposeString('project', {
      nullable: true,
      description: 'Yields the name of the project that gets the event; null: that of the hook.',
    }),
    source: t.exposeString('source', { nullable: true, description: 'Null: the format says it.' }),
    type: t.exposeString('type', { nullable: true, description: 'Null: the format says it.' }),
    qualifiers: t.field({
      type: [LabelRef],
      description: 'Qualifiers; empty if there are none.',
      resolve: ({ qualifiers }) => [...(qualifiers ?? [])],
    }),
    labels: t.field({
      type: [LabelRef],
      description: 'Labels; empty if there are none.',
      resolve: ({ labels }) => [...(labels ?? [])],
    }),
    payload: t.exposeString('payload', { nullable: true, description: 'Null: the body.' }),
  }),
})

const { idDays, bodyDays, bodyMib, filtered, vain } = KEPT_DELIVERIES

export const HookDeliveryRef = builder.objectRef<DeliveryValue>('HookDelivery')
const HookDeliveryConnection = builder.connectionObject({ name: 'HookDeliveryConnection', type: HookDeliveryRef }, {})

export const HookRef = builder.objectRef<HookValue>('Hook').implement({
  description:
    'An address of a project, `/hooks/<project>/<name>`, to which others post what has happened there. Each delivery that it wants becomes an event.',
  interfaces: [NodeRef],
  fields: (t) => ({
    ...recordFields(t, { name: 'Unique among the hooks of its project.' }),
    path: t.string({
      description: 'The path of its address at this server, e.g. /hooks/ci/github.',
      resolve: ({ projectName, name }) => `/hooks/${projectName}/${name}`,
    }),
    format: t.expose('format', { type: HookFormatEnum, description: 'The form in which its sender posts.' }),
    description: t.exposeString('description', { description: 'A sentence for people; empty if it has none.' }),
    disabled: t.exposeBoolean('disabled', {
      description: 'True if it creates no events: deliveries are kept as REFUSED, and answered with 503.',
    }),
    secrets: t.field({
      type: [HookSecretRef],
      description: 'Its secrets, at most 8; a request is authentic by any of them.',
      resolve: async ({ id }, _, context) => [...((await loaders(context).secrets.load(id)) ?? [])],
    }),
    filter: t.string({
      nullable: true,
      description:
        'Expression over `headers` and `body`: only deliveries for which it is true become events. Null: all.',
      resolve: ({ spec }) => spec.filter,
    }),
    projects: t.stringList({
      nullable: true,
      description:
        'Names of the projects that the event may be of, one of which its template chooses; null: it is of the own project.',
      resolve: ({ spec }) => (spec.projects ? [...spec.projects] : null),
    }),
    event: t.field({
      type: EventTemplateRef,
      description: 'The event of a delivery.',
      resolve: ({ spec }) => spec.event,
    }),
    defaultEvent: t.field({
      type: EventTemplateRef,
      description: 'The parts that the format gives to an event where `event` leaves them out.',
      resolve: ({ format, name }) => ({ ...formatOf(format, name).event, labels: null, payload: null }),
    }),
    deliveryId: t.string({
      nullable: true,
      description: 'Template for the id of a delivery; null: the format has one, or none.',
      resolve: ({ spec }) => spec.deliveryId,
    }),
    signature: t.field({
      type: SignatureRef,
      nullable: true,
      description: 'How its sender signs; null: by a token, or as Standard Webhooks says.',
      resolve: ({ format, name, spec }) => spec.signature ?? formatOf(format, name).signature,
    }),
    redelivery: t.field({
      type: RedeliveryRef,
      nullable: true,
      description: 'How GitHub is asked again for what it could not deliver; null: it is not.',
      resolve: (hook) => (hook.spec.redelivery ? hook : null),
    }),
    editor: t.string({
      nullable: true,
      description:
        'Name of who has edited it last: its events have the rights of that principal, and no more. Never null for a hook.',
      resolve: ({ editor }) => editor.name,
    }),
    deliveries: t.field({
      type: HookDeliveryConnection,
      description: `Its deliveries of the last ${idDays} days, the newest first; of those that were filtered, the last ${filtered.toLocaleString('en')}, and of others without an event, the last ${vain.toLocaleString('en')}.`,
      args: t.arg.connectionArgs(),
      complexity: (args) => pageCost(args),
      resolve: ({ id }, args, context) =>
        connect(args, {
          cursor: uuidCursor,
          position: (delivery: DeliveryValue) => delivery.id,
          load: async (window) => (await loaders(context).pages.load({ id, window })).map(brandDelivery),
          count: () => loaders(context).counts.load(id),
        }),
    }),
  }),
})
HookDeliveryRef.implement({
  description: 'One delivery to a hook. Requests that were not authentic are none.',
  interfaces: [NodeRef],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Unique and permanent.' }),
    at: t.expose('at', { type: 'DateTime', description: 'When it arrived, or was played again.' }),
    outcome: t.expose('outcome', { type: DeliveryOutcomeEnum, description: 'Its outcome.' }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why it has created no event; null if it has.' }),
    deliveryId: t.exposeString('deliveryId', {
      nullable: true,
      description:
        'Its id at the sender, at most 255 characters of it; null if it has none, so that repetitions are not noticed.',
    }),
    started: t.field({
      type: TreeObjectRef,
      nullable: true,
      description:
        'The event that it has created, or that the delivery has which it repeats; null if there is none, if it is gone, or if the viewer may not read it.',
      resolve: ({ eventId }, _, context) => (eventId === null ? null : objectLoader(context).load(eventId)),
    }),
    headers: t.field({
      type: 'JSON',
      description:
        'Headers of the request as a JSON object, with names in lower case and without what authenticates it.',
      resolve: ({ headers }) => headers,
    }),
    body: t.string({
      // Each may have ten MiB: a request reads a hundred of them at most.
      complexity: 2_000,
      nullable: true,
      description: `Its body as text. Null once it is not kept any more: after ${bodyDays} days, or when newer ones of its hook have ${bodyMib} MiB.`,
      resolve: async ({ id }, _, context) => (await loaders(context).bodies.load(id))?.body?.toString('utf8') ?? null,
    }),
    bodyBytes: t.exposeInt('bodyBytes', { description: 'Bytes of its body, also when it is not kept any more.' }),
    secretName: t.exposeString('secretName', {
      nullable: true,
      description: 'Name of the secret by which it was authentic; null if it was played again.',
    }),
    hops: t.exposeInt('hops', {
      description: 'How often the chain of notifications and hooks that has led to it has come back here before.',
    }),
    replayOf: t.field({
      type: HookDeliveryRef,
      nullable: true,
      description: 'The delivery that was played again; null if it came from its sender, and once that one is gone.',
      resolve: async ({ replayOf }, _, { pool, viewer }) => {
        if (replayOf === null) return null
        const [row] = await loadDeliveries(pool, [replayOf], reachOf(viewer, RIGHTS.readHooks))
        return row ? brandDelivery(row) : null
      },
    }),
    hook: t.field({
      type: HookRef,
      description: 'Its hook.',
      resolve: async ({ hookId }, _, { pool }) => brandHook(await readRecord(pool, HOOK.records, hookId)),
    }),
  }),
})

addNodeType('HookDelivery', RIGHTS.readHooks, (pool, ids, _, { viewer }) =>
  loadDeliveries(pool, ids, reachOf(viewer, RIGHTS.readHooks)),
)
const shown = {
  ...{ field: 'hook', noun: HOOK.noun, ref: HookRef, records: HOOK.records, right: RIGHTS.readHooks },
  ...{ limit: 'reference' as const, brand: brandHook },
}
addRecord(shown)
addRecordList(shown)
